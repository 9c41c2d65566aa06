"""The contract of a store: what ``farside.core.ports.Store`` promises, as tests for anybody's implementation.

.. code-block:: python

    class TestMyStore(StoreContract):
        @pytest.fixture
        def unopened(self, tmp_path):
            return MyStore(tmp_path / "threads")

Needs pytest and pytest-asyncio. For readable failures call
``pytest.register_assert_rewrite("farside.testing.contracts")`` before the import.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator

import pytest
import pytest_asyncio

from farside.core.ports import Store
from farside.testing.contracts.commits import CommitsContract
from farside.testing.contracts.lists import ListsContract
from farside.testing.contracts.processes import ProcessesContract
from farside.testing.contracts.rows import RowsContract
from farside.testing.contracts.samples import NOW, a_call, a_run, a_thread, an_entry, an_event

__all__ = ["NOW", "StoreContract", "a_call", "a_run", "a_thread", "an_entry", "an_event"]


class StoreContract(RowsContract, ListsContract, CommitsContract, ProcessesContract):
    """Derive from it, and give the fixture ``unopened``: a new, empty store that was not opened yet."""

    pytestmark = pytest.mark.asyncio

    @pytest.fixture
    def unopened(self) -> Store:
        """The store under test."""
        raise NotImplementedError("override the fixture `unopened`: return a new, empty store")

    @pytest_asyncio.fixture
    async def store(self, unopened: Store) -> AsyncGenerator[Store]:
        """The store under test, open; closed at the end."""
        await unopened.open()
        yield unopened
        await unopened.close()
