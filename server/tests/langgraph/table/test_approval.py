"""``HumanInTheLoopMiddleware`` before a browser call: the question first, then the page is asked what was approved.

The other call of the message is a server tool, which needs no approval. And a server tool that asks a question itself.
"""

from __future__ import annotations

from typing import Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import HumanInTheLoopMiddleware
from langgraph.types import interrupt

from farside.langgraph import tool
from server.tests.langgraph.scripted import Streaming, call, once
from server.tests.langgraph.table.beside import Turn, told

PAY = tool(
    name="pay",
    args_schema={"type": "object", "properties": {"amount": {"type": "integer"}}, "required": ["amount"]},
    timeout=600,
)
MODES = ["batched", "per_call"]


class Counted:
    """A server tool that counts how often it ran, and an agent that calls it beside two that need approval."""

    def __init__(self, mode: Any) -> None:
        self.times = 0

        @tool
        def count() -> str:
            """Count."""
            self.times += 1
            return "counted"

        self.model = Streaming(
            script=once(call("pay", "one", amount=1), call("count", "count"), call("pay", "two", amount=2))
        )
        approval = HumanInTheLoopMiddleware({"pay": True}, interrupt_mode=mode)
        self.agent = create_agent(self.model, [PAY, count], middleware=[approval])


async def asking(page: Any) -> str:
    """Send a message, and hear the questions that follow; returns the run's id."""
    await page.command("subscription.subscribe", channels=["input"])
    return await page.submit("go")


async def questions(page: Any, number: int) -> list[dict[str, Any]]:
    """The questions that arrived, once there are so many: interrupt id and payload."""

    def asked() -> list[dict[str, Any]]:
        return [event["params"]["data"] for event in page.events if event["method"] == "input.requested"]

    await page.until(lambda event: len(asked()) == number)
    return asked()


async def decide(page: Any, mode: str, one: dict[str, Any], two: dict[str, Any]) -> None:
    """Answer for the two calls, as the mode asks for it."""
    if mode == "batched":
        [asked] = await questions(page, 1)
        assert [request["args"] for request in asked["payload"]["action_requests"]] == [
            {"amount": 1},
            {"amount": 2},
        ]
        answers = {asked["interrupt_id"]: {"decisions": [one, two]}}
    else:
        by_amount = {each["payload"]["args"]["amount"]: each for each in await questions(page, 2)}
        answers = {by_amount[1]["interrupt_id"]: one, by_amount[2]["interrupt_id"]: two}
    assert page.executions == [], "nothing runs before it is approved"
    for interrupt_id, answer in answers.items():
        await page.command("input.respond", interrupt_id=interrupt_id, response=answer)


async def turn_with(
    counted: Counted, mode: str, make_app: Any, open_page: Any, finish: Any, one: dict[str, Any], two: dict[str, Any]
) -> Turn:
    page = await open_page(make_app(counted.agent), tools={"pay": lambda amount: f"paid {amount}"})
    run_id = await asking(page)
    await decide(page, mode, one, two)
    return await finish(page, run_id)


def edit(amount: Any) -> dict[str, Any]:
    return {"type": "edit", "edited_action": {"name": "pay", "args": {"amount": amount}}}


APPROVE = {"type": "approve"}


@pytest.mark.parametrize("mode", MODES)
async def test_approve(make_app: Any, open_page: Any, finish: Any, mode: str) -> None:
    counted = Counted(mode)
    turn = await turn_with(counted, mode, make_app, open_page, finish, APPROVE, APPROVE)

    assert told(counted.model) == {"one": "paid 1", "count": "counted", "two": "paid 2"}
    assert sorted(args["amount"] for _, args in turn.page.executions) == [1, 2]
    assert counted.times == 1


@pytest.mark.parametrize("mode", MODES)
async def test_edit(make_app: Any, open_page: Any, finish: Any, mode: str) -> None:
    """The page gets the arguments as they were edited; LangChain tells the model of it."""
    counted = Counted(mode)
    turn = await turn_with(counted, mode, make_app, open_page, finish, edit(10), APPROVE)

    assert sorted(args["amount"] for _, args in turn.page.executions) == [2, 10]
    assert told(counted.model)["one"].startswith("Note: a human reviewer replaced this tool call")
    assert told(counted.model)["one"].endswith("paid 10")
    assert told(counted.model)["two"] == "paid 2"
    assert counted.times == 1


