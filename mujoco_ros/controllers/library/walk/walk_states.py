"""States of `walk`, which commands all joints of a humanoid."""

from dataclasses import dataclass, field, make_dataclass
from math import acos, hypot
from typing import Any, ClassVar

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.inputs import (
    DRAW,
    ESTIMATED_BASE,
    GOAL_INPUT,
    VELOCITY_INPUT,
    BodyVelocity,
    Drawing,
)
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.library.config_checks import CheckedConfig, Positive
from mujoco_ros.controllers.library.walk.footsteps import error_of, is_reached, joined, velocity_to
from mujoco_ros.controllers.library.walk.gait import GaitConfig
from mujoco_ros.controllers.library.walk.stabilizer import StabilizerConfig
from mujoco_ros.controllers.library.walk.walk_display import StandingPanel, WalkingRobot, draw_walk
from mujoco_ros.controllers.library.walk.walker import Walker
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.panel_items import SettingField

WALKER: Key[Walker] = Key("walk/walker", Walker)
_RESUMES: Key[str] = Key("walk/resumes", str)
"""Outcome of RECOVER."""
_STANDING = BodyVelocity()
_NEWEST = 0.1
"""Greatest age of a command that starts a walk [s]."""
_FASTEST = BodyVelocity(x=0.3, y=0.1, yaw=0.35)
"""Greatest velocities."""


@dataclass(frozen=True, kw_only=True, slots=True)
class UprightConfig(CheckedConfig):
    """Settings of all states.

    Attributes:
        max_tilt: Tilt of the base at which the robot has fallen [rad].
    """

    max_tilt: Positive = 0.5


@dataclass(frozen=True, kw_only=True, slots=True)
class WatchedConfig(UprightConfig):
    """Settings of the states that a push ends.

    Attributes:
        recover_above: Error of the DCM from which on the robot recovers [m].
    """

    recover_above: Positive = 0.15


@dataclass(frozen=True, kw_only=True)
class StandBalancedConfig(GaitConfig, StabilizerConfig):
    """Settings of `StandBalanced`; the gait's settings take effect when the controller starts.

    Attributes:
        feet: Names of the bodies of left and right foot.
        force_sensors: Names of their force-torque sensors.
        imu: Name of the IMU; empty for the only one, of the base if it has one.
        joints: Names of the joints that walk, with all joints of the legs; empty for all joints.
            The others are not commanded.
        max_tilt: Tilt of the base at which the robot has fallen [rad].
        recover_above: Error of the DCM from which on the robot recovers [m].
    """

    feet: tuple[str, ...]
    force_sensors: tuple[str, ...]
    imu: str = ""
    joints: tuple[str, ...] = ()
    max_tilt: Positive = 0.5
    recover_above: Positive = 0.15

    def __post_init__(self) -> None:
        CheckedConfig.__post_init__(self)
        for name in ("feet", "force_sensors"):
            if len(getattr(self, name)) != 2:
                raise UserInputError(f"{name} must be two names, of the left and the right foot")


@dataclass(frozen=True, kw_only=True, slots=True)
class WalkWithVelocityConfig(WatchedConfig):
    """Settings of `WalkWithVelocity`; they take effect at once.

    Attributes:
        velocity_x: Velocity forwards [m/s].
        velocity_y: Velocity to the left [m/s].
        velocity_yaw: Angular velocity to the left [rad/s].
        command_timeout: Time after which a commanded velocity ends without another one [s]; it
            replaces these velocities until then.
    """

    fastest: ClassVar[BodyVelocity]
    velocity_x: float = 0.0
    velocity_y: float = 0.0
    velocity_yaw: float = 0.0
    command_timeout: Positive = 0.5

    def __post_init__(self) -> None:
        WatchedConfig.__post_init__(self)
        for axis, fastest in self.fastest._asdict().items():
            value = getattr(self, f"velocity_{axis}")
            if not abs(value) <= fastest:
                raise UserInputError(
                    f"velocity_{axis} must be from {-fastest:g} to {fastest:g}, got {value:g}"
                )

    @property
    def velocity(self) -> BodyVelocity:
        """The velocity of the body."""
        return BodyVelocity(self.velocity_x, self.velocity_y, self.velocity_yaw)


