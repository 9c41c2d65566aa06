from __future__ import annotations

from farside.langgraph.recent import Recent


def test_the_oldest_is_forgotten() -> None:
    recent: Recent[int] = Recent(limit=2)
    for thread_id, value in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        recent.note(thread_id, value)
    assert [recent.take(thread_id) for thread_id in ("a", "b", "c")] == [3, None, 4]
    assert recent.take("a") is None
