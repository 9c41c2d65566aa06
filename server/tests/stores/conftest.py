"""Failures of the contract suite read like those of any other test."""

import pytest

pytest.register_assert_rewrite("farside.testing.contracts")
