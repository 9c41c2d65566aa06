"""Who is offered a call: pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Presence:
    """What a client said about itself, and when it last did something.

    ``visible`` is False as well for an event stream that takes calls only if its page has no other.

    ``tools``: the permissions that each implemented tool needs, by tool name; None: it did not say (a plain connection,
    which may implement any). ``denied``: the permissions that its browser refuses. ``active``: grows with the order of
    what clients do. ``fingerprints``: of the schemas that its tools were made for, by tool name, as far as it said.
    """

    client_id: str
    tools: Mapping[str, frozenset[str]] | None = None
    denied: frozenset[str] = field(default_factory=frozenset[str])
    visible: bool = True
    focused: bool = False
    active: int = 0
    fingerprints: Mapping[str, str] = field(default_factory=dict[str, str])

    def implements(self, tool: str, fingerprint: str | None = None) -> bool:
        """Whether the client has the tool, as far as it said.

        Args:
            fingerprint: of the schemas that the tool must have been made for, None for any.
        """
        has = self.tools is None or tool in self.tools
        return has and (fingerprint is None or self.fingerprints.get(tool, fingerprint) == fingerprint)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A client's tool that was made for other schemas than the server's: the fingerprints of both."""

    name: str
    fingerprint: str
    expected: str

    def as_dict(self) -> dict[str, str]:
        """As it travels."""
        return {"name": self.name, "fingerprint": self.fingerprint, "expected": self.expected}


def choose(
    tool: str,
    clients: Iterable[Presence],
    starter: str | None,
    passed: AbstractSet[str] = frozenset(),
    fingerprint: str | None = None,
) -> Presence | None:
    """The client that is offered a call of this tool, None when nobody can take it.

    First the one that started the run, then who has the focus, is visible, was active last. One whose browser denies a
    permission that the tool needs comes after all others: where it is the only one, its error says why the tool failed.
    One that said which tools it has comes before one that did not.

    Args:
        starter: the client that started the run.
        passed: clients that declined the call, or did not take it in time.
        fingerprint: of the tool's schemas: who has announced another one is not offered the call. None for any.
    """
    able = [each for each in clients if each.implements(tool, fingerprint) and each.client_id not in passed]

    def rank(client: Presence) -> tuple[bool, bool, bool, bool, bool, int]:
        allowed = client.tools is None or not client.tools[tool] & client.denied
        knows = client.tools is not None
        return allowed, client.client_id == starter, knows, client.focused, client.visible, client.active

    return max(able, key=rank, default=None)
