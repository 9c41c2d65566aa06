"""Messages as clients write them, and as they see them."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic_ai import BinaryContent, ModelRequest, ModelResponse, UserContent
from pydantic_ai.messages import (
    FilePart,
    ModelResponsePart,
    NativeToolCallPart,
    NativeToolReturnPart,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
)

from farside.errors import FarsideError
from farside.pydantic_ai.kept import Kept
from farside.pydantic_ai.plain import plain

Content = str | Sequence[UserContent]


@dataclass(frozen=True, slots=True)
class Said:
    """A message of the user's."""

    id: str
    content: Content


def said_in(input: Any) -> list[Said]:
    """The user's messages in a run's input ``{"messages": [...]}``.

    Raises:
        FarsideError: ``invalid_argument``: there are none, or others than the user's, whose author is not the client.
    """
    found: Any = cast("dict[str, Any]", input).get("messages") if isinstance(input, dict) else None
    messages = [cast("dict[str, Any]", each) for each in cast("list[Any]", found or []) if isinstance(each, dict)]
    roles = [message.get("type", message.get("role")) for message in messages]
    if not messages or not {"human", "user"}.issuperset(roles):
        raise _unfit("input", 'expected {"messages": [...]} with messages of type "human"', roles or input)
    return [Said(str(message.get("id", "")), _content(message.get("content"))) for message in messages]


def prompt(said: Sequence[Said]) -> Content:
    """What the user said, as the prompt of a run."""
    if len(said) == 1:
        return said[0].content
    return [part for each in said for part in ([each.content] if isinstance(each.content, str) else each.content)]


def request(said: Iterable[Said]) -> ModelRequest:
    """What the user said, as a message of a history."""
    return ModelRequest(parts=[UserPromptPart(each.content) for each in said])


def spoken(message: ModelRequest, said: Sequence[Said]) -> ModelRequest:
    """The request in which the model was told what the user said, with each message of the user's for itself."""
    if len(said) < 2:
        return message
    others = [part for part in message.parts if not isinstance(part, UserPromptPart)]
    return replace(message, parts=[*others, *(UserPromptPart(each.content) for each in said)])


def shown(history: Iterable[Kept]) -> Iterator[dict[str, Any]]:
    """The messages as clients see them: what the user, the model and the tools said, in LangChain's shape."""
    for kept in history:
        if isinstance(kept.message, ModelResponse):
            yield _ai(kept.message, kept.ids[0])
            continue
        prompts = [part for part in kept.message.parts if isinstance(part, UserPromptPart)]
        for part in kept.message.parts:
            if isinstance(part, ToolReturnPart):
                yield tool_message(part)
        for message_id, part in zip(kept.ids, prompts, strict=False):
            yield {"type": "human", "id": message_id, "content": _shown_content(part.content)}


def block(part: ModelResponsePart) -> dict[str, Any] | None:
    """A part of a model's message as a content block, None where there is nothing to show."""
    match part:
        case TextPart():
            return {"type": "text", "text": part.content}
        case ThinkingPart():
            return {"type": "reasoning", "reasoning": part.content}
        case ToolCallPart():
            return _call(part)
        case NativeToolCallPart():
            return {**_call(part), "type": "server_tool_call"}
        case NativeToolReturnPart():
            return {"type": "server_tool_result", "tool_call_id": part.tool_call_id, "output": plain(part.content)}
        case FilePart():
            return _file(part.content)
        case _:
            return None


def tool_message(part: ToolReturnPart) -> dict[str, Any]:
    """A tool's return."""
    return {
        "type": "tool",
        "tool_call_id": part.tool_call_id,
        "name": part.tool_name,
        "content": text_of(part),
        "status": "success" if part.outcome == "success" else "error",
    }


def text_of(part: ToolReturnPart) -> str:
    """A tool's return as a text: a string as it is, any other value as JSON."""
    value = plain(part.content)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def args_of(call: ToolCallPart | NativeToolCallPart) -> dict[str, Any] | None:
    """The arguments in plain values, None when they are no JSON object."""
    try:
        return plain(call.args_as_dict(raise_if_invalid=True))
    except (ValueError, AssertionError):
        return None


def _ai(message: ModelResponse, message_id: str) -> dict[str, Any]:
    blocks = [shown for part in message.parts if (shown := block(part)) is not None]
    calls = [each for each in blocks if each["type"] == "tool_call"]
    others = [each for each in blocks if each["type"] not in ("tool_call", "invalid_tool_call")]
    is_text = all(each["type"] == "text" for each in others)
    content = "".join(each["text"] for each in others) if is_text else others
    return {"type": "ai", "id": message_id, "content": content, "tool_calls": calls}


def _call(call: ToolCallPart | NativeToolCallPart) -> dict[str, Any]:
    head = {"id": call.tool_call_id, "name": call.tool_name}
    args = args_of(call)
    if args is None:
        return {"type": "invalid_tool_call", **head, "args": str(call.args), "error": "no JSON object"}
    return {"type": "tool_call", **head, "args": args}


def _shown_content(content: Content) -> Any:
    if isinstance(content, str):
        return content
    return [{"type": "text", "text": each} if isinstance(each, str) else _file(each) for each in content]


def _file(content: Any) -> dict[str, Any]:
    if isinstance(content, BinaryContent):
        kind = content.media_type.partition("/")[0]
        block_type = kind if kind in ("image", "audio", "video") else "file"
        return {"type": block_type, "mime_type": content.media_type, "base64": content.base64}
    return {"type": "non_standard", "value": plain(content)}


def _content(given: Any) -> Content:
    """A message's content: a text, or blocks of text and of files that the message holds itself."""
    if isinstance(given, str):
        return given
    if not isinstance(given, list):
        raise _unfit("content", "expected a text or a list of content blocks", given)
    return [_part(each) for each in cast("list[Any]", given)]


def _part(given: Any) -> UserContent:
    match given:
        case str():
            return given
        case {"type": "text", "text": str(text)}:
            return text
        case {"mime_type": str(media_type), "base64": str(data)}:
            return BinaryContent(_bytes(data), media_type=media_type)
        case {"mime_type": str(media_type), "data": bytes(data)}:
            return BinaryContent(data, media_type=media_type)
        case _:
            raise _unfit("content", 'expected blocks of type "text", or with "mime_type" and "base64"', given)


def _bytes(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise _unfit("content", "expected base64", data) from None


def _unfit(where: str, expected: str, got: Any) -> FarsideError:
    return FarsideError("invalid_argument", f"{where}: {expected}, got {got!r:.200}")
