"""The states of `stand`: they command the legs and leave all other joints to whoever has them."""

from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from mujoco_ros.controllers.fsm.context import StateContext
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.controllers.library.stand import balance
from mujoco_ros.controllers.library.stand.sweep import Sweep
from mujoco_ros.controllers.planning.kinematics.stance import Shift, Stance
from mujoco_ros.model.errors import UserInputError

_STEP_M = 0.01
"""Between two postures that are computed."""
_DEEPEST = 0.5
"""Of the height: no squat is deeper."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Standing:
    """What all states of `stand` have to know.

    Attributes:
        feet: Names of bodies, also of their touch sensors; those that the robot has are its feet.
        max_tilt: Of the base, beyond which the robot has fallen [rad].
        max_drop: Of the base below where it shall be, beyond which the robot has fallen [m].
    """

    feet: tuple[str, ...]
    max_tilt: float = 0.5
    max_drop: float = 0.1

    def __post_init__(self) -> None:
        """Refuse a number that is not positive, here and in what adds to this."""
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and value <= 0:
                raise UserInputError(f"{field.name} {value} is not positive")


@dataclass(frozen=True, kw_only=True, slots=True)
class Getting(Standing):
    """How to get to the initial posture.

    Attributes:
        duration: [s]
        tolerance: How far a leg's joint may be from it in the end [rad].
    """

    duration: float = 2.0
    tolerance: float = 0.1


@dataclass(frozen=True, kw_only=True, slots=True)
class PostureMotionState(Standing):
    """How to move.

    Attributes:
        duration: From the initial posture back to it [s].
        least_load: A foot with less has lost the ground [N].
        patience: For so long a foot may be without it [s].
    """

    duration: float = 4.0
    least_load: float = 1.0
    patience: float = 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Squatting(PostureMotionState):
    """How to squat.

    Attributes:
        depth: How far down the base goes, as a part of its height above the feet.
    """

    depth: float = 0.15


@dataclass(frozen=True, kw_only=True, slots=True)
class Swaying(PostureMotionState):
    """How to sway.

    Attributes:
        width: How far to a side the centre of mass goes, as a part of how far the feet are there.
        cycles: How often it goes to both sides.
    """

    width: float = 0.4
    cycles: int = 1


class Balanced(State):
    """What all states have in common: they know the legs, and see when the robot has fallen."""

    outcomes: ClassVar[tuple[str, ...]] = ("fell",)
    failures: ClassVar[tuple[str, ...]] = ("fell",)
    config: Standing

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Find the feet and the legs.

        Raises:
            ModelError: The robot has none of the feet, or they carry no floating base.
        """
        model, prefix = robot.model, robot.prefix
        bodies = {model.body(body).name for body in range(model.nbody)}
        self.feet = tuple(foot for foot in self.config.feet if prefix + foot in bodies)
        if not self.feet:
            raise UserInputError(
                f"robot '{robot.name}' has none of the feet {', '.join(self.config.feet)}"
            )
        feet = [prefix + foot for foot in self.feet]
        self.stance = Stance(model, robot.qpos, robot.dof, robot.home, feet)
        self.legs = self.stance.legs
        self.home = robot.home[self.legs]

    def start(self, context: StateContext) -> None:
        """Stop the legs where they are told to be."""
        references, legs = context.references, self.legs
        others = np.ones(references.q.shape, dtype=bool)
        others[legs] = False
        references.values[:, others] = np.nan
        references.values[1:, legs] = 0.0
        loose = legs[np.isnan(references.q[legs])]
        references.q[loose] = context.observation.q[loose]
        self._level = balance.height(context.observation)

    def fallen(self, context: StateContext, down: float = 0.0) -> bool:
        """Return whether the robot has fallen, and say why; `down` is by how much it squats [m]."""
        angle, level = balance.tilt(context.observation), balance.height(context.observation)
        if angle is not None and angle > self.config.max_tilt:
            context.reason = f"the base is tilted by {angle:.2f} rad"
            return True
        if level is not None and self._level is not None:
            drop = self._level - down - level
            if drop > self.config.max_drop:
                context.reason = f"the base is {drop:.2f} m too low"
                return True
        return False


class GetReady(Balanced):
    """Goes to the initial posture from wherever the legs are."""

    outcomes = ("done", "fell", "blocked")
    failures = ("fell", "blocked")
    Config = Getting
    config: Getting

    def start(self, context: StateContext) -> None:
        """Remember where the legs are."""
        super().start(context)
        self._from = context.references.q[self.legs].copy()
        self._level = None  # it may well rise, and it may have to sink

    def run(self, context: StateContext) -> str | None:
        """Go there smoothly, and look whether the legs have arrived."""
        if self.fallen(context):
            return "fell"
        references, legs, way = context.references, self.legs, self.home - self._from
        duration = self.config.duration
        s = min(context.elapsed / duration, 1.0)
        references.q[legs] = self._from + way * (s * s * s * (10.0 + s * (6.0 * s - 15.0)))
        references.dq[legs] = way * (30.0 * s * s * (1.0 - s) ** 2 / duration)
        if not context.over(duration):
            return None
        off = np.abs(context.observation.q[legs] - self.home)
        if off.max() > self.config.tolerance:
            joint = context.robot.joints[legs[int(np.argmax(off))]]
            context.reason = f"joint '{joint}' is {off.max():.2f} rad from the initial posture"
            return "blocked"
        return "done"


