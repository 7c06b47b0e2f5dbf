"""States of `walk`, which commands all joints of a humanoid."""

from dataclasses import field
from math import hypot, pi
from typing import Any, ClassVar

import numpy as np

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import Hold, State, StateContext
from mujoco_ros.controllers.interface import inputs
from mujoco_ros.controllers.interface.inputs import BodyVelocity, PlanarPose
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.library import base_states
from mujoco_ros.controllers.library.config_checks import CheckedConfig, Positive
from mujoco_ros.controllers.library.walk.footsteps import error_of, is_reached, joined, velocity_to
from mujoco_ros.controllers.library.walk.walk_display import WalkingRobot
from mujoco_ros.controllers.library.walk.walker import Walker, WalkerConfig
from mujoco_ros.model import panel_items
from mujoco_ros.model.errors import UserInputError

WALKER: Key[Any] = Key("walk/walker", WalkingRobot)  # the robot that walks
_RESUMES: Key[str] = Key("walk/resumes", str)  # outcome of RECOVER
STANDING = BodyVelocity()
_NEWEST = 0.1  # greatest age of a command that starts a walk [s]


class UprightConfig(CheckedConfig):
    """Settings of all states."""

    max_tilt: Positive = setting("Tilt of the base at which the robot has fallen [rad]", 0.5)


class WatchedConfig(UprightConfig):
    """Settings of the states that a push ends."""

    recover_above: Positive = setting("Error of the DCM from which on the robot recovers [m]", 0.15)


class SteadyConfig(UprightConfig):
    """Settings of the states that wait until the robot is steady."""

    steady_below: Positive = setting("Error of the DCM that is small [m]", 0.03)
    steady_for: Positive = setting("Time for which it is small at the end [s]", 1.0)


class StandBalancedConfig(WalkerConfig, WatchedConfig):
    """Settings of `StandBalanced`; the gait's settings take effect when the controller starts."""

    feet: tuple[str, ...] = setting("Names of the bodies of left and right foot")
    force_sensors: tuple[str, ...] = setting("Names of their force-torque sensors")
    imu: str = setting("Name of the IMU; empty for the only one, of the base if it has one", "")
    joints: tuple[str, ...] = setting(
        "Names of the joints that walk, with all joints of the legs; empty for all joints. The "
        "others are not commanded",
        (),
    )

    def check(self) -> None:
        for name in ("feet", "force_sensors"):
            if len(getattr(self, name)) != 2:
                raise UserInputError(f"{name} must be two names, of the left and the right foot")


class WalkWithVelocityConfig(WatchedConfig):
    """Settings of `WalkWithVelocity`; they take effect at once."""

    fastest: ClassVar[BodyVelocity]
    velocity_x: float = setting("Velocity forwards [m/s]", 0.0)
    velocity_y: float = setting("Velocity to the left [m/s]", 0.0)
    velocity_yaw: float = setting("Angular velocity to the left [rad/s]", 0.0)
    command_timeout: Positive = setting(
        "Time after which a commanded velocity ends without another one [s]; it replaces these "
        "velocities until then",
        0.5,
    )

    def check(self) -> None:
        for axis, fastest in self.fastest._asdict().items():
            value = getattr(self, f"velocity_{axis}")
            if not abs(value) <= fastest:
                raise UserInputError(
                    f"velocity_{axis} must be from {-fastest:g} to {fastest:g}, got {value:g}"
                )

    @property
    def velocity(self) -> BodyVelocity:
        return BodyVelocity(self.velocity_x, self.velocity_y, self.velocity_yaw)


def velocity_config(fastest: BodyVelocity) -> type[Any]:
    """Return a `WalkWithVelocityConfig` with ranges up to the greatest velocities."""
    namespace: dict[str, Any] = {
        f"velocity_{axis}": field(default=0.0, metadata={"range": (-most, most)})
        for axis, most in fastest._asdict().items()
    }
    annotations = dict.fromkeys(namespace, float)
    namespace |= {"__annotations__": annotations, "fastest": fastest, "__doc__": "Velocities."}
    return type("VelocityConfig", (WalkWithVelocityConfig,), namespace)


