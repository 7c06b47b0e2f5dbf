"""What takes the files that users drop on the page, or choose."""

import asyncio
from collections.abc import Callable

from nicegui import ui
from nicegui.events import UploadEventArguments

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.dropped_world import LARGEST, DroppedWorld, dropped_world
from mujoco_ros.viewer.page.session import Session
from mujoco_ros.viewer.ros.simulator_parameters import is_replay


class FileDrop:
    """Receives files while the page has control; page.js passes them to its hidden element."""

    def __init__(self, session: Session, offer: Callable[[DroppedWorld | Request], object]) -> None:
        """Create it; `offer` gets each world, or the failed request of another file."""
        self._session, self._offer = session, offer
        self._upload = ui.upload(
            max_file_size=LARGEST,
            on_upload=self._receive,
            on_rejected=lambda: self._fail("a file", f"at most {LARGEST} bytes are loaded"),
            auto_upload=True,
        ).classes("file-drop")

    def tick(self) -> None:
        """Follow the control of the page."""
        may_act = self._session.can_control and not is_replay(self._session.clients.parameters)
        if self._upload.enabled != may_act:
            self._upload.set_enabled(may_act)

    async def _receive(self, event: UploadEventArguments) -> None:
        known = self._session.clients.parameters.known.get("client_folders")
        folders = known.value if known is not None else ()
        content = await event.file.read()
        try:
            world = await asyncio.to_thread(dropped_world, event.file.name, content, folders)
        except UserInputError as error:
            self._fail(event.file.name, str(error))
        else:
            self._offer(world)
        self._upload.reset()

    def _fail(self, name: str, reason: str) -> None:
        request = Request(f"load {name}")
        request.fail(reason)
        self._offer(request)
