"""Joints that are held after a reset: log, counters, and when the hold ends by the ROS graph."""

from dataclasses import dataclass
from functools import partial

from mujoco_ros.bridge.commands.controller_restart import REACTIVATE, ControllerRestart
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.events import CommandHeld, CommandSource, HoldEnded, JointsHeld
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.naming import within

_CHECK_S = 1.0
"""Wall time between two checks for publishers."""
_REMEDY = (
    "; the joints stay there until its controller is activated again, a command is near, its "
    "header.frame_id is 'restart', or reset_hold is 'off'"
)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Watched:
    """A source against which joints are held, and the publishers that it had at the reset."""

    control: RobotControl
    source: CommandSource
    topic: str
    publishers: frozenset[bytes]


class HeldJoints:
    """Reports joints that are held after a reset, and releases them when their source has gone.

    With the policy ``reactivate`` it has the controllers of the robot's controller_manager
    activated again. All methods run in the executor's thread.
    """

    def __init__(self, context: NodeContext) -> None:
        """Watch no source."""
        self._node, self._endpoints = context.node, context.endpoints
        self._simulation, self._rejections = context.simulation, context.rejections
        self._restart = ControllerRestart(context)
        self._watched: list[_Watched] = []

    def handle(self, event: JointsHeld | CommandHeld | HoldEnded) -> None:
        """Follow an event of a robot."""
        place = f"{event.robot}/{event.source}" if event.robot else str(event.source)
        match event:
            case JointsHeld():
                self._begin(event)
            case CommandHeld():
                self._rejections.report(place, "held back", event.message + _REMEDY)
            case HoldEnded():
                self._node.get_logger().info(
                    f"{place} is near the state of the reset, and moves {', '.join(event.joints)}"
                )

    def _begin(self, event: JointsHeld) -> None:
        """Remember the publishers of a source, and start its controllers again if requested."""
        control = self._control(event.robot)
        if control is None:
            return
        if control.stream.reset_hold == REACTIVATE:
            self._restart.request(event.robot)
        topic = _topic(event.robot, event.source)
        publishers = self._publishers(topic)
        if not publishers:
            return  # an action, or a publisher that is not discovered
        if not self._watched:
            self._endpoints.later(_CHECK_S, self._check)
        new = _Watched(control=control, source=event.source, topic=topic, publishers=publishers)
        same = [it for it in self._watched if it.control is control and it.source == event.source]
        self._watched = [it for it in self._watched if it not in same] + [new]

    def _check(self) -> None:
        """End the hold against sources none of whose publishers is left."""
        for it in list(self._watched):
            if it.source not in it.control.reset_hold.held():
                self._watched.remove(it)
            elif not it.publishers & self._publishers(it.topic):
                self._watched.remove(it)
                release = partial(it.control.reset_hold.release, it.source)
                self._simulation.commands.submit(release, urgent=True)
        if self._watched:
            self._endpoints.later(_CHECK_S, self._check)

    def _publishers(self, topic: str) -> frozenset[bytes]:
        found = self._node.get_publishers_info_by_topic(topic)
        return frozenset(bytes(publisher.endpoint_gid) for publisher in found)

    def _control(self, namespace: str) -> RobotControl | None:
        plant = self._simulation.plant
        for robot, control in zip(plant.layout.robots, plant.controls, strict=True):
            if robot.namespace == namespace:
                return control
        return None


def _topic(namespace: str, source: CommandSource) -> str:
    match source:
        case CommandSource.JOINT_COMMANDS:
            return within(namespace, source)
        case CommandSource.TRAJECTORY:
            return within(namespace, source, "joint_trajectory")
    return within(namespace, source, "commands")