class BalancedWalkState(base_states.ExtendedState, failures=("fell",)):
    """Base of the states in which the robot balances."""

    topics: ClassVar[tuple[Key[Any], ...]] = (inputs.ESTIMATED_BASE, inputs.DRAW)
    Config: ClassVar[type[Any] | None] = UprightConfig
    config: Any

    def balance(self, context: StateContext, velocity: BodyVelocity) -> str | None:
        """Walk with a velocity; return ``fell`` if the base is tilted too much."""
        walker: WalkingRobot = context.store.get(WALKER)
        context.references.values[:, walker.joints] = walker.step(context.observation, velocity)
        base = walker.estimator.base
        context.store.set(inputs.ESTIMATED_BASE, base)
        context.store.set(inputs.DRAW, walker.draw)
        tilt = base_states.tilt_of(base.pose.quat_wxyz)
        if not tilt <= self.config.max_tilt:
            context.reason = f"the base is tilted by {tilt:.2f} rad"
            return "fell"
        return None


class WatchedWalkState(BalancedWalkState, outcomes=("pushed",)):
    """Base of the states that a strong push ends, and that a client can command."""

    topics = (*BalancedWalkState.topics, inputs.VELOCITY_INPUT, inputs.GOAL_INPUT)
    Config: ClassVar[type[Any] | None] = WatchedConfig
    resumes: ClassVar[str] = "steady"

    def balance(self, context: StateContext, velocity: BodyVelocity) -> str | None:
        """Walk with a velocity; return ``fell``, or ``pushed`` if the DCM is far off."""
        fallen = super().balance(context, velocity)
        context.store.set(_RESUMES, self.resumes)
        error = hypot(*context.store.get(WALKER).dcm_error.tolist())
        if fallen is not None or error <= self.config.recover_above:
            return fallen
        context.reason = f"the DCM is {error:.2f} m beside its reference"
        return "pushed"

    def commanded(self, context: StateContext, timeout: float) -> BodyVelocity | None:
        """Return the velocity that a client commands, within the limits; None without a command."""
        command = base_states.commanded_velocity(context, timeout)
        if command is None:
            return None
        fastest = context.store.get(WALKER).fastest
        limited = zip(command, fastest, strict=True)
        return BodyVelocity(*(min(max(wanted, -most), most) for wanted, most in limited))

    def is_commanded(self, context: StateContext) -> bool:
        """Return whether a client has just commanded a velocity that is not zero."""
        command = self.commanded(context, _NEWEST)
        return command is not None and not command.is_zero

    def take_goal(self, context: StateContext) -> bool:
        """Take a new goal of a client; return whether there is one."""
        store = context.store
        if inputs.GOAL_INPUT not in store:
            return False
        goal, walker = store.get(inputs.GOAL_INPUT).take(context.time), store.get(WALKER)
        if goal is None:
            return False
        walker.goal = joined(walker.place(), goal.pose) if goal.is_relative else goal.pose
        return True


class StandBalanced(WatchedWalkState, outcomes=("commanded", "goal")):
    """Stands on both feet, at first in the measured pose, until a client commands a motion.

    Its panel has buttons for near goals, the position, the loads of the feet, and the error of the
    DCM.
    """

    Config: ClassVar[type[Any] | None] = StandBalancedConfig
    panel = (
        panel_items.Button("Walk 1 m ahead", "walk_ahead"),
        panel_items.Button("Turn left", "turn_left"),
        panel_items.DisplayedValue("position", "position", "m", ("x", "y")),
        panel_items.DisplayedTable("Feet", "feet", ("foot", "load [N]")),
        panel_items.DisplayedPlot("Error of the DCM", "dcm_error", ("x", "y"), "m"),
    )
    _standing: WalkingRobot
    _is_sent = False

    def make_robot(self, robot: RobotModel) -> WalkingRobot:
        config = self.config
        feet = config.feet, config.force_sensors
        return Walker(robot, *feet, imu=config.imu, joints=config.joints)

    def configure(self, robot: RobotModel, store: Store) -> None:
        self._walker = self.make_robot(robot)

    def start(self, context: StateContext) -> None:
        if WALKER not in context.store:
            self._walker.begin(context.observation, self.config, context.period)
            context.store.set(WALKER, self._walker)

    def run(self, context: StateContext) -> str | None:
        is_commanded = self.is_commanded(context)
        ended = self.balance(context, STANDING)
        self._standing = context.store.get(WALKER)
        is_sent, self._is_sent = self._is_sent, False
        if ended is not None:
            return ended
        if is_commanded:
            return "commanded"
        return "goal" if is_sent or self.take_goal(context) else None

    def walk_ahead(self, _context: StateContext) -> None:
        self._send(PlanarPose(1.0, 0.0, 0.0))

    def turn_left(self, _context: StateContext) -> None:
        self._send(PlanarPose(0.0, 0.0, 0.5 * pi))

    def _send(self, goal: PlanarPose) -> None:
        """Set a goal relative to the robot, for the next `run`."""
        self._standing.goal, self._is_sent = joined(self._standing.place(), goal), True

    def position(self) -> tuple[float, float]:
        """Return the estimated position of the robot in the plane [m]."""
        place = self._standing.place()
        return place.x, place.y

    def feet(self) -> list[tuple[str, float]]:
        estimator = self._standing.estimator
        names = [sole.name for sole in estimator.soles]
        return list(zip(names, estimator.loads.tolist(), strict=True))

    def dcm_error(self) -> np.ndarray:
        """Return the error of the divergent component of motion [m].  # (2,)"""
        return self._standing.dcm_error


