"""The server's side of the connections of phones, read-only pages and gamepads."""

import asyncio
import json
import logging
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import cv2
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.clients import ImageKey
from mujoco_ros.viewer.control_slot import ControlSlot
from mujoco_ros.viewer.teleop.frame_motion import FrameMotion
from mujoco_ros.viewer.teleop.session import Speeds, TeleopSession
from mujoco_ros.viewer.teleop.status import PageStatus
from mujoco_ros.viewer.web.access import Role
from mujoco_ros.viewer.web.page_files import READ_ONLY

_LOG = logging.getLogger(__name__)
_PERIOD_S = 0.1
_LONGEST_PAUSE_S = 0.25
"""Longest time between two messages to a page that takes them; it reports older ones."""
_MOST_PAGES = 16  # largest number of pages of each role
_JPEG = (int(cv2.IMWRITE_JPEG_QUALITY), 75)


class TeleopServer:
    """Serves pages in the server's thread: status and images; the state's thread calls `tick`."""

    def __init__(
        self,
        clients: Clients,
        motion: FrameMotion,
        status: PageStatus,
        speeds: Speeds,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Serve a simulation; speeds at full deflection are forwards, left [m/s], turn [rad/s]."""
        self._clients, self._motion, self._status = clients, motion, status
        self._speeds, self._now = speeds, now
        self._slot = ControlSlot()
        self._sessions: set[TeleopSession] = set()
        self._images: set[ImageKey] = set()
        self._has_failed = False

    def tick(self) -> None:
        """Collect the status, and move the commanded frame, if a page is connected."""
        if not self._sessions:
            return
        now = self._now()
        try:
            self._motion.tick(now)
            self._status.tick(now)
        except Exception:  # would end the viewer
            self._motion.stop()
            if not self._has_failed:
                self._has_failed = True
                _LOG.exception("the status of the pages for phones failed; motions end")

    async def handle(self, connection: ServerConnection, role: Role) -> None:
        """Handle the connection of a page until it is closed."""
        request = connection.request
        if request is not None and request.path.endswith(READ_ONLY):
            role = Role.WATCH
        if sum(session.role is role for session in self._sessions) >= _MOST_PAGES:
            await connection.close(CloseCode.TRY_AGAIN_LATER, "too many pages")
            return
        session = TeleopSession(
            self._clients,
            self._motion,
            self._speeds,
            self._slot,
            role,
            self._status,
            self._now,
        )
        self._sessions.add(session)
        # A page that receives slowly must not delay the end of its motion.
        tasks = [
            asyncio.create_task(task(connection, session)) for task in (self._send, self._check)
        ]
        for task in tasks:
            task.add_done_callback(partial(_abort, connection))
        try:
            async for message in connection:
                try:
                    session.receive(message)
                except UserInputError as error:
                    await connection.send(json.dumps({"error": str(error)}))
        except ConnectionClosed:
            pass
        finally:
            for task in tasks:
                task.cancel()
            self._sessions.discard(session)
            session.close()
            self._subscribe()

    async def _check(self, connection: ServerConnection, session: TeleopSession) -> None:
        """End the motion of a page that commands nothing, and the connection of a silent one."""
        while True:
            await asyncio.sleep(_PERIOD_S)
            session.check()
            self._subscribe()
            if session.is_silent:
                session.close()
                connection.transport.abort()  # a handshake would wait for the page

    async def _send(self, connection: ServerConnection, session: TeleopSession) -> None:
        """Send what has changed, and the newest image when the page has displayed the last one."""
        sent: dict[str, Any] = {}
        row, image, sent_at, sent_collected_at = 0, 0, 0.0, 0.0
        while True:
            collected_at = self._status.collected_at  # first: the rest may be newer, not older
            values = {
                **self._status.values,
                "control": session.control,
                "requests": session.requests,
                "waiting": session.is_waiting,
            }
            changes = {
                name: value
                for name, value in values.items()
                if name not in sent or sent[name] != value
            }
            rows = [kept for kept in self._status.rows if kept[0] > row]
            if rows:
                changes["rows"] = [row[1:] for row in rows]
            is_newer = collected_at > sent_collected_at
            is_due = changes or (is_newer and self._now() - sent_at > _LONGEST_PAUSE_S)
            if is_due and session.takes_status:
                if rows:
                    row = rows[-1][0]
                if (mark := session.mark(collected_at)) is not None:
                    changes["mark"] = mark
                sent, sent_at, sent_collected_at = values, self._now(), collected_at
                session.note_sent()
                await connection.send(json.dumps(changes))
            image = await self._send_image(connection, session, image)
            await asyncio.sleep(_PERIOD_S)

    async def _send_image(
        self, connection: ServerConnection, session: TeleopSession, sent: int
    ) -> int:
        """Send the newest image if it is due; return the number of the last one that was sent."""
        key = session.image_key()
        newest = self._clients.images.newest.get(key) if key is not None else None
        if newest is None or newest.number == sent or not session.wants_image:
            return sent
        session.wants_image = False
        _, encoded = cv2.imencode(".jpg", cv2.cvtColor(newest.pixels, cv2.COLOR_RGB2BGR), _JPEG)
        await connection.send(encoded.tobytes())
        return newest.number

    def _subscribe(self) -> None:
        wanted = {key for session in self._sessions if (key := session.image_key()) is not None}
        for key in self._images - wanted:
            self._clients.images.unsubscribe(key)
        for key in wanted - self._images:
            self._clients.images.subscribe(key)
        self._images = wanted


def _abort(connection: ServerConnection, task: asyncio.Task[None]) -> None:
    """Abort the connection of a task that has ended, unless it was cancelled."""
    if task.cancelled():
        return
    error = task.exception()
    if error is not None and not isinstance(error, ConnectionClosed):
        _LOG.warning("closing a connection: %s: %s", type(error).__name__, error)
    connection.transport.abort()
