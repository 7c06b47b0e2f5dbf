"""Joints held after a reset, until the controllers of a controller_manager restart."""

import time
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import Any

from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.events import CommandHeld, CommandSource, HoldEnded, JointsHeld
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.wire.service_caller import ServiceCaller

PACKAGE = "controller_manager_msgs"
"""Modules that import this package are imported only if it is installed."""


def is_installed() -> bool:
    """Return whether the package is installed."""
    return find_spec(PACKAGE) is not None


_POLL_S = 0.05
_TIMEOUT_S = 3  # wall time in which the controller_manager must switch
_MANAGER = "controller_manager"
REACTIVATE = "reactivate"
"""The value of the parameter ``reset_hold`` that restarts controllers."""


class ControllerRestart:
    """Deactivates and activates the controllers that command a robot, in one strict switch.

    The simulation must run: a controller_manager in simulated time switches in its next update.
    """

    def __init__(self, context: NodeContext) -> None:
        self._node, self._endpoints = context.node, context.endpoints
        self._simulation, self._rejections = context.simulation, context.rejections
        self._caller = ServiceCaller(context.node)
        self._requested: dict[str, None] = {}
        self._busy: set[str] = set()
        self._polling = False

    def request(self, namespace: str) -> None:
        """Restart the controllers of the robot in a namespace, once the simulation runs."""
        self._requested[namespace] = None
        if not self._polling:
            self._polling = True
            self._poll()

    def _poll(self) -> None:
        self._caller.tick(time.monotonic())
        if not self._simulation.paused:
            for namespace in [name for name in self._requested if name not in self._busy]:
                del self._requested[namespace]
                self._busy.add(namespace)
                self._list(namespace)
        self._polling = bool(self._requested or self._busy)
        if self._polling:
            self._endpoints.later(_POLL_S, self._poll)

    def _list(self, namespace: str) -> None:
        from controller_manager_msgs.srv import ListControllers, SwitchController

        def found(response: Any) -> None:
            # Broadcasters claim no interface.
            active = [one for one in response.controller if one.state == "active"]
            names = [controller.name for controller in active if controller.claimed_interfaces]
            if names:
                self._switch(namespace, names)
            else:
                self._end(namespace, "no active controller commands joints")

        manager, failed = in_namespace(namespace, _MANAGER), partial(self._end, namespace)
        # The switch cannot be repeated, so its response must not get lost.
        self._caller.prepare(SwitchController, f"{manager}/switch_controller")
        name, request = f"{manager}/list_controllers", ListControllers.Request()
        self._caller.call(ListControllers, name, request, found, failed, retry=True)

    def _switch(self, namespace: str, names: list[str]) -> None:
        from controller_manager_msgs.srv import SwitchController

        request = SwitchController.Request(
            activate_controllers=names,
            deactivate_controllers=names,
            strictness=SwitchController.Request.STRICT,
            activate_asap=True,
        )
        request.timeout.sec = _TIMEOUT_S

        def switched(response: Any) -> None:
            if response.ok:
                self._node.get_logger().info(f"activated {', '.join(names)} again after the reset")
                self._end(namespace)
            else:
                reason = getattr(response, "message", "") or "the switch was refused"
                self._end(namespace, f"{', '.join(names)} were not activated again: {reason}")

        name = in_namespace(namespace, _MANAGER, "switch_controller")
        failed = partial(self._end, namespace)
        self._caller.call(SwitchController, name, request, switched, failed)

    def _end(self, namespace: str, problem: str = "") -> None:
        self._busy.discard(namespace)
        if problem:
            self._rejections.report(
                in_namespace(namespace, _MANAGER), "failed", f"{problem}; the joints stay held"
            )


_CHECK_S = 1.0  # wall time between two checks for publishers
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

    With ``reactivate``, it has the robot's controllers activated again. In the executor's thread.
    """

    def __init__(self, context: NodeContext) -> None:
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
        source = CommandSource(event.source)
        topic = command_topic(event.robot, source)
        publishers = self._publishers(topic)
        if not publishers:
            return  # an action, or a publisher that is not discovered
        if not self._watched:
            self._endpoints.later(_CHECK_S, self._check)
        new = _Watched(control=control, source=source, topic=topic, publishers=publishers)
        key = control, source
        self._watched = [old for old in self._watched if (old.control, old.source) != key] + [new]

    def _check(self) -> None:
        """End the hold against sources none of whose publishers is left."""
        for watched in list(self._watched):
            hold = watched.control.reset_hold
            if watched.source not in hold.held():
                self._watched.remove(watched)
            elif not watched.publishers & self._publishers(watched.topic):
                self._watched.remove(watched)
                release = partial(hold.release, watched.source)
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


def command_topic(namespace: str, source: CommandSource) -> str:
    """Return the topic by which a source commands joints."""
    match source:
        case CommandSource.JOINT_COMMANDS:
            return in_namespace(namespace, source)
        case CommandSource.TRAJECTORY:
            return in_namespace(namespace, source, "joint_trajectory")
    return in_namespace(namespace, source, "commands")
