"""The topic that pulls and turns bodies with a spring, as the mouse in the viewer does."""

import itertools
from collections.abc import Callable
from contextlib import suppress
from functools import partial

import mujoco
import numpy as np
from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.control.events import QueueFullError
from mujoco_ros.control.pull import Pull
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.robot.body_frames import BodyFrame
from mujoco_ros.wire.conversions import nanoseconds, point, pose_in_world
from mujoco_ros.wire.names import MOVE, PULL, TURN
from mujoco_ros.wire.qos import RELIABLE

HELD_S = 0.5
"""Wall time for which a pull acts unless it is repeated; so the pull of a dead client ends.

While the clock waits for responses it is simulated time, so that all runs are the same.
"""
_HOLDS = ("KEEP_ALIVE", "POSE_UPDATE", "MOUSE_DOWN")
_ENDS = "MOUSE_UP"


class PullServer(Component):
    """Pulls bodies while messages on ``external_wrench/pull`` are repeated."""

    def __init__(self, context: NodeContext, find: Callable[[str], BodyFrame]) -> None:
        """Open the topic.

        Args:
            context: The node.
            find: Returns the frame of a name, or raises `UserInputError` if forces cannot move it.
        """
        self._endpoints, self._simulation = context.endpoints, context.simulation
        self._submit, self._rejections = context.submit, context.rejections
        self._lockstep = context.lockstep
        self._timed: set[str] = set()  # frames whose pull ends at a simulated time
        self._find = find
        self._held: dict[str, int] = {}  # frame to the number of its last message
        self._count = itertools.count()
        self._endpoints.subscription(InteractiveMarkerFeedback, PULL, self._handle, RELIABLE)

    def _handle(self, message: InteractiveMarkerFeedback) -> None:
        try:
            frame = self._find(message.marker_name)
            pull = None if _ends(message) else _pull(message)
        except UserInputError as error:
            self._rejections.report(PULL, "refused", str(error))
            return
        self._submit(
            PULL, partial(self._apply, frame, pull), stamp=nanoseconds(message.header.stamp)
        )
        self._held[frame.frame] = number = next(self._count)
        self._endpoints.later(HELD_S, partial(self._release_if_silent, frame.frame, number))

    def _release_if_silent(self, frame: str, number: int) -> None:
        """Release the frame, unless there was another message since."""
        if self._held.get(frame) != number:
            return
        del self._held[frame]
        release = partial(self._release, frame)
        # Behind the pull in the queue, however late the physics thread is.
        with suppress(QueueFullError):  # the physics thread has ended
            self._simulation.commands.submit(release, urgent=True)

    def _release(self, frame: str) -> None:
        """Release a frame after wall time; in the physics thread."""
        if frame not in self._timed:
            self._simulation.wrenches.release(frame)

    def _apply(self, frame: BodyFrame, pull: Pull | None, time: float) -> None:
        """Pull or release; in the physics thread."""
        wrenches = self._simulation.wrenches
        if pull is None:
            wrenches.release(frame.frame)
        elif self._lockstep.stepped:
            self._timed.add(frame.frame)
            wrenches.pull(frame, pull, time + HELD_S)
        else:
            self._timed.discard(frame.frame)
            wrenches.pull(frame, pull)


def _ends(message: InteractiveMarkerFeedback) -> bool:
    """Return whether a message ends a pull.

    Raises:
        UserInputError: It neither ends a pull nor pulls.
    """
    if message.event_type == getattr(InteractiveMarkerFeedback, _ENDS):
        return True
    known = {getattr(InteractiveMarkerFeedback, name): name for name in _HOLDS}
    if message.event_type not in known:
        raise UserInputError(
            f"event_type {message.event_type} is not supported; use "
            f"{', '.join(known.values())} and {_ENDS}"
        )
    return False


def _pull(message: InteractiveMarkerFeedback) -> Pull:
    """Return the pull of a message.

    Raises:
        UserInputError: It is invalid.
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
