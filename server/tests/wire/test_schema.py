"""protocol/schema.json: up to date, a JSON Schema, and of one mind with the vectors."""

import json
from typing import Any

import jsonschema_rs
import pytest

from farside.wire.messages import COMMANDS, EVENTS, RESULTS
from farside.wire.schema import errors, main, schema
from farside.wire.values import escape
from server.tests.vectors import PROTOCOL, messages

SCHEMA: dict[str, Any] = json.loads((PROTOCOL / "schema.json").read_text())


def test_the_files_are_what_the_code_says() -> None:
    assert main(["--check"]) == 0
    assert schema() == SCHEMA
    assert json.loads((PROTOCOL / "errors.json").read_text()) == errors()


def test_is_a_json_schema() -> None:
    jsonschema_rs.meta.validate(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    for name in SCHEMA["$defs"]:
        validator({"$ref": f"#/$defs/{name}"})


def test_covers_every_command_and_event() -> None:
    assert SCHEMA["commands"].keys() == COMMANDS.keys() == RESULTS.keys()
    assert SCHEMA["events"].keys() == EVENTS.keys()


def validator(shape: dict[str, Any]) -> Any:
    return jsonschema_rs.validator_for({**shape, "$defs": SCHEMA["$defs"]})


@pytest.mark.parametrize("entry", messages("valid"))
def test_takes_valid_commands(entry: Any) -> None:
    message = escape(entry["message"])
    validator({"$ref": "#/$defs/Command"}).validate(message)
    validator(SCHEMA["commands"][message["method"]]["params"]).validate(message.get("params", {}))


@pytest.mark.parametrize("entry", messages("invalid"))
def test_takes_no_invalid_command(entry: Any) -> None:
    message = escape(entry["message"])
    if entry["code"] == "unknown_command":
        assert message["method"] not in SCHEMA["commands"]
        return
    fits = validator({"$ref": "#/$defs/Command"}).is_valid(message) and (
        validator(SCHEMA["commands"][message["method"]]["params"]).is_valid(message["params"])
    )
    assert fits == entry.get("fits_schema", False)


@pytest.mark.parametrize("entry", messages("server"))
def test_takes_the_servers_messages(entry: Any) -> None:
    message = escape(entry["message"])
    envelope = {"success": "SuccessReply", "error": "ErrorReply", "event": "Event", "ping": "Ping"}[message["type"]]
    validator({"$ref": f"#/$defs/{envelope}"}).validate(message)
    if message["type"] == "success":
        validator(SCHEMA["commands"][entry["method"]]["result"]).validate(message["result"])
    elif message["type"] == "event":
        validator(SCHEMA["events"][message["method"]]).validate(message["params"]["data"])
