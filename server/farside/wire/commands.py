"""Reading commands: an untrusted value becomes a checked command, or an error that says what was expected."""

from __future__ import annotations

from typing import Any, cast

from pydantic import TypeAdapter, ValidationError

from farside.errors import FarsideError
from farside.wire.messages import COMMANDS, Command, CommandId, Model

_ID: TypeAdapter[int] = TypeAdapter(CommandId, config={"strict": True})


def command_id_of(message: Any) -> int | None:
    """The id of what may be a command, None when it cannot be read."""
    if isinstance(message, dict):
        try:
            return _ID.validate_python(cast("dict[str, Any]", message).get("id"))
        except ValidationError:
            pass
    return None


def parse_command(message: Any) -> Command:
    """Check the envelope.

    Raises:
        FarsideError: ``invalid_argument``.
    """
    try:
        return Command.model_validate(message)
    except ValidationError as error:
        raise explain("a command {id, method, params}", error) from None


def parse_params(command: Command) -> Model:
    """Check the parameters by the command's method.

    Raises:
        FarsideError: ``unknown_command`` or ``invalid_argument``.
    """
    shape = COMMANDS.get(command.method)
    if shape is None:
        message = f"expected one of {', '.join(COMMANDS)}; got {command.method[:100]!r}"
        raise FarsideError("unknown_command", message)
    try:
        return shape.model_validate(command.params)
    except ValidationError as error:
        raise explain(f"params of {command.method}", error) from None


def explain(expected: str, error: ValidationError) -> FarsideError:
    """``invalid_argument``: what was expected, and what is wrong with what came."""
    found = error.errors(include_url=False, include_context=False, include_input=False)[:5]
    problems = [f"{'.'.join(map(str, problem['loc']))[:100] or 'message'}: {problem['msg'][:300]}" for problem in found]
    return FarsideError("invalid_argument", f"expected {expected}; {'; '.join(problems)}")
