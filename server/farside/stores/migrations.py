"""The SQLite schema's history: version n is reached by carrying out the first n entries in order.

An entry that was ever released is never changed; a change of the schema is a new entry.
"""

from __future__ import annotations

import sqlite3
from pathlib import Path

from farside.stores.rows import pack
from farside.wire.metadata import labels

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE farside_threads (
            id TEXT PRIMARY KEY,
            agent TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            reserved_seq INTEGER NOT NULL
        )""",
        """CREATE TABLE farside_runs (
            number INTEGER PRIMARY KEY,
            thread_id TEXT NOT NULL,
            id TEXT NOT NULL,
            agent TEXT NOT NULL,
            input BLOB NOT NULL,
            config BLOB NOT NULL,
            status TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            error BLOB,
            UNIQUE (thread_id, id)
        )""",
        "CREATE INDEX farside_runs_by_thread ON farside_runs (thread_id, number)",
        "CREATE INDEX farside_runs_running ON farside_runs (number) WHERE status = 'running'",
        """CREATE TABLE farside_calls (
            number INTEGER PRIMARY KEY,
            thread_id TEXT NOT NULL,
            interrupt_id TEXT NOT NULL,
            run_id TEXT NOT NULL,
            kind TEXT NOT NULL,
            tool_call_id TEXT NOT NULL,
            name TEXT NOT NULL,
            args BLOB NOT NULL,
            opened_at INTEGER NOT NULL,
            state TEXT NOT NULL,
            title TEXT,
            idempotent INTEGER NOT NULL,
            deadline INTEGER,
            client_id TEXT,
            lease_until INTEGER,
            result BLOB,
            version INTEGER NOT NULL,
            UNIQUE (thread_id, interrupt_id)
        )""",
        "CREATE INDEX farside_calls_by_thread ON farside_calls (thread_id, number)",
        "CREATE INDEX farside_calls_unsettled ON farside_calls (number) WHERE result IS NULL",
        """CREATE TABLE farside_events (
            thread_id TEXT NOT NULL,
            seq INTEGER NOT NULL,
            run_id TEXT NOT NULL,
            method TEXT NOT NULL,
            namespace BLOB NOT NULL,
            timestamp INTEGER NOT NULL,
            data BLOB NOT NULL,
            PRIMARY KEY (thread_id, seq)
        )""",
        "CREATE INDEX farside_events_by_run ON farside_events (thread_id, run_id, seq)",
        """CREATE TABLE farside_journal (
            thread_id TEXT NOT NULL,
            run_id TEXT NOT NULL,
            position TEXT NOT NULL,
            kind TEXT NOT NULL,
            name TEXT NOT NULL,
            value BLOB NOT NULL,
            PRIMARY KEY (thread_id, run_id, position)
        )""",
    ),
    (
        "ALTER TABLE farside_calls ADD COLUMN claim_id TEXT",
        "ALTER TABLE farside_calls ADD COLUMN ended_at INTEGER",
        "ALTER TABLE farside_calls ADD COLUMN ended_by TEXT",
        "ALTER TABLE farside_runs ADD COLUMN starter TEXT",
        "ALTER TABLE farside_runs ADD COLUMN started INTEGER NOT NULL DEFAULT 1",
        "DROP INDEX farside_runs_running",
        "CREATE INDEX farside_runs_unfinished ON farside_runs (number) WHERE status IN ('running', 'queued')",
        "CREATE TABLE farside_processes (id TEXT PRIMARY KEY, until INTEGER NOT NULL)",
        """CREATE TABLE farside_leases (
            thread_id TEXT PRIMARY KEY, process_id TEXT NOT NULL, load_id TEXT NOT NULL
        )""",
    ),
    (
        "ALTER TABLE farside_threads ADD COLUMN metadata BLOB",
        "ALTER TABLE farside_threads ADD COLUMN updated_at INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE farside_threads ADD COLUMN state_updated_at INTEGER NOT NULL DEFAULT 0",
        """CREATE TABLE farside_labels (
            label BLOB NOT NULL, thread_id TEXT NOT NULL, PRIMARY KEY (label, thread_id)
        ) WITHOUT ROWID""",
        # A thread was last busy when its newest event was stored.
        """UPDATE farside_threads SET metadata = farside_agent_metadata(agent), updated_at = COALESCE((
            SELECT timestamp FROM farside_events WHERE thread_id = farside_threads.id ORDER BY seq DESC LIMIT 1
        ), created_at)""",
        "UPDATE farside_threads SET state_updated_at = updated_at",
        """INSERT INTO farside_labels (label, thread_id)
            SELECT farside_label(name, agent), id FROM farside_threads,
            (SELECT 'graph_id' AS name UNION ALL SELECT 'assistant_id')""",
        "CREATE INDEX farside_threads_by_created_at ON farside_threads (created_at, id)",
        "CREATE INDEX farside_threads_by_updated_at ON farside_threads (updated_at, id)",
        "CREATE INDEX farside_threads_by_state_updated_at ON farside_threads (state_updated_at, id)",
        "CREATE INDEX farside_calls_waiting ON farside_calls (thread_id) WHERE result IS NULL",
        "CREATE INDEX farside_runs_under_way ON farside_runs (thread_id) WHERE status IN ('running', 'queued')",
        "CREATE INDEX farside_runs_failed ON farside_runs (thread_id, number) WHERE status = 'failed'",
        "DROP INDEX farside_runs_by_thread",
        "CREATE INDEX farside_runs_by_thread ON farside_runs (thread_id, number, started)",
    ),
)


def migrate(db: sqlite3.Connection, path: Path) -> None:
    """Bring the schema to this version, all of it or nothing.

    Raises:
        RuntimeError: a newer farside wrote the file; it is left as it is.
    """
    db.create_function("farside_agent_metadata", 1, _agent_metadata, deterministic=True)
    db.create_function("farside_label", 2, _label, deterministic=True)
    db.execute("BEGIN IMMEDIATE")
    try:
        db.execute("CREATE TABLE IF NOT EXISTS farside_schema (version INTEGER NOT NULL)")
        [version] = db.execute("SELECT COALESCE(MAX(version), 0) FROM farside_schema").fetchone()
        if version > len(MIGRATIONS):
            raise RuntimeError(
                f"{path} has schema version {version}, this farside knows {len(MIGRATIONS)}; upgrade farside"
            )
        for number, statements in enumerate(MIGRATIONS[version:], start=version + 1):
            for statement in statements:
                db.execute(statement)
            db.execute("INSERT INTO farside_schema (version) VALUES (?)", (number,))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _agent_metadata(agent: str) -> bytes:
    return pack({"graph_id": agent, "assistant_id": agent})


def _label(name: str, value: str) -> bytes:
    [label] = labels({name: value})
    return label
