"""Pages, as small as they can be: what they do about the one call there is, by section 7 of the protocol.

Written by hand from the text of the protocol, not from the client's code. Every function takes a page and returns it
as it is afterwards; what it sends is in its line. When a page reads, and how long its body takes, is not decided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

from farside.core.calls import Action, Claim, Release, Settle
from farside.core.model import CallState, ToolResult, success

LEASE_MS = 30_000

Kind = Literal["journal", "no journal", "plain"]
"""A page of ours, one whose browser keeps no journal, or one of the plain protocol."""

Phase = Literal[
    "gone", "open", "asking", "claiming", "reclaiming", "starting", "running", "answered", "releasing", "over"
]
"""``gone``: there is no page now. ``asking``: it is about to note that it asks for the call. ``reclaiming``: the page
before this one had asked, and not begun. ``starting``: the call is ours, the body has not begun. ``releasing``: it may
have been executed by the page before this one, and is given back. ``over``: the call has ended."""


@dataclass(frozen=True, slots=True)
class Note:
    """What the journal holds, which outlives the page: the call was asked for, has begun, or has come to its result."""

    claim_id: str
    state: Literal["asked", "begun", "answered"]


@dataclass(frozen=True, slots=True)
class Shown:
    """The subscribe reply: how the call stands."""

    state: CallState
    client_id: str | None


@dataclass(frozen=True, slots=True)
class Told:
    """An event on ``calls``; ``requested`` is ``input.requested``, which a plain page gets."""

    event: str
    client_id: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a command: an error's code, or what a success carries."""

    to: Action
    code: str | None
    result: ToolResult | None = None


Message = Shown | Told | Reply


# These are tuples, because the search makes and compares millions of them; the others must be told apart by type.


class Line(NamedTuple):
    """A connection with what is under way on it, in order, to the server and to the page."""

    client_id: str
    up: tuple[Action, ...] = ()
    down: tuple[Message, ...] = ()


class Page(NamedTuple):
    """A page. ``claim_id``: of its claim, from when it has noted that it asks. ``stale``: a connection that it has
    lost, of which the server has not noticed that.

    What the page sent on that may still arrive, after what it sends on its ``line``.
    """

    name: str
    kind: Kind
    client_id: str
    phase: Phase = "gone"
    claim_id: str | None = None
    note: Note | None = None
    is_offered: bool = False
    line: Line | None = None
    stale: Line | None = None

    @property
    def answer(self) -> ToolResult:
        """What its body comes to."""
        return success(self.name)

    @property
    def holds(self) -> bool:
        """Whether it believes that it has the call, and has not come to a result."""
        return self.phase in ("starting", "running")


# --- what becomes of a page ---


def connected(page: Page, line: Line) -> Page:
    """The page has a connection. A plain one is another client with each."""
    return page._replace(client_id=line.client_id, line=line)


def disconnected(page: Page) -> Page:
    """The connection is lost: nothing arrives on it any more, but what the page has sent still may."""
    stale = page.stale if page.line is None else page.line._replace(down=())
    phase: Phase = "open" if page.phase == "claiming" else page.phase
    return page._replace(line=None, stale=stale, is_offered=False, phase=phase)


def crashed(page: Page) -> Page:
    """The page is gone, and with it all but its journal."""
    return disconnected(page)._replace(phase="gone", claim_id=None)


def closed(page: Page) -> Page:
    """The page is closed in good order: it gives back what it has, and leaves its journal as it is."""
    if page.holds or page.phase in ("asking", "claiming"):
        page = _sent(page, Release(page.client_id, page.claim_id, started=page.phase == "running"))
    return crashed(page)


def reopened(page: Page, client_id: str) -> Page:
    """A page is opened: it takes on what the journal says of the one before."""
    page = page._replace(client_id=client_id)
    if page.note is None:
        return page._replace(phase="open")
    phases: dict[str, Phase] = {"asked": "reclaiming", "begun": "releasing", "answered": "answered"}
    return page._replace(phase=phases[page.note.state], claim_id=page.note.claim_id)


def asked(page: Page, claim_id: str) -> Page:
    """The page has made a claim id and noted it, and claims."""
    assert page.phase == "asking"
    page = _noted(page._replace(phase="open", claim_id=claim_id), "asked")
    return page if page.line is None else _claimed(page)