class HoldPosture(Balanced):
    """Stands still."""

    Config = Standing

    def run(self, context: StateContext) -> str | None:
        """Look whether it still stands."""
        return "fell" if self.fallen(context) else None


class _Moves(Balanced):
    """Moves along a row of postures, and back to the first.

    Attributes:
        sweep: The postures by how far they are from the first [m].
        farthest: How far it can go [m].
    """

    outcomes = ("done", "fell", "lost_contact", "out_of_reach")
    failures = ("fell", "lost_contact", "out_of_reach")
    config: Any
    sweep: Sweep
    farthest: float

    def start(self, context: StateContext) -> None:
        """Begin."""
        super().start(context)
        self._lost_at: float | None = None
        self._reach = self.reach()

    def reach(self) -> float:
        """Return how far it shall go [m]."""
        raise NotImplementedError

    def profile(self, s: float) -> tuple[float, float]:
        """Return a part of the reach, and how it changes with `s`, which goes from 0 to 1."""
        raise NotImplementedError

    def down(self, value: float) -> float:
        """Return by how much the base is lower than in the first posture [m]."""
        return 0.0

    def run(self, context: StateContext) -> str | None:
        """Go on, and look whether the feet stay on the ground."""
        config, references = self.config, context.references
        if self._reach > self.farthest:
            context.reason = f"{self._reach:.3f} m are asked for, {self.farthest:.3f} m possible"
            return "out_of_reach"
        part, slope = self.profile(min(context.elapsed / config.duration, 1.0))
        value, speed = self._reach * part, self._reach * slope / config.duration
        references.q[self.legs], references.dq[self.legs] = self.sweep.at(value, speed)
        if self.fallen(context, self.down(value)):
            return "fell"
        if self._lost(context):
            return "lost_contact"
        return "done" if context.over(config.duration) else None

    def _lost(self, context: StateContext) -> bool:
        lost = balance.unloaded(context.observation, self.feet, self.config.least_load)
        if not lost:
            self._lost_at = None
            return False
        if self._lost_at is None:
            self._lost_at = context.time
        context.reason = f"{', '.join(lost)} lost the ground"
        return bool(context.time - self._lost_at > self.config.patience)


class Squat(_Moves):
    """Goes down and up again, the centre of mass above the same place."""

    Config = Squatting
    config: Squatting

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Compute all postures there are on the way down."""
        super().configure(robot, store)
        depths = np.arange(0.0, _DEEPEST * self.stance.height, _STEP_M)
        postures = self.stance.sweep([Shift(down=depth) for depth in depths])
        self.sweep = Sweep(depths[: len(postures)], postures)
        self.farthest = self.sweep.upper

    def reach(self) -> float:
        """Return the depth."""
        return self.config.depth * self.stance.height

    def profile(self, s: float) -> tuple[float, float]:
        """Go down and up."""
        return float(np.sin(np.pi * s) ** 2), float(np.pi * np.sin(2.0 * np.pi * s))

    def down(self, value: float) -> float:
        """Return the depth itself."""
        return value


class Sway(_Moves):
    """Moves the centre of mass to the left and to the right."""

    Config = Swaying
    config: Swaying

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Compute all postures there are on the way to both sides."""
        super().configure(robot, store)
        shifts = np.arange(0.0, self.stance.half_width, _STEP_M)
        left = self.stance.sweep([Shift(aside=shift) for shift in shifts])
        right = self.stance.sweep([Shift(aside=-shift) for shift in shifts])
        values = np.concatenate((-shifts[1 : len(right)][::-1], shifts[: len(left)]))
        self.sweep = Sweep(values, np.concatenate((right[:0:-1], left)))
        self.farthest = min(self.sweep.upper, -self.sweep.lower)

    def reach(self) -> float:
        """Return the amplitude."""
        return self.config.width * self.stance.half_width

    def profile(self, s: float) -> tuple[float, float]:
        """Swing, more and then less."""
        turns, half = 2.0 * np.pi * self.config.cycles, np.pi
        swing, swell = np.sin(turns * s), np.sin(half * s)
        slope = turns * np.cos(turns * s) * swell**2 + swing * half * np.sin(2.0 * half * s)
        return float(swing * swell**2), float(slope)


class Limp(Balanced):
    """Gives way: the legs are damped where they are moved to, until somebody has helped."""

    outcomes = ()
    failures = ()
    Config = Standing

    def run(self, context: StateContext) -> str | None:
        """Follow."""
        context.references.q[self.legs] = context.observation.q[self.legs]
        return None


STATES: tuple[type[State], ...] = (GetReady, HoldPosture, Squat, Sway, Limp)
