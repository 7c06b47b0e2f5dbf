"""The topic by which bodies are pulled and turned, as with a mouse."""

import itertools
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import mujoco
import numpy as np
from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.bridge.commands.command_submission import CommandSubmission
from mujoco_ros.bridge.commands.rejection_log import RejectionLog
from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.perturbation.poses import point, pose_in_world
from mujoco_ros.bridge.perturbation.wrench_server import EXTERNAL_WRENCH
from mujoco_ros.bridge.publishing.template_publisher import nanoseconds
from mujoco_ros.bridge.publishing.topics import RELIABLE
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.robot.body_frames import BodyFrame
from mujoco_ros.sim.command_queue import QueueFullError
from mujoco_ros.sim.perturbation.pulls import Pull
from mujoco_ros.sim.simulation import Simulation

PULL = f"{EXTERNAL_WRENCH}/pull"
"""Of the scene alone."""
HELD_S = 0.5
"""For so long, in wall time, a pull acts; it goes on if it is repeated.

Whoever dies in the middle of one leaves nothing that acts for ever.
"""
MOVE, TURN = "translate", "rotate"
"""What `control_name` says; nothing is `MOVE`."""
_HOLDS = ("KEEP_ALIVE", "POSE_UPDATE", "MOUSE_DOWN")
_ENDS = "MOUSE_UP"


class PullServer(Component):
    """Takes ``external_wrench/pull``, and pulls as long as that is repeated."""

    def __init__(
        self,
        endpoints: Endpoints,
        simulation: Simulation,
        submit: CommandSubmission,
        rejections: RejectionLog,
        find: Callable[[str], BodyFrame],
    ) -> None:
        """Open the topic.

        Args:
            endpoints: Opens it.
            simulation: What is pulled.
            submit: Hands commands to the physics thread.
            rejections: Log and counters of rejected commands.
            find: Returns the frame of a name, or raises `UserInputError` if forces cannot move it.
        """
        self._endpoints, self._simulation, self._find = endpoints, simulation, find
        self._submit, self._rejections = submit, rejections
        self._held: dict[str, int] = {}  # frame to the number of its last message
        self._count = itertools.count()
        endpoints.subscription(InteractiveMarkerFeedback, PULL, self._take, RELIABLE)

    def _take(self, message: InteractiveMarkerFeedback) -> None:
        try:
            place = self._find(message.marker_name)
            pull = None if _ends(message) else _pull(message)
        except UserInputError as error:
            self._rejections.report(PULL, "refused", str(error))
            return
        self._submit(
            PULL, partial(self._apply, place, pull), stamp=nanoseconds(message.header.stamp)
        )
        self._held[place.frame] = number = next(self._count)
        self._endpoints.later(HELD_S, partial(self._look, place.frame, number))

    def _look(self, frame: str, number: int) -> None:
        """Let go, unless there was another message since."""
        if self._held.get(frame) != number:
            return
        del self._held[frame]
        let_go = partial(self._simulation.wrenches.let_go, frame)
        # Behind the pull in the queue, however long the physics thread may take to come to that.
        with suppress(QueueFullError):  # it ends
            self._simulation.commands.submit(let_go, urgent=True)

    def _apply(self, place: BodyFrame, pull: Pull | None, _time: float) -> None:
        """Pull, or let go; called in the physics thread."""
        wrenches = self._simulation.wrenches
        if pull is None:
            wrenches.let_go(place.frame)
        else:
            wrenches.pull(place, pull)


def _ends(message: InteractiveMarkerFeedback) -> bool:
    """Return whether a message lets go.

    Raises:
        ModelError: It neither lets go nor pulls.
    """
    if message.event_type == getattr(InteractiveMarkerFeedback, _ENDS):
        return True
    known = {getattr(InteractiveMarkerFeedback, name): name for name in _HOLDS}
    if message.event_type not in known:
        raise UserInputError(
            f"event_type {message.event_type} is no part of a pull, which has "
            f"{', '.join(known.values())} and {_ENDS}"
        )
    return False


def _pull(message: InteractiveMarkerFeedback) -> Pull:
    """Return what a message asks for.

    Raises:
        ModelError: That is nothing that can be done.
    """
    control = message.control_name or MOVE
    if control not in (MOVE, TURN):
        raise unknown("control_name", control, (MOVE, TURN))
    position, quat_wxyz = pose_in_world(message.header.frame_id, message.pose)
    at, local = position, np.zeros(3)
    if message.mouse_point_valid:
        at, back = point("mouse_point", message.mouse_point), np.zeros(4)
        mujoco.mju_negQuat(back, quat_wxyz)
        mujoco.mju_rotVecQuat(local, at - position, back)
    return Pull(turns=control == TURN, point=local, position=at, quat_wxyz=quat_wxyz)
