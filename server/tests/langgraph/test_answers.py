from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

from farside.core.model import ToolResult, failure, success
from farside.langgraph.answers import MARK, is_for, pack, unpack

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)
results = st.builds(success, values) | st.builds(failure, st.sampled_from(["failed", "timed_out"]), st.text())


call_ids = st.text(min_size=1).filter(lambda call_id: call_id != MARK)


@given(results, call_ids)
def test_what_is_packed_is_unpacked_also_after_a_checkpoint(result: ToolResult, call_id: str) -> None:
    packed = pack(call_id, result)
    serializer = JsonPlusSerializer()
    for stored in (packed, serializer.loads_typed(serializer.dumps_typed(packed))):
        assert unpack(call_id, stored) == result
        assert is_for(call_id, stored)
        assert not is_for(call_id + "x", stored)


def test_details_of_a_failure_are_kept() -> None:
    result = failure("failed", "boom", {"field": 1})
    assert unpack("c", pack("c", result)) == result


def test_code_for_the_official_shape_reads_it_too() -> None:
    assert pack("c", success(5))["c"] == 5
    assert pack("c", failure("dismissed", "no"))["c"] == {"error": "no"}


@pytest.mark.parametrize(
    "forged",
    [
        {MARK: None},
        {MARK: {}},
        {MARK: {"status": "success"}},
        {MARK: {"status": "error"}},
        {MARK: {"status": "error", "error": 3}},
    ],
)
def test_a_forged_answer_is_a_failure(forged: dict[str, Any]) -> None:
    assert unpack("c", forged) == failure("failed", "the answer could not be read")
