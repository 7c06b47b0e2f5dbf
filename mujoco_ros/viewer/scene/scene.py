"""The server of the scene: a WebSocket for each page, and what pages load once."""

import asyncio
import functools
import gzip
import logging
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
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
from mujoco_ros.viewer.page.access import Role
from mujoco_ros.viewer.scene import inputs, packing
from mujoco_ros.viewer.scene.assets import Asset, Assets
from mujoco_ros.viewer.scene.client import PageLink
from mujoco_ros.viewer.scene.drawn_scene import DrawnScene
from mujoco_ros.viewer.scene.entries import OverlayEntries
from mujoco_ros.viewer.scene.fitting import fitted_pose
from mujoco_ros.viewer.scene.model_message import model_message
from mujoco_ros.viewer.scene.options import ViewOptions
from mujoco_ros.viewer.scene.pictures import PictureJob, PictureRenderer

_LOG = logging.getLogger(__name__)
_THREE = "elements/scene/dist/index.js"
"""The library three.js in the package nicegui."""
_FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
_CHECKED = {"Cache-Control": "no-cache"}
_ABOVE = 0.16  # share of the height that stays free at first, as for buttons
_CLOSED = 1008  # code of a WebSocket that is closed because of what the client has sent

Admit = Callable[[HTTPConnection], Role | None]


class SceneServer:
    """Sends the scene of a state to pages. For one thread, with an event loop."""

    def __init__(
        self,
        state: SharedState,
        entries: Callable[[], OverlayEntries],
        on_input: Callable[[int, inputs.SceneInput], object],
    ) -> None:
        """Send a state, with what `entries` returns; `on_input` gets the number of a page."""
        self.links: dict[int, PageLink] = {}  # the connected pages by number
        self.displays: EntityDisplays | None = None  # what is shown of each entity, if chosen
        self._state, self._entries, self._on_input = state, entries, on_input
        self._model: mujoco.MjModel | None = None  # of the state, when it was last shown
        self._changes: tuple[int, int] | None = None  # edits of the model, and of what is shown
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
        entries = self._entries()
        handles = [handle.to_json() for handle in entries.handles]
        handle_section = packing.json_section(packing.ENTRIES, handles)
        for link in ready:
            try:
                self._offer(link, entries, handle_section, now)
            except Exception as error:  # the other pages go on
                if link.note_failure(error):
                    _LOG.exception("the scene of page %d cannot be sent", link.number)
        self._drop_unused()

    def age(self, page: str) -> float:
        """Return the age of the picture of a page [s]; 0 before its scene is connected."""
        now = time.monotonic()
        return max(
            (each.age(now) for each in self.links.values() if each.page == page), default=0.0
        )

    def _offer(self, link: PageLink, entries: OverlayEntries, handles: bytes, now: float) -> None:
        """Send a page what has changed."""
        model, data = self._shown, self._state.data
        assert model is not None
        if link.request is not None:
            link.offer_entries(model, data, handles, self._version, now)
            self._draw_picture(link, link.request, entries, now)
            return
        drawn = self._scene(link.options)
        if drawn.tick != self._tick:
            drawn.update(model, data, entries)
            drawn.tick = self._tick
        link.offer(drawn, model, data, handles, self._version, now)

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

    def _follow_model(self) -> None:
        model, displays = self._state.model, self.displays
        changes = (self._state.edits, displays.changes if displays is not None else 0)
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
        self._message["model"]["camera"] = self._first_pose(model)
        for link in self.links.values():
            link.start_model(self._message)

    def _first_pose(self, model: mujoco.MjModel) -> dict[str, Any]:
        """Return the pose of a free camera that shows all bodies, from the model's direction."""
        free, data = mujoco.MjvCamera(), self._state.data
        mujoco.mjv_defaultFreeCamera(model, free)
        mujoco.mj_kinematics(model, data)
        angles = {"azimuth": float(free.azimuth), "elevation": float(free.elevation)}
        # A square, because the scene is rarely higher than wide.
        fitted = fitted_pose(model, data, 0, **angles, aspect=1.0, above=_ABOVE)
        default = {"lookat": free.lookat.tolist(), "distance": float(free.distance), **angles}
        return fitted or default

    def _scene(self, options: ViewOptions) -> DrawnScene:
        assert self._shown is not None
        if options not in self._scenes:
            self._scenes[options] = DrawnScene(self._shown, options)
        return self._scenes[options]

    def _draw_picture(
        self, link: PageLink, request: inputs.PictureRequest, entries: OverlayEntries, now: float
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
        except (ValueError, KeyError, TypeError, ArithmeticError, RecursionError) as error:
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
            link.watched = inputs.read(inputs.Watched, watch)
        if "picture" in message:
            if isinstance(wanted := message["picture"], dict):
                link.request = inputs.read(inputs.PictureRequest, wanted)
            else:
                link.restart_geoms()
        if isinstance(fit := message.get("frame"), dict):
            self._fit(link, fit)
        if isinstance(pick := message.get("pick"), dict):
            self._pick(link, pick)
        given = inputs.gesture(message)
        # Without control, a key acts on the page alone, or the page says that it needs control.
        is_key = isinstance(given, inputs.KeyPressed)
        if given is not None and (is_key or link.may_control()):
            self._on_input(link.number, given)

    def _fit(self, link: PageLink, message: dict[str, Any]) -> None:
        """Answer with the pose of a camera that shows a body, or all."""
        body, azimuth, elevation, aspect, above = (
            float(message[name]) for name in ("body", "azimuth", "elevation", "aspect", "above")
        )
        if self._shown is not None and 0.01 < aspect < 100.0 and 0.0 <= above < 0.5:
            pose = fitted_pose(
                self._shown,
                self._state.data,
                int(body),
                azimuth=azimuth,
                elevation=elevation,
                aspect=aspect,
                above=above,
            )
            link.send({"camera": pose})

    def _pick(self, link: PageLink, message: dict[str, Any]) -> None:
        camera, button = inputs.read(inputs.PageCamera, message), str(message.get("button"))
        if self._shown is None:
            return
        drawn = self._scene(link.options)
        if drawn.tick < 0:
            drawn.update(self._shown, self._state.data, OverlayEntries())
        picked = drawn.pick(
            self._shown,
            self._state.data,
            camera,
            button=button,
            with_ctrl=message.get("ctrl") is True,
        )
        link.send({"picked": asdict(picked)})
        self._on_input(link.number, picked)


def _response(asset: Asset, headers: dict[str, str]) -> Response:
    encoding = {"Content-Encoding": asset.encoding} if asset.encoding else {}
    return Response(asset.content, media_type=asset.media_type, headers=headers | encoding)


@functools.lru_cache(maxsize=32)  # of any names that clients request
def script(name: str) -> Asset | None:
    """Return a script or shader by its file name; nicegui has ``three.js``."""
    if name == "three.js":
        found = find_spec("nicegui")
        if found is None or found.origin is None:
            raise UserInputError("the package nicegui, whose three.js draws the scene, is missing")
        content = (Path(found.origin).parent / _THREE).read_bytes()
    else:
        folder = files("mujoco_ros.viewer.scene") / "static"
        known = {path.name: path for path in folder.iterdir() if path.is_file()}
        if name not in known:
            return None
        content = known[name].read_bytes()
    return Asset(gzip.compress(content, 9, mtime=0), "text/javascript", "gzip")
