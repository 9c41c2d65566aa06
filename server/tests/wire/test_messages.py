"""The messages of the server: every vector is one of them, and null is never absent."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from farside.wire.codec import JSON, MESSAGEPACK
from farside.wire.messages import (
    COMMANDS,
    EVENTS,
    MISSING,
    OURS,
    RESULTS,
    ErrorReply,
    Event,
    Model,
    Ping,
    RunStartParams,
    SuccessReply,
)
from server.tests.vectors import messages

ADAPTERS: dict[str, TypeAdapter[Any]] = {method: TypeAdapter(data) for method, data in EVENTS.items()}
ENVELOPES: dict[str, type[Model]] = {"success": SuccessReply, "error": ErrorReply, "event": Event, "ping": Ping}


@pytest.mark.parametrize("entry", messages("server"))
def test_reads(entry: Any) -> None:
    for codec in (JSON, MESSAGEPACK):
        message = codec.decode(codec.encode(entry["message"]))
        ENVELOPES[message["type"]].model_validate(message)
        if message["type"] == "success":
            result = RESULTS[entry["method"]].model_validate(message["result"])
            assert result.model_dump() == message["result"]
        elif message["type"] == "event":
            data = ADAPTERS[message["method"]].validate_python(message["params"]["data"])
            assert ADAPTERS[message["method"]].dump_python(data) == message["params"]["data"]


def test_there_are_vectors_for_every_result_and_event() -> None:
    entries = [param.values[0] for param in messages("server")]
    assert {entry["method"] for entry in entries if "method" in entry} == set(RESULTS)
    assert {e["message"]["method"] for e in entries if e["message"]["type"] == "event"} == set(EVENTS)


def test_every_command_has_params_and_a_result() -> None:
    assert COMMANDS.keys() == RESULTS.keys()
    assert set(COMMANDS) > OURS


@pytest.mark.parametrize("model", [*COMMANDS.values(), *RESULTS.values()], ids=lambda model: model.__name__)
def test_null_is_never_absent(model: type[Model]) -> None:
    """What may be absent is never null, and what is absent is not written."""
    for name, field in model.model_fields.items():
        if field.default is MISSING and field.annotation is not Any:
            with pytest.raises(ValidationError) as caught:
                model.model_validate({name: None})
            assert any(problem["loc"][0] == name for problem in caught.value.errors())


def test_what_is_absent_is_not_written() -> None:
    params = RunStartParams.model_validate({"assistant_id": "a"})
    assert params.run_id is MISSING
    assert params.model_dump() == {"assistant_id": "a"}
