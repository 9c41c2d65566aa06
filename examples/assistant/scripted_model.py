"""A chat model that follows a script, so that the example runs without an API key.

It understands the sentences of :data:`SENTENCES` and what resembles them, calls the browser's tools for them and puts
their results into words. Towards the agent it behaves as a provider's model does: it streams, it asks for several tools
in one message, and it refuses a conversation in which a tool call has no result.
"""

from __future__ import annotations

import asyncio
import json
import re
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.language_models.chat_models import generate_from_stream
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.tool import ToolCall, tool_call, tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.utils.function_calling import convert_to_openai_tool

SENTENCES = (
    "Where am I?",
    "Draw a chart of 3, 5, 2",
    "Copy Hello from the far side",
    "Paste",
    "Remember that the motto is small steps",
    "What is the motto?",
    "What do you remember?",
    "Where am I and draw a chart of 1, 4, 9",
    "Copy a word and paste it",
    "Help",
)
"""What the model surely understands; the page offers them."""


class InvalidHistoryError(ValueError):
    """A provider's model would refuse this conversation."""


class ScriptedModel(BaseChatModel):
    """The model.

    It keeps nothing: the newest user message says what is wanted, and what follows it says how far that is done.
    """

    pace: float = 0.02
    """Seconds between two pieces of a streamed message."""

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **kwargs: Any) -> Runnable[Any, AIMessage]:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        return generate_from_stream(self._stream(messages, stop, run_manager, **kwargs))

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> Iterator[ChatGenerationChunk]:
        for chunk in _chunks(reply(messages, _names(kwargs))):
            if run_manager is not None:
                run_manager.on_llm_new_token(str(chunk.message.text), chunk=chunk)
            yield chunk

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(reply(messages, _names(kwargs))):
            await asyncio.sleep(self.pace)
            if run_manager is not None:
                await run_manager.on_llm_new_token(str(chunk.message.text), chunk=chunk)
            yield chunk


def reply(messages: Sequence[BaseMessage], tools: frozenset[str]) -> AIMessage:
    """The next message of a conversation.

    Args:
        messages: the conversation so far.
        tools: the names of the tools that may be called.

    Raises:
        InvalidHistoryError: as :func:`check_history`.
    """
    check_history(messages)
    newest = max(place for place, message in enumerate(messages) if isinstance(message, HumanMessage))
    wishes = understand(messages[newest].text)
    waves = _waves([wish for wish in wishes if isinstance(wish, Call) and wish.tool in tools])
    results = {message.tool_call_id: message for message in messages[newest:] if isinstance(message, ToolMessage)}
    asked = [message for message in messages[newest:] if isinstance(message, AIMessage) and message.tool_calls]
    if len(asked) < len(waves):
        return _ask(waves[len(asked)])
    told = [_tell(call, results[cast("str", call["id"])]) for message in asked for call in message.tool_calls]
    told += [wish.text for wish in wishes if isinstance(wish, Remark)]
    told += [
        f"I have no tool `{wish.tool}` here." for wish in wishes if isinstance(wish, Call) and wish.tool not in tools
    ]
    return AIMessage("\n\n".join(told))


def check_history(messages: Sequence[BaseMessage]) -> None:
    """Accept what a provider accepts: a message with tool calls is followed by their results, one for each and nothing
    between, and it is the model's turn.

    Raises:
        InvalidHistoryError: says which message does not fit, and why.
    """
    waiting: set[str | None] = set()
    for place, message in enumerate(messages):
        if isinstance(message, ToolMessage):
            if message.tool_call_id not in waiting:
                raise InvalidHistoryError(
                    f"message {place}: a result of {message.tool_call_id!r}, which waits for none"
                )
            waiting.remove(message.tool_call_id)
            continue
        if waiting:
            raise InvalidHistoryError(
                f"message {place}: expected a result of {waiting} first, got a {message.type} message"
            )
        if isinstance(message, AIMessage):
            waiting = {call["id"] for call in message.tool_calls}
            if len(waiting) < len(message.tool_calls) or None in waiting:
                raise InvalidHistoryError(f"message {place}: expected tool calls with an id of their own")
    if waiting:
        raise InvalidHistoryError(f"expected a result of {waiting} at the end, got none")
    if not any(isinstance(message, HumanMessage) for message in messages):
        raise InvalidHistoryError("expected a user message, got none")
    if not isinstance(messages[-1], HumanMessage | ToolMessage):
        raise InvalidHistoryError(
            f"expected a user message or a tool result at the end, got a {messages[-1].type} message"
        )


