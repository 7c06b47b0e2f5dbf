"""The node ``controller_manager`` of a robot: its services, and the topic ``~/activity``."""

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from controller_manager_msgs.msg import (
    ChainConnection,
    ControllerManagerActivity,
    ControllerState,
    HardwareComponentState,
    HardwareInterface,
    NamedLifecycleState,
)
from controller_manager_msgs.srv import (
    CleanupController,
    ConfigureController,
    ListControllers,
    ListControllerTypes,
    ListHardwareComponents,
    ListHardwareInterfaces,
    LoadController,
    ReloadControllerLibraries,
    SetHardwareComponentState,
    SwitchController,
    UnloadController,
)
from lifecycle_msgs.msg import State as LifecycleState

from mujoco_ros.bridge.ros2_control.managed_robot import ManagedRobot
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder, Service
from mujoco_ros.ros2_control.loaded_controller import Lifecycle, LoadedController
from mujoco_ros.sim.command_queue import CommandQueue
from mujoco_ros.wire.controller_messages import answer_switch, controller_state
from mujoco_ros.wire.conversions import stamp
from mujoco_ros.wire.names import service_name
from mujoco_ros.wire.qos import LATCHED

_BASE_CLASS = "controller_interface::ControllerInterface"
_IDS = {
    Lifecycle.UNCONFIGURED: LifecycleState.PRIMARY_STATE_UNCONFIGURED,
    Lifecycle.INACTIVE: LifecycleState.PRIMARY_STATE_INACTIVE,
    Lifecycle.ACTIVE: LifecycleState.PRIMARY_STATE_ACTIVE,
}


