"""farside/react in a page: conversations, tools of components, and what renders when."""

from __future__ import annotations

import json

from e2e.browser.conftest import new_thread, planned
from e2e.react.conftest import OpenTab, each_mode

TOOLS = ["hold", "hold_again", "recall"]


@each_mode
def test_a_conversation(open_tab: OpenTab, strict: bool) -> None:
    tab = open_tab(strict=strict)
    view = tab.until("status === 'idle'")
    assert (view["threadId"], view["told"], view["isLoading"]) == (None, [], False)

    tab.call(planned("hold", name="call"))
    view = tab.until_begun("hold")
    assert (view["isLoading"], view["told"]) == (True, [view["threadId"]])
    tab.set(word="second")
    tab.release("call", 1)
    assert tab.answer() == [{"status": "success", "value": 1}]

    # What is made anew at each render is the latest, and nothing more is announced for it.
    assert tab.ask(planned("recall", key="word")) == [{"status": "success", "value": "second"}]
    heard = [(each["tool"], each["phase"], each["word"]) for each in tab.view["log"] if "phase" in each]
    assert heard == [
        *(("hold", "start", "first"), ("hold", "success", "second")),
        *(("recall", "start", "second"), ("recall", "success", "second")),
    ]
    view = tab.view
    assert len(view["told"]) == 1, "onThreadId was called again"
    assert [message["role"] for message in view["messages"]] == ["human", "ai", "ai"] * 2
    # One client on one connection, which has announced itself once for each state of the page.
    assert tab.sockets == 1
    locks = "navigator.locks.query().then(({ held, pending }) => [...held, ...pending].map(({ name }) => name))"
    assert len([name for name in tab.run(locks) if name.startswith("farside:client:")]) == 1
    assert {tuple(tools) for tools in tab.announced} == {tuple(TOOLS)}
    assert len(tab.commands("run.start")) == 2


@each_mode
def test_a_reload_while_a_call_is_open(open_tab: OpenTab, strict: bool) -> None:
    tab = open_tab(strict=strict)
    tab.call(planned("hold_again", name="call"), planned("recall", key="word"))
    before = tab.until_begun("hold_again")["threadId"]
    tab.until("calls.some(({ name, state }) => name === 'recall' && state === 'answered')")
    tab.reload()
    view = tab.until_begun("hold_again")
    assert (view["threadId"], view["told"]) == (before, [])
    tab.release("call", "again")
    assert tab.answer() == [{"status": "success", "value": "again"}, {"status": "success", "value": "first"}]
    assert [each["tool"] for each in tab.bodies()] == ["hold_again"]


def test_f18_strict_mode_renders_and_mounts_execute_nothing_twice(open_tab: OpenTab) -> None:
    """Nine calls, nine executions, whatever the components do meanwhile."""
    tab = open_tab(strict=True)
    three = [planned("recall", key=key) for key in "abc"]
    success = {"status": "success", "value": "first"}
    assert tab.ask(*three) == [success] * 3
    tab.set(word="second")
    assert tab.ask(*three) == [{**success, "value": "second"}] * 3
    tab.set(isConversationShown=False)
    tab.until("connection === 'none'")
    tab.set(isConversationShown=True)
    tab.until("messages?.length > 0")
    assert tab.ask(*three) == [{**success, "value": "second"}] * 3
    assert [each["tool"] for each in tab.bodies()] == ["recall"] * 9


@each_mode
def test_another_thread(open_tab: OpenTab, strict: bool) -> None:
    tab = open_tab(strict=strict, thread=new_thread())
    assert tab.ask(planned("recall", key="word"))
    first = tab.view["threadId"]
    assert tab.view["told"] == []
    tab.set(threadId=None)
    view = tab.until("status === 'idle' && messages.length === 0")
    assert view["threadId"] is None
    # The first thread's body is aborted by the switch, and its call is given back.
    tab.call(planned("hold", name="left"))
    second = tab.until_begun("hold")["threadId"]
    assert tab.view["told"] == [second] != [first]
    tab.set(threadId=first)
    view = tab.until("connection === 'open' && status === 'idle' && messages.length === 3")
    assert view["threadId"] == first
    assert [each["body"] for each in tab.bodies() if each["tool"] == "hold"] == ["begun", "aborted"]
    tab.set(threadId=second)
    tab.until("connection === 'open' && messages.length > 0 && status === 'idle'")
    assert [each["code"] for each in tab.answer()] == ["interrupted"]
    assert (tab.sockets, len(tab.open_sockets)) == (4, 1)


