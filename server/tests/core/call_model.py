"""A world of one call, the server and two pages: which steps each state has, and what must hold in it.

The server is the real :func:`farside.core.calls.transition` and :func:`farside.core.routing.choose`, used as the engine
uses them. Time is abstract: what may end by itself may end at any moment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

from farside.core.calls import (
    Action,
    Cancel,
    Change,
    Claim,
    Leave,
    Offer,
    Release,
    Restart,
    Return,
    Settle,
    Tick,
    transition,
)
from farside.core.model import Call, failure
from farside.core.routing import Presence, choose
from farside.errors import FarsideError
from server.tests.core import page_model
from server.tests.core.page_model import LEASE_MS, Kind, Line, Message, Page, Reply, Shown, Told
from server.tests.samples import NOW, call

Transition = Callable[[Call, Action, int], Change]

CLAIM_MS, GRACE_MS = 5_000, 10_000
SOON, LATE = NOW + 1, NOW + 10**9
TOOLS: dict[str, frozenset[str]] = {"get_location": frozenset()}
NOBODY = failure("interrupted", "nobody has answered")


class Broken(Exception):  # noqa: N818 - what the search looks for
    """A law does not hold."""


class NoArgs(dict[str, Any]):
    """Empty, and hashable, as all of a state must be."""

    def __hash__(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        return 0


class Faults(NamedTuple):
    """How much may still go wrong: pages that crash, connections that are lost, restarts of the server, offers that a
    page declines, and times that a page sleeps through."""

    crashes: int = 0
    cuts: int = 0
    restarts: int = 0
    declines: int = 0
    naps: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{count} {kind}" for kind, count in self._asdict().items() if count) or "nothing"


class World(NamedTuple):
    """Everything there is. ``starts``: how often the body of a call that may run only once has begun."""

    call: Call
    pages: tuple[Page, Page]
    faults: Faults
    passed: frozenset[str] = frozenset()
    starts: int = 0

    def put(self, page: Page) -> World:
        """The world with this page in the place of the one of its name."""
        first, second = self.pages
        return self._replace(pages=(page, second) if page.name == first.name else (first, page))

    @property
    def is_untouched(self) -> bool:
        """Whether the call may run only once, its body has never begun, and nothing has ended it."""
        return not self.call.idempotent and self.starts == 0 and not self.call.ended

    def lines(self) -> Iterator[Line]:
        """The connections that the server takes to be there."""
        for page in self.pages:
            yield from (line for line in (page.line, page.stale) if line is not None)

    def describe(self) -> str:
        """The state in a line."""
        pages = "; ".join(f"{page.name} ({page.client_id}) {page.phase} {page.claim_id or ''}" for page in self.pages)
        return f"{self.call.state}, {self.call.client_id} has it as {self.call.claim_id}; {pages}"


class Step(NamedTuple):
    """Something that may happen. ``is_fair``: it does happen some day, if nothing else does. ``is_return``: it does if
    no page stays away."""

    what: str
    is_fair: bool
    after: World
    is_return: bool = False


def beginning(idempotent: bool, kinds: tuple[Kind, Kind], faults: Faults) -> World:
    """Two pages are there; no call has been offered to anybody."""
    opened = call(args=NoArgs(), idempotent=idempotent, deadline=LATE)
    first, second = (Page(name, kind, name, "open", line=Line(name)) for name, kind in zip("ab", kinds, strict=True))
    return World(opened, (first, second), faults)


class Model:
    """The steps of the world.

    Args:
        transition: the real one, or one with a fault that the search must find.
        unread: how many messages a page may leave unread while the server goes on; None for any number. A page that
            reads late is like one that sends late, and what pages send may always be late: so few will do.
    """

    def __init__(self, transition: Transition = transition, *, unread: int | None = 0) -> None:
        self._transition = transition
        self._unread = unread
        self._known: dict[tuple[Call, Action, int], tuple[Change, Call] | FarsideError] = {}

    def steps(self, world: World) -> Iterator[Step]:
        """All that may happen next."""
        goes_on = self._unread is None or all(
            page.line is None or len(page.line.down) <= self._unread for page in world.pages
        )
        if goes_on:
            yield from self._time_steps(world)
        for page in world.pages:
            if goes_on:
                yield from self._line_steps(world, page)
            yield from self._page_steps(world, page)
            yield from self._fault_steps(world, page)

    # --- what may happen ---

    def _time_steps(self, world: World) -> Iterator[Step]:
        faults = world.faults
        if world.call.state == "open" and (offered := self._offered(world)) != world:
            yield Step("the call is offered", True, offered)
        if world.call.lease_until is not None:
            what = f"the time of the {world.call.state} call ends"
            if not _is_kept(world):
                yield Step(what, True, self._time_ended(world))
            elif faults.naps:
                less = faults._replace(naps=faults.naps - 1)
                yield Step(f"{what} while its page sleeps", False, self._time_ended(world._replace(faults=less)))
        if not world.call.ended:
            yield Step("the deadline passes", False, self._applied(world, Tick(), LATE))
            yield Step("the run is cancelled", False, self._applied(world, Cancel("stopped")))
        if faults.restarts:
            less = faults._replace(restarts=faults.restarts - 1)
            yield Step("the server restarts", False, self._restarted(world._replace(faults=less)))

    def _line_steps(self, world: World, page: Page) -> Iterator[Step]:
        name = page.name
        if page.line is None and page.phase != "gone":
            yield Step(f"{name} connects", _is_needed(world, page), self._connected(world, page), True)
        if page.line is not None and page.line.up:
            yield Step(f"the server reads what {name} sent", True, self._delivered(world, page, page.line, False))
        if page.stale is not None:
            if page.stale.up:
                yield Step(f"{name}'s command arrives late", True, self._delivered(world, page, page.stale, True))
            yield Step(f"the server notices that {name} was cut off", True, self._noticed(world, page, page.stale))
        if page.line is not None and page.client_id in world.passed and not world.call.ended:
            yield Step(f"{name} announces itself anew", True, self._announced(world, page))

    def _page_steps(self, world: World, page: Page) -> Iterator[Step]:
        name = page.name
        if page.phase == "gone":
            again = world.put(page_model.reopened(page, page.client_id))
            yield Step(f"{name} is opened again", _is_needed(world, page), again, True)
            if page.client_id == name and page.kind != "plain":
                yield Step(f"{name} is opened as another", False, world.put(page_model.reopened(page, f"{name}'")))
        if page.phase == "asking":
            asks = world.put(page_model.asked(page, _unused(world, name)))
            yield Step(f"{name} notes that it asks", True, asks)
        if page.phase == "starting":
            starts = world.starts + (not world.call.idempotent)
            yield Step(f"{name}'s body begins", True, world.put(page_model.begun(page))._replace(starts=starts))
        if page.phase == "running":
            yield Step(f"{name}'s body ends", True, world.put(page_model.finished(page)))
        if page.line is not None and page.line.down:
            yield from self._read(world, page, page.line, page.line.down[0])

    def _read(self, world: World, page: Page, line: Line, message: Message) -> Iterator[Step]:
        if isinstance(message, Reply) and message.result not in (None, world.call.result):
            raise Broken("L4: what was acknowledged is not what is stored")
        after = page_model.heard(page._replace(line=line._replace(down=line.down[1:])), message)
        is_offered = after.phase == "asking" != page.phase
        if is_offered and world.faults.declines:
            less = world.faults._replace(declines=world.faults.declines - 1)
            yield Step(f"{page.name} declines", False, world.put(page_model.declined(after))._replace(faults=less))
        if is_offered and page.kind == "no journal":
            after = page_model.asked(after, _unused(world, page.name))
        yield Step(f"{page.name} reads {type(message).__name__}", True, world.put(after))

    def _fault_steps(self, world: World, page: Page) -> Iterator[Step]:
        name, faults = page.name, world.faults
        if page.phase == "gone" or page.stale is not None:
            return
        if faults.cuts and page.line is not None:
            less = faults._replace(cuts=faults.cuts - 1)
            yield Step(f"{name} is cut off", False, world._replace(faults=less).put(page_model.disconnected(page)))
        if faults.crashes:
            less = faults._replace(crashes=faults.crashes - 1)
            yield Step(f"{name} crashes", False, world._replace(faults=less).put(page_model.crashed(page)))
            if page.kind != "plain":
                yield Step(f"{name} is closed", False, world._replace(faults=less).put(page_model.closed(page)))

    # --- what the server does: see farside.engine.ledger ---

    def _time_ended(self, world: World) -> World:
        if world.call.state == "offered" and world.call.client_id is not None:
            world = world._replace(passed=world.passed | {world.call.client_id})
        return self._offered(self._applied(world, Tick(), SOON))

    def _restarted(self, world: World) -> World:
        first, second = (page_model.disconnected(page)._replace(stale=None) for page in world.pages)
        world = world._replace(pages=(first, second), passed=frozenset())
        return self._applied(world, Restart(LEASE_MS))

    def _connected(self, world: World, page: Page) -> World:
        """The page connects, announces itself and subscribes."""
        if page.kind == "plain":
            return self._announced(world, page_model.connected(page, Line(_unused(world, page.name))))
        world = self._superseded(world, page.client_id)
        (page,) = (each for each in world.pages if each.name == page.name)
        if page.note is not None and page.stale is not None:
            # It tells whose note it has found: nothing more of what that page sent is carried out.
            page = page._replace(stale=page.stale._replace(up=()))
        world = self._applied(world, Return(page.client_id, LEASE_MS))
        shown = Shown(world.call.state, world.call.client_id)
        return self._announced(world, page_model.connected(page, Line(page.client_id, down=(shown,))))

    def _superseded(self, world: World, client_id: str) -> World:
        """Nothing more is carried out of what a client sent on its older connections."""
        for page in world.pages:
            if page.stale is not None and page.stale.client_id == client_id:
                world = world.put(page._replace(stale=None))
        return world

    def _announced(self, world: World, page: Page) -> World:
        return self._offered(world.put(page)._replace(passed=world.passed - {page.client_id}))

    def _noticed(self, world: World, page: Page, line: Line) -> World:
        world = world.put(page._replace(stale=None))
        is_here = any(other.client_id == line.client_id for other in world.lines())
        if world.call.client_id == line.client_id and not is_here:
            world = self._applied(world, Leave(line.client_id, GRACE_MS))
        return self._offered(world)

    def _delivered(self, world: World, page: Page, line: Line, is_stale: bool) -> World:
        """The server takes the next command of a connection."""
        action, line = line.up[0], line._replace(up=line.up[1:])
        before = world.put(page._replace(stale=line) if is_stale else page._replace(line=line))
        try:
            world, code = self._applied(before, action), None
        except FarsideError as error:
            world, code = before, error.code
        if page.kind == "journal":
            _check_command(before, action, code, is_stale)
        if isinstance(action, Release) and code is None:
            passed = world.passed if action.started else world.passed | {action.client_id}
            world = self._offered(world._replace(passed=passed))
        if is_stale or page.kind == "plain":
            return world
        result = world.call.result if isinstance(action, Settle) and code is None else None
        return _told(world, line.client_id, Reply(action, code, result))

    def _offered(self, world: World) -> World:
        """Offer the call, if nobody has it, to who comes first. A plain page takes it by being told."""
        if world.call.state != "open":
            return world
        plain = {
            line.client_id
            for page in world.pages
            if page.kind == "plain"
            for line in (page.line, page.stale)
            if line is not None
        }
        here = [Presence(line.client_id, None if line.client_id in plain else TOOLS) for line in world.lines()]
        chosen = choose(world.call.name, here, "a", world.passed)
        if chosen is None:
            return world
        if chosen.client_id not in plain:
            return self._applied(world, Offer(chosen.client_id, CLAIM_MS))
        world = self._applied(world, Claim(chosen.client_id, _unused(world, chosen.client_id), None))
        return _told(world, chosen.client_id, Told("requested"))

    def _applied(self, world: World, action: Action, now: int = NOW) -> World:
        """Put an action through the transition function, store what it says, and tell of it."""
        before = world.call
        change, essence = self._change(before, action, now)
        after = change.call
        if before.ended and after != before:
            raise Broken("L3: a call that had ended has changed")
        if (
            before.state == after.state == "claimed"
            and before.client_id != after.client_id
            and before.claim_id != after.claim_id
        ):
            raise Broken("L2: a claim was given to another while it held")
        if isinstance(action, Restart) and after.state == "claimed" and (after.lease_until or 0) < NOW + LEASE_MS:
            raise Broken("L9: a restart leaves the holder less than its lease to come back, or for ever")
        world = world._replace(call=essence)
        if change.event is None:
            return world
        told = Told("settled" if after.ended else change.event["event"], change.event.get("client_id"))
        for page in world.pages:
            if page.kind != "plain":
                world = _told(world, page.client_id, told)
        return world

    def _change(self, before: Call, action: Action, now: int) -> tuple[Change, Call]:
        known = self._known.get((before, action, now))
        if known is None:
            try:
                change = self._transition(before, action, now)
                known = change, _essence(change.call)
            except FarsideError as error:
                known = error
            self._known[before, action, now] = known
        if isinstance(known, FarsideError):
            raise known
        return known


def _essence(changed: Call) -> Call:
    """The call without what nobody asks for: when exactly its time ends, and why it has no answer."""
    if not changed.ended:
        return replace(changed, lease_until=None if changed.lease_until is None else SOON)
    ended = replace(changed, state="settled", client_id=None, claim_id=None, ended_by=None)
    return replace(ended, result=NOBODY) if ended.result is not None and ended.result.status == "error" else ended


def _is_kept(world: World) -> bool:
    """Whether a page that is here has the call, or is about to take it: it sees to it that its time does not end."""
    here = [page for page in world.pages if page.line is not None]
    if world.call.state == "offered":
        return any(page.client_id == world.call.client_id for page in here)
    return any(page.claim_id == world.call.claim_id for page in here)


def _is_needed(world: World, page: Page) -> bool:
    """Whether no other page is connected. Where one is, this one need never come back."""
    return all(other.line is None for other in world.pages if other.name != page.name)


def _told(world: World, client_id: str, message: Message) -> World:
    for page in world.pages:
        if page.line is not None and page.client_id == client_id:
            world = world.put(page._replace(line=page.line._replace(down=(*page.line.down, message))))
    return world


def _unused(world: World, name: str) -> str:
    """A name for a claim, or a client, that nobody and nothing knows any more: so there are few."""
    used = {world.call.claim_id, world.call.client_id}
    for page in world.pages:
        used |= {page.client_id, page.claim_id, None if page.note is None else page.note.claim_id}
    for line in world.lines():
        used.add(line.client_id)
        sent = (*line.up, *(message.to for message in line.down if isinstance(message, Reply)))
        used |= {getattr(action, "claim_id", None) for action in sent}
    return next(unused for n in range(1, 9) if (unused := f"{name}{n}") not in used)


# --- the laws ---


def check(world: World) -> None:
    """What holds in every state.

    Raises:
        Broken: it does not.
    """
    held = world.call.claim_id if world.call.state == "claimed" else None
    running = [page for page in world.pages if page.phase == "running" and page.kind != "plain"]
    if world.starts > 1:
        raise Broken("L8: a body that may run only once has begun again")
    if held is not None and sum(page.claim_id == held for page in running) > 1:
        raise Broken("L2: two bodies run under one claim")
    for page in running:
        hears_all = page.line is not None and not page.line.up and not page.line.down
        if hears_all and page.claim_id != held:
            raise Broken("L2: a body runs without a claim, and nothing will stop it")


def _check_command(world: World, action: Action, code: str | None, is_stale: bool) -> None:
    """What holds of a command of a page with a journal, and of what the server says to it.

    Raises:
        Broken: it does not.
    """
    if isinstance(action, Release) and action.started and code is None and world.is_untouched:
        raise Broken("never begun: it is given back as if it had")
    proves = isinstance(action, Claim) and world.call.state == "claimed" and action.claim_id == world.call.claim_id
    if proves and code is not None and not is_stale:
        raise Broken("never begun: who proves the claim does not get it")


def is_over(world: World) -> bool:
    """Whether the call has ended, and no page that is connected runs its body, or remembers anything of it."""
    here = [page for page in world.pages if page.line is not None]
    return world.call.ended and all(page.phase in ("open", "over") and page.note is None for page in here)


def is_answered(world: World) -> bool:
    """Whether the call has ended with what a body came to."""
    return world.call.result is not None and world.call.result.status == "success"
