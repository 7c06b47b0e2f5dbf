"""States of `walk`, which commands all joints of a humanoid."""

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.inputs import VELOCITY_INPUT, BodyVelocity
from mujoco_ros.controllers.interface.outputs import ESTIMATED_BASE
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.library.config_checks import check_positive
from mujoco_ros.controllers.library.walk.gait import GaitConfig
from mujoco_ros.controllers.library.walk.stabilizer import StabilizerConfig
from mujoco_ros.controllers.library.walk.walker import Walker
from mujoco_ros.model.errors import UserInputError

WALKER: Key[Walker] = Key("walk/walker", Walker)
_STANDING = BodyVelocity()
_NEWEST = 0.1
"""Greatest age of a command that starts a walk [s]."""
_FASTEST = BodyVelocity(x=0.3, y=0.1, yaw=0.35)
"""Greatest velocities."""


def _velocity(fastest: float) -> Any:
    """Return a field for a velocity that is 0 by default."""
    return field(default=0.0, metadata={"range": (-fastest, fastest)})


@dataclass(frozen=True, kw_only=True, slots=True)
class UprightConfig:
    """Settings of all states.

    Attributes:
        max_tilt: Tilt of the base at which the robot has fallen [rad].
    """

    max_tilt: float = 0.5

    def __post_init__(self) -> None:
        check_positive(self, "max_tilt")


@dataclass(frozen=True, kw_only=True)
class StandBalancedConfig(GaitConfig, StabilizerConfig):
    """Settings of `StandBalanced`; those of the gait take effect when the controller starts.

    Attributes:
        feet: Names of the bodies of left and right foot.
        force_sensors: Names of their force-torque sensors.
        max_tilt: Tilt of the base at which the robot has fallen [rad].
    """

    feet: tuple[str, ...]
    force_sensors: tuple[str, ...]
    max_tilt: float = 0.5

    def __post_init__(self) -> None:
        GaitConfig.__post_init__(self)
        StabilizerConfig.__post_init__(self)
        check_positive(self, "max_tilt")
        for name in ("feet", "force_sensors"):
            if len(getattr(self, name)) != 2:
                raise UserInputError(f"{name} must be two names, of the left and the right foot")


@dataclass(frozen=True, kw_only=True, slots=True)
class WalkWithVelocityConfig(UprightConfig):
    """Settings of `WalkWithVelocity`; they take effect at once.

    Attributes:
        velocity_x: Velocity forwards [m/s].
        velocity_y: Velocity to the left [m/s].
        velocity_yaw: Angular velocity to the left [rad/s].
        command_timeout: Time after which a commanded velocity ends without another one [s]; it
            replaces these velocities until then.
    """

    velocity_x: float = _velocity(_FASTEST.x)
    velocity_y: float = _velocity(_FASTEST.y)
    velocity_yaw: float = _velocity(_FASTEST.yaw)
    command_timeout: float = 0.5

    def __post_init__(self) -> None:
        UprightConfig.__post_init__(self)
        check_positive(self, "command_timeout")
        for axis, fastest in _FASTEST._asdict().items():
            value = getattr(self, f"velocity_{axis}")
            if not abs(value) <= fastest:
                raise UserInputError(
                    f"velocity_{axis} must be from {-fastest:g} to {fastest:g}, got {value:g}"
                )

    @property
    def velocity(self) -> BodyVelocity:
        """The velocity of the body."""
        return BodyVelocity(self.velocity_x, self.velocity_y, self.velocity_yaw)


def _commanded(context: StateContext, timeout: float) -> BodyVelocity | None:
    """Return the velocity that a client commands, within the limits; None without a command."""
    if VELOCITY_INPUT not in context.store:
        return None
    command = context.store.get(VELOCITY_INPUT).read(context.time, timeout)
    if command is None:
        return None
    return BodyVelocity(
        *(min(max(it, -most), most) for it, most in zip(command, _FASTEST, strict=True))
    )


class BalancedWalkState(State):
    """Base of the states in which the robot balances."""

    outcomes: ClassVar[tuple[str, ...]] = ("fell",)
    failures: ClassVar[tuple[str, ...]] = ("fell",)
    topics: ClassVar[tuple[Key[Any], ...]] = (ESTIMATED_BASE,)
    Config: ClassVar[type[Any] | None] = UprightConfig
    config: Any

    def balance(self, context: StateContext, velocity: BodyVelocity) -> str | None:
        """Walk with a velocity; return ``fell`` if the base is tilted too much."""
        walker = context.store.get(WALKER)
        context.references.values[:] = walker.step(context.observation, velocity)
        context.store.set(ESTIMATED_BASE, walker.estimator.base)
        up = float(walker.estimator.base.pose.matrix[2, 2])
        tilt = float(np.arccos(np.clip(up, -1.0, 1.0)))
        if not tilt <= self.config.max_tilt:
            context.reason = f"the base is tilted by {tilt:.2f} rad"
            return "fell"
        return None


class StandBalanced(BalancedWalkState):
    """Stands on both feet, at first in the measured pose, until a client commands a velocity."""

    outcomes = ("commanded", "fell")
    Config = StandBalancedConfig
    config: StandBalancedConfig

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Prepare the kinematics; the robot must have the feet and their sensors."""
        self._walker = Walker(robot, self.config.feet, self.config.force_sensors)

    def start(self, context: StateContext) -> None:
        """Begin in the measured pose; after a stop, continue."""
        if WALKER in context.store:
            return
        self._walker.begin(context.observation, self.config, self.config, context.period)
        context.store.set(WALKER, self._walker)

    def run(self, context: StateContext) -> str | None:
        """Balance."""
        command = _commanded(context, _NEWEST)
        is_commanded = command is not None and not command.is_zero
        return self.balance(context, _STANDING) or ("commanded" if is_commanded else None)


class WalkWithVelocity(BalancedWalkState):
    """Walks with the velocity of its settings, which a zero velocity ends like a stop."""

    has_live_settings = True
    topics = (*BalancedWalkState.topics, VELOCITY_INPUT)
    Config = WalkWithVelocityConfig
    config: WalkWithVelocityConfig

    def run(self, context: StateContext) -> str | None:
        """Walk."""
        command = _commanded(context, self.config.command_timeout)
        return self.balance(context, command or self.config.velocity)


class StopWalking(BalancedWalkState):
    """Puts both feet beside each other."""

    outcomes = ("done", "fell")

    def run(self, context: StateContext) -> str | None:
        """Finish the step, and take a last one."""
        fallen = self.balance(context, _STANDING)
        return fallen or ("done" if context.store.get(WALKER).is_at_rest else None)


class StayFallen(State):
    """Holds the joints where they are."""

    def start(self, context: StateContext) -> None:
        """Take the measured positions, without feed-forward torques."""
        context.references.q[:] = context.observation.q
        context.references.dq[:] = context.references.tau[:] = 0.0

    def run(self, context: StateContext) -> str | None:
        """Never finish."""
        return None


STATES: tuple[type[State], ...] = (StandBalanced, WalkWithVelocity, StopWalking, StayFallen)
