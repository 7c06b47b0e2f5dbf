"""The component that drives robots whose wheels were recognized, without a parameter file."""

import logging
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING, Any, ClassVar

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.config import RobotConfig
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.native.plan import MANY
from mujoco_ros.rclpy_ext.endpoints import synchronize
from mujoco_ros.sim.plant import Plant
from mujoco_ros.wire.parameter_spec import ParameterSpec

if TYPE_CHECKING:  # most robots have no wheels
    from mujoco_ros.bridge.ros2_control.drive_server import DriveServer
    from mujoco_ros.ros2_control.drive.drive_controller import DriveController
    from mujoco_ros.ros2_control.drive.recognized_drive import RecognizedDrive

ODOM_TF = "odom_tf"
_STAMPED = "cmd_vel_stamped"
_NAME = "cmd_vel"
_LOG = logging.getLogger(__name__)
_VARIANCES = [0.001, 0.001, 0.001, 0.001, 0.001, 0.01]
"""Variances "to start with" in the documentation of diff_drive_controller."""
_LIMITS = {"linear.x": 2.5, "linear.y": 2.5, "angular.z": 6.0}
"""Largest accelerations [m/s², rad/s²] without others, with which wheels do not spin."""


class WheelDrives(Component):
    """Offers ``cmd_vel`` and ``odom`` for each robot with wheels and without a parameter file."""

    parameters: ClassVar[tuple[ParameterSpec, ...]] = (
        ParameterSpec(
            ODOM_TF,
            "wheels",
            "What places the base of a robot with wheels in TF: its wheels (odom -> base), or the "
            "ground truth (world -> base)",
            choices=("wheels", "ground_truth"),
            read_only=True,
        ),
        ParameterSpec(
            _STAMPED,
            True,
            "Whether cmd_vel is a TwistStamped; otherwise a Twist, as older programs send it",
            read_only=True,
        ),
    )

    def __init__(
        self, context: NodeContext, are_managed: Callable[[ScenePart], bool | None]
    ) -> None:
        """Drive the robots of the scene, but for robots that have parameter files.

        `are_managed` returns None for a robot without such files, else whether they have a drive.
        """
        self._are_managed = are_managed
        self._context, self._simulation = context, context.simulation
        self._drives: dict[ScenePart, tuple[RobotControl, str, RecognizedDrive]] = {}
        self._servers: dict[ScenePart, DriveServer] = {}
        self._in_steps: tuple[tuple[str, RecognizedDrive, DriveServer], ...] = ()
        # Called with publishers whose subscriptions lack the present tick of the lockstep
        self.on_join: Callable[[TopicPublisher], object] = bool
        self.build(self._simulation.plant)
        self.finish()

    def have_odometry(self, plant: Plant) -> frozenset[str]:
        """Return the names of the robots whose base is placed in TF by their wheels."""
        if self._context.values[ODOM_TF] != "wheels":
            return frozenset()
        robots = zip(plant.assembly.robots, plant.layout.robots, strict=True)
        return frozenset(
            robot.name
            for part, robot in robots
            if robot.drive and self._are_managed(part) is not False
        )

    def command_topics(self) -> dict[str, str]:
        """Return the topics of velocities, with the name of the robot."""
        return {
            in_namespace(namespace, _NAME): part.name
            for part, (_, namespace, _) in self._next.items()
        }

    def build(self, plant: Plant) -> None:
        """Create the drives of new robots."""
        self._next = {}
        robots = zip(
            *(plant.assembly.robots, plant.assembly.config.robots),
            *(plant.layout.robots, plant.controls),
            strict=True,
        )
        for part, config, robot, control in robots:
            if part in self._drives:
                self._next[part] = self._drives[part]
            elif not (robot.drive and self._context.has_controllers):
                continue
            elif self._are_managed(part) is None:
                drive = self._drive(config, robot, control)
                self._next[part] = control, robot.namespace, drive

    def finish(self) -> None:
        """Open the topics of new drives; close the topics of deleted robots."""
        self._drives = dict(self._next)
        synchronize(self._servers, self._drives, self._open, self._close)
        self._in_steps = tuple(
            (part.name, drive, self._servers[part]) for part, (_, _, drive) in self._drives.items()
        )

    def rollback(self) -> None:
        """Discard the drives of new robots."""
        self._next = dict(self._drives)

    def idle_steps(self) -> int:
        """Return the steps until a drive is due, which publishes after its update."""
        time, steps = float(self._simulation.data.time), MANY
        for _, drive, _ in self._in_steps:
            steps = drive.idle_steps(time, steps)
        return steps

    def after_step(self) -> None:
        """Publish the odometry of drives that were updated."""
        for _, drive, server in self._in_steps:
            if drive.is_updated:
                server.publish(self._simulation.time)

    def publish_tick(self, robots: Collection[str]) -> None:
        """Publish nothing further at a tick of the lockstep."""

    def repeat_tick(
        self, robots: Collection[str], joined: Collection[TopicPublisher] | None
    ) -> None:
        """Publish the last odometry again, with publishers that have joined, or all."""
        for name, drive, server in self._in_steps:
            lacks = joined is None or not server.publishers.isdisjoint(joined)
            if name in robots and drive.is_updated and lacks:
                server.publish(self._simulation.time)

    def close(self) -> None:
        """Close the topics."""
        for server in self._servers.values():
            self._close(server)

    def _drive(
        self, config: RobotConfig, robot: RobotLayout, control: RobotControl
    ) -> "RecognizedDrive":
        from mujoco_ros.ros2_control.drive.drive_types import DRIVE_TYPES
        from mujoco_ros.ros2_control.drive.recognized_drive import RecognizedDrive
        from mujoco_ros.ros2_control.hardware import HardwareInterfaces
        from mujoco_ros.ros2_control.parameters import ControllerParameters

        assert robot.drive is not None
        where = f"drive_parameters of robot '{robot.name}'"
        base = robot.bases[0].name if robot.bases else ""
        values: dict[str, Any] = {
            "base_frame_id": base,
            "tf_frame_prefix": robot.frame_prefix,
            "tf_frame_prefix_enable": bool(robot.frame_prefix),
            "enable_odom_tf": self._context.values[ODOM_TF] == "wheels"
            and self._context.values["tf"] != "none",
            "pose_covariance_diagonal": _VARIANCES,
            "twist_covariance_diagonal": _VARIANCES,
            "use_stamped_vel": self._context.values[_STAMPED],
            "use_robot_topics": True,
            **{f"{component}.max_acceleration": most for component, most in _LIMITS.items()},
            **robot.drive.parameters,
            **config.drive_parameters,
        }
        parameters, hardware = ControllerParameters(values, where), HardwareInterfaces(control)
        controller: DriveController = DRIVE_TYPES[robot.drive.type](_NAME, parameters, hardware)
        if unknown := [name for name in parameters.ignored if name in config.drive_parameters]:
            raise UserInputError(
                f"{where}: {robot.drive.type} has no parameter '{unknown[0]}'; its parameters are "
                "named as in ros2_controllers, with dots, such as linear.x.max_velocity"
            )
        return RecognizedDrive(control, hardware, controller)

    def _open(
        self, part: ScenePart, drive: "tuple[RobotControl, str, RecognizedDrive]"
    ) -> "DriveServer":
        from mujoco_ros.bridge.ros2_control.drive_server import DriveServer

        control, namespace, recognized = drive
        kind = type(recognized.controller).__name__
        _LOG.info("%s: its wheels follow '%s', by %s", part.name, _NAME, kind)
        control.managed = recognized
        return DriveServer(
            *(self._context, namespace, control, recognized.controller),
            on_join=lambda publisher: self.on_join(publisher),
        )

    def _close(self, server: "DriveServer") -> None:
        server.close("the robot no longer exists")
