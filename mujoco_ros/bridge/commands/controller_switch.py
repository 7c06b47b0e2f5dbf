"""Services that list and switch the controllers of a robot, as controller_manager's do."""

from collections.abc import Mapping
from typing import Any

from controller_manager_msgs.msg import ControllerState
from controller_manager_msgs.srv import ListControllers, SwitchController
from rclpy.parameter import Parameter

from mujoco_ros.bridge.commands.command_server import CommandServer
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.joints import EFFORT, POSITION
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder, Service
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.wire.controller_messages import answer_switch, controller_state
from mujoco_ros.wire.names import parameter_prefix

BROADCASTER = "joint_state_broadcaster"
IMPEDANCE = "cartesian_impedance_controller"
_TYPES = {
    BROADCASTER: "joint_state_broadcaster/JointStateBroadcaster",
    CommandSource.TRAJECTORY: "joint_trajectory_controller/JointTrajectoryController",
    CommandSource.CARTESIAN: "mujoco_ros/CartesianController",
    IMPEDANCE: "mujoco_ros/CartesianController",
}
_MODES = {CommandSource.CARTESIAN.value: "pose", IMPEDANCE: "impedance"}
_STRICT = SwitchController.Request.STRICT


class ControllerSwitch(CommandServer):
    """Serves ``controller_manager/list_controllers`` and ``…/switch_controller`` of a robot.

    Clients of ros2_control switch between joint trajectories and Cartesian targets by them. They
    set the parameters ``cartesian_controller.enabled`` and ``.mode``; while it is enabled, the
    Cartesian controller counts as active, in its mode.
    """

    def __init__(self, context: NodeContext, namespace: str, control: RobotControl) -> None:
        super().__init__(context, namespace, control)
        assert isinstance(control.cartesian, CartesianController)
        self._node, self._values = context.node, context.values
        self._prefix = f"{parameter_prefix(namespace)}{CommandSource.CARTESIAN}."
        self._cartesian: CartesianController = control.cartesian
        manager = in_namespace(namespace, "controller_manager")
        self._services = [
            Service(context.node, ListControllers, f"{manager}/list_controllers", self._list),
            Service(context.node, SwitchController, f"{manager}/switch_controller", self._switch),
        ]

    def destroy(self) -> None:
        """Close the services."""
        super().destroy()
        while self._services:
            self._services.pop().destroy()

    def _states(self) -> Mapping[str, bool]:
        """Return whether each controller is active, unless the robot was deleted."""
        cartesian, control = self._cartesian, self._control
        states, mode = {BROADCASTER: True}, self._values.get(f"{self._prefix}mode")
        if mode is None:
            raise RequestRejectedError("the robot was deleted")
        moves = self._values[f"{self._prefix}enabled"] and cartesian.chain is not None
        if control.joints.with_interface(POSITION):
            states[CommandSource.TRAJECTORY.value] = not moves
        if cartesian.chain is not None:
            takes = cartesian.chain.joints
            for name, able in (
                (CommandSource.CARTESIAN.value, takes.takes_position),
                (IMPEDANCE, takes.takes_effort),
            ):
                if able.all():
                    states[name] = moves and mode == _MODES[name]
        return states

    def _list(self, _request: ListControllers.Request, answer: Responder) -> None:
        states = self._states()
        answer.response.controller = [self._state(name, states[name]) for name in states]
        answer()

    def _state(self, name: str, active: bool) -> ControllerState:
        joints: tuple[str, ...] = ()
        kind = EFFORT if name == IMPEDANCE else POSITION
        if name == CommandSource.TRAJECTORY:
            every = self._control.joints
            joints = tuple(every.names[i] for i in every.with_interface(POSITION))
        elif name != BROADCASTER and self._cartesian.chain is not None:
            joints = self._cartesian.chain.joints.names
        commands = [f"{joint}/{kind}" for joint in joints]
        return controller_state(name, _TYPES[name], commands, is_active=active)

    def _switch(self, request: SwitchController.Request, answer: Responder) -> None:
        answer_switch(answer, self._apply(request))

    def _apply(self, request: SwitchController.Request) -> list[str]:
        """Set the parameters if another controller becomes active; return what was left out.

        A part that is impossible rejects all if it is strict, else if the whole list is impossible.
        """
        states, strictness = self._states(), request.strictness
        start, stop = set(request.activate_controllers), set(request.deactivate_controllers)
        left_out: list[str] = []
        for names, activates in ((stop, False), (start, True)):
            problems = [
                problem
                for name in sorted(names)
                if (problem := _problem(states, name, activates, name in start & stop, strictness))
            ]
            if problems and (strictness == _STRICT or len(problems) == len(names)):
                raise RequestRejectedError("; ".join(problems))
            left_out += problems
        moving = [name for name in states if name != BROADCASTER]
        after = [name for name in moving if (states[name] and name not in stop) or name in start]
        if strictness == SwitchController.Request.FORCE_AUTO and not start.isdisjoint(after):
            after = [name for name in after if name in start]
        if len(after) > 1:
            both = " and ".join(after)
            raise RequestRejectedError(f"{both} command the same joints; deactivate one of them")
        chosen = [name for name in after if name in _MODES]
        if chosen != [name for name in moving if states[name] and name in _MODES]:
            self._choose(*chosen)
        return left_out

    def _choose(self, cartesian: str = "") -> None:
        """Activate a Cartesian controller, or none."""
        values: dict[str, Any] = {"enabled": bool(cartesian)}
        if cartesian:
            values["mode"] = _MODES[cartesian]
        parameters = [
            Parameter(f"{self._prefix}{name}", value=value) for name, value in values.items()
        ]
        if reason := self._node.set_parameters_atomically(parameters).reason:
            raise RequestRejectedError(reason)


def _problem(
    states: Mapping[str, bool], name: str, activates: bool, restarts: bool, strictness: int
) -> str:
    """Return why a controller cannot be activated or deactivated; empty if it can."""
    if name not in states:
        return f"no controller '{name}'; there are: {', '.join(states)}"
    if name == BROADCASTER and not activates and not restarts:
        return f"{BROADCASTER} cannot be deactivated"
    if strictness != _STRICT or states[name] != activates or (activates and restarts):
        return ""
    return f"controller '{name}' is {'active already' if activates else 'not active'}"
