"""The services of a controller_manager that list and switch controllers, for the hosted ones."""

from collections.abc import Sequence
from functools import partial

from controller_manager_msgs.msg import ControllerState
from controller_manager_msgs.srv import ListControllers, SwitchController

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.control.joints import INTERFACES
from mujoco_ros.controllers.ros.hosted.hosted_controller import HostedController
from mujoco_ros.controllers.runtime.controller_set import ControllerSet
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.rclpy_ext.service import Responder, Service

_ACTIVE, _INACTIVE = "active", "inactive"
_DONE = "all controllers are as requested"


class ControllerServices(Component):
    """Serves ``~/list_controllers`` and ``~/switch_controller`` of controller_manager_msgs."""

    def __init__(
        self, context: NodeContext, hosted: Sequence[HostedController], controllers: ControllerSet
    ) -> None:
        """Serve them.

        Args:
            context: The node.
            hosted: The hosted controllers.
            controllers: The same, for the physics thread.
        """
        self._simulation, self._controllers = context.simulation, controllers
        self._types = {it.settings.name: it.settings.type for it in hosted}
        self._services = [
            Service(context.node, ListControllers, "~/list_controllers", self._list),
            Service(context.node, SwitchController, "~/switch_controller", self._switch),
        ]

    def _list(self, _request: ListControllers.Request, answer: Responder) -> None:
        def respond(states: list[ControllerState]) -> None:
            answer.response.controller = states
            answer()

        answer.run(self._simulation.commands, self._states, respond)

    def _switch(self, request: SwitchController.Request, answer: Responder) -> None:
        activate, deactivate = request.activate_controllers, request.deactivate_controllers
        switch = partial(
            self._controllers.switch,
            activate,
            deactivate,
            strict=request.strictness == SwitchController.Request.STRICT,
        )

        def respond(problems: tuple[str, ...]) -> None:
            answer.response.ok = True
            answer.response.message = f"left out: {'; '.join(problems)}" if problems else _DONE
            answer()

        answer.run(self._simulation.commands, switch, respond)

    def _states(self) -> list[ControllerState]:
        """Return the state of each controller; in the physics thread."""
        return [self._state(name, host) for name, host in self._controllers.hosts.items()]

    def _state(self, name: str, host: ControllerHost) -> ControllerState:
        is_active = host.is_active and not host.supervised.error
        joints = [
            (in_namespace(robot.namespace, joint), takes)
            for robot, control in zip(
                self._simulation.layout.robots, self._simulation.controls, strict=True
            )
            for joint, takes in zip(control.joints.names, control.joints.interfaces, strict=True)
            if joint in host.claims.get(robot.name, ())
        ]
        commands = [f"{joint}/{it}" for joint, takes in joints for it in INTERFACES if it in takes]
        return ControllerState(
            name=name,
            state=_ACTIVE if is_active else _INACTIVE,
            type=self._types[name],
            update_rate=round(1.0 / host.supervised.controller.period),
            claimed_interfaces=commands if is_active else [],
            required_command_interfaces=commands,
            required_state_interfaces=[f"{joint}/{it}" for joint, _ in joints for it in INTERFACES],
        )