# --- what the user wants ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Call:
    """A tool to be called."""

    tool: str
    args: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Remark:
    """Something to say that needs no tool."""

    text: str


Wish = Call | Remark


def understand(text: str) -> list[Wish]:
    """What a message asks for, in its order. Text in quotes stays together."""
    if len(text) > 2000:
        return [Remark("That is too much for a script: 2,000 characters are my limit.")]
    parts = _parts(text)
    wishes = [_wish(part) for part in parts]
    if len(parts) == 1:
        return [wish or Remark(_UNKNOWN) for wish in wishes]
    return [wish or Remark(f"I did not understand “{part}”.") for part, wish in zip(parts, wishes, strict=True)]


def _parts(text: str) -> list[str]:
    """The message, cut where a joint is followed by something that is a wish by itself."""
    text = text.strip()
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    joints = [joint for joint in _JOINT.finditer(text) if not any(a < joint.start() < b for a, b in quoted)][:50]
    ends = [*(joint.start() for joint in joints), len(text)]
    parts, begin = [], 0
    for number, joint in enumerate(joints):
        wishes = (_wish(text[joint.end() : end]) for end in ends[number + 1 :])
        if any(wish is not None and wish not in _ASIDES for wish in wishes):
            parts.append(text[begin : joint.start()])
            begin = joint.end()
    return [*parts, text[begin:]]


def _wish(text: str) -> Wish | None:
    text = _POLITE.sub("", text.strip())
    for pattern, make in _PATTERNS:
        if match := pattern.fullmatch(text):
            return make(match)
    return None


def _chart(match: re.Match[str]) -> Wish:
    numbers = [float(number) for number in _NUMBER.findall(match["numbers"])]
    if len(numbers) > 100:
        return Remark(f"A chart of {len(numbers)} numbers is too much for me; 100 is my limit.")
    args: dict[str, Any] = {"values": [int(number) if f"{number:g}".isdigit() else number for number in numbers]}
    if "line" in match[0].casefold().split(match["numbers"])[0]:
        args["kind"] = "line"
    if match["title"]:
        args["title"] = _unquoted(match["title"])
    return Call("draw_chart", args)


def _key(text: str) -> str:
    """What something is called, without the words that do not tell it from others."""
    return re.sub(r"^(?:my|the|an?|your|our)\s+", "", _unquoted(text), flags=re.IGNORECASE)


def _unquoted(text: str) -> str:
    text = text.strip()
    return text[1:-1] if _QUOTED.fullmatch(text) else text


_QUOTED = re.compile(r"\"[^\"]*\"|“[^”]*”|„[^“”]*[“”]|«[^»]*»|`[^`]*`")
_JOINT = re.compile(r"\s*[.,;!?\n]\s*(?:(?:and|then|also)\s+)*|\s+(?:(?:and|then|also)\s+)+", re.IGNORECASE)
_POLITE = re.compile(r"^(?:(?:please|now|can you|could you|would you|tell me),?\s+)+", re.IGNORECASE)
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?")

_GREETING = Remark("Hello! I have a few tools in your browser. Say “help” to see what I understand.")
_THANKS = Remark("You are welcome.")
_HELP = Remark(
    "I am a script, not a language model. These sentences I understand, and what resembles them:\n\n"
    + "\n".join(f"- {sentence}" for sentence in SENTENCES)
    + "\n\nSeveral at once are fine: join them with “and”. Put a text in quotes if it has an “and” of its own."
)
_ASIDES = (_GREETING, _THANKS, _HELP)
_UNKNOWN = "I did not understand that. " + _HELP.text

_WHICH_TEXT = Remark("Which text? Say for example: copy Hello from the far side.")
_WHICH_NUMBERS = Remark("Which numbers? Say for example: draw a chart of 3, 5, 2.")
_WHICH_FACT = Remark("What exactly? Say for example: remember that the motto is small steps.")


def _patterns(*rows: tuple[str, Callable[[re.Match[str]], Wish]]) -> list[tuple[re.Pattern[str], Any]]:
    return [(re.compile(pattern, re.IGNORECASE | re.DOTALL), make) for pattern, make in rows]


_NUMBERS = r"(?P<numbers>[-+]?\d+(?:\.\d+)?(?:(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+|\s+)[-+]?\d+(?:\.\d+)?)*)"
_TITLE = r"(?:,?\s+(?:titled|called|named|with the title)\s+(?P<title>.+?))?"
_CHART = r"(?:draw|plot|chart|graph|(?:make|show|create)(?: me)? an?(?: bar| line)? (?:chart|graph))"
_IS = r"(?: is|['\u2019]s)"
_END = r"[\s.!?]*"

