"""The store in memory keeps the contract."""

import pytest

from farside.stores.memory import MemoryStore
from farside.testing.contracts import StoreContract


class TestMemoryStore(StoreContract):
    @pytest.fixture
    def unopened(self) -> MemoryStore:
        return MemoryStore()
