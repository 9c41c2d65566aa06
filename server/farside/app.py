"""``Farside``: the ASGI app, and the only place that picks implementations."""

from __future__ import annotations

import asyncio
import inspect
import os
import sys
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Router

from farside.asgi import NEXT_HEADER, routes
from farside.buses.memory import MemoryBus
from farside.clock import SystemClock
from farside.core.ports import Clock, Leg, RunInfo, Runtime, Store
from farside.doctor import Finding, examine
from farside.engine import Engine, Settings
from farside.functions import FunctionRuntime
from farside.processes import forget, is_gone, new_process_id
from farside.stores.memory import MemoryStore
from farside.stores.sqlite import SqliteStore
from farside.tools import HeadlessTool, declaration_of
from farside.wire.values import DEFAULT_LIMITS, Limits

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


DEVELOPMENT = "FARSIDE_DEV"
"""The variable that ``farside dev`` sets to 1: pages that this machine serves may use the HTTP routes."""

_LOCALHOST = r"https?://(localhost|127\.0\.0\.1|\[::1\])(:\d+)?"

_Kind = Literal["graph", "pydantic_ai", "function"]


def _new_id() -> str:
    return str(uuid.uuid4())


class Farside:
    """An ASGI app that serves agents: run it with ``farside serve module:app`` or any ASGI server, or mount it under
    any path of a Starlette or FastAPI app.

    Args:
        agents: by name: a compiled LangGraph graph (``create_agent`` makes one), a Pydantic AI agent (or a
            ``PydanticAIRuntime`` of one), or ``async def agent(turn, input)``.
        store: ``"sqlite:///file.db"`` (relative; four slashes for an absolute path), ``"memory"``, or a store object.
            A graph without a checkpointer gets a ``SqliteSaver`` in the same file, or LangGraph's memory saver.
        context: what the server gives each run, and a client never chooses: LangGraph's ``context``, Pydantic AI's
            ``deps``. A value, or a function, also an async one, of a :class:`RunInfo`; it is called each time that a
            run is entered, so also after a restart and, for a graph, after a pause.
        settings: leases, pings, the default timeout of calls.
        limits: how large a message may be.
        allowed_origins: which pages of other origins may use the HTTP routes, for example ``["https://app.example"]``,
            or ``["*"]`` for all. Pages of the app's own origin always may; under ``farside dev`` those of localhost.
        tools: headless tools that the agents may call but whose declarations the server cannot find by itself before
            that: those of async functions, and of toolsets or graphs that are made for each run. They are checked
            against what pages announce, and ``farside types`` writes them.
        schema_mismatch: what becomes of a page that was built for other schemas of a tool than the server has, as the
            fingerprints say that ``farside types`` has written into it. ``"strict"``: it is told so, and is offered no
            call of that tool; ``"warn"``: it is told so. None: strict under ``farside dev``, else warn. A page without
            fingerprints is taken as it is.
        clock, new_id: time and ids, for tests.

    A server that runs the ASGI lifespan starts it at once, which resumes what a crash interrupted. Mounted apps get no
    lifespan from Starlette: pass :meth:`lifespan` to the outer app, or the first request starts it.

    Raises:
        ValueError: an agent, a tool, the store's address or the origins are none of these; says what was expected.
    """

    def __init__(
        self,
        agents: Mapping[str, Any],
        *,
        store: str | Store = "sqlite:///farside.db",
        context: Any = None,
        settings: Settings | None = None,
        limits: Limits = DEFAULT_LIMITS,
        allowed_origins: Sequence[str] = (),
        tools: Iterable[Any] = (),
        schema_mismatch: Literal["strict", "warn"] | None = None,
        clock: Clock | None = None,
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        if not agents:
            raise ValueError("expected at least one agent, {'name': graph, Pydantic AI agent or async function}")
        if isinstance(allowed_origins, str):
            raise ValueError(f"expected a list of origins, got {allowed_origins!r}; write [{allowed_origins!r}]")
        self._store, self._file = _store(store)
        self._agents: dict[str, tuple[_Kind, Any]] = {
            name: (_kind(name, agent), agent) for name, agent in agents.items()
        }
        if schema_mismatch not in ("strict", "warn", None):
            raise ValueError(f"expected schema_mismatch 'strict', 'warn' or None, got {schema_mismatch!r}")
        is_development = os.environ.get(DEVELOPMENT) == "1"
        self._is_strict = schema_mismatch == "strict" or (schema_mismatch is None and is_development)
        self._tools = [_declaration(tool) for tool in tools]
        self._settings = settings or Settings()
        self._context = context
        self._limits = limits
        self._clock: Clock = clock or SystemClock()
        self._new_id = new_id
        self._engine: Engine | None = None
        self._open = AsyncExitStack()
        self._starting = asyncio.Lock()
        router = Router(routes(self.engine), lifespan=self.lifespan)
        self._app = CORSMiddleware(
            router,
            allow_origins=allowed_origins,
            allow_origin_regex=_LOCALHOST if is_development else None,
            allow_methods=["*"],
            allow_headers=["*"],
            expose_headers=[NEXT_HEADER],
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def lifespan(self, app: Any = None) -> AsyncGenerator[None]:
        """Start on entering, stop on leaving: ``FastAPI(lifespan=farside.lifespan)`` for a mounted app."""
        await self.engine()
        try:
            yield
        finally:
            await self.stop()

    async def engine(self) -> Engine:
        """The engine, started if it was not."""
        if self._engine is None:
            async with self._starting:
                if self._engine is None:
                    self._engine = await self._start()
        return self._engine

    @property
    def tools(self) -> tuple[HeadlessTool, ...]:
        """The headless tools that the app declares, as far as they are known before an agent runs: each once.

        Raises:
            ValueError: two declarations have one name, and different schemas.
        """
        found: dict[str, HeadlessTool] = {}
        for tool in (*self._tools, *(tool for kind, agent in self._agents.values() for tool in _tools(kind, agent))):
            if found.setdefault(tool.name, tool).fingerprint != tool.fingerprint:
                raise ValueError(
                    f"expected one declaration of the tool {tool.name!r}, got two with different schemas; a page can "
                    "implement only one of them: rename one"
                )
        return tuple(found.values())

    async def _start(self) -> Engine:
        async with AsyncExitStack() as opening:
            await self._store.open()
            opening.push_async_callback(self._store.close)
            runtimes = await _graph_runtimes(self._of("graph"), opening, self._file, self._context_of, self._tools)
            runtimes |= {name: FunctionRuntime(each, self._tools) for name, each in self._of("function").items()}
            runtimes |= {
                name: _pydantic_ai_runtime(agent, self._context_of(name), self._tools)
                for name, agent in self._of("pydantic_ai").items()
            }
            process_id = new_process_id()
            opening.callback(forget, process_id)
            engine = Engine(
                store=self._store,
                bus=MemoryBus(),
                runtimes=runtimes,
                clock=self._clock,
                new_id=self._new_id,
                settings=self._settings,
                limits=self._limits,
                process_id=process_id,
                is_gone=is_gone,
                strict_schemas=self._is_strict,
            )
            opening.push_async_callback(engine.stop)
            await engine.start()
            self._open = opening.pop_all()
        return engine

    def _context_of(self, agent: str) -> Callable[[Leg], Awaitable[Any]]:
        async def context(leg: Leg) -> Any:
            if not callable(self._context):
                return self._context
            made = self._context(RunInfo(agent, leg.thread_id, leg.run_id))
            return await made if inspect.isawaitable(made) else made

        return context

    def _of(self, kind: _Kind) -> dict[str, Any]:
        return {name: agent for name, (its_kind, agent) in self._agents.items() if its_kind == kind}

    async def examine(self) -> list[Finding]:
        """What is under way in the store, what of it is stuck, and why: ``farside doctor``. It changes nothing."""
        async with AsyncExitStack() as opened:
            if self._engine is None:
                await self._store.open()
                opened.push_async_callback(self._store.close)
            return await examine(self._store, list(self._agents), self._clock.now())

    async def stop(self) -> None:
        """Stop where everything stands; the next start goes on."""
        async with self._starting:
            self._engine = None
            await self._open.aclose()


def _store(store: str | Store) -> tuple[Store, Path | None]:
    if not isinstance(store, str):
        return store, getattr(store, "path", None)
    if store == "memory":
        return MemoryStore(), None
    if store.startswith("sqlite:///") and len(store) > len("sqlite:///"):
        path = Path(store.removeprefix("sqlite:///"))
        return SqliteStore(path), path
    raise ValueError(f"expected store 'sqlite:///file.db', 'memory' or a store object, got {store!r}")


def _kind(name: str, agent: Any) -> _Kind:
    """What the agent is. A framework that nobody has imported has made no agent, so none is imported for this.

    Raises:
        ValueError: it is none of them.
    """
    if inspect.iscoroutinefunction(agent):
        return "function"
    if type(agent).__module__.startswith("langgraph."):
        from farside.langgraph.runtime import is_graph

        if is_graph(agent):
            return "graph"
    if "pydantic_ai" in sys.modules:
        from farside.pydantic_ai.runtime import is_agent

        if is_agent(agent):
            return "pydantic_ai"
    raise ValueError(
        f"agent {name!r}: expected a compiled LangGraph graph, a Pydantic AI agent or an async function (turn, input), "
        f"got {agent!r}; for a StateGraph call .compile() first"
    )


async def _graph_runtimes(
    graphs: Mapping[str, Any],
    opening: AsyncExitStack,
    file: Path | None,
    context_of: Callable[[str], Callable[[Leg], Awaitable[Any]]],
    tools: Sequence[HeadlessTool],
) -> dict[str, Runtime]:
    """Runtimes for graphs, with one saver for those that bring none."""
    if not graphs:
        return {}
    from farside.langgraph.runtime import LangGraphRuntime
    from farside.langgraph.savers import open_saver

    saver = await opening.enter_async_context(open_saver(file))
    return {
        name: LangGraphRuntime(graph, checkpointer=saver, context=context_of(name), tools=tools)
        for name, graph in graphs.items()
    }


def _pydantic_ai_runtime(
    agent: Any, context: Callable[[Leg], Awaitable[Any]], tools: Sequence[HeadlessTool]
) -> Runtime:
    from farside.pydantic_ai.runtime import PydanticAIRuntime

    if isinstance(agent, PydanticAIRuntime):
        return agent.given(context, tools)
    return PydanticAIRuntime(agent, context=context, tools=tools)


def _declaration(tool: Any) -> HeadlessTool:
    found = declaration_of(tool)
    if found is None:
        raise ValueError(
            f"expected tools to be headless tools, made by farside.tool or farside.langgraph.tool; got {tool!r}"
        )
    return found


def _tools(kind: _Kind, agent: Any) -> Iterable[HeadlessTool]:
    """What an agent shows of its headless tools."""
    if kind == "graph":
        from farside.langgraph.declarations import declarations_of

        return declarations_of(agent)
    if kind == "pydantic_ai":
        from farside.pydantic_ai.runtime import tools_of

        return tools_of(agent)
    return ()
