"""The server of the scene: a WebSocket for each page, and what pages load once."""

import asyncio
import functools
import gzip
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import mujoco
from fastapi import FastAPI
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.websockets import WebSocket, WebSocketDisconnect

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.scene import inputs, packing
from mujoco_ros.viewer.scene.assets import Asset, Assets
from mujoco_ros.viewer.scene.client import PageLink
from mujoco_ros.viewer.scene.drawn_scene import DrawnScene
from mujoco_ros.viewer.scene.entries import Overlay, OverlayEntries
from mujoco_ros.viewer.scene.fitting import fitted_pose
from mujoco_ros.viewer.scene.model_message import model_message
from mujoco_ros.viewer.scene.options import ViewOptions
from mujoco_ros.viewer.scene.pictures import PictureJob, PictureRenderer
from mujoco_ros.viewer.web.access import Role

_LOG = logging.getLogger(__name__)
_THREE = "elements/scene/dist/index.js"
"""The library three.js in the package nicegui."""
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_CHECKED = {"Cache-Control": "no-cache"}
_CLOSED = 1008  # code of a WebSocket that is closed because of what the client has sent

Admit = Callable[[HTTPConnection], Role | None]


def _ignore(_client: int, _given: inputs.SceneInput) -> None:
    """Do nothing."""


@dataclass(kw_only=True, slots=True)
class SceneOptions:
    """Settings of a `SceneServer`."""

    on_input: Callable[[int, inputs.SceneInput], object] = _ignore  # gets the number of a page
    displays: EntityDisplays | None = None  # what is shown of each entity, if that is chosen


