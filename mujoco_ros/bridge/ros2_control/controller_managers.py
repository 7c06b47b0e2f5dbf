"""The component that runs the controllers of ros2_control parameter files."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.report import DiagnosticReport
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.bridge.ros_arguments import parameter_files
from mujoco_ros.bridge.tf.robot_frames import RobotDescriptions
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.model.uri import check_file, resolve
from mujoco_ros.native.plan import MANY
from mujoco_ros.rclpy_ext.endpoints import synchronize
from mujoco_ros.rclpy_ext.goal_server import RESULT_DELIVERY_S
from mujoco_ros.ros2_control.controller_file import MANAGER, ParameterFiles
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.parameter_spec import ParameterSpec

if TYPE_CHECKING:  # most robots have no such file
    from mujoco_ros.bridge.ros2_control.managed_robot import ManagedRobot
    from mujoco_ros.bridge.ros2_control.manager_services import ManagerServices
    from mujoco_ros.bridge.ros2_control.sensor_states import SensorStates

_FILE, _START = "controllers_file", "start_controllers"


class ControllerManagers(Component):
    """Offers a controller_manager for each robot whose controllers are in a parameter file."""

    parameters: ClassVar[tuple[ParameterSpec, ...]] = (
        ParameterSpec(
            _FILE,
            "",
            "ros2_control parameter file whose controllers run in the simulator; empty for the "
            "scene's own, a params_file of this node that has some, or the default controllers",
            read_only=True,
        ),
        ParameterSpec(
            _START,
            "auto",
            "Which controllers of the file start at once: all that do not exclude one another, or "
            "none, until a spawner loads them, also without a file. auto is all of "
            "controllers_file, none of a params_file",
            choices=("auto", "all", "none"),
            read_only=True,
        ),
    )

    def __init__(self, context: NodeContext, descriptions: RobotDescriptions) -> None:
        """Manage the robots of the scene; this precedes what depends on their controllers."""
        self._context, self._simulation = context, context.simulation
        self._descriptions = descriptions
        named = _named_file(context)
        self._files = _files(context, named)
        start = context.values[_START]
        self._starts = start == "all" or (start == "auto" and named is not None)
        self._waits = start == "none"
        self._robots: dict[ScenePart, ManagedRobot] = {}
        self._next: dict[ScenePart, ManagedRobot] = {}
        self._services: dict[ManagedRobot, ManagerServices] = {}
        self._sensors: dict[ScenePart, SensorStates] = {}
        self._in_steps: tuple[ManagedRobot, ...] = ()  # that the physics thread steps
        # Called with publishers whose subscriptions lack the present tick of the lockstep
        self.on_join: Callable[[TopicPublisher], object] = bool
        self.build(self._simulation.plant)
        self.commit()
        self.finish()

    def have_odometry(self, part: ScenePart) -> bool | None:
        """Whether a controller of a robot's files measures odometry; None without such files."""
        if part not in self._next:
            return None
        from mujoco_ros.ros2_control.drive.drive_types import DRIVE_TYPES

        return any(each.type in DRIVE_TYPES for each in self._next[part].descriptions.values())

    def command_topics(self) -> dict[str, str]:
        """Return the beginning of each controller's topics, with the name of the robot."""
        robots = self._next.values()
        return {prefix: robot.name for robot in robots for prefix in robot.prefixes}

    def build(self, plant: Plant) -> None:
        """Create the managers of new robots."""
        if self._files is None:
            return
        described = self._descriptions.descriptions_of(plant)
        namespaces = self._files.namespaces()
        alone = len(plant.layout.robots) == 1 and len(namespaces) == 1
        self._plant, self._next = plant, {}
        robots = zip(plant.assembly.robots, plant.layout.robots, plant.controls, strict=True)
        for (part, robot, control), description in zip(robots, described, strict=True):
            namespace = namespaces[0] if alone else robot.namespace
            if part in self._robots:
                self._next[part] = self._robots[part]
            elif robot.joints.names and (self._waits or self._files.controls(namespace)):
                self._next[part] = self._managed(part, robot, control, namespace, description.urdf)
        if namespaces and not self._next:
            self._context.node.get_logger().warning(
                f"{self._files.where}: controllers of no robot with joints; they are in the "
                f"namespaces {', '.join(f'/{each}' for each in namespaces)}, and a robot's "
                "namespace in the scene decides"
            )

    def commit(self) -> None:
        """Update the controllers of the next model's robots."""
        if self._files is None:
            return
        plant = self._plant
        for part, robot in zip(plant.assembly.robots, plant.layout.robots, strict=True):
            if part in self._next:
                self._sensors[part].bind(robot, plant.sample)
        self._in_steps = tuple(self._next.values())

    def finish(self) -> None:
        """Open node and services of new managers; close them for deleted robots."""
        synchronize(self._robots, self._next, self._open, self._close)
        self._sensors = {part: self._sensors[part] for part in self._robots}

    def rollback(self) -> None:
        """Discard the managers of new robots."""
        self._next = dict(self._robots)

    def reports(self) -> Mapping[str, DiagnosticReport]:
        """Return the row on /diagnostics of each manager: the states of its controllers."""
        return {
            in_namespace(robot.namespace, MANAGER): robot.report()
            for robot in self._robots.values()
        }

    def start(self) -> None:
        """Add the managers' nodes to the executor of the simulator's node."""
        for robot in self._robots.values():
            self._spin(robot)

    def idle_steps(self) -> int:
        """Return the steps until a controller is due, which publishes after its update."""
        time = float(self._simulation.data.time)
        steps = MANY
        for robot in self._in_steps:
            steps = min(steps, robot.manager.idle_steps(time, steps))
        return steps

    def after_step(self) -> None:
        """Publish what controllers have updated."""
        for robot in self._in_steps:
            if robot.manager.updated:
                robot.publish(self._simulation.time)

    def publish_tick(self, robots: Collection[str]) -> None:
        """Publish the joint states of robots that tick in lockstep."""
        for robot in self._in_steps:
            if robot.name in robots:
                robot.publish_tick()

    def repeat_tick(
        self, robots: Collection[str], joined: Collection[TopicPublisher] | None
    ) -> None:
        """Publish again what robots have published at the last tick."""
        for robot in self._in_steps:
            if robot.name in robots:
                robot.publish_tick(joined, repeat=True)

    def close(self) -> None:
        """End all goals, after the physics thread has ended."""
        for robot in self._robots.values():
            robot.close("the simulator ended")
            robot.flush()
        for robot in self._robots.values():
            self._services.pop(robot).close()
            robot.destroy()

    def _managed(
        self, part: ScenePart, robot: RobotLayout, control: RobotControl, namespace: str, urdf: str
    ) -> "ManagedRobot":
        from mujoco_ros.bridge.ros2_control.managed_robot import ManagedRobot
        from mujoco_ros.bridge.ros2_control.sensor_states import SensorStates
        from mujoco_ros.ros2_control.hardware import HardwareInterfaces
        from mujoco_ros.ros2_control.hardware_blocks import read_blocks
        from mujoco_ros.sim.cartesian.link_kinematics import LinkKinematics

        assert self._files is not None
        sign = -1.0 if self._context.values["wrench_sign"] == "child_on_parent" else 1.0
        declared, sample = read_blocks(urdf), self._plant.sample
        sensors = self._sensors[part] = SensorStates(robot, sample, sign, declared.in_model)
        self._warn_of_missing(robot, declared.in_model)
        measure = sensors.joints if self._plant.realism is not None else None
        kinematics = None
        if isinstance(cartesian := control.cartesian, CartesianController):
            kinematics = partial(LinkKinematics, lambda: cartesian.chains)
        readers = sensors.readers(declared)
        hardware = HardwareInterfaces(control, readers, declared, measure, kinematics)
        managed = ManagedRobot(
            *(self._context, self._files, control, hardware),
            name=robot.name,
            namespace=namespace,
            drive=robot.drive,
            on_join=lambda publisher: self.on_join(publisher),
        )
        control.managed = managed.manager
        return managed

    def _warn_of_missing(self, robot: RobotLayout, in_model: Mapping[str, str]) -> None:
        """Warn of sensors that a URDF declares for mujoco_ros2_control and the model lacks."""
        stems = {sensor.stem for sensor in robot.every_sensor}
        for name, stem in in_model.items():
            if stem not in stems:
                self._context.node.get_logger().warning(
                    f"robot '{robot.name}': sensor '{name}' of its <ros2_control> measures "
                    f"nothing: the model has no sensors '{stem}', '{stem}_…'"
                )

    def _open(self, _part: ScenePart, robot: "ManagedRobot") -> "ManagedRobot":
        from mujoco_ros.bridge.ros2_control.manager_services import ManagerServices

        robot.open()
        if self._starts:
            robot.start_all()
        else:
            robot.announce_spawners()
        self._services[robot] = ManagerServices(robot, self._simulation.commands)
        self._spin(robot)
        return robot

    def _spin(self, robot: "ManagedRobot") -> None:
        if self._context.node.executor is not None:
            for node in robot.nodes:
                self._context.node.executor.add_node(node)

    def _close(self, robot: "ManagedRobot") -> None:
        self._services.pop(robot).close()
        robot.close("the robot no longer exists")
        self._context.endpoints.later(RESULT_DELIVERY_S, robot.destroy)


def _named_file(context: NodeContext) -> Path | None:
    """Return the file that the parameter or the scene names."""
    if name := context.values[_FILE]:
        path = resolve(name, Path.cwd())
    else:
        scene = context.simulation.assembly.config
        if scene.controllers_file is None or not context.has_controllers:
            return None
        path = scene.path(scene.controllers_file)
    if not context.has_controllers:
        raise UserInputError(f"'{_FILE}' needs 'ros2_control' to be false")
    check_file(path, _FILE)
    return path


def _files(context: NodeContext, named: Path | None) -> ParameterFiles | None:
    """Return the parameter files with controllers; None if there is none."""
    if named is not None:
        return ParameterFiles((named,))
    if not context.has_controllers:
        return None
    files = ParameterFiles(parameter_files(context.arguments)).with_controllers()
    return files if files or context.values[_START] == "none" else None
