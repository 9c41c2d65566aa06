"""Write protocol/schema.json and protocol/errors.json from the Python models: ``python -m farside.wire.schema``.

With ``--check`` nothing is written; the exit code is 1 when a file differs.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import models_json_schema

from farside.errors import CODES
from farside.wire import messages


def schema() -> dict[str, Any]:
    """The JSON Schema of every message: ``$defs`` by model name, and which belongs to which method."""
    models = [
        value
        for value in vars(messages).values()
        if isinstance(value, type) and issubclass(value, messages.Model) and value is not messages.Model
    ]
    _, definitions = models_json_schema([(model, "validation") for model in models])
    defs: dict[str, Any] = definitions["$defs"]
    for model in defs.values():
        _drop_titles(model)
    unions: dict[str, Any] = {
        "ToolResult": messages.ToolResult,
        "CallsData": messages.CallsData,
        "MessagesData": messages.MessagesData,
        "ToolsData": messages.ToolsData,
        "TasksData": messages.TasksData,
    }
    for name, union in unions.items():
        adapter: TypeAdapter[Any] = TypeAdapter(union)
        shape = adapter.json_schema(ref_template="#/$defs/{model}")
        shape.pop("$defs", None)
        defs[name] = shape
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "farside.v1",
        "description": "The messages of the farside protocol; README.md beside this file says what they mean.",
        "commands": {
            method: {
                "params": {"$ref": f"#/$defs/{params.__name__}"},
                "result": {"$ref": f"#/$defs/{messages.RESULTS[method].__name__}"},
                "farside": method in messages.OURS,
            }
            for method, params in messages.COMMANDS.items()
        },
        "events": {method: _event_ref(data, unions) for method, data in messages.EVENTS.items()},
        "$defs": dict(sorted(defs.items())),
    }


def errors() -> dict[str, Any]:
    """The catalogue of error codes."""
    return {
        name: {
            "family": code.family,
            "meaning": code.meaning,
            "retryable": code.retryable,
            "official": code.official,
        }
        for name, code in CODES.items()
    }


def _event_ref(data: Any, unions: dict[str, Any]) -> dict[str, Any]:
    for name, union in unions.items():
        if data is union:
            return {"$ref": f"#/$defs/{name}"}
    if isinstance(data, type) and issubclass(data, messages.Model):
        return {"$ref": f"#/$defs/{data.__name__}"}
    return {"type": "object"}


def _drop_titles(model: dict[str, Any]) -> None:
    model.pop("title", None)
    for field in model.get("properties", {}).values():
        field.pop("title", None)


def main(arguments: list[str]) -> int:
    """Write or check both files below ``protocol/`` of the checkout; returns the exit code."""
    folder = Path(__file__).resolve().parents[3] / "protocol"
    stale: list[str] = []
    for name, content in (("schema.json", schema()), ("errors.json", errors())):
        text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
        path = folder / name
        if "--check" not in arguments:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            stale.append(name)
    if stale:
        print(f"stale: protocol/{', protocol/'.join(stale)}; run `make generate`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
