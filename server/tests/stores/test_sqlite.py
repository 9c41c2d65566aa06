"""The store in a file keeps the contract, and what it says of files."""

from pathlib import Path

import pytest

from farside.stores.sqlite import SqliteStore
from farside.testing.contracts import StoreContract


class TestSqliteStore(StoreContract):
    @pytest.fixture
    def unopened(self, tmp_path: Path) -> SqliteStore:
        return SqliteStore(tmp_path / "farside.db")