_PATTERNS = _patterns(
    (rf"(?:help|what can (?:you do|i say|i ask)(?: here)?|how does this work){_END}|\?+", lambda _: _HELP),
    (rf"(?:hi|hello|hey)(?: there)?{_END}", lambda _: _GREETING),
    (rf"(?:thanks|thank you)(?: (?:very|so) much)?{_END}", lambda _: _THANKS),
    (
        rf"(?:where (?:am i|are we|i am)|locate me|(?:what{_IS} )?my (?:current )?(?:location|position))"
        rf"(?: (?:right )?now)?{_END}",
        lambda _: Call("get_location"),
    ),
    (
        r"(?:paste(?: (?:it|that|this|here))?(?: from (?:my|the) clipboard)?|(?:read|show)(?: me)? (?:my|the) clipboard"
        rf"|what{_IS} (?:on|in) (?:my|the) clipboard){_END}",
        lambda _: Call("paste_text"),
    ),
    (rf"copy{_END}", lambda _: _WHICH_TEXT),
    (
        r"copy\s+(?:this:\s*)?(?P<text>.+?)(?:\s+(?:to|into|onto) (?:my|the) clipboard)?\s*",
        lambda match: Call("copy_text", {"text": _unquoted(match["text"])}),
    ),
    (
        rf"(?:what do you (?:remember|know)|recall(?: everything)?|show(?: me)? what you remember){_END}",
        lambda _: Call("recall"),
    ),
    (
        rf"remember\s+(?:that\s+)?(?P<key>.+?)(?:\s+(?:is|are)\s+|\s*[=:]\s*)(?P<value>.+?){_END}",
        lambda match: Call("remember", {"key": _key(match["key"]), "value": _unquoted(match["value"])}),
    ),
    (r"remember\b.*", lambda _: _WHICH_FACT),
    (
        rf"{_CHART}(?: me)?(?: an?| the)?(?: bar| line)?(?: chart| graph| line)?(?: of| with| for|:)?"
        rf"(?: the)?(?: numbers| values)?[\s:]*{_NUMBERS}{_TITLE}{_END}",
        _chart,
    ),
    (rf"{_CHART}(?: me)?(?: an?| the)?(?: bar| line)?(?: chart| graph)?(?: of\b.*)?{_END}", lambda _: _WHICH_NUMBERS),
    (
        rf"(?:(?:what|who|where|when)(?: are|{_IS})|recall|do you (?:remember|know))\s+(?P<key>.+?){_END}",
        lambda match: Call("recall", {"key": _key(match["key"])}),
    ),
)
"""What a wish looks like; the first that fits counts."""


# --- asking the tools ------------------------------------------------------------------------------------------

_RESOURCES = {"copy_text": "clipboard", "paste_text": "clipboard", "remember": "memory", "recall": "memory"}
_WRITING = frozenset({"copy_text", "remember"})

_DOING = {
    "get_location": "looking where you are",
    "copy_text": "copying the text",
    "paste_text": "looking at your clipboard",
    "remember": "making a note",
    "recall": "looking through my notes",
    "draw_chart": "drawing the chart",
}


def _waves(calls: Sequence[Call]) -> list[list[Call]]:
    """The calls in groups, one group for each message: what needs the outcome of another call comes after it."""
    waves: list[list[Call]] = []
    for call in calls:
        needs = [number for number, wave in enumerate(waves) if any(_needs(call, earlier) for earlier in wave)]
        place = max(needs, default=-1) + 1
        if place == len(waves):
            waves.append([])
        waves[place].append(call)
    return waves


def _needs(call: Call, earlier: Call) -> bool:
    resource = _RESOURCES.get(call.tool)
    writes = call.tool in _WRITING or earlier.tool in _WRITING
    return resource is not None and resource == _RESOURCES.get(earlier.tool) and writes


def _ask(calls: Sequence[Call]) -> AIMessage:
    doing = _listed(list(dict.fromkeys(_DOING[call.tool] for call in calls)))
    return AIMessage(
        f"{doing[0].upper()}{doing[1:]}.",
        tool_calls=[tool_call(name=call.tool, args=call.args, id=f"call_{uuid.uuid4().hex}") for call in calls],
    )


def _names(kwargs: dict[str, Any]) -> frozenset[str]:
    return frozenset(tool["function"]["name"] for tool in kwargs.get("tools", ()))


def _chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """The message in the pieces in which it is streamed."""
    for piece in re.findall(r"\s*\S+\s*?|\s+", message.text):
        yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
    for index, call in enumerate(message.tool_calls):
        for chunk in (
            tool_call_chunk(name=call["name"], args="", id=call["id"], index=index),
            tool_call_chunk(args=json.dumps(call["args"]), index=index),
        ):
            yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[chunk]))


