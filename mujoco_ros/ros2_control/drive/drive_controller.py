"""A controller that drives a robot by the velocity of its base, and measures its odometry."""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from math import isnan, nan
from typing import Any, ClassVar

from mujoco_ros.control.joints import POSITION, VELOCITY
from mujoco_ros.control.settings import setting
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.strict import convert
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.drive.kinematics import Twist, WheelKinematics
from mujoco_ros.ros2_control.drive.limits import LIMITS_BY_KIND, SpeedLimiter, SpeedLimits
from mujoco_ros.ros2_control.drive.odometry import Odometry
from mujoco_ros.ros2_control.drive.velocity_command import VelocityCommand
from mujoco_ros.ros2_control.hardware import CommandInterfaces, HardwareInterfaces, StateInterfaces
from mujoco_ros.ros2_control.parameters import ControllerParameters

Diagonal = tuple[float, ...]
"""Variances of x, y, z [m² or (m/s)²] and about x, y, z [rad² or (rad/s)²].  # (6,)"""
_REST = Twist()


@dataclass(frozen=True, kw_only=True, slots=True)
class DriveSettings:
    """Parameters that the drives have in common; their defaults differ by type."""

    odom_frame_id: str = setting("Frame of the odometry", "odom")
    base_frame_id: str = setting("Frame of the base, its child", "base_link")
    enable_odom_tf: bool = setting("Whether /tf has the pose of the base in this frame", True)
    tf_frame_prefix_enable: bool = setting("Whether both frames get a prefix", True)
    tf_frame_prefix: str = setting("This prefix; by default, the namespace", "")
    pose_covariance_diagonal: Diagonal = setting("Variances of the pose", (0.0,) * 6)
    twist_covariance_diagonal: Diagonal = setting("Variances of the velocity", (0.0,) * 6)
    open_loop: bool = setting("Whether the odometry is that of the commands", False)
    position_feedback: bool = setting("Whether the odometry uses positions of wheels", True)
    velocity_rolling_window_size: int = setting("Steps of which velocities are means", 10)
    use_stamped_vel: bool = setting("Whether commands are TwistStamped, not Twist", True)
    use_robot_topics: bool = setting("Whether topics are of the robot, not the controller", False)


@dataclass(frozen=True, kw_only=True)
class DriveSetup:
    """What the parameters of a type say."""

    kinematics: WheelKinematics
    traction: Sequence[str]  # joints of the driven wheels
    steering: Sequence[str] = ()  # joints that steer
    traction_states: Sequence[str] = ()  # joints that measure the wheels; empty for the same
    steering_states: Sequence[str] = ()
    command: VelocityCommand
    # Limiters of the velocity forwards, to the left, and of the turn
    limiters: Sequence[SpeedLimiter] = field(
        default_factory=lambda: [SpeedLimiter(SpeedLimits()) for _ in range(3)]
    )


@dataclass(frozen=True, kw_only=True)
class DriveTopics:
    """The topics of a type of drive, as `ControllerServer.topic` takes them."""

    command: str = "~/cmd_vel"
    odometry: str = "~/odom"
    transform: str = "/tf"
    limited: str = "~/cmd_vel_out"


ROBOT_TOPICS = DriveTopics(command="cmd_vel", odometry="odom", limited="cmd_vel_out")
"""Topics of a robot whose wheels were recognized."""


