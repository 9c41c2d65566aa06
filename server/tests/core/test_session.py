"""One connection's state machine: messages in, effects out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farside.core.model import Event
from farside.core.routing import Mismatch, Presence
from farside.core.session import MAX_SUBSCRIPTIONS, Deliver, Effect, Request, Send, Session, Snapshot, Wait
from farside.errors import CODES, FarsideError
from farside.wire.messages import COMMANDS, OURS, ErrorReply, SuccessReply
from farside.wire.messages import Event as EventMessage
from server.tests.samples import NOW, call, event, question
from server.tests.strategies import VALUES
from server.tests.vectors import messages

CONNECTION = "connection-1"
EMPTY = Snapshot(seq=0, events=[], open=[])


def command(method: str, command_id: int = 1, **params: Any) -> dict[str, Any]:
    return {"id": command_id, "method": method, "params": params}


def subscribe(session: Session, *channels: str, command_id: int = 1, **params: Any) -> None:
    effects = session.receive(command("subscription.subscribe", command_id, channels=list(channels), **params))
    assert isinstance(effects[0], Request)


def subscribed(*channels: str, plain: bool = False, **params: Any) -> Session:
    """A session with one subscription, s1."""
    session = Session(CONNECTION, plain=plain)
    subscribe(session, *channels, **params)
    session.subscribed(1, EMPTY)
    return session


def error_of(effects: list[Effect]) -> str:
    [sent] = effects
    assert isinstance(sent, Send)
    return ErrorReply.model_validate(sent.message).error


def seqs(effects: list[Effect]) -> list[int]:
    return [effect.event.seq for effect in effects if isinstance(effect, Deliver)]


# --- commands ---


@pytest.mark.parametrize("entry", messages("valid"))
def test_a_valid_command_becomes_a_request_or_one_error(entry: Any) -> None:
    [effect] = Session(CONNECTION, plain=False).receive(entry["message"])
    if entry["message"]["method"] == "subscription.unsubscribe":
        assert error_of([effect]) == "no_such_subscription"
    else:
        params = COMMANDS[entry["message"]["method"]]
        assert isinstance(effect, Request)
        assert (effect.id, effect.method, type(effect.params)) == (
            entry["message"]["id"],
            entry["message"]["method"],
            params,
        )


@pytest.mark.parametrize("entry", messages("invalid"))
def test_an_invalid_command_is_answered_with_its_code(entry: Any) -> None:
    [effect] = Session(CONNECTION, plain=False).receive(entry["message"])
    assert error_of([effect]) == entry["code"]
    assert isinstance(effect, Send)
    about_the_id = not isinstance(entry["message"], dict) or entry["name"].startswith(
        ("envelope: id", "envelope: the m")
    )
    assert effect.message["id"] == (None if about_the_id else entry["message"]["id"])
    assert effect.message["retryable"] is False


@pytest.mark.parametrize("method", COMMANDS)
def test_a_plain_connection_has_only_the_official_commands(method: str) -> None:
    valid = next(p.values[0]["message"] for p in messages("valid") if p.values[0]["message"]["method"] == method)
    [effect] = Session(CONNECTION, plain=True).receive(valid)
    if method in OURS:
        assert error_of([effect]) == "not_supported"
        assert isinstance(effect, Send)
        assert "farside.v1.json" in effect.message["message"]
    else:
        assert isinstance(effect, Request) or error_of([effect]) == "no_such_subscription"


@given(VALUES, st.booleans())
def test_any_value_gets_exactly_one_answer(message: Any, plain: bool) -> None:
    [effect] = Session(CONNECTION, plain=plain).receive(message)
    assert isinstance(effect, Send)


METHODS = st.sampled_from([*COMMANDS, "nonsense"]) | st.text()
ENVELOPES = st.fixed_dictionaries(
    {}, optional={"id": st.integers(-1, 5) | VALUES, "method": METHODS, "params": st.dictionaries(st.text(), VALUES)}
)


@given(st.lists(ENVELOPES, max_size=6), st.booleans())
def test_any_messages_get_exactly_one_answer_each(received: list[Any], plain: bool) -> None:
    session = Session(CONNECTION, plain=plain)
    for message in received:
        [effect] = session.receive(message)
        if isinstance(effect, Send):
            reply = ErrorReply.model_validate(effect.message)
            assert reply.error in CODES
        else:
            assert isinstance(effect, Request)
            assert effect.id == message["id"]


def test_a_frame_that_could_not_be_read_is_answered_without_an_id() -> None:
    [effect] = Session(CONNECTION, plain=False).refuse(FarsideError("malformed_frame", "expected JSON"))
    assert isinstance(effect, Send)
    message = {"type": "error", "id": None, "error": "malformed_frame", "message": "expected JSON", "retryable": False}
    assert effect.message == message


def test_a_success_tells_the_newest_seq() -> None:
    [effect] = Session(CONNECTION, plain=False).succeeded(7, {"run_id": "r"}, 12)
    assert isinstance(effect, Send)
    expected = {"type": "success", "id": 7, "result": {"run_id": "r"}, "meta": {"applied_through_seq": 12}}
    assert effect.message == expected
    SuccessReply.model_validate(expected)


def test_a_failure_tells_details_and_whether_to_try_again() -> None:
    [effect] = Session(CONNECTION, plain=False).failed(7, FarsideError("run_active", "wait", details={"run_id": "r"}))
    assert isinstance(effect, Send)
    assert effect.message["retryable"] is True
    assert effect.message["details"] == {"run_id": "r"}


# --- who is there ---


def announce(session: Session, client_id: str = "c1", **params: Any) -> list[Effect]:
    return session.receive(command("client.announce", client_id=client_id, **{"tools": [], **params}))


def test_a_connection_speaks_for_itself_until_it_says_for_whom() -> None:
    session = Session(CONNECTION, plain=False)
    assert session.client_id == CONNECTION
    announce(session)
    assert session.client_id == "c1"
    assert subscribed("input", plain=True).client_id == CONNECTION


def test_an_announcement_is_remembered_and_replaced() -> None:
    session = subscribed("calls")
    announce(session, tools=[{"name": "a"}, {"name": "b"}], focused=True)
    announce(session, tools=[{"name": "c"}])
    assert session.presence(1) == Presence("c1", {"c": frozenset()}, active=1)


def test_a_connection_that_announces_another_client_is_refused_and_stays_who_it_was() -> None:
    session = subscribed("calls")
    announce(session, tools=[{"name": "a"}])
    assert error_of(announce(session, "c2", tools=[{"name": "b"}])) == "invalid_argument"
    assert session.client_id == "c1"
    assert session.presence(1) == Presence("c1", {"a": frozenset()}, active=1)
    [effect] = announce(session, tools=[])
    assert isinstance(effect, Request)


def test_a_page_can_take_calls_when_it_has_announced_itself_and_listens() -> None:
    quiet, deaf = subscribed("calls"), subscribed("messages", "input")
    announce(deaf, tools=[{"name": "a"}])
    assert quiet.presence(1) is None
    assert deaf.presence(1) is None
    subscribe(deaf, "calls", command_id=2)
    assert deaf.presence(1) is not None, "it will listen, and then hear what happened meanwhile"
    deaf.failed(2, FarsideError("unavailable", "stopping"))
    assert deaf.presence(1) is None


def test_presence_is_what_a_page_announced() -> None:
    session = subscribed("calls")
    tools = [{"name": "photo", "permissions": ["camera", "microphone"]}, {"name": "copy", "fingerprint": "f"}]
    permissions = {"camera": "denied", "microphone": "prompt", "geolocation": "granted", "midi": "denied"}
    announce(session, tools=tools, permissions=permissions, visible=False, focused=True)
    assert session.presence(7) == Presence(
        client_id="c1",
        tools={"photo": frozenset({"camera", "microphone"}), "copy": frozenset()},
        denied=frozenset({"camera", "midi"}),
        visible=False,
        focused=True,
        active=7,
        fingerprints={"copy": "f"},
    )


def test_a_page_hears_once_which_tools_it_has_with_other_schemas_and_again_for_each_call() -> None:
    session = Session(CONNECTION, plain=False)
    old = [Mismatch("photo", "old", "new")]
    announce(session, tools=[{"name": "photo", "fingerprint": "old"}])
    assert session.mismatched(old) == [], "its state would take it back"
    subscribe(session, "calls", command_id=2)
    [told] = session.mismatched(old)
    assert isinstance(told, Send)
    assert (told.message["id"], told.message["error"]) == (None, "schema_mismatch")
    assert told.message["details"] == {"mismatches": [{"name": "photo", "fingerprint": "old", "expected": "new"}]}
    assert [len(session.mismatched(old, call)) for call in ("", "i1", "i1", "i2")] == [0, 1, 0, 1]
    assert [session.untold(old, "reply"), session.untold(old, "reply")] == [old, []]
    assert session.untold([Mismatch("photo", "old", "newer")], "reply") != []


def test_a_page_that_says_no_more_is_visible_and_has_no_focus() -> None:
    session = subscribed("calls")
    announce(session)
    assert session.presence(0) == Presence("c1", {}, frozenset(), visible=True, focused=False, active=0)


def test_a_plain_connection_can_take_calls_while_it_listens_to_input() -> None:
    assert subscribed("calls", "messages", plain=True).presence(3) is None
    plain = subscribed("messages", "input", plain=True)
    assert plain.presence(3) == Presence(CONNECTION, tools=None, active=3)
    plain.receive(command("subscription.unsubscribe", 2, subscription_id="s1"))
    assert plain.presence(3) is None


# --- subscriptions ---


def test_nothing_is_delivered_without_a_subscription() -> None:
    session = Session(CONNECTION, plain=False)
    assert session.deliver(event(1)) == []
    assert not session.wants("messages")


def test_a_subscription_delivers_what_matches() -> None:
    session = subscribed("messages")
    assert session.deliver(event(1)) == [Deliver(event(1))]
    assert session.deliver(event(2, "tools")) == []
    assert session.wants("messages")
    assert not session.wants("tools")


def test_the_reply_comes_before_the_replay_and_the_replay_before_what_was_held() -> None:
    session = Session(CONNECTION, plain=False)
    subscribe(session, "messages")
    assert session.wants("messages")
    for seq in (3, 4, 5, 6):
        assert session.deliver(event(seq)) == []
    stored = [event(1), event(2, "tools"), event(3), event(4)]
    reply, *rest = session.subscribed(1, Snapshot(seq=4, events=stored, open=[]))
    assert isinstance(reply, Send)
    assert reply.message["result"] == {"subscription_id": "s1", "replayed_events": 3}
    assert reply.message["meta"] == {"applied_through_seq": 4}
    assert seqs(rest) == [1, 3, 4, 5, 6]
    assert seqs(session.deliver(event(7))) == [7]


@given(st.data())
def test_replay_and_live_events_have_neither_gap_nor_double(data: st.DataObject) -> None:
    """Events happen in order; the snapshot is taken somewhere between the command and its answer."""
    total = data.draw(st.integers(0, 12))
    asked = data.draw(st.integers(0, total))
    taken = data.draw(st.integers(asked, total))
    answered = data.draw(st.integers(taken, total))
    since = data.draw(st.integers(0, taken))
    happened = [event(seq, data.draw(st.sampled_from(["messages", "tools", "custom"]))) for seq in range(1, total + 1)]
    session = Session(CONNECTION, plain=data.draw(st.booleans()))
    got = [each for happening in happened[:asked] for each in session.deliver(happening)]
    subscribe(session, "messages", "tools", since=since)
    got += [each for happening in happened[asked:answered] for each in session.deliver(happening)]
    got += session.subscribed(1, Snapshot(taken, happened[since:taken], []))[1:]
    got += [each for happening in happened[answered:] for each in session.deliver(happening)]
    assert seqs(got) == [each.seq for each in happened if each.seq > since and each.method != "custom"]


def test_an_event_that_matches_several_subscriptions_comes_once() -> None:
    session = subscribed("messages")
    subscribe(session, "messages", "tools", command_id=2)
    session.subscribed(2, EMPTY)
    assert seqs(session.deliver(event(1))) == [1]
    assert seqs(session.deliver(event(2, "tools"))) == [2]


def test_an_event_that_several_new_subscriptions_wait_for_comes_once() -> None:
    session = Session(CONNECTION, plain=False)
    subscribe(session, "messages")
    subscribe(session, "messages", "tools", command_id=2)
    for seq, method in ((1, "messages"), (2, "tools"), (3, "messages")):
        session.deliver(event(seq, method))
    assert seqs(session.subscribed(2, EMPTY)) == [1, 2, 3]
    assert seqs(session.subscribed(1, EMPTY)) == []
    assert seqs(session.deliver(event(4))) == [4]


def test_an_event_that_an_older_subscription_has_delivered_is_not_held() -> None:
    session = subscribed("messages")
    subscribe(session, "messages", command_id=2)
    assert seqs(session.deliver(event(1))) == [1]
    assert seqs(session.subscribed(2, EMPTY)) == []


def test_a_subscription_that_failed_holds_nothing() -> None:
    session = Session(CONNECTION, plain=False)
    subscribe(session, "messages")
    assert error_of(session.failed(1, FarsideError("unavailable", "stopping"))) == "unavailable"
    assert session.deliver(event(1)) == []
    assert not session.wants("messages")


def test_unsubscribe_ends_one_subscription_once() -> None:
    session = subscribed("messages")
    subscribe(session, "tools", command_id=2)
    session.subscribed(2, EMPTY)
    [effect] = session.receive(command("subscription.unsubscribe", 3, subscription_id="s1"))
    assert isinstance(effect, Request)
    assert session.deliver(event(1)) == []
    assert seqs(session.deliver(event(2, "tools"))) == [2]
    again = session.receive(command("subscription.unsubscribe", 4, subscription_id="s1"))
    assert error_of(again) == "no_such_subscription"


def test_an_id_that_still_waits_for_its_reply_is_refused() -> None:
    session = Session(CONNECTION, plain=False)
    subscribe(session, "messages")
    assert error_of(session.receive(command("subscription.subscribe", channels=["tools"]))) == "invalid_argument"
    session.deliver(event(1))
    assert seqs(session.subscribed(1, EMPTY)) == [1]


def test_subscriptions_are_limited() -> None:
    session = Session(CONNECTION, plain=False)
    for command_id in range(MAX_SUBSCRIPTIONS):
        subscribe(session, "messages", command_id=command_id)
        if command_id % 2:
            session.subscribed(command_id, EMPTY)
    refused = command("subscription.subscribe", 1000, channels=["tools"])
    assert error_of(session.receive(refused)) == "invalid_argument"
    session.failed(0, FarsideError("unavailable", "stopping"))
    subscribe(session, "messages", command_id=1001)


# --- what is open ---

OPEN = Snapshot(seq=9, events=[], open=[call(), call(interrupt_id="i2", state="claimed", client_id="c"), question()])


def test_with_calls_the_reply_says_what_is_open() -> None:
    session = Session(CONNECTION, plain=False)
    subscribe(session, "calls")
    [reply] = session.subscribed(1, OPEN)
    assert isinstance(reply, Send)
    result = reply.message["result"]
    assert [shown["interrupt_id"] for shown in result["calls"]] == ["interrupt-1", "i2"]
    assert result["interrupts"] == [{"interrupt_id": "interrupt-1", "payload": "Sure?"}]


def test_without_calls_the_reply_says_nothing_of_them() -> None:
    session = Session(CONNECTION, plain=False)
    subscribe(session, "messages")
    [reply] = session.subscribed(1, OPEN)
    assert isinstance(reply, Send)
    assert reply.message["result"].keys() == {"subscription_id", "replayed_events"}


def test_with_input_open_questions_are_asked_again_but_tool_calls_are_offered_by_the_engine() -> None:
    session = Session(CONNECTION, plain=True)
    subscribe(session, "input", "messages")
    session.deliver(event(10))
    _, asked, *rest = session.subscribed(1, OPEN)
    assert isinstance(asked, Send)
    message = EventMessage.model_validate(asked.message)
    assert (message.method, message.seq, message.event_id) == ("input.requested", 9, "interrupt-1:requested")
    assert message.params.data == {"interrupt_id": "interrupt-1", "payload": "Sure?"}
    assert seqs(rest) == [10]


def test_an_offer_is_input_requested() -> None:
    [effect] = Session(CONNECTION, plain=True).offer(call(), 4)
    assert isinstance(effect, Send)
    message = EventMessage.model_validate(effect.message)
    assert message.params.timestamp == NOW
    assert message.params.data["payload"]["tool_call"] == {
        "id": "call-1",
        "name": "get_location",
        "args": {"high": True},
    }


@pytest.mark.parametrize(
    "ours",
    [
        event(1, "calls", data={"event": "opened"}),
        event(1, "calls", data={"event": "offered"}),
        event(1, "lifecycle", data={"event": "queued", "run_id": "run-2"}),
    ],
    ids=lambda ours: ours.data["event"],
)
def test_a_plain_connection_hears_nothing_of_calls_and_of_runs_that_wait(ours: Event) -> None:
    running = event(2, "lifecycle", data={"event": "running"})
    assert subscribed("calls", "lifecycle").deliver(ours) == [Deliver(ours)]
    plain = Session(CONNECTION, plain=True)
    subscribe(plain, "calls", "lifecycle")
    assert plain.deliver(ours) == []
    reply, *rest = plain.subscribed(1, Snapshot(seq=0, events=[ours, running], open=[]))
    assert isinstance(reply, Send)
    assert reply.message["result"]["replayed_events"] == 1
    assert seqs(rest) == [2]
    assert plain.deliver(ours) == []
    assert seqs(plain.deliver(event(3, "lifecycle", data={"event": "running"}))) == [3]


# --- the end of a run, for plain connections ---


COMPLETED = event(3, "lifecycle", data={"event": "completed"})


def test_the_end_of_a_run_comes_when_a_plain_page_has_asked_for_what_came_before() -> None:
    session = subscribed("lifecycle", "input", plain=True)
    assert session.deliver(COMPLETED) == [Wait()]
    subscribe(session, "messages", command_id=2)
    assert seqs(session.subscribed(2, EMPTY)) == [3]
    assert session.waited() == []


def test_the_end_of_a_run_that_is_replayed_is_held_back_as_well() -> None:
    session = Session(CONNECTION, plain=True)
    subscribe(session, "lifecycle", "input")
    effects = session.subscribed(1, Snapshot(seq=3, events=[COMPLETED], open=[]))
    assert seqs(effects) == []
    assert Wait() in effects
    assert seqs(session.waited()) == [3]
    assert session.waited() == []


def test_a_page_that_has_just_asked_for_values_may_still_ask_for_messages() -> None:
    """LangGraph's client on its own opens a stream for values first, and takes no message after an end."""
    session = subscribed("lifecycle", "input", "values", plain=True)
    assert session.deliver(COMPLETED) == [Wait()]
    assert seqs(session.waited()) == [3]
    assert seqs(session.deliver(replace(COMPLETED, seq=5))) == [5]


def test_the_next_run_does_not_begin_before_the_end_of_the_last_was_told() -> None:
    session = subscribed("lifecycle", "input", plain=True)
    session.deliver(COMPLETED)
    assert seqs(session.deliver(event(4, "lifecycle", data={"event": "running"}))) == [3, 4]


def test_the_end_of_an_inner_graph_is_no_end_of_a_run() -> None:
    session = subscribed("lifecycle", "input", plain=True)
    inner = replace(COMPLETED, namespace=("search:1",))
    assert session.deliver(inner) == [Deliver(inner)]


def test_a_page_with_our_client_is_told_of_an_end_at_once() -> None:
    assert seqs(subscribed("lifecycle").deliver(COMPLETED)) == [3]


def test_what_is_only_for_plain_connections_is_not_for_ours() -> None:
    running = replace(event(4, "lifecycle", data={"event": "running"}), for_plain=True)
    assert subscribed("lifecycle").deliver(running) == []
    assert seqs(subscribed("lifecycle", "values", plain=True).deliver(running)) == [4]
