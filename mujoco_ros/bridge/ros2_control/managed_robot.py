"""A robot with a controller_manager: its controllers, and their topics."""

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from rclpy.exceptions import InvalidNodeNameException
from rclpy.node import Node
from rclpy.validate_node_name import validate_node_name

from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.bridge.diagnostics.report import DiagnosticReport
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.bridge.ros2_control.controller_server import ControllerServer, full_name
from mujoco_ros.bridge.ros2_control.live_parameters import LiveParameters
from mujoco_ros.bridge.ros2_control.servers import server_type
from mujoco_ros.bridge.ros_arguments import remap_rules
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.robot.drive import Drive
from mujoco_ros.rclpy_ext.goal_server import RESULT_DELIVERY_S
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.controller_file import MANAGER, ControllerDescription, ParameterFiles
from mujoco_ros.ros2_control.hardware import HardwareInterfaces
from mujoco_ros.ros2_control.hardware_blocks import HardwareBlock
from mujoco_ros.ros2_control.loaded_controller import Lifecycle, LoadedController
from mujoco_ros.ros2_control.manager import ControllerManager
from mujoco_ros.ros2_control.parameters import ControllerParameters
from mujoco_ros.ros2_control.types import TYPES


class ManagedRobot:
    """Loads and configures the controllers of a robot, by parameter files and the manager's node.

    Everything here is for the executor's thread, but for `manager`.
    """

    def __init__(
        self,
        context: NodeContext,
        files: ParameterFiles,
        control: RobotControl,
        hardware: HardwareInterfaces,
        *,
        name: str,
        namespace: str,
        drive: Drive | None = None,
        on_join: Callable[[TopicPublisher], object],
    ) -> None:
        """Manage a robot in a namespace, which has no controllers yet.

        Parameters that contradict its `drive`, as its wheels show it, are logged. `on_join` is
        called with a publisher that has a new subscription, or begins to publish.
        """
        self.name, self._drive, self._on_join = name, drive, on_join
        self._context, self._files, self._control = context, files, control
        self.namespace = namespace
        rate = files.update_rate(namespace)
        self.manager = ControllerManager(control, hardware, TYPES, rate)
        self.manager.on_change.append(self._note_change)
        self.descriptions: Mapping[str, ControllerDescription] = files.controllers(namespace)
        # The hardware components; one with everything if the robot declares none
        self.blocks: tuple[HardwareBlock, ...] = hardware.blocks or (
            HardwareBlock(
                name=name,
                plugin="mujoco_ros",
                commands=hardware.command_interfaces,
                states=hardware.state_interfaces,
            ),
        )
        self.node: Node
        # By name; replaced, as the physics thread reads it
        self._servers: dict[str, ControllerServer[Any]] = {}
        self._live: dict[str, LiveParameters] = {}
        self._listed: set[str] = set()  # controllers whose ignored parameters are logged

    def open(self) -> None:
        """Create the node of the manager."""
        self.node = Node(
            MANAGER,
            context=self._context.node.context,
            namespace=f"/{self.namespace}",
            use_global_arguments=False,  # they may contain the simulator's node name
            allow_undeclared_parameters=True,  # clients set parameters of controllers
        )
        self.node.declare_parameter("update_rate", round(self.manager.update_rate))
        if ignored := ", ".join(self._files.ignored(self.namespace)):
            self.node.get_logger().info(f"{MANAGER} ignores parameters: {ignored}")

    @property
    def prefixes(self) -> list[str]:
        """The beginning of the topics of each controller, which may not be loaded yet."""
        names = dict.fromkeys([*self.descriptions, *self._servers])
        return [f"{in_namespace(self.namespace, name)}/" for name in names]

    @property
    def nodes(self) -> list[Node]:
        """The node of the manager, and one for each controller with live parameters."""
        return [self.node, *(live.node for live in self._live.values())]

    def now(self) -> float:
        """Return the simulated time [s]."""
        return self._context.simulation.time

    def load(self, name: str) -> None:
        """Load a controller by the type that a client or the files give.

        Raises:
            UserInputError: It is loaded already, or its type is missing or unknown.
        """
        try:
            validate_node_name(name)
        except InvalidNodeNameException as error:
            raise UserInputError(f"controller '{name}': not a name of a node: {error}") from error
        described = self._described(name)
        if described is None:
            known = ", ".join(self.descriptions) or "none"
            raise UserInputError(
                f"controller '{name}' has no type: set the parameter '{name}.type' of "
                f"{MANAGER}, or name a file with it; the files have: {known}"
            )
        if described.type not in TYPES:
            raise UserInputError(f"controller '{name}': {_unknown_type(described.type)}")
        self.manager.load(name, described.type, described.update_rate)

    def configure(self, name: str) -> None:
        """Construct a loaded controller by its parameters, and open its topics.

        It is unconfigured after a failure.

        Raises:
            UserInputError: It is active, a parameter or a name is invalid, or an interface is
                missing.
        """
        described = self._described(name) if name in self.manager.loaded else None
        values, where = ({}, name) if described is None else (described.parameters, described.where)
        parameters = ControllerParameters(values, where)
        try:
            controller = self.manager.configure(name, parameters)
            self._serve(name, controller)
        except Exception as error:  # also of values that no check has foreseen
            entry = self.manager.loaded.get(name)
            if entry is not None and entry.state is not Lifecycle.ACTIVE:
                self.cleanup(name)
            reason = str(error)
            if not isinstance(error, UserInputError):
                reason = f"{where}: {type(error).__name__}: {error}"
            elif f"'{name}'" not in reason and not reason.startswith(where):
                reason = f"controller '{name}': {error}"
            raise UserInputError(reason) from error
        if controller.live:
            self._live[name] = LiveParameters(
                *(self._context, self.namespace, controller, parameters),
                on_change=self._servers[name].renew,
            )
        parameters.ignore(*controller.without_meaning)
        if name not in self._listed:
            self._listed.add(name)
            if names := ", ".join(parameters.ignored):
                self.node.get_logger().info(f"controller '{name}' ignores parameters: {names}")
            warnings = list(controller.warnings)
            if self._drive is not None and described is not None:
                warnings += self._drive.contradictions(described.type, parameters.values)
            for warning in warnings:
                self.node.get_logger().warning(f"controller '{name}': {warning}")

    def _serve(self, name: str, controller: Controller) -> None:
        """Close the topics of the controller before, and open the topics of this one."""
        self._close(name, at_once=True)
        controller.remapped = self._remapped(name)
        server = server_type(type(controller))(
            *(self._context, self.namespace, self._control, controller), on_join=self._on_join
        )
        self._servers = {**self._servers, name: server}

    def cleanup(self, name: str) -> None:
        """Close the topics of an inactive controller, which is unconfigured then."""
        self.manager.cleanup(name)
        self._close(name)

    def unload(self, name: str) -> None:
        """Remove a controller that is not active."""
        self.manager.unload(name)
        self._close(name)

    def start_all(self) -> None:
        """Activate the controllers of the files that do not exclude one another, in their order.

        Clients may take them over; see `LoadedController.gives_way`.
        """
        log = self._context.node.get_logger()

        def configure(name: str) -> None:
            if name not in self.manager.loaded:
                self.load(name)
            self.configure(name)

        types = {name: described.type for name, described in self.descriptions.items()}
        unknown = {name: kind for name, kind in types.items() if kind and kind not in TYPES}
        for kind in dict.fromkeys(unknown.values()):
            names = ", ".join(f"'{name}'" for name in unknown if unknown[name] == kind)
            log.warning(
                f"{'controllers' if ',' in names else 'controller'} {names}: {_unknown_type(kind)}"
            )
        for problem in _repeat((name for name in types if name not in unknown), configure):
            log.warning(problem)
        inactive = [e.name for e in self.manager.loaded.values() if e.state is Lifecycle.INACTIVE]
        activate = partial(self.manager.switch, deactivate=(), gives_way=True)
        for problem in _repeat(inactive, lambda name: activate((name,))):
            log.info(f"{problem}; it stays inactive")
        active = [e.name for e in self.manager.loaded.values() if e.state is Lifecycle.ACTIVE]
        log.info(f"controllers of {self._files.where}: {', '.join(active) or 'none is active'}")

    def announce_spawners(self) -> None:
        """Log that the controllers of the files wait for a spawner."""
        names = ", ".join(self.descriptions) or "any"
        name = in_namespace(self.namespace, MANAGER)
        log = self._context.node.get_logger()
        log.info(f"{name} waits for spawners of its controllers: {names}")

    def report(self) -> DiagnosticReport:
        """Return the row on /diagnostics: the states of the controllers."""
        states = {name: str(entry.state) for name, entry in self.manager.loaded.items()}
        active = sum(state == Lifecycle.ACTIVE for state in states.values())
        return DiagnosticReport(f"{active} of {len(states)} controllers are active", states)

    def publish(self, time: float) -> None:
        """Publish what was updated in a step, in the physics thread; `time` is of its state [s]."""
        is_stepped = self.name in self._context.lockstep.robots
        for entry in self.manager.updated:
            server = self._servers.get(entry.name)
            if server is not None and not (is_stepped and server.at_ticks):
                self._attempt(entry, partial(server.publish, time))

    def publish_tick(
        self, joined: Collection[TopicPublisher] | None = None, *, repeat: bool = False
    ) -> None:
        """Publish what comes at ticks of the lockstep, in the physics thread.

        To `repeat` the last tick, publish what was updated in its step, too, of the controllers
        with publishers that have `joined`, or of all.
        """
        simulation, servers = self._context.simulation, self._servers
        for entry in self.manager.loaded.values():
            server = servers.get(entry.name)
            if server is None or entry.state is not Lifecycle.ACTIVE:
                continue
            if joined is not None and server.publishers.isdisjoint(joined):
                continue
            if server.at_ticks:
                epoch = simulation.epochs.number
                self._attempt(entry, partial(server.publish_tick, simulation.time, epoch))
            elif repeat and entry in self.manager.updated:
                self._attempt(entry, partial(server.publish, simulation.time))

    def _attempt(self, entry: LoadedController, publish: Callable[[], object]) -> None:
        try:
            publish()
        except Exception as error:
            self.manager.fail(entry, error)

    def _note_change(self) -> None:
        """Have what was activated publish at the tick at which the clock stands, too."""
        for server in self._servers.values():
            for publisher in server.publishers if server.at_ticks else ():
                self._on_join(publisher)

    def close(self, reason: str) -> None:
        """Close all topics, and end all goals."""
        for server in self._servers.values():
            server.close(reason)

    def flush(self) -> None:
        """Wait until clients have received the results."""
        for server in self._servers.values():
            server.flush()

    def destroy(self) -> None:
        """Close the actions and the node, after `close`."""
        for server in self._servers.values():
            server.destroy()
        for node in self.nodes:
            node.destroy_node()

    def _close(self, name: str, *, at_once: bool = False) -> None:
        """Close the topics of a controller; clients have time to receive results."""
        server = self._servers.get(name)
        if server is not None:
            self._servers = {n: other for n, other in self._servers.items() if n != name}
            server.close(f"controller '{name}' was unconfigured")
            self._context.endpoints.later(0.0 if at_once else RESULT_DELIVERY_S, server.destroy)
        if name in self._live:
            self._live.pop(name).node.destroy_node()

    def _described(self, name: str) -> ControllerDescription | None:
        """Return a controller by what clients have set, and by the files."""
        given = partial(self._parameter, name)
        paths = given("params_file") or []
        if isinstance(paths, str):
            paths = [paths]
        files = self._files
        if paths:
            with self._context.files.for_client():
                files = ParameterFiles(map(Path, paths), files)
        return files.controller(self.namespace, name, given("type"))

    def _remapped(self, name: str) -> dict[str, str]:
        """Return the topics that a spawner's ``--controller-ros-args`` remap."""
        arguments = self._parameter(name, "node_options_args") or []
        resolve = partial(full_name, self.namespace, name)
        rules = (rule.partition(":=") for rule in remap_rules(["--ros-args", *arguments]))
        return {resolve(old): resolve(new) for old, _, new in rules}

    def _parameter(self, controller: str, name: str) -> Any:
        """Return a parameter of a controller that a client has set at the manager's node."""
        full = f"{controller}.{name}"
        if not self.node.has_parameter(full):
            return None
        return self.node.get_parameter(full).value


def _unknown_type(kind: str) -> str:
    return (
        f"type '{kind}' does not run in the simulator; run the genuine controller_manager over "
        "topics instead (ros2_control:=true, see docs/how-to/use_ros2_control.md), or write it as "
        "a controller in Python"
    )


def _repeat(names: Iterable[str], act: Callable[[str], object]) -> Iterable[str]:
    """Call a function for each name, and again for those that need others before; return errors."""
    failed = dict.fromkeys(names, "")
    while failed:
        before, failed = failed, {}
        for name in before:
            try:
                act(name)
            except UserInputError as error:
                failed[name] = str(error)
        if len(failed) == len(before):
            break
    return failed.values()