class WalkWithVelocity(WatchedWalkState, outcomes=("goal",)):
    """Walks with the velocity of its settings, which a zero velocity ends like a stop."""

    has_live_settings = True
    panel = (panel_items.SettingField("forwards [m/s]", "velocity_x"),)
    resumes = "walk_on"
    Config = velocity_config(Walker.fastest)

    def run(self, context: StateContext) -> str | None:
        command = self.commanded(context, self.config.command_timeout)
        ended = self.balance(context, command or self.config.velocity)
        return ended or ("goal" if self.take_goal(context) else None)


def approached(walker: WalkingRobot, fastest: BodyVelocity) -> tuple[PlanarPose, BodyVelocity]:
    """Return the goal relative to the robot, and the velocity of the next step towards it."""
    place = walker.place()
    error = error_of(walker.goal or place, place)
    return error, velocity_to(error, walker.gait.approach_time, fastest)


class WalkToGoal(WatchedWalkState, outcomes=("reached", "commanded")):
    """Walks to the goal that a client has sent last."""

    has_live_settings = True
    resumes = "go_on"

    class Config(WatchedConfig):
        """Settings of `WalkToGoal`; they take effect at once."""

        largest_distance: Positive = setting(
            "Distance from the goal with which it is reached [m]", 0.02
        )
        largest_angle: Positive = setting(
            "Difference of the yaws with which it is reached [rad]", 0.035
        )

    config: Config

    def run(self, context: StateContext) -> str | None:
        walker: WalkingRobot = context.store.get(WALKER)
        self.take_goal(context)
        error, wanted = approached(walker, walker.fastest)
        ended = self.balance(context, wanted)
        if ended is not None:
            return ended
        if self.is_commanded(context):
            return "commanded"
        return "reached" if walker.is_at_rest and is_reached(error, self.config) else None


class StopWalking(WatchedWalkState, outcomes=("done",)):
    """Puts both feet beside each other."""

    topics = BalancedWalkState.topics

    def run(self, context: StateContext) -> str | None:
        ended = self.balance(context, STANDING)
        return ended or ("done" if context.store.get(WALKER).is_at_rest else None)


class StepInPlace(BalancedWalkState, outcomes=("walk_on", "go_on", "steady")):
    """Steps in place after a push, until the robot is steady."""

    has_live_settings = True
    Config: ClassVar[type[Any] | None] = SteadyConfig

    def start(self, context: StateContext) -> None:
        context.store.get(WALKER).gait.is_marching = True
        self._since = context.time

    def run(self, context: StateContext) -> str | None:
        fallen = self.balance(context, STANDING)
        if hypot(*context.store.get(WALKER).dcm_error.tolist()) > self.config.steady_below:
            self._since = context.time
        if fallen is not None or context.time - self._since < self.config.steady_for:
            return fallen
        return context.store.get(_RESUMES)

    def teardown(self, context: StateContext) -> None:
        context.store.get(WALKER).gait.is_marching = False


def hold_fallen(context: StateContext) -> None:
    """Hold the joints where they are, without feed-forward torques, and draw nothing."""
    context.references.q[:] = context.observation.q
    context.references.values[1:] = 0.0
    context.store.set(inputs.DRAW, lambda: inputs.Drawing((), ()))


class StayFallen(Hold):
    """Holds the joints where they are."""

    def start(self, context: StateContext) -> None:
        hold_fallen(context)


STATES: tuple[type[State], ...] = (
    *(StandBalanced, WalkWithVelocity, WalkToGoal, StopWalking, StepInPlace, StayFallen),
)
