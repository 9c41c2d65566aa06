"""Commands: every vector, and anything at all."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farside.errors import FarsideError
from farside.wire.codec import JSON, MESSAGEPACK
from farside.wire.commands import command_id_of, parse_command, parse_params
from farside.wire.messages import COMMANDS
from server.tests.strategies import JSON_OBJECTS, VALUES
from server.tests.vectors import messages


@pytest.mark.parametrize("entry", messages("valid"))
def test_accepts(entry: Any) -> None:
    for codec in (JSON, MESSAGEPACK):
        message = codec.decode(codec.encode(entry["message"]))
        command = parse_command(message)
        params = parse_params(command)
        assert command.id == command_id_of(message) == message["id"]
        assert isinstance(params, COMMANDS[message["method"]])


@pytest.mark.parametrize("entry", messages("invalid"))
def test_refuses(entry: Any) -> None:
    for codec in (JSON, MESSAGEPACK):
        message = codec.decode(codec.encode(entry["message"]))
        with pytest.raises(FarsideError) as caught:
            parse_params(parse_command(message))
        assert caught.value.code == entry["code"]
        assert "expected" in caught.value.message


def test_there_are_vectors_for_every_command() -> None:
    valid = [param.values[0]["message"]["method"] for param in messages("valid")]
    assert {method: valid.count(method) >= 2 for method in COMMANDS} == dict.fromkeys(COMMANDS, True)
    invalid = {str(param.id).partition(":")[0] for param in messages("invalid")}
    assert invalid == {*COMMANDS, "envelope"} - {"connection.ping"}  # which takes anything


@pytest.mark.parametrize("value", [None, "", 7, -1, True, 2**53, 0.5, 1e300, float("nan"), [], {}], ids=repr)
def test_reads_an_id_only_where_there_is_one(value: Any) -> None:
    assert command_id_of({"id": value}) == (7 if value == 7 else None)
    assert command_id_of([value]) is None


@given(VALUES)
def test_any_value_is_a_command_or_an_error(message: Any) -> None:
    command_id_of(message)
    with pytest.raises(FarsideError) as caught:
        parse_params(parse_command(message))
    assert caught.value.code == "invalid_argument"


@given(st.sampled_from(list(COMMANDS)), JSON_OBJECTS, st.data())
def test_any_params_are_checked(method: str, junk: dict[str, Any], data: st.DataObject) -> None:
    fields = st.sampled_from([*COMMANDS[method].model_fields, "else"])
    params = {**junk, **data.draw(st.dictionaries(fields, VALUES))}
    try:
        parse_params(parse_command({"id": 1, "method": method, "params": params}))
    except FarsideError as error:
        assert error.code == "invalid_argument"


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("x" * 100_000, {}),
        ("input.respond", {"responses": [1] * 100_000}),
        ("subscription.subscribe", {"channels": ["messages"], "namespaces": [None] * 100_000}),
        ("subscription.subscribe", {"channels": ["nonsense"] * 64}),
        ("state.get", {"keys": [None] * 100_000}),
        ("state.get", {"namespace": [None] * 100_000}),
        ("client.announce", {"client_id": "c", "tools": [{}] * 1024}),
        ("client.announce", {"client_id": "c", "tools": [], "permissions": {str(n): "x" for n in range(100_000)}}),
        ("client.announce", {"client_id": "c", "tools": [], "permissions": {"x" * 100_000: "x"}}),
        ("call.settle", {"interrupt_id": "i", "claim_id": "k", "result": {"status": "x" * 100_000}}),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) else "",
)
def test_answers_shortly_whatever_the_mistakes(method: str, params: Any) -> None:
    with pytest.raises(FarsideError) as caught:
        parse_params(parse_command({"id": 1, "method": method, "params": params}))
    assert len(caught.value.message) < 1000
