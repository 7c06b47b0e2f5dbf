"""The connection of a page: always the newest frame, as often as the page and its link manage."""

import asyncio
import json
import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import mujoco
import numpy as np
from starlette.websockets import WebSocket, WebSocketDisconnect

from mujoco_ros.viewer.scene import packing
from mujoco_ros.viewer.scene.drawn_scene import DrawnScene
from mujoco_ros.viewer.scene.inputs import PictureRequest, Watched
from mujoco_ros.viewer.scene.options import ViewOptions
from mujoco_ros.viewer.scene.soft_bodies import surfaces

_LOG = logging.getLogger(__name__)
_MOST_IN_FLIGHT = 2  # frames that the page has not drawn yet
_MOST_WAITING = 100  # messages that the page has not received
_STALLED_S = 5.0  # after which a frame without acknowledgement no longer counts, as of a hidden tab
_ASLEEP_S = 3.0  # a page that is silent for so long sleeps: nothing waits for it in the meantime
_LATE_S = 0.1  # acknowledgements that take longer show a slow link, or slow drawing
_LIMITED = 250e3  # most bytes a second of such a page
_IDLE_S = 0.5  # period of frames without a change, which show that figures are not old


class PageLink:
    """What a page has received, and what it may be sent."""

    def __init__(self, number: int, socket: WebSocket, *, may_control: Callable[[], bool]) -> None:
        self.number = number  # different for each connection
        self.page = socket.query_params.get("page", "")  # what the page calls itself
        self.heard_at = time.monotonic()  # when it last sent something [s]
        self.may_control = may_control  # whether it may change the simulation now
        self.options = ViewOptions()
        self.watched = Watched()
        self.request: PictureRequest | None = None  # of pictures instead of geoms
        self.drawn: DrawnScene | None = None  # of pictures
        self.is_drawing = False  # whether a picture is being drawn
        self._failure = ""  # why the last frame could not be sent
        self._socket = socket
        self._outgoing: deque[str | bytes] = deque()
        self._wake = asyncio.Event()
        self._begin()

    def _begin(self) -> None:
        self._delta = packing.GeomDelta()
        self._sequence = 0
        self._flying: dict[int, float] = {}
        self._due, self._last, self._delay = 0.0, 0.0, 0.0
        self._sent: dict[object, bytes] = {}  # sections that the page has
        self._picture: object = None
        self.drawn = None

    def start_model(self, message: Mapping[str, Any]) -> None:
        """Send the description of another model; what was sent before is void."""
        sequence = self._sequence
        self._begin()
        self._sequence = sequence
        self._outgoing.clear()
        self.send({**message, "options": self.options.to_json()})

    def send(self, message: Mapping[str, Any]) -> None:
        """Send a message that is no frame; raise `ValueError` if the page reads none of many."""
        if len(self._outgoing) >= _MOST_WAITING:
            raise ValueError(f"{_MOST_WAITING} answers wait, which the page does not read")
        self._outgoing.append(json.dumps(message, separators=(",", ":")))
        self._wake.set()

    def acknowledge(self, sequence: int) -> None:
        """Note that a frame is drawn."""
        sent = self._flying.pop(sequence, None)
        if sent is not None:
            self._delay += 0.2 * (time.monotonic() - sent - self._delay)

    def age(self, now: float) -> float:
        """Return the age of the picture of the page [s]."""
        return max(self._delay, now - min(self._flying.values(), default=now))

    def is_ready(self, now: float) -> bool:
        """Return whether the page may have another frame [s]."""
        if now - self.heard_at > _ASLEEP_S:
            return False
        if self._flying and now - min(self._flying.values()) > _STALLED_S:
            self._flying.clear()
        return now >= self._due and len(self._flying) < _MOST_IN_FLIGHT and not self._outgoing

    def offer(
        self,
        drawn: DrawnScene,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        handles: bytes,
        version: int,
        now: float,
    ) -> None:
        """Send what has changed, and nothing if nothing has for a moment."""
        sections = list(self._delta.sections(drawn.geoms.rows, drawn.geoms.words))
        others: dict[object, bytes] = {
            slot: packing.section(packing.SURFACE, slot, surface)
            for slot, surface in surfaces(drawn.scene, drawn.geoms.rows)
        }
        lights, view = packing.light_section(drawn.scene), self._view_section(model, data)
        sections += self._new({**others, "lights": lights, "handles": handles, "view": view})
        if not sections and now - self._last < _IDLE_S:
            return
        self._sequence += 1
        header = packing.HEADER.pack(
            packing.FRAME, len(drawn.geoms.rows), self._sequence, version, now, data.time
        )
        self._send_frame(self._sequence, b"".join([header, *sections]), now)

    def offer_entries(
        self, model: mujoco.MjModel, data: mujoco.MjData, handles: bytes, version: int, now: float
    ) -> None:
        """Send what is no geom, to a page with pictures."""
        changed = self._new({"handles": handles, "view": self._view_section(model, data)})
        if changed or now - self._last > _IDLE_S:
            header = packing.HEADER.pack(packing.ALIVE, 0, 0, version, now, data.time)
            self._outgoing.append(b"".join([header, *changed]))
            self._last = now
            self._wake.set()

    def note_failure(self, error: Exception) -> bool:
        """Note why a frame could not be sent; return whether that is new."""
        before, self._failure = self._failure, repr(error)
        return self._failure != before

    def is_new_picture(self, drawn: DrawnScene) -> bool:
        """Return whether a scene differs from that of the last picture."""
        shown = (self.request, drawn.geoms.words.tobytes(), packing.light_section(drawn.scene))
        before, self._picture = self._picture, shown
        return shown != before

    def send_picture(self, picture: bytes, version: int, drawn_at: float, time_of: float) -> None:
        """Send a picture of the state at a simulated time [s]; `drawn_at` is of the server [s]."""
        self._sequence += 1
        header = packing.HEADER.pack(packing.PICTURE, 0, self._sequence, version, drawn_at, time_of)
        self._send_frame(self._sequence, header + picture, time.monotonic())

    def restart_geoms(self) -> None:
        """Send all geoms again, after pictures."""
        self.request, self.drawn, self._picture = None, None, None
        self._delta = packing.GeomDelta()
        self._sent = {name: self._sent.get(name, b"") for name in ("handles", "view")}

    def _new(self, sections: Mapping[object, bytes]) -> list[bytes]:
        """Return the sections, by any key, that differ from those that the page has."""
        new = [each for key, each in sections.items() if each != self._sent.get(key, b"")]
        self._sent.update(sections)
        return new

    def _send_frame(self, sequence: int, message: bytes, now: float) -> None:
        self._flying[sequence], self._last = now, now
        if self._delay > _LATE_S:
            self._due = now + len(message) / _LIMITED
        self._outgoing.append(message)
        self._wake.set()

    def _view_section(self, model: mujoco.MjModel, data: mujoco.MjData) -> bytes:
        """Return the poses that the page follows: a body, its selection, and a camera."""
        watched, values = self.watched, np.zeros(21, "<f4")
        if watched == Watched():
            return b""
        if 0 < watched.followed < model.nbody:
            values[:3] = data.subtree_com[watched.followed]
        if 0 < watched.selected < model.nbody:
            values[3:6], values[6:10] = data.xpos[watched.selected], data.xquat[watched.selected]
        if 0 <= watched.camera < model.ncam:
            values[10:13] = data.cam_xpos[watched.camera]
            values[13:17] = packing.quaternions(data.cam_xmat[watched.camera][None])[0]
            values[17:21] = frustum_of(model, watched.camera)
        return packing.section(packing.VIEW, len(values), values.tobytes())

    async def run(self) -> None:
        """Send messages until the connection ends."""
        try:
            while True:
                await self._wake.wait()
                self._wake.clear()
                while self._outgoing:
                    message = self._outgoing.popleft()
                    if isinstance(message, str):
                        await self._socket.send_text(message)
                    else:
                        await self._socket.send_bytes(message)
        except (WebSocketDisconnect, RuntimeError, OSError) as error:
            _LOG.debug("page %d is gone: %s", self.number, error)


def frustum_of(model: mujoco.MjModel, camera: int) -> Iterable[float]:
    """Return the left, right, bottom and top edges of a camera's view at 1 m [m]."""
    fixed = mujoco.MjvCamera()
    fixed.type, fixed.fixedcamid = int(mujoco.mjtCamera.mjCAMERA_FIXED), camera
    vertical, horizontal, clip = (np.zeros(2, np.float32) for _ in range(3))
    mujoco.mjv_cameraFrustum(vertical, horizontal, clip, model, fixed)
    near = 1.0 if model.cam_projection[camera] else float(clip[0])
    return (
        -float(horizontal[0]) / near,
        float(horizontal[1]) / near,
        -float(vertical[1]) / near,
        float(vertical[0]) / near,
    )
