"""The smallest farside app: ``farside serve examples.hello.app:app``, then open http://127.0.0.1:8000."""

from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.responses import FileResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from farside import Farside, Turn, tool

HERE = Path(__file__).parent
window_size = tool(name="window_size", description="How large the user's window is.", idempotent=True)


async def guide(turn: Turn, _input: Any) -> None:
    size = await turn.call(window_size)
    await turn.say(f"Hello! You said “{turn.text}”, in a window of {size['width']} by {size['height']} pixels.")


farside = Farside({"guide": guide}, store="memory")
app = Starlette(
    routes=[
        Route("/", lambda _: FileResponse(HERE / "index.html")),
        Mount("/farside", farside),
        Mount("/client", StaticFiles(directory=HERE.parents[1] / "client-js/dist")),  # the npm package `farside`
    ],
    lifespan=farside.lifespan,
)
