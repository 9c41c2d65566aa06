"""The tables of the saver, and how a file is opened.

They are named ``farside_saver_*``, so that the file can be shared: with farside's store, and with LangGraph's own
savers, whose threads are read where they are.
"""

from __future__ import annotations

import sqlite3

BUSY_MS = 5_000
"""How long to wait for another process that writes to the same file."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        # Deleting or pruning a thread ends its number, which never comes back.
        "CREATE TABLE farside_saver_threads (number INTEGER PRIMARY KEY AUTOINCREMENT, thread_id TEXT NOT NULL UNIQUE)",
        """CREATE TABLE farside_saver_items (
            number INTEGER NOT NULL,
            seq INTEGER NOT NULL,
            type TEXT NOT NULL,
            value BLOB NOT NULL,
            PRIMARY KEY (number, seq)
        ) WITHOUT ROWID""",
        """CREATE TABLE farside_saver_checkpoints (
            thread_id TEXT NOT NULL,
            checkpoint_ns TEXT NOT NULL,
            checkpoint_id TEXT NOT NULL,
            parent_checkpoint_id TEXT,
            metadata BLOB NOT NULL,
            lists TEXT,
            type TEXT NOT NULL,
            checkpoint BLOB NOT NULL,
            PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id)
        )""",
        """CREATE TABLE farside_saver_writes (
            thread_id TEXT NOT NULL,
            checkpoint_ns TEXT NOT NULL,
            checkpoint_id TEXT NOT NULL,
            task_id TEXT NOT NULL,
            idx INTEGER NOT NULL,
            task_path TEXT NOT NULL,
            channel TEXT NOT NULL,
            type TEXT NOT NULL,
            value BLOB NOT NULL,
            PRIMARY KEY (thread_id, checkpoint_ns, checkpoint_id, task_id, idx)
        ) WITHOUT ROWID""",
    ),
    (
        # What is large is stored once a thread, by its digest. In its place ``large`` is a JSON array of digests.
        """CREATE TABLE farside_saver_large (
            thread_id TEXT NOT NULL,
            digest TEXT NOT NULL,
            value BLOB NOT NULL,
            PRIMARY KEY (thread_id, digest)
        )""",
        "ALTER TABLE farside_saver_items ADD COLUMN large TEXT",
        "ALTER TABLE farside_saver_checkpoints ADD COLUMN large TEXT",
        "ALTER TABLE farside_saver_writes ADD COLUMN large TEXT",
    ),
)
"""Version n is reached by carrying out the first n entries in order. An entry that was ever released never changes."""


def connect(path: str) -> sqlite3.Connection:
    """A connection that may be handed from thread to thread, without transactions of its own accord.

    A commit that was made survives a power failure (``synchronous=FULL``), readers do not wait for the writer (WAL),
    and a writer waits for another process.
    """
    db = sqlite3.connect(path, timeout=BUSY_MS / 1000, isolation_level=None, check_same_thread=False)
    db.execute("PRAGMA synchronous=FULL")
    return db


def prepare(db: sqlite3.Connection, path: str) -> None:
    """Bring the schema to this version, all of it or nothing, and the file to WAL.

    Raises:
        sqlite3.DatabaseError: the file is no database, or in use all the time.
        RuntimeError: a newer farside wrote the file, or its file system cannot hold a database in WAL mode.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute("CREATE TABLE IF NOT EXISTS farside_saver_schema (version INTEGER NOT NULL)")
        [version] = db.execute("SELECT COALESCE(MAX(version), 0) FROM farside_saver_schema").fetchone()
        if version > len(MIGRATIONS):
            raise RuntimeError(
                f"{path} has checkpoints of schema version {version}, this farside knows {len(MIGRATIONS)}; "
                "upgrade farside"
            )
        for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in statements:
                db.execute(statement)
            db.execute("INSERT INTO farside_saver_schema VALUES (?)", (number,))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    if (mode := _use_wal(db)) != "wal":
        raise RuntimeError(f"expected a file that SQLite can keep in WAL mode, {path} is kept in mode {mode}")


def _use_wal(db: sqlite3.Connection) -> str:
    """Switch the file to WAL; returns the mode that it is in now.

    The switch does not wait for others as every other statement does: where one is in the way it fails, so it is made
    again after waiting as a writer waits.
    """
    for _ in range(100):
        try:
            [mode] = db.execute("PRAGMA journal_mode=WAL").fetchone()
        except sqlite3.OperationalError:
            db.execute("BEGIN IMMEDIATE")
            db.execute("COMMIT")
        else:
            return mode
    raise sqlite3.OperationalError("expected the file to be free for a moment, it is in use all the time")
