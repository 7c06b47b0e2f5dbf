"""A server of the pages for phones, with clients that record, in a thread."""

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from fake_clients import FakeClients
from mujoco.studio import viewer_protocol
from still_state import StillState

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.clients import ControllerInfo, ImageKey, ImageKind, Thumbnail
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.feed import Feed
from mujoco_ros.viewer.plots.curves import Curve
from mujoco_ros.viewer.plots.history import History
from mujoco_ros.viewer.teleop.frame_motion import FrameMotion
from mujoco_ros.viewer.teleop.server import TeleopServer
from mujoco_ros.viewer.teleop.session import IMAGE_WIDTH
from mujoco_ros.viewer.teleop.status import PageStatus
from mujoco_ros.viewer.web.page import open_page
from mujoco_ros.viewer.web.server_guard import WebServerGuard

PATIENCE_S = 120.0
TOPIC = "/cmd_vel"
TOOL_TOPIC = "/cartesian_controller/target_twist"
SPEEDS = {"forwards": 0.3, "left": 0.1, "turn": 0.35}


class ServedPages:
    """The pages, served by a thread."""

    def __init__(self) -> None:
        self.state, self.clients = StillState("arm"), FakeClients()
        self.clients.velocities.topics, self.clients.velocities.tool_topics = (
            (TOPIC,),
            (TOOL_TOPIC,),
        )
        self.clients.controllers.known = {
            "/walk": ControllerInfo(name="/walk", state="STAND", available=("go", "rest"))
        }
        camera = self.state.layout.every_camera[0]
        self.image = ImageKey((camera.namespace, camera.name), ImageKind.COLOUR, IMAGE_WIDTH)
        pixels = np.full((48, 64, 3), 200, np.uint8)
        self.clients.images.newest[self.image] = Thumbnail(pixels=pixels, time=0.0, number=1)
        self.targets: dict[str, Pose] = {"box": Pose()}
        history = History(1, 60.0)
        for step in range(50):
            history.add(0.1 * step, np.array([np.sin(0.2 * step)]))
        curve = Curve("rad", "elbow q", history, 0)
        motion = FrameMotion(
            self.state, self.clients.commands, self.targets, self.targets.__setitem__
        )
        status = PageStatus(self.state, self.clients, lambda: [curve], lambda: motion.names)
        self.teleop = TeleopServer(self.clients, motion, status, SPEEDS)
        self.guard = WebServerGuard("127.0.0.1", 0)
        self._opened = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        assert self._opened.wait(PATIENCE_S)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.guard.port}"

    def _run(self) -> None:
        feed = Feed(self.state, EntityDisplays(self.state), on_frame=lambda _: self.teleop.tick())
        page = open_page(self.guard, feed, [], self.teleop.handle)
        self._opened.set()
        viewer_protocol.run_viewer_loop(page)

    def close(self) -> None:
        self.state.ended = True
        self._thread.join(PATIENCE_S)
        assert not self._thread.is_alive()


def until(condition: Callable[[], Any], what: str, wait: Callable[[], object]) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, what
        wait()
