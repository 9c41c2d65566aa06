"""What is remembered in the browser."""

from __future__ import annotations

from e2e.browser.conftest import OpenTab, Tab
from e2e.tools.conftest import code_of, value_of

AHEAD = "Date.now = ((now) => () => now() + 3_600_000)(Date.now)"
"""An hour later."""


def keys(tab: Tab, **args: str | int) -> list[str]:
    return [memory["key"] for memory in value_of(tab, "list_memories", **args)["memories"]]


def test_memories(open_tab: OpenTab) -> None:
    tab = open_tab()
    assert value_of(tab, "recall", key="motto") == {"memory": None}
    stored = value_of(tab, "remember", key="motto", value="Small steps", tags=["style", "style", "Ünïcode"])
    assert stored == {"key": "motto", "expires_at": None}
    soon = value_of(tab, "remember", key="code", value="gate 7", tags=["style"], ttl=600)
    assert soon["expires_at"].endswith("Z")

    tab.reload()
    memory = value_of(tab, "recall", key="motto")["memory"]
    assert memory.pop("stored_at").endswith("Z")
    assert memory == {"key": "motto", "value": "Small steps", "tags": ["style", "Ünïcode"], "expires_at": None}

    listed = value_of(tab, "list_memories", tag="style", limit=1)
    assert (listed["memories"][0]["key"], listed["total"]) == ("code", 2)
    assert "value" not in listed["memories"][0]
    assert keys(tab, tag="nothing") == []
    assert keys(tab) == ["code", "motto"]

    found = value_of(tab, "search_memories", query=" STEPS  small ")
    assert ([each["value"] for each in found["memories"]], found["total"]) == (["Small steps"], 1)
    assert value_of(tab, "search_memories", query="ünïcode motto")["total"] == 1
    assert value_of(tab, "search_memories", query="style", limit=1)["total"] == 2
    assert value_of(tab, "search_memories", query="steps gate") == {"memories": [], "total": 0}
    assert value_of(tab, "search_memories", query="steps", tag="other")["total"] == 0

    value_of(tab, "remember", key="motto", value="Large steps")
    assert value_of(tab, "recall", key="motto")["memory"]["tags"] == []
    assert keys(tab, tag="style") == ["code"]

    for name, args in {"forget": {}, "remember": {"key": "", "value": ""}, "recall": {"key": "k" * 201}}.items():
        assert code_of(tab, name, **args) == "invalid_args"
    assert code_of(tab, "forget", key="motto", tag="style") == "invalid_args"
    assert code_of(tab, "remember", key="long", value="v" * 20_001) == "invalid_args"


def test_memories_are_few_expire_and_are_forgotten(open_tab: OpenTab) -> None:
    tab = open_tab()
    for at in range(4):
        value_of(tab, "remember", key=f"kept {at}", value="v" * 20_000, tags=["even" if at % 2 == 0 else "odd"])
    value_of(tab, "remember", key="expires", value="soon", ttl=600)
    assert code_of(tab, "remember", key="one more", value="") == "failed"
    # One that is there already may change.
    assert value_of(tab, "remember", key="kept 0", value="changed", tags=["even"])["key"] == "kept 0"
    assert len(keys(tab)) == 5

    tab.run(AHEAD)
    assert "expires" not in keys(tab)
    assert value_of(tab, "recall", key="expires") == {"memory": None}
    assert value_of(tab, "search_memories", query="soon")["total"] == 0
    assert value_of(tab, "forget", key="expires") == {"forgotten": 0}
    value_of(tab, "remember", key="expires", value="again", ttl=600)
    tab.run(AHEAD)
    value_of(tab, "remember", key="one more", value="", tags=["odd"])
    assert keys(tab) == ["one more", "kept 0", "kept 3", "kept 2", "kept 1"]

    assert value_of(tab, "forget", tag="odd") == {"forgotten": 3}
    assert value_of(tab, "forget", key="kept 2") == {"forgotten": 1}
    assert value_of(tab, "forget", tag="odd") == {"forgotten": 0}
    assert keys(tab) == ["kept 0"]
    assert value_of(tab, "recall", key="kept 0")["memory"]["value"] == "changed"