class ManagerServices:
    """Answers the requests of spawners, of ``ros2 control`` and of other clients."""

    def __init__(self, robot: ManagedRobot, commands: CommandQueue) -> None:
        """Serve the controllers of a robot, which the physics thread switches by `commands`."""
        self._robot, self._manager, self._commands = robot, robot.manager, commands
        self._node, self._log = robot.node, robot.node.get_logger()
        self._hardware_state = Lifecycle.ACTIVE
        handlers: tuple[tuple[Any, Callable[[Any, Responder], None]], ...] = (
            (ListControllers, self._list_controllers),
            (ListControllerTypes, self._list_types),
            (ListHardwareComponents, self._list_components),
            (ListHardwareInterfaces, self._list_interfaces),
            (LoadController, self._load),
            (ConfigureController, self._configure),
            (CleanupController, partial(self._change, robot.cleanup)),
            (UnloadController, partial(self._change, robot.unload)),
            (SwitchController, self._switch),
            (ReloadControllerLibraries, self._reload),
            (SetHardwareComponentState, self._set_component),
        )
        self._services = [
            Service(self._node, kind, f"~/{service_name(kind.__name__)}", handler)
            for kind, handler in handlers
        ]
        self._endpoints = Endpoints(self._node)
        self._activity = self._endpoints.publisher(ControllerManagerActivity, "~/activity", LATCHED)
        self._manager.on_change.append(lambda: later(self._node, self.publish_activity))
        self.publish_activity()

    def close(self) -> None:
        """Close the services."""
        while self._services:
            self._services.pop().destroy()
        self._endpoints.close(self._activity)

    def publish_activity(self) -> None:
        """Publish the states of all controllers and hardware components."""
        message = ControllerManagerActivity()
        message.header.stamp = stamp(self._robot.now())
        message.controllers = [
            NamedLifecycleState(name=entry.name, state=_lifecycle(entry.state))
            for entry in self._manager.loaded.values()
        ]
        message.hardware_components = [
            NamedLifecycleState(name=block.name, state=_lifecycle(self._hardware_state))
            for block in self._robot.blocks
        ]
        self._activity.publish(message)

    def _list_controllers(self, _request: Any, answer: Responder) -> None:
        answer.response.controller = [
            self._controller(entry) for entry in reversed(self._manager.loaded.values())
        ]
        answer()

    def _controller(self, entry: LoadedController) -> ControllerState:
        controller, chained = entry.controller, self._manager.chained_to(entry)
        commands = () if controller is None else controller.command_interfaces
        is_active = entry.state is Lifecycle.ACTIVE
        message = controller_state(entry.name, entry.type_name, commands, is_active=is_active)
        message.state = str(entry.state)
        message.update_rate = round(entry.update_rate)
        if controller is not None:
            message.required_state_interfaces = list(controller.state_interfaces)
            message.is_chainable = bool(controller.reference_interfaces)
            message.is_chained = controller.is_chained
            message.reference_interfaces = list(controller.reference_interfaces)
            message.chain_connections = [
                ChainConnection(name=name, reference_interfaces=references)
                for name, references in chained.items()
            ]
        return message

    def _list_types(self, _request: Any, answer: Responder) -> None:
        answer.response.types = list(self._manager.types)
        answer.response.base_classes = [_BASE_CLASS] * len(self._manager.types)
        answer()

    def _list_components(self, _request: Any, answer: Responder) -> None:
        claimed = self._manager.claimed()
        answer.response.component = [
            HardwareComponentState(
                name=block.name,
                type=block.type,
                plugin_name=block.plugin,
                state=_lifecycle(self._hardware_state),
                command_interfaces=self._interfaces(block.commands, claimed),
                state_interfaces=self._interfaces(block.states, ()),
            )
            for block in self._robot.blocks
        ]
        answer()

    def _list_interfaces(self, _request: Any, answer: Responder) -> None:
        hardware, claimed = self._manager.hardware, self._manager.claimed()
        answer.response.command_interfaces = self._interfaces(hardware.command_interfaces, claimed)
        answer.response.state_interfaces = self._interfaces(hardware.state_interfaces, ())
        answer()

    def _interfaces(self, names: Iterable[str], claimed: Iterable[str]) -> list[HardwareInterface]:
        taken, available = set(claimed), self._hardware_state is not Lifecycle.UNCONFIGURED
        return [
            HardwareInterface(
                name=name, data_type="double", is_available=available, is_claimed=name in taken
            )
            for name in names
        ]

    def _load(self, request: LoadController.Request, answer: Responder) -> None:
        self._change(self._robot.load, request, answer)

    def _change(self, change: Callable[[str], object], request: Any, answer: Responder) -> None:
        """Change a controller by name in this thread; the reason of a failure is logged."""
        try:
            change(request.name)
        except UserInputError as error:
            self._log.error(str(error))
            answer.response.ok = False
            answer()
            return
        self.publish_activity()
        answer.response.ok = True
        answer()

    def _configure(self, request: ConfigureController.Request, answer: Responder) -> None:
        entry = self._manager.loaded.get(request.name)
        configure = partial(self._change, self._robot.configure, request, answer)
        if entry is None or not entry.gives_way or entry.state is not Lifecycle.ACTIVE:
            configure()
            return
        # The simulator has activated it by itself; the client begins from the start.
        entry.gives_way = False
        stop = partial(self._manager.switch, (), (request.name,))
        answer.run(self._commands, stop, lambda _left_out: later(self._node, configure))

    def _switch(self, request: SwitchController.Request, answer: Responder) -> None:
        strict = request.strictness == SwitchController.Request.STRICT
        start, stop = request.activate_controllers, request.deactivate_controllers
        if start and self._hardware_state is not Lifecycle.ACTIVE:
            raise RequestRejectedError(f"the hardware is {self._hardware_state}")
        switch = partial(self._manager.switch, start, stop, strict=strict)

        def attempt() -> tuple[str, ...]:
            try:
                return switch()
            except UserInputError as error:
                self._log.error(f"no controller was switched: {error}")
                raise

        answer.run(self._commands, attempt, partial(answer_switch, answer))

    def _reload(self, request: ReloadControllerLibraries.Request, answer: Responder) -> None:
        """Unload all controllers; there are no libraries."""

        def stop() -> None:
            try:
                self._manager.retire(force=request.force_kill)
            except UserInputError as error:
                self._log.error(str(error))
                raise

        def unload() -> None:
            for name in list(self._manager.loaded):
                self._robot.unload(name)
            self.publish_activity()
            answer.succeed()

        def after(_result: None) -> None:
            later(self._node, answer.attempt, unload, UserInputError)

        answer.run(self._commands, stop, after)

    def _set_component(self, request: SetHardwareComponentState.Request, answer: Responder) -> None:
        """Set the state of the robot's hardware; all of its components have the same."""
        names = [block.name for block in self._robot.blocks]
        target = request.target_state
        wanted = next(
            (s for s, number in _IDS.items() if target.label == s or target.id == number), None
        )
        if request.name not in names or wanted is None:
            what = f"component '{request.name}'" if request.name not in names else "state"
            self._log.error(f"{what} not found; components: {', '.join(names)}")
            answer.response.ok, answer.response.state = False, _lifecycle(self._hardware_state)
            answer()
            return

        def respond(_left_out: tuple[str, ...] = ()) -> None:
            self._hardware_state = wanted
            answer.response.ok, answer.response.state = True, _lifecycle(wanted)
            later(self._node, self.publish_activity)
            answer()

        claiming = tuple(dict.fromkeys(self._manager.claimed().values()))
        if wanted is Lifecycle.ACTIVE or not claiming:
            respond()
        else:
            stop = partial(self._manager.switch, (), claiming)
            answer.run(self._commands, stop, respond)


def _lifecycle(state: Lifecycle) -> LifecycleState:
    return LifecycleState(id=_IDS[state], label=str(state))