def test_f23_tools_come_and_go_with_components(open_tab: OpenTab, page_errors: list[str]) -> None:
    tab = open_tab(strict=True)
    many = ["ping", "throw", "give", "mislead", "paste_text"]
    tab.set(extra=many)
    assert tab.ask(planned("paste_text")) == [{"status": "success", "value": "paste_text undefined"}]
    tab.set(extra=["ping", "throw"])
    assert tab.ask(planned("ping", word="ping")) == [{"status": "success", "value": "ping ping"}]
    tab.set(extra=["throw", "ping"])
    assert tab.ask(planned("ping", word="again")) == [{"status": "success", "value": "ping again"}]
    tab.set(extra=["throw"])
    assert tab.ask(planned("recall", key="word")) == [{"status": "success", "value": "first"}]
    # A name that is taken breaks the component that brings it, and nothing else.
    tab.set(extra=["throw", "hold"])
    assert set(tab.until("caught.length > 0")["caught"]) == {"invalid_argument"}
    assert all("invalid_argument" in error or "expected one tool named hold" in error for error in page_errors)
    page_errors.clear()
    tab.set(extra=[])
    assert tab.ask(planned("recall", key="word")) == [{"status": "success", "value": "first"}]
    changes = [tools for at, tools in enumerate(tab.announced) if at == 0 or tools != tab.announced[at - 1]]
    assert changes == [
        *(TOOLS, sorted([*TOOLS, *many]), sorted([*TOOLS, "ping", "throw"])),
        *(sorted([*TOOLS, "throw"]), TOOLS),
    ]


def test_what_renders(open_tab: OpenTab) -> None:
    tab = open_tab()
    tab.until("status === 'idle'")
    thread = new_thread()
    tab.submit({"say": ["One ", *map(str, range(8)), "."], "gate": thread})
    tab.until("messages.at(-1)?.text === 'One '")
    before = tab.view["renders"]
    for seen in range(8):
        assert tab.page.request.post(f"{tab.page.url.split('/?')[0]}/gates/{thread}").ok
        tab.until(f"messages.at(-1).text.endsWith('{seen}')")
    after = tab.view["renders"]
    assert after["Conversation"] - before["Conversation"] >= 8
    assert {name: after[name] - before[name] for name in ("Status", "Counts")} == {"Status": 0, "Counts": 0}
    assert tab.page.request.post(f"{tab.page.url.split('/?')[0]}/gates/{thread}").ok
    tab.until("status === 'idle'")
    assert tab.view["renders"]["Status"] > after["Status"]


@each_mode
def test_two_hooks_of_a_thread_share_it(open_tab: OpenTab, strict: bool) -> None:
    tab = open_tab(strict=strict, scene="pair", thread=new_thread())
    assert tab.ask(planned("remember", key="k", value="v")) == [{"status": "success", "value": "v"}]
    view = tab.view
    assert view["streams"]["left"] == view["streams"]["right"]
    assert [each["tool"] for each in tab.bodies()] == ["remember"]
    # Each hears of it.
    assert sorted(each["word"] for each in view["log"] if "phase" in each) == ["left", "right"]
    assert tab.sockets == 1
    # One of them goes, the thread stays; it goes on where one comes in the place of the other.
    tab.set(isPageShown=False)
    assert tab.ask(planned("remember", key="k", value="w")) == [{"status": "success", "value": "w"}]
    tab.set(isPageShown=True, isConversationShown=False)
    tab.set(isPageShown=False, isConversationShown=True)
    assert tab.ask(planned("remember", key="k", value="x")) == [{"status": "success", "value": "x"}]
    assert (tab.sockets, len(tab.open_sockets)) == (1, 1)
    # The last one goes, and the connection with it; it comes back, and so does that.
    with tab.open_sockets[0].expect_event("close"):
        tab.set(isConversationShown=False)
    tab.set(isPageShown=True)
    tab.until("streams.left?.connection === 'open' && streams.left.messages.length === 9")
    assert (tab.sockets, len(tab.open_sockets)) == (2, 1)


def test_a_page_without_a_conversation_keeps_its_tools_at_work(open_tab: OpenTab) -> None:
    """The provider's thread stays open without a component that shows it, and closes with the provider."""
    tab = open_tab(strict=True)
    tab.call(planned("hold", name="call"), planned("hold", name="other"))
    tab.until_begun("hold", 2)
    tab.set(isConversationShown=False)
    tab.until("connection === 'none'")
    tab.run("new Promise((resolve) => setTimeout(resolve))")
    tab.release("call", 1)
    tab.until("log.some(({ phase }) => phase === 'success')")
    with tab.open_sockets[0].expect_event("close"):
        tab.set(isPageShown=False)
    tab.until("log.some(({ body }) => body === 'aborted')")
    assert tab.sockets == 1


@each_mode
def test_f23_what_an_effect_says_at_once_finds_the_tools(open_tab: OpenTab, strict: bool) -> None:
    plan = {"calls": [planned("remember", key="k", value="v")]}
    tab = open_tab(strict=strict, scene="eager", say=json.dumps(plan))
    assert tab.answer() == [{"status": "success", "value": "v"}]
    view = tab.view
    assert view["told"] == [view["threadId"]]
    assert (tab.sockets, len(tab.commands("run.start"))) == (1, 1)


def test_markup_of_a_server_is_taken_over(open_tab: OpenTab) -> None:
    """React complains in the console where server and page do not agree; that would fail this test."""
    tab = open_tab(strict=True, scene="hydrated")
    assert tab.ask(planned("recall", key="word")) == [{"status": "success", "value": "first"}]
    assert tab.sockets == 1
