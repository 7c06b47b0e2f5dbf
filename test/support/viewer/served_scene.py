"""A server of the scene, with a page that shows nothing else, in a thread."""

import asyncio
import threading
from typing import Any

import uvicorn
from fastapi import FastAPI
from starlette.responses import HTMLResponse, Response
from still_state import StillState

from mujoco_ros.viewer.page.access import Role
from mujoco_ros.viewer.scene.entries import OverlayEntries
from mujoco_ros.viewer.scene.scene import SceneServer

_PERIOD_S = 1 / 60
_PAGE = """<!doctype html><html lang="en"><head><title>scene</title>
<link rel="icon" href="data:,"><style>html, body, #scene { margin: 0; height: 100%; }</style>
</head><body><div id="scene"></div><script type="module">
import { mountScene } from "/scene/static/scene.js";
const drawing = new URLSearchParams(location.search).get("drawing") ?? "auto";
window.scene = mountScene(document.getElementById("scene"), { drawing });
</script></body></html>"""


class ServedScene:
    """The state that is shown, and what pages send."""

    def __init__(self, scene: str) -> None:
        self.state, self.given = StillState(scene), []
        self.overlay = OverlayEntries()  # what is shown besides the model
        self.images: dict[int, bytes] = {}  # PNG files of the cameras of the model
        self.errors: list[Exception] = []
        self._wanted: str | None = None
        self._server: Any = None
        self.port = 0
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()))
        self._thread.start()
        assert self._started.wait(120.0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def entries(self) -> OverlayEntries:
        return self.overlay

    def load(self, scene: str) -> None:
        """Show another scene."""
        self._wanted = scene

    def close(self) -> None:
        self._server.should_exit = True
        self._thread.join(60.0)
        assert self.errors == []

    async def _run(self) -> None:
        app = FastAPI()
        on_input = lambda _client, each: self.given.append(each)  # noqa: E731
        scene = SceneServer(self.state, self.entries, on_input)
        scene.mount(app, lambda _connection: Role.CONTROL)

        @app.get("/pictures/scene/{camera}")
        async def image(camera: int) -> Response:
            found = self.images.get(camera)
            return Response(found or b"", 200 if found else 204, media_type="image/png")

        @app.get("/")
        async def page() -> HTMLResponse:
            return HTMLResponse(_PAGE)

        config = uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error")
        self._server = uvicorn.Server(config)
        serving = asyncio.create_task(self._server.serve())
        while not self._server.started:
            await asyncio.sleep(0.01)
        self.port = self._server.servers[0].sockets[0].getsockname()[1]
        self._started.set()
        while not serving.done():
            if self._wanted is not None:
                self.state.load(self._wanted)
                self._wanted = None
            try:
                scene.update()
            except Exception as error:
                self.errors.append(error)
            await asyncio.sleep(_PERIOD_S)
        scene.close()
