"""Whether a client is still there."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from farside.core.liveness import Liveness
from server.tests.samples import NOW

PING = 10_000


def test_nothing_happens_before_it_is_time() -> None:
    liveness = Liveness(NOW, PING)
    assert liveness.wake_at == NOW + PING
    assert liveness.tick(NOW + PING - 1) == "wait"
    assert liveness.wake_at == NOW + PING


def test_a_client_is_asked_again_and_again_while_it_answers() -> None:
    liveness = Liveness(NOW, PING)
    for turn in range(1, 5):
        assert liveness.tick(NOW + turn * PING) == "ask"
        assert liveness.wake_at == NOW + (turn + 1) * PING
        liveness.heard()


def test_a_client_that_does_not_answer_is_given_up() -> None:
    liveness = Liveness(NOW, PING)
    assert liveness.tick(NOW + PING) == "ask"
    assert liveness.tick(NOW + 2 * PING - 1) == "wait"
    assert liveness.tick(NOW + 2 * PING) == "give up"


def test_what_was_said_before_the_question_is_no_answer() -> None:
    liveness = Liveness(NOW, PING)
    liveness.heard()
    assert liveness.tick(NOW + PING) == "ask"
    assert liveness.tick(NOW + 2 * PING) == "give up"


def test_an_answer_at_the_last_moment_counts() -> None:
    liveness = Liveness(NOW, PING)
    liveness.tick(NOW + PING)
    liveness.heard()
    assert liveness.tick(NOW + 2 * PING) == "ask"


def test_a_server_that_slept_asks_before_it_gives_anybody_up() -> None:
    liveness = Liveness(NOW, PING)
    assert liveness.tick(NOW + 10**9) == "ask"
    assert liveness.wake_at == NOW + 10**9 + PING
    assert liveness.tick(NOW + 10**9 + 1) == "wait"


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=40))
def test_only_who_was_silent_for_a_whole_interval_after_a_question_is_given_up(steps: list[tuple[int, bool]]) -> None:
    liveness, now, asked_at = Liveness(0, 10), 0, None
    for passed, speaks in steps:
        now += passed
        was_due = now >= liveness.wake_at
        outcome = liveness.tick(now)
        assert (outcome == "wait") == (not was_due)
        assert liveness.wake_at > now
        if outcome == "give up":
            assert asked_at is not None
            assert now - asked_at >= 10
            return
        if outcome == "ask":
            assert asked_at is None
            asked_at = now
        if speaks:
            liveness.heard()
            asked_at = None
