"""docs/pydantic-ai.md: its code works."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from server.tests.pydantic_ai.scripted import call, calling, scripted, steps, telling

PAGE = (Path(__file__).parents[3] / "docs/pydantic-ai.md").read_text()
MODEL = scripted(steps(calling(call("get_location", "a")), telling)).model


async def test_the_code_of_the_page(open_page: Any) -> None:
    [code] = re.findall(r"^```python\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    module: dict[str, Any] = {"__name__": "page", "model": MODEL}
    exec(compile(code, "docs/pydantic-ai.md", "exec"), module)  # noqa: S102 - it is ours
    async with module["app"].lifespan():
        page = await open_page(module["app"], tools={"get_location": lambda: {"lat": 1.5}})
        await page.ended(await page.submit("Where am I?"))
        assert "1.5" in page.texts()[-1]
