"""``tool``: LangChain's own, which also declares headless tools."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, cast, overload

from langchain_core.runnables import Runnable
from langchain_core.tools import ArgsSchema, BaseTool
from langchain_core.tools import tool as langchain_tool

from farside.langgraph.headless import HeadlessTool
from farside.tools import HeadlessTool as Declaration
from farside.tools import Schema

_DECLARING = ("name", "description", "args_schema", "result_schema", "timeout", "idempotent", "title", "return_direct")


@overload
def tool(declaration: Declaration, /, *, return_direct: bool = False) -> HeadlessTool: ...


@overload
def tool(
    *,
    name: str,
    description: str = "",
    args_schema: Schema = None,
    result_schema: Schema = None,
    timeout: float | None = None,
    idempotent: bool = False,
    title: str | None = None,
    return_direct: bool = False,
) -> HeadlessTool: ...


@overload
def tool(
    *,
    description: str | None = None,
    return_direct: bool = False,
    args_schema: ArgsSchema | None = None,
    infer_schema: bool = True,
    response_format: Literal["content", "content_and_artifact"] = "content",
    parse_docstring: bool = False,
    error_on_invalid_docstring: bool = True,
    extras: dict[str, Any] | None = None,
) -> Callable[[Callable[..., Any] | Runnable[Any, Any]], BaseTool]: ...


@overload
def tool(
    name_or_callable: str,
    runnable: Runnable[Any, Any],
    *,
    description: str | None = None,
    return_direct: bool = False,
    args_schema: ArgsSchema | None = None,
    infer_schema: bool = True,
    response_format: Literal["content", "content_and_artifact"] = "content",
    parse_docstring: bool = False,
    error_on_invalid_docstring: bool = True,
    extras: dict[str, Any] | None = None,
) -> BaseTool: ...


@overload
def tool(
    name_or_callable: Callable[..., Any],
    *,
    description: str | None = None,
    return_direct: bool = False,
    args_schema: ArgsSchema | None = None,
    infer_schema: bool = True,
    response_format: Literal["content", "content_and_artifact"] = "content",
    parse_docstring: bool = False,
    error_on_invalid_docstring: bool = True,
    extras: dict[str, Any] | None = None,
) -> BaseTool: ...


@overload
def tool(
    name_or_callable: str,
    *,
    description: str | None = None,
    return_direct: bool = False,
    args_schema: ArgsSchema | None = None,
    infer_schema: bool = True,
    response_format: Literal["content", "content_and_artifact"] = "content",
    parse_docstring: bool = False,
    error_on_invalid_docstring: bool = True,
    extras: dict[str, Any] | None = None,
) -> Callable[[Callable[..., Any] | Runnable[Any, Any]], BaseTool]: ...


def tool(*args: Any, **keywords: Any) -> Any:
    """Make a tool of a function, or declare one whose body lives in the user's browser.

    Given a function, a name and a runnable, or decorator arguments, this is LangChain's ``tool``, unchanged. Given the
    keyword ``name`` and no function, it returns a :class:`HeadlessTool`::

        get_location = tool(
            name="get_location",
            description="Get the user's current position.",
            args_schema=LocationRequest,
            result_schema=Position,
            timeout=30,
            idempotent=True,
        )

    Given a declaration that knows nothing of LangChain, as :mod:`farside.browser` has them, it returns the same:
    ``tool(browser.get_location)``; of the keywords it then takes ``return_direct``.

    Args:
        name: 1 to 64 letters, digits, ``_`` or ``-``; what the page implements.
        description: what it does, for the model.
        args_schema: a pydantic model, a ``typing_extensions.TypedDict``, a JSON Schema of type object, or None for no
            arguments. Checked before the page hears of a call.
        result_schema: the same forms, or None for any value. Checked before the model sees the result.
        timeout: seconds until a call settles with ``timed_out``; None for the server's default.
        idempotent: whether a call may run again when its first execution's outcome is unknown.
        title: a short name for people.
        return_direct: whether the turn ends with the result, as LangChain has it.

    Raises:
        TypeError: a function or a declaration together with ``name``, or a keyword that belongs to neither form.
        ValueError: a name or schema that :class:`farside.tools.HeadlessTool` refuses.
    """
    if args and isinstance(args[0], Declaration):
        return _of_declaration(*args, **keywords)
    if "name" not in keywords:
        ours = [key for key in ("result_schema", "timeout", "idempotent", "title") if key in keywords]
        if ours:
            raise TypeError(
                f"tool(): {ours[0]!r} describes a headless tool, which has no function; "
                "declare one with tool(name=..., description=..., args_schema=..., ...)"
            )
        return cast("Any", langchain_tool)(*args, **keywords)
    if args:
        raise TypeError(
            "tool(): expected either name=... for a headless tool, which has no function, or a function; got both. "
            'To name a function\'s tool write @tool("name")'
        )
    unknown = [key for key in keywords if key not in _DECLARING]
    if unknown:
        raise TypeError(f"tool(): a headless tool takes {', '.join(_DECLARING)}; got {unknown[0]!r}")
    return HeadlessTool(**keywords)


def _of_declaration(declaration: Declaration, *args: Any, **keywords: Any) -> HeadlessTool:
    if args or keywords.keys() - {"return_direct"}:
        unexpected = args[0] if args else min(keywords.keys() - {"return_direct"})
        raise TypeError(
            f"tool(): expected of the declaration {declaration.name!r} nothing but return_direct, got {unexpected!r}; "
            "what else there is to say is said where it is declared"
        )
    return HeadlessTool(
        name=declaration.name,
        description=declaration.description,
        args_schema=declaration.args_schema,
        result_schema=declaration.result_schema,
        timeout=declaration.timeout,
        idempotent=declaration.idempotent,
        title=declaration.title,
        **keywords,
    )
