"""What a thread's metadata may be, how members are merged into it, and how threads are found by it.

Metadata are plain values by name (protocol/README.md, "Values"), made by clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import blake2b
from typing import Annotated, Any, cast

from pydantic import AfterValidator

from farside.errors import FarsideError
from farside.wire.codec import MESSAGEPACK
from farside.wire.values import Limits

MAX_BYTES = 65_536
"""How large the metadata of one thread may be, as MessagePack."""

MAX_LABELS = 256
"""How many members they may have, those of inner objects included."""

_LIMITS = Limits(frame_bytes=MAX_BYTES, depth=64, items=MAX_BYTES)


def checked(metadata: dict[str, Any]) -> dict[str, Any]:
    """The same metadata, if a thread may have them.

    Raises:
        FarsideError: ``too_large``, or what the data model refuses.
    """
    try:
        MESSAGEPACK.encode(metadata, _LIMITS)
    except FarsideError as error:
        if error.code != "too_large":
            raise
        raise _too_large() from None
    if len(labels(metadata)) > MAX_LABELS:
        raise _too_large()
    return metadata


Metadata = Annotated[dict[str, Any], AfterValidator(checked)]
"""Metadata in a message. Larger ones are refused with ``too_large``."""


def merged(metadata: Mapping[str, Any], members: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata with these members; one that was there is replaced as a whole. Raises as :func:`checked`."""
    return checked({**metadata, **members})


def labels(metadata: Mapping[str, Any]) -> frozenset[bytes]:
    """A short name for each fact in the metadata: that a member, also of an inner object, has a value.

    A thread fits a filter when it has all labels of the filter: an object fits when it has the filter's members, any
    other value when it equals the filter's. Stores keep labels, so a fact has the same label for ever.
    """
    return frozenset(
        blake2b(MESSAGEPACK.encode([path, value]), digest_size=16).digest() for path, value in _facts([], metadata)
    )


def _facts(path: list[str], members: Mapping[str, Any]) -> Iterator[tuple[list[str], Any]]:
    for name, value in members.items():
        here = [*path, name]
        if isinstance(value, dict):
            yield here, {}
            yield from _facts(here, cast("dict[str, Any]", value))
        else:
            yield here, _canonical(value)


def _canonical(value: Any) -> Any:
    """Equal values are encoded alike: ``1.0`` equals ``1``, and the order of keys means nothing."""
    match value:
        case float() if value.is_integer():
            return int(value)
        case list():
            return [_canonical(item) for item in cast("list[Any]", value)]
        case dict():
            members = cast("dict[str, Any]", value)
            return {name: _canonical(members[name]) for name in sorted(members)}
        case _:
            return value


def _too_large() -> FarsideError:
    return FarsideError(
        "too_large",
        f"expected metadata of at most {MAX_BYTES} bytes and {MAX_LABELS} members for one thread; "
        "keep what is larger in the agent's state",
    )