@pytest.mark.parametrize("mode", MODES)
async def test_an_edit_that_does_not_fit_the_schema(make_app: Any, open_page: Any, finish: Any, mode: str) -> None:
    """The arguments are checked after the edit: the page is not asked, the model is told."""
    counted = Counted(mode)
    turn = await turn_with(counted, mode, make_app, open_page, finish, edit("much"), APPROVE)

    assert turn.page.executions == [("pay", {"amount": 2})]
    assert "Error (invalid_args)" in told(counted.model)["one"]


@pytest.mark.parametrize("mode", MODES)
async def test_reject(make_app: Any, open_page: Any, finish: Any, mode: str) -> None:
    counted = Counted(mode)
    reject = {"type": "reject", "message": "too dear"}
    turn = await turn_with(counted, mode, make_app, open_page, finish, reject, APPROVE)

    assert turn.page.executions == [("pay", {"amount": 2})]
    assert "too dear" in told(counted.model)["one"]
    assert turn.results["one"].status == "error"
    assert told(counted.model)["two"] == "paid 2"
    assert counted.times == 1


@pytest.mark.parametrize("mode", MODES)
async def test_respond(make_app: Any, open_page: Any, finish: Any, mode: str) -> None:
    """The human answers in the place of the page."""
    counted = Counted(mode)
    respond = {"type": "respond", "message": "I paid in cash"}
    turn = await turn_with(counted, mode, make_app, open_page, finish, respond, APPROVE)

    assert turn.page.executions == [("pay", {"amount": 2})]
    assert told(counted.model)["one"] == "I paid in cash"
    assert turn.results["one"].status == "success"


@pytest.mark.parametrize("mode", MODES)
async def test_reject_all(make_app: Any, open_page: Any, finish: Any, mode: str) -> None:
    counted = Counted(mode)
    turn = await turn_with(counted, mode, make_app, open_page, finish, {"type": "reject"}, {"type": "reject"})

    assert turn.page.executions == []
    assert [turn.results[call_id].status for call_id in ("one", "count", "two")] == ["error", "success", "error"]
    assert counted.times == 1


@pytest.mark.parametrize("mode", MODES)
async def test_a_message_instead_of_an_answer(make_app: Any, open_page: Any, mode: str) -> None:
    """The question is dropped with its calls, and the history is one that the model takes."""
    counted = Counted(mode)
    page = await open_page(make_app(counted.agent), tools={"pay": lambda amount: f"paid {amount}"})
    await asking(page)
    await questions(page, 1 if mode == "batched" else 2)

    assert (await page.ask("never mind")).strip() == "done: never mind"
    assert page.executions == []
    assert counted.times == (0 if mode == "batched" else 1)


@pytest.mark.parametrize("mode", MODES)
async def test_a_decision_that_is_none(make_app: Any, open_page: Any, finish: Any, mode: str) -> None:
    """The run fails, nothing is executed, and the thread goes on with the next message."""
    counted = Counted(mode)
    wrong = {"type": "nonsense"}
    turn = await turn_with(counted, mode, make_app, open_page, finish, wrong, wrong)

    assert (turn.ended["event"], turn.ended["code"]) == ("failed", "agent_failed")
    assert turn.page.executions == []
    assert (await turn.page.ask("again")).strip() == "done: again"


async def test_a_server_tool_that_asks_a_question(make_app: Any, open_page: Any, finish: Any) -> None:
    """``interrupt()`` in its body: question and browser call are open together; the run resumes when both are answered.

    The body runs again from its beginning, as LangGraph has it.
    """
    bodies: list[str] = []

    @tool
    def book(city: str) -> str:
        """Book it."""
        bodies.append(city)
        return f"booked {city}: {interrupt({'sure': city})}"

    model = Streaming(script=once(call("book", "b", city="Bern"), call("pay", "p", amount=1)))
    page = await open_page(make_app(create_agent(model, [PAY, book])), tools={"pay": lambda amount: f"paid {amount}"})
    run_id = await asking(page)
    [asked] = await questions(page, 1)
    assert asked["payload"] == {"sure": "Bern"}
    await page.until(lambda event: bool(page.calls("settled")))
    assert len(model.seen) == 1
    await page.command("input.respond", interrupt_id=asked["interrupt_id"], response="yes")
    await finish(page, run_id)

    assert told(model) == {"b": "booked Bern: yes", "p": "paid 1"}
    assert page.executions == [("pay", {"amount": 1})]
    assert bodies == ["Bern", "Bern"]