class DriveController(Controller):
    """A controller that drives a robot on wheels; a subclass reads the parameters of its type."""

    topics: DriveTopics = DriveTopics()
    defaults: ClassVar[dict[str, Any]] = {}  # where they differ from `DriveSettings`
    references_of_twist: ClassVar[tuple[str, ...]] = ("linear/velocity", "angular/velocity")
    # Whether the wheels stop at once without a command; otherwise within the limits
    stops_at_once: ClassVar[bool] = False
    publishes_limited = False  # whether there is a topic of the limited commands
    without_meaning: ClassVar[tuple[str, ...]] = ("publish_rate",)

    def _set_up(self, parameters: ControllerParameters, hardware: HardwareInterfaces) -> None:
        settings = self.settings = parameters.read(DriveSettings, defaults=self.defaults)
        for diagonal in ("pose_covariance_diagonal", "twist_covariance_diagonal"):
            if len(getattr(settings, diagonal)) != 6:
                raise parameters.reject(diagonal, "must have 6 numbers")
        if settings.use_robot_topics:
            self.topics = ROBOT_TOPICS
        setup = self._setup = self._configure(parameters)
        self.command_interfaces = (
            *(f"{joint}/{VELOCITY}" for joint in setup.traction),
            *(f"{joint}/{POSITION}" for joint in setup.steering),
        )
        self._commands = CommandInterfaces(hardware, self.command_interfaces)
        kind = POSITION if settings.position_feedback else VELOCITY
        steering = setup.steering_states or setup.steering
        states = [f"{joint}/{kind}" for joint in setup.traction_states or setup.traction]
        states += [f"{joint}/{POSITION}" for joint in steering]
        self.state_interfaces = () if settings.open_loop and not steering else tuple(states)
        self._states = StateInterfaces(hardware, states)
        self.export_references(self.references_of_twist)
        self._count = len(setup.traction)
        self.commands = True  # whether updates command the joints
        self.odometry = Odometry(settings.velocity_rolling_window_size)
        self.limited = _REST  # the velocity that was commanded last, within the limits
        self._positions: list[float] | None = None  # of the wheels, at the last update [rad]

    def _configure(self, parameters: ControllerParameters) -> DriveSetup:
        """Return what the parameters of the type say."""
        raise NotImplementedError

    def activate(self) -> None:
        """Begin at rest, at the origin of the odometry."""
        self._setup.command.clear()
        self.odometry.set_pose()
        self._positions = None
        self.limited = _REST
        for limiter in self._setup.limiters:
            limiter.reset()

    def deactivate(self) -> None:
        """Forget the command."""
        self._setup.command.clear()

    @property
    def is_moving(self) -> bool:
        """Whether it follows a command, or still moves after one."""
        return self._setup.command.is_set or self.limited != _REST

    def velocity_refusal(self, twist: Twist, stamp: float, now: float) -> str:
        """Return why a command with a `stamp` [s] is not followed; empty if it is."""
        return self._setup.command.refusal(twist, stamp, now)

    def command(self, twist: Twist, stamp: float, now: float) -> None:
        """Follow a velocity of the base with a `stamp` [s], which arrived `now`."""
        if not self.is_chained:
            self._setup.command.set(twist, stamp, now)

    def update(self, time: float, period: float) -> None:
        """Move the wheels for the newest velocity, and integrate the odometry."""
        wanted = self._wanted(time)
        speeds, angles = self._measured(period)
        if wanted is None and self.stops_at_once:
            self.limited = _REST
        else:
            x, y, turn = wanted or _REST
            ahead, left, about = self._setup.limiters
            self.limited = Twist(
                ahead.limit(x, period), left.limit(y, period), about.limit(turn, period)
            )
        self._integrate(speeds, angles, period)
        if self.commands:
            self._write(wanted, angles, period)

    def _wanted(self, time: float) -> Twist | None:
        if not self.is_chained:
            return self._setup.command.at(time)
        values = self.references.tolist()
        if self.stops_at_once:
            self.references[:] = float("nan")  # each reference is for one step
        if any(map(isnan, values)):
            return None
        return Twist(*values) if len(values) == 3 else Twist(values[0], 0.0, values[1])

    def _measured(self, period: float) -> tuple[list[float] | None, list[float]]:
        """Return the speeds of the wheels, None at the first update, and the steering angles."""
        values = self._states.read().tolist()
        wheels, angles = values[: self._count], values[self._count :]
        if not self.settings.position_feedback:
            return wheels, angles
        before, self._positions = self._positions, wheels
        if before is None:
            return None, angles
        return [(new - old) / period for new, old in zip(wheels, before, strict=True)], angles

    def _integrate(
        self, speeds: Sequence[float] | None, angles: Sequence[float], period: float
    ) -> None:
        odometry = self.odometry
        if self.settings.open_loop:
            odometry.integrate(self.limited, period)
            odometry.twist = self.limited
        elif speeds is not None:
            twist = self._setup.kinematics.measure(speeds, angles)
            odometry.integrate(twist, period)
            odometry.average(twist)

    def _write(self, wanted: Twist | None, angles: Sequence[float], period: float) -> None:
        values = self._commands.values
        if wanted is None and self.stops_at_once:
            values[: self._count], values[self._count :] = 0.0, float("nan")
        else:
            speeds, steered = self._setup.kinematics.command(self.limited, angles)
            values[:] = (*speeds, *steered)
        self._commands.write()

    def save_state(self) -> dict[str, Any]:
        own = (self._setup.command, self._setup.limiters, self.odometry, self._positions)
        return {**super().save_state(), "drive": deepcopy((*own, self.limited))}

    def restore_state(self, state: dict[str, Any]) -> None:
        state = dict(state)
        command, limiters, odometry, positions, limited = deepcopy(state.pop("drive"))
        super().restore_state(state)
        vars(self._setup.command).update(vars(command))
        for limiter, saved in zip(self._setup.limiters, limiters, strict=True):
            vars(limiter).update(vars(saved))
        self.odometry, self._positions, self.limited = odometry, positions, limited


def read_limits(parameters: ControllerParameters, component: str) -> SpeedLimiter:
    """Return the limiter of a component, such as ``linear.x``.

    Files for former releases switch limits by ``has_velocity_limits`` and so on.
    """
    try:
        limits = parameters.read(SpeedLimits, f"{component}.")
    except UserInputError as error:
        raise parameters.located(error, f"{component}.") from error
    for kind, names in LIMITS_BY_KIND.items():
        switch = f"{component}.has_{kind}_limits"
        parameters.ignore(switch)
        given = parameters.values.get(switch, True)
        if not convert(bool, given, f"{parameters.where}: parameter '{switch}'"):
            limits = replace(limits, **dict.fromkeys(names, nan))
    return SpeedLimiter(limits)