def velocity_config(name: str, fastest: BodyVelocity) -> type[Any]:
    """Return a `WalkWithVelocityConfig` with ranges up to the greatest velocities."""
    velocities = [
        (f"velocity_{axis}", float, field(default=0.0, metadata={"range": (-most, most)}))
        for axis, most in fastest._asdict().items()
    ]
    return make_dataclass(
        name,
        velocities,
        bases=(WalkWithVelocityConfig,),
        namespace={"fastest": fastest, "__doc__": f"Velocities up to {fastest}."},
        frozen=True,
        kw_only=True,
        slots=True,
    )


def _commanded(context: StateContext, timeout: float, fastest: BodyVelocity) -> BodyVelocity | None:
    """Return the velocity that a client commands, within the limits; None without a command."""
    if VELOCITY_INPUT not in context.store:
        return None
    command = context.store.get(VELOCITY_INPUT).read(context.time, timeout)
    if command is None:
        return None
    return BodyVelocity(
        *(min(max(wanted, -most), most) for wanted, most in zip(command, fastest, strict=True))
    )


class BalancedWalkState(State):
    """Base of the states in which the robot balances.

    Attributes:
        walker: Store key of the robot that walks: a `Walker` or a `Trotter`.
        fastest: Greatest velocities.
    """

    walker: ClassVar[Key[Any]] = WALKER
    fastest: ClassVar[BodyVelocity] = _FASTEST
    outcomes: ClassVar[tuple[str, ...]] = ("fell",)
    failures: ClassVar[tuple[str, ...]] = ("fell",)
    topics: ClassVar[tuple[Key[Any], ...]] = (ESTIMATED_BASE, DRAW)
    Config: ClassVar[type[Any] | None] = UprightConfig
    config: Any

    def balance(self, context: StateContext, velocity: BodyVelocity) -> str | None:
        """Walk with a velocity; return ``fell`` if the base is tilted too much."""
        walker = self.walking(context)
        context.references.values[:, walker.joints] = walker.step(context.observation, velocity)
        context.store.set(ESTIMATED_BASE, walker.estimator.base)
        context.store.set(DRAW, lambda: self.draw(walker))
        _, x, y, _ = walker.estimator.base.pose.quat_wxyz.tolist()
        tilt = acos(min(max(1.0 - 2.0 * (x * x + y * y), -1.0), 1.0))
        if not tilt <= self.config.max_tilt:
            context.reason = f"the base is tilted by {tilt:.2f} rad"
            return "fell"
        return None

    def walking(self, context: StateContext) -> WalkingRobot:
        """Return the robot that walks."""
        walker: WalkingRobot = context.store.get(self.walker)
        return walker

    @staticmethod
    def draw(walker: Any) -> Drawing:
        """Return the drawing of the robot that walks."""
        return draw_walk(walker)


class WatchedWalkState(BalancedWalkState):
    """Base of the states that a strong push ends."""

    outcomes: ClassVar[tuple[str, ...]] = ("pushed", *BalancedWalkState.outcomes)
    Config: ClassVar[type[Any] | None] = WatchedConfig
    resumes: ClassVar[str] = "steady"

    def balance(self, context: StateContext, velocity: BodyVelocity) -> str | None:
        """Walk with a velocity; return ``fell``, or ``pushed`` if the DCM is far off."""
        fallen = super().balance(context, velocity)
        context.store.set(_RESUMES, self.resumes)
        error = hypot(*self.walking(context).dcm_error.tolist())
        if fallen is not None or error <= self.config.recover_above:
            return fallen
        context.reason = f"the DCM is {error:.2f} m beside its reference"
        return "pushed"


def _take_goal(context: StateContext, walker: WalkingRobot) -> bool:
    """Take a new goal of a client; return whether there is one."""
    goal = context.store.get(GOAL_INPUT).take(context.time) if GOAL_INPUT in context.store else None
    if goal is None:
        return False
    walker.goal = joined(walker.place(), goal.pose) if goal.is_relative else goal.pose
    return True


class StandBalanced(StandingPanel, WatchedWalkState):
    """Stands on both feet, at first in the measured pose, until a client commands a motion."""

    outcomes = ("commanded", "goal", *WatchedWalkState.outcomes)
    topics = (*WatchedWalkState.topics, VELOCITY_INPUT, GOAL_INPUT)
    Config: ClassVar[type[Any] | None] = StandBalancedConfig

    def configure(self, robot: RobotModel, store: Store) -> None:
        config = self.config
        self._walker = Walker(
            *(robot, config.feet, config.force_sensors), imu=config.imu, joints=config.joints
        )

    def start(self, context: StateContext) -> None:
        if WALKER in context.store:
            return
        self._walker.begin(context.observation, self.config, self.config, context.period)
        context.store.set(WALKER, self._walker)

    def run(self, context: StateContext) -> str | None:
        command = _commanded(context, _NEWEST, self.fastest)
        ended = self.balance(context, _STANDING)
        self.standing = self.walking(context)
        is_sent, self.is_sent = self.is_sent, False
        if ended is None and command is not None and not command.is_zero:
            return "commanded"
        if ended is None and (is_sent or _take_goal(context, self.standing)):
            return "goal"
        return ended