def begun(page: Page) -> Page:
    """The start is noted, and the body begins."""
    assert page.phase == "starting"
    return _noted(page._replace(phase="running"), "begun")


def finished(page: Page) -> Page:
    """The body has come to its result, which is noted, then sent."""
    assert page.phase == "running"
    if page.kind == "plain":
        # It sends its answer once, if it can, and cares no more.
        return _sent(page._replace(phase="open"), Settle(page.answer, page.client_id, claim_id=None))
    return _settled(_noted(page._replace(phase="answered"), "answered"))


def declined(page: Page) -> Page:
    """The page sends back the offer that it has just read, for which it was about to ask."""
    assert page.phase == "asking"
    return _sent(page._replace(phase="open"), Release(page.client_id))


def _noted(page: Page, state: Literal["asked", "begun", "answered"]) -> Page:
    if page.kind != "journal":
        return page
    assert page.claim_id is not None
    return page._replace(note=Note(page.claim_id, state))


# --- what a page does when it reads ---


def heard(page: Page, message: Message) -> Page:
    """The page reads a message."""
    match message:
        case Told(event="requested"):
            return page._replace(phase="starting")
        case Told():
            return _told(page, message)
        case Shown():
            return _shown(page, message)
        case Reply(to=Claim() | Settle() | Release() as command) if command.claim_id == page.claim_id:
            return _answered(page, command, message.code)
        case _:
            return page


def _answered(page: Page, command: Claim | Settle | Release, code: str | None) -> Page:
    asks = page.phase in ("claiming", "reclaiming")
    is_awaited = {Claim: asks or page.holds, Settle: page.phase == "answered", Release: page.phase == "releasing"}
    if not is_awaited[type(command)]:
        return page
    if code == "claim_lost" or (code is None and isinstance(command, Release)):
        return _lost(page)
    if code is None and isinstance(command, Claim):
        return page._replace(phase="starting") if asks else page
    return _over(page)


def _shown(page: Page, shown: Shown) -> Page:
    is_mine = shown.client_id == page.client_id
    page = page._replace(is_offered=is_mine and shown.state == "offered")
    match page.phase:
        case "answered":
            return _settled(page)
        case "releasing":
            return _given_back(page)
        case _ if shown.state == "settled":
            return _over(page)
        case "reclaiming" | "starting" | "running":
            return _reclaimed(page)
        case "open" if is_mine and shown.state == "claimed":
            # The reply was lost; or the page before this one has noted nothing, and who knows how far it got.
            return _given_back(page) if page.claim_id is None else _claimed(page)
        case _:
            return _claimed_if_offered(page)


def _told(page: Page, told: Told) -> Page:
    is_mine = told.client_id == page.client_id
    if told.event == "settled":
        return _over(page)
    if page.phase == "asking":
        return page
    if told.event == "claimed":
        if is_mine:
            return page
        page = page._replace(is_offered=False)
        return _lost(page) if page.holds or page.phase == "answered" else page
    page = page._replace(is_offered=is_mine and told.event == "offered")
    if page.holds and (page.is_offered or told.event == "released"):
        return _reclaimed(page)
    return _claimed_if_offered(page)


def _claimed_if_offered(page: Page) -> Page:
    if page.phase != "open" or not page.is_offered:
        return page
    return page._replace(phase="asking", is_offered=False) if page.claim_id is None else _claimed(page)


def _lost(page: Page) -> Page:
    """The call is not this page's, whose body is stopped. It may be offered again."""
    return _claimed_if_offered(page._replace(phase="open", claim_id=None, note=None))


def _over(page: Page) -> Page:
    return page._replace(phase="over", claim_id=None, note=None, is_offered=False)


# --- what a page sends ---


def _claimed(page: Page) -> Page:
    return _reclaimed(page._replace(phase="claiming"))


def _reclaimed(page: Page) -> Page:
    assert page.claim_id is not None
    return _sent(page._replace(is_offered=False), Claim(page.client_id, page.claim_id, LEASE_MS))


def _settled(page: Page) -> Page:
    return _sent(page, Settle(page.answer, page.client_id, page.claim_id))


def _given_back(page: Page) -> Page:
    return _sent(page._replace(phase="releasing"), Release(page.client_id, page.claim_id, started=True))


def _sent(page: Page, command: Action) -> Page:
    if page.line is None or command in page.line.up:
        return page
    return page._replace(line=page.line._replace(up=(*page.line.up, command)))