# --- telling what they answered --------------------------------------------------------------------------------


def _tell(call: ToolCall, result: ToolMessage) -> str:
    """What came of a call, in words."""
    name, args = call["name"], call["args"]
    if result.status == "error":
        found = re.fullmatch(r"Error \((?P<code>\w+)\): (?P<message>.*)", result.text, re.DOTALL)
        return _tell_failure(name, *(found.groups() if found else ("failed", result.text)))
    try:
        return _TELLING[name](args, json.loads(result.text))
    except (ValueError, KeyError, TypeError):
        return f"The tool `{name}` answered: {result.text}"


def _tell_location(args: dict[str, Any], value: dict[str, Any]) -> str:
    latitude, longitude, accuracy = value["latitude"], value["longitude"], value["accuracy"]
    place = f"{abs(latitude):.4f}° {'NS'[latitude < 0]}, {abs(longitude):.4f}° {'EW'[longitude < 0]}"
    metres = f"{accuracy:.0f} metres" if accuracy < 1000 else f"{accuracy / 1000:.1f} kilometres"
    return f"You are at **{place}**, give or take {metres}."


def _tell_copied(args: dict[str, Any], value: dict[str, Any]) -> str:
    return f"I put “{_short(args['text'])}” on your clipboard."


def _tell_pasted(args: dict[str, Any], value: dict[str, Any]) -> str:
    if not value["text"]:
        return "There is no text on your clipboard."
    cut = " It is longer than that; this is its beginning." if value["truncated"] else ""
    return f"On your clipboard is “{_short(value['text'])}”.{cut}"


def _tell_remembered(args: dict[str, Any], value: dict[str, Any]) -> str:
    return f"I will remember that **{value['key']}** is **{value['value']}**."


def _tell_recalled(args: dict[str, Any], value: dict[str, Any]) -> str:
    entries = value["entries"]
    if not entries and args.get("key"):
        return f"I know nothing about **{args['key']}**. Say: remember that {args['key']} is …"
    if not entries:
        return "I remember nothing yet. Say for example: remember that the motto is small steps."
    if args.get("key"):
        return f"**{entries[0]['key']}** is **{entries[0]['value']}**."
    return "I remember:\n\n" + "\n".join(f"- **{entry['key']}** is {entry['value']}" for entry in entries)


def _tell_chart(args: dict[str, Any], value: dict[str, Any]) -> str:
    numbers = [f"{number:g}" for number in args["values"]]
    of = _listed(numbers) if len(numbers) <= 12 else f"{len(numbers)} numbers"
    return f"Here is a {args.get('kind', 'bar')} chart of {of}, {value['width']} by {value['height']} pixels."


_TELLING: dict[str, Callable[[dict[str, Any], Any], str]] = {
    "get_location": _tell_location,
    "copy_text": _tell_copied,
    "paste_text": _tell_pasted,
    "remember": _tell_remembered,
    "recall": _tell_recalled,
    "draw_chart": _tell_chart,
}

_AIMS = {
    "get_location": "find out where you are",
    "copy_text": "copy the text",
    "paste_text": "read your clipboard",
    "remember": "make a note",
    "recall": "look through my notes",
    "draw_chart": "draw the chart",
}
_PERMISSIONS = {"get_location": "your location", "copy_text": "the clipboard", "paste_text": "the clipboard"}


def _tell_failure(name: str, code: str, message: str) -> str:
    """Why a call has no value, and what to do about it."""
    aim = _AIMS.get(name, f"use the tool `{name}`")
    match code:
        case "permission_denied":
            what = _PERMISSIONS.get(name, "what it needs")
            return (
                f"I could not {aim}: permission was denied. "
                f"Allow this page to use {what} in the browser's site settings, then ask again."
            )
        case "needs_gesture":
            return f"I could not {aim}: the browser wants a click on the page first. Click, then ask again."
        case "timed_out":
            return f"I could not {aim}: it took too long. Ask again when you like."
        case "not_implemented":
            return f"I could not {aim}: no open page can do that. Reload the page, then ask again."
        case "unsupported":
            return f"I could not {aim}: this browser is not able to. ({message})"
        case "dismissed":
            return f"I did not {aim}: you dismissed the request."
        case "cancelled":
            return f"I did not {aim}: that was called off."
        case "interrupted":
            return f"I do not know whether I could {aim}: the page went away in the middle. Look, and ask again if not."
        case _:
            return f"I could not {aim}: {message}"


def _short(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]}…"


def _listed(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"