class SceneServer:
    """Sends the scene of a state to pages. For one thread, with an event loop."""

    def __init__(
        self, state: SharedState, overlays: Sequence[Overlay], options: SceneOptions
    ) -> None:
        self.links: dict[int, PageLink] = {}  # the connected pages by number
        self._state, self._overlays, self._options = state, overlays, options
        self._model: mujoco.MjModel | None = None  # of the state, when it was last shown
        self._changes = -1
        self._version = self._tick = self._pages = 0
        self._scenes: dict[ViewOptions, DrawnScene] = {}
        self._assets: Assets | None = None
        self._pictures = PictureRenderer()
        self._message: dict[str, Any] = {}
        self._shown: mujoco.MjModel | None = None

    def update(self) -> None:
        """Show the current state, after ``mj_forward``; call it at most 60 times a second."""
        if not self.links:
            return
        self._follow_model()
        now = time.monotonic()
        ready = [link for link in self.links.values() if link.is_ready(now)]
        if not ready or self._shown is None:
            return
        self._tick += 1
        entries = [overlay.entries() for overlay in self._overlays]
        handles = [handle.to_json() for each in entries for handle in each.handles]
        handle_section = packing.json_section(packing.ENTRIES, handles)
        data = self._state.data
        for link in ready:
            if link.request is not None:
                link.offer_entries(self._shown, data, handle_section, self._version, now)
                self._draw_picture(link, link.request, entries, now)
                continue
            drawn = self._scene(link.options)
            if drawn.tick != self._tick:
                drawn.tick = self._tick
                drawn.update(self._shown, data, entries)
            link.offer(drawn, self._shown, data, handle_section, self._version, now)
        self._drop_unused()

    def mount(self, app: FastAPI, admit: Admit) -> None:
        """Add ``/scene`` (WebSocket), ``/scene/assets`` and ``/scene/static`` to an application."""

        @app.websocket("/scene")
        async def scene(socket: WebSocket) -> None:
            role = admit(socket)
            if role is None:
                await socket.close(_CLOSED)
                return
            await socket.accept()
            await self._serve(socket, lambda: admit(socket) is Role.CONTROL)

        @app.get("/scene/assets/{name}")
        async def asset(name: str, request: Request) -> Response:
            assets = self._assets
            if admit(request) is None or assets is None:
                return Response(status_code=404)
            found = await asyncio.to_thread(assets.get, name)
            return Response(status_code=404) if found is None else _response(found, _FOREVER)

        @app.get("/scene/static/{name}")
        async def static(name: str, request: Request) -> Response:
            found = None if admit(request) is None else await asyncio.to_thread(script, name)
            return Response(status_code=404) if found is None else _response(found, _CHECKED)

    def select(self, client: int, body: int) -> None:
        """Show a body as selected on a page; 0 is none."""
        if (link := self.links.get(client)) is not None:
            link.send({"selected": {"body": body}})

    def send(self, message: dict[str, Any]) -> None:
        """Send a message to all pages."""
        for link in self.links.values():
            link.send(message)

    def _follow_model(self) -> None:
        model, displays = self._state.model, self._options.displays
        changes = displays.changes if displays is not None else 0
        if model is self._model and changes == self._changes:
            return
        self._shown = displays.displayed_model() if displays is not None else model
        self._changes = changes
        if model is self._model:
            return  # other geoms of the same model are shown
        self._model, self._version = model, self._version + 1
        before, self._assets = self._assets, Assets(model)
        if before is not None:
            self._assets.take_from(before)
        self._scenes.clear()
        self._message = model_message(self._state, self._assets.description, self._version)
        for link in self.links.values():
            link.start_model(self._message)

    def _scene(self, options: ViewOptions) -> DrawnScene:
        assert self._shown is not None
        if options not in self._scenes:
            self._scenes[options] = DrawnScene(self._shown, options)
        return self._scenes[options]

    def _draw_picture(
        self,
        link: PageLink,
        request: inputs.PictureRequest,
        entries: Sequence[OverlayEntries],
        now: float,
    ) -> None:
        if link.is_drawing or self._shown is None:
            return
        data, version = self._state.data, self._version
        drawn = link.drawn
        if drawn is None or drawn.options != link.options:
            drawn = link.drawn = DrawnScene(self._shown, link.options)
        drawn.update_for(request, link.watched.selected, self._shown, data, entries)
        if not link.is_new_picture(drawn):
            return
        time_of = float(data.time)

        def done(picture: bytes, problem: str) -> None:
            link.is_drawing = False
            if problem:
                link.restart_geoms()
                link.send({"pictures": problem})
            elif version == self._version and link.request is not None:
                link.send_picture(picture, version, now, time_of)

        link.is_drawing = True
        width, height = request.width, request.height
        self._pictures.submit(
            PictureJob(model=self._shown, drawn=drawn, width=width, height=height, done=done)
        )

    def close(self) -> None:
        """End the thread that draws pictures."""
        self._pictures.close()

    def _drop_unused(self) -> None:
        used = {link.options for link in self.links.values()}
        for options in self._scenes.keys() - used:
            del self._scenes[options]

    async def _serve(self, socket: WebSocket, may_control: Callable[[], bool]) -> None:
        self._pages += 1
        link = PageLink(self._pages, socket, may_control=may_control)
        self._follow_model()
        self.links[link.number] = link
        link.start_model(self._message)
        sender = asyncio.create_task(link.run())
        try:
            while True:
                try:
                    text = await socket.receive_text()
                except RuntimeError:  # the page has gone
                    break
                message = inputs.decode(text)
                link.heard_at = time.monotonic()
                self._handle(link, message)
        except WebSocketDisconnect:
            pass
        except (ValueError, KeyError, TypeError) as error:
            _LOG.warning("closing the scene of a page: %s", error)
            with suppress(RuntimeError, WebSocketDisconnect):  # the page may have gone meanwhile
                await socket.close(_CLOSED)
        finally:
            del self.links[link.number]
            sender.cancel()

    def _handle(self, link: PageLink, message: dict[str, Any]) -> None:
        """Handle a message of a page; raise `ValueError` if it is not valid."""
        if isinstance(sequence := message.get("ack"), int):
            link.acknowledge(sequence)
        if isinstance(options := message.get("options"), dict):
            link.options = link.options.changed(options)
        if isinstance(watch := message.get("watch"), dict):
            link.watched = inputs.watched(watch)
        if isinstance(report := message.get("report"), dict):
            link.report = {name: float(report[name]) for name in ("fps", "lag_s")}
        if "picture" in message:
            if isinstance(wanted := message["picture"], dict):
                link.request = inputs.picture_request(wanted)
            else:
                link.restart_geoms()
        if isinstance(fit := message.get("frame"), dict):
            self._fit(link, fit)
        if isinstance(pick := message.get("pick"), dict):
            self._pick(link, pick)
        given = inputs.gesture(message)
        if given is not None and (link.may_control() or given == inputs.LEAVE):
            self._options.on_input(link.number, given)

    def _fit(self, link: PageLink, message: dict[str, Any]) -> None:
        """Answer with the pose of a camera that shows a body, or all."""
        body, azimuth, elevation, aspect = (
            float(message[name]) for name in ("body", "azimuth", "elevation", "aspect")
        )
        if self._shown is not None and 0.01 < aspect < 100.0:
            pose = fitted_pose(
                self._shown,
                self._state.data,
                int(body),
                azimuth=azimuth,
                elevation=elevation,
                aspect=aspect,
            )
            link.send({"camera": pose})

    def _pick(self, link: PageLink, message: dict[str, Any]) -> None:
        camera, button = inputs.page_camera(message), str(message.get("button"))
        if self._shown is None:
            return
        drawn = self._scene(link.options)
        if drawn.tick < 0:
            drawn.update(self._shown, self._state.data, ())
        picked = drawn.pick(
            self._shown,
            self._state.data,
            camera,
            button=button,
            with_ctrl=message.get("ctrl") is True,
        )
        link.send(
            {
                "picked": {
                    "body": picked.body,
                    "point": picked.point,
                    "local": picked.local,
                    "button": picked.button,
                    "ctrl": picked.with_ctrl,
                }
            }
        )
        self._options.on_input(link.number, picked)


def _response(asset: Asset, headers: dict[str, str]) -> Response:
    encoding = {"Content-Encoding": asset.encoding} if asset.encoding else {}
    return Response(asset.content, media_type=asset.media_type, headers=headers | encoding)


@functools.cache
def script(name: str) -> Asset | None:
    """Return a script of the page by its file name; ``three.js`` is that of nicegui."""
    if name == "three.js":
        found = find_spec("nicegui")
        if found is None or found.origin is None:
            raise UserInputError("the package nicegui, whose three.js draws the scene, is missing")
        content = (Path(found.origin).parent / _THREE).read_bytes()
    else:
        folder = files("mujoco_ros.viewer.scene") / "static"
        known = {path.name: path for path in folder.iterdir() if path.name.endswith(".js")}
        if name not in known:
            return None
        content = known[name].read_bytes()
    return Asset(gzip.compress(content, 9, mtime=0), "text/javascript", "gzip")