class WalkWithVelocity(WatchedWalkState):
    """Walks with the velocity of its settings, which a zero velocity ends like a stop."""

    has_live_settings = True
    outcomes = ("goal", *WatchedWalkState.outcomes)
    topics = (*WatchedWalkState.topics, VELOCITY_INPUT, GOAL_INPUT)
    panel = (SettingField("forwards [m/s]", "velocity_x"),)
    resumes = "walk_on"
    Config = velocity_config("WalkWithinRangesConfig", _FASTEST)

    def run(self, context: StateContext) -> str | None:
        command = _commanded(context, self.config.command_timeout, self.fastest)
        ended = self.balance(context, command or self.config.velocity)
        return ended or ("goal" if _take_goal(context, self.walking(context)) else None)


class WalkToGoal(WatchedWalkState):
    """Walks to the goal that a client has sent last."""

    has_live_settings = True
    outcomes = ("reached", "commanded", *WatchedWalkState.outcomes)
    topics = (*WatchedWalkState.topics, VELOCITY_INPUT, GOAL_INPUT)
    resumes = "go_on"

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(WatchedConfig):
        """Settings of `WalkToGoal`; they take effect at once.

        Attributes:
            largest_distance: Distance from the goal with which it is reached [m].
            largest_angle: Difference of the yaws with which it is reached [rad].
        """

        largest_distance: Positive = 0.02
        largest_angle: Positive = 0.035

    config: Config

    def run(self, context: StateContext) -> str | None:
        """Walk; a robot that stands beside the goal walks again."""
        walker = self.walking(context)
        _take_goal(context, walker)
        place = walker.place()
        error = error_of(walker.goal or place, place)
        wanted = velocity_to(error, walker.gait.approach_time, self.fastest)
        ended = self.balance(context, wanted)
        if ended is not None:
            return ended
        command = _commanded(context, _NEWEST, self.fastest)
        if command is not None and not command.is_zero:
            return "commanded"
        return "reached" if walker.is_at_rest and is_reached(error, self.config) else None


class StopWalking(WatchedWalkState):
    """Puts both feet beside each other."""

    outcomes = ("done", *WatchedWalkState.outcomes)

    def run(self, context: StateContext) -> str | None:
        ended = self.balance(context, _STANDING)
        return ended or ("done" if self.walking(context).is_at_rest else None)


class StepInPlace(BalancedWalkState):
    """Steps in place after a push, until the robot is steady."""

    has_live_settings = True
    outcomes = ("walk_on", "go_on", "steady", *BalancedWalkState.outcomes)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config(UprightConfig):
        """Settings of `StepInPlace`; they take effect at once.

        Attributes:
            steady_below: Error of the DCM that is small [m].
            steady_for: Time for which it is small at the end [s].
        """

        steady_below: Positive = 0.03
        steady_for: Positive = 1.0

    config: Config

    def start(self, context: StateContext) -> None:
        self.walking(context).gait.is_marching = True
        self._since = context.time

    def run(self, context: StateContext) -> str | None:
        walker = self.walking(context)
        fallen = self.balance(context, _STANDING)
        if hypot(*walker.dcm_error.tolist()) > self.config.steady_below:
            self._since = context.time
        if fallen is not None or context.time - self._since < self.config.steady_for:
            return fallen
        return context.store.get(_RESUMES)

    def teardown(self, context: StateContext) -> None:
        self.walking(context).gait.is_marching = False


def hold_measured(context: StateContext) -> None:
    """Hold the joints where they are, without feed-forward torques, and draw nothing."""
    context.references.q[:] = context.observation.q
    context.references.dq[:] = context.references.tau[:] = 0.0
    context.store.set(DRAW, lambda: Drawing((), ()))


class StayFallen(State):
    """Holds the joints where they are."""

    def start(self, context: StateContext) -> None:
        hold_measured(context)

    def run(self, context: StateContext) -> str | None:
        return None


STATES: tuple[type[State], ...] = (
    *(StandBalanced, WalkWithVelocity, WalkToGoal, StopWalking, StepInPlace, StayFallen),
)
