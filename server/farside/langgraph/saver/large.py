"""Large values: they are stored apart, once a thread, however many checkpoints, writes and messages hold them."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from operator import is_
from typing import Any, NamedTuple, cast

from langchain_core.messages import BaseMessage
from langgraph.checkpoint.serde.base import SerializerProtocol

SIZE = 16 * 1024
"""From how many characters or bytes on a value is large."""

_DEPTH = 64
"""How deep in a value large ones are looked for."""

_MARK = "farside-large:"

_PROBE = b"as it is"


class Encoded(NamedTuple):
    """What was made of a value: a serializer's type and bytes, and what was taken out before it saw the value.

    ``large``: the digests of that, as a JSON array; None for nothing. ``values``: the contents by digest.
    """

    type: str
    value: bytes
    large: str | None
    values: Mapping[str, bytes]


def encode(serde: SerializerProtocol, value: Any) -> Encoded:
    """Encode a value without its large texts and bytes.

    They are found in dicts, lists, tuples and messages. Base64, as which LangChain's content blocks hold media, is
    decoded, so that it is the same as the bytes that it was made of. None is taken out if the serializer encrypts: what
    is taken out is stored as it is.
    """
    kind, encoded = serde.dumps_typed(value)
    if len(encoded) < SIZE or not _keeps_bytes(serde):  # looking into a value costs more than encoding it
        return Encoded(kind, encoded, None, {})
    values: dict[str, bytes] = {}

    def taken(leaf: str | bytes) -> str | bytes:
        if len(leaf) < SIZE and not (isinstance(leaf, str) and leaf.startswith(_MARK)):
            return leaf
        form, data = _plain(leaf)
        digest = hashlib.sha256(data).hexdigest()
        values[digest] = data
        return f"{_MARK}{form}:{digest}"

    without = _mapped(value, taken)
    if not values:
        return Encoded(kind, encoded, None, {})
    return Encoded(*serde.dumps_typed(without), json.dumps(list(values)), values)


def decode(serde: SerializerProtocol, kind: str, encoded: bytes, values: Mapping[str, bytes]) -> Any:
    """The value that was encoded, with what was taken out of it.

    A text that only looks like what stands for a large value is left alone: the serializer may make texts of what
    :func:`encode` did not look into, such as a str of a class of its own.
    """

    def filled(leaf: str | bytes) -> str | bytes:
        if isinstance(leaf, bytes) or not leaf.startswith(_MARK):
            return leaf
        form, _, digest = leaf.removeprefix(_MARK).partition(":")
        with suppress(LookupError, UnicodeDecodeError):
            return _FORMS[form](values[digest])
        return leaf

    value = serde.loads_typed((kind, encoded))
    return _mapped(value, filled) if values else value


_FORMS: dict[str, Callable[[bytes], str | bytes]] = {
    "bytes": bytes,
    "base64": lambda data: base64.b64encode(data).decode(),
    "text": lambda data: data.decode("utf-8", "surrogatepass"),
}


def _keeps_bytes(serde: SerializerProtocol) -> bool:
    """Whether a serializer leaves bytes as they are. If not, maybe because nobody else may read them."""
    try:
        return serde.dumps_typed(_PROBE) == ("bytes", _PROBE)
    except Exception:  # one that knows no bytes
        return False


def _plain(leaf: str | bytes) -> tuple[str, bytes]:
    """The bytes of a value, and the form of them that it has."""
    if isinstance(leaf, bytes):
        return "bytes", leaf
    if len(leaf) % 4 == 0:
        try:
            data = base64.b64decode(leaf, validate=True)
        except ValueError:
            pass
        else:
            if base64.b64encode(data).decode() == leaf:  # there are others that decode to the same
                return "base64", data
    return "text", leaf.encode("utf-8", "surrogatepass")


def _mapped(value: Any, change: Callable[[str | bytes], str | bytes], depth: int = _DEPTH) -> Any:
    """A value with its texts and bytes changed; the very same where nothing is."""
    kind = cast("type[Any]", type(value))
    if kind is str or kind is bytes:
        return change(value)
    if not depth:
        return value
    if kind is dict:
        changed = _changed(value, change, depth)
        return {**value, **changed} if changed else value
    if kind is list or kind is tuple:
        after: list[Any] = [_mapped(each, change, depth - 1) for each in value]
        if all(map(is_, after, value)):
            return value
        return after if kind is list else tuple(after)
    if isinstance(value, BaseMessage):
        changed = _changed(vars(value), change, depth)
        return value.model_copy(update=changed) if changed else value
    return value


def _changed(fields: Mapping[Any, Any], change: Callable[[str | bytes], str | bytes], depth: int) -> dict[Any, Any]:
    pairs = ((key, each, _mapped(each, change, depth - 1)) for key, each in fields.items())
    return {key: mapped for key, each, mapped in pairs if mapped is not each}
