"""Which events a subscription sees: by channel, by namespace prefix, by depth (Agent Streaming Protocol)."""

from __future__ import annotations

from dataclasses import dataclass

from farside.core.model import Event
from farside.wire.messages import MISSING, SubscribeParams


@dataclass(frozen=True, slots=True)
class Subscription:
    """A connection's interest. ``prefixes`` None: every namespace; ``depth`` None: any depth below a prefix.

    A filter without any namespace takes all of them, as the official clients' own filters do.
    """

    id: str
    channels: frozenset[str]
    prefixes: tuple[tuple[str, ...], ...] | None = None
    depth: int | None = None

    @classmethod
    def of(cls, subscription_id: str, params: SubscribeParams) -> Subscription:
        """The subscription that a command asks for."""
        return cls(
            id=subscription_id,
            channels=frozenset(params.channels),
            prefixes=None if params.namespaces is MISSING else tuple(tuple(path) for path in params.namespaces) or None,
            depth=None if params.depth is MISSING else params.depth,
        )

    def wants(self, method: str) -> bool:
        """Whether events of this method can match at all."""
        return channel_of(method) in self.channels or (method == "custom" and self._named_custom())

    def matches(self, event: Event) -> bool:
        """Whether the event is for this subscription."""
        if channel_of(event.method) not in self.channels and not self._matches_custom(event):
            return False
        prefixes = self.prefixes if self.prefixes is not None else ((),)
        return any(self._below(event.namespace, prefix) for prefix in prefixes)

    def _below(self, namespace: tuple[str, ...], prefix: tuple[str, ...]) -> bool:
        below = len(namespace) - len(prefix)
        if below < 0 or not all(map(_is_named, namespace, prefix)):
            return False
        return self.depth is None or below <= self.depth

    def _named_custom(self) -> bool:
        return any(channel.startswith("custom:") for channel in self.channels)

    def _matches_custom(self, event: Event) -> bool:
        return event.method == "custom" and f"custom:{event.data.get('name', '')}" in self.channels


def _is_named(segment: str, wanted: str) -> bool:
    """Whether a filter's segment names an event's: as it is, or by the node alone, without the task behind the colon.

    The official clients' filters name nodes, since a client cannot know the ids of tasks.
    """
    return segment == wanted or (":" not in wanted and segment.partition(":")[0] == wanted)


def channel_of(method: str) -> str:
    """The channel that carries events of this method."""
    return "input" if method == "input.requested" else method
