"""States of `walk_grasp` that look for the box."""

from dataclasses import dataclass
from math import hypot
from typing import Any, ClassVar

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.interface.inputs import PlanarPose
from mujoco_ros.controllers.library.config_checks import check_positive
from mujoco_ros.controllers.library.walk.goal import error_of, joined
from mujoco_ros.controllers.library.walk.states import WALKER
from mujoco_ros.controllers.library.walk_grasp.carrying import (
    STANDING,
    VIEW,
    CarryState,
    SteadyConfig,
)

_NEARER = 0.1
"""Distance by which the robot need not stop before [m]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LookConfig(SteadyConfig):
    """Settings of the states that look.

    Attributes:
        images: Number of images with the box for a measurement.
        missed: Number of images without the box until the camera turns on.
        sweep: Angles to the left and downwards to which the camera turns one after the other,
            without a box that was seen before [rad].
    """

    images: int = 8
    missed: int = 3
    sweep: tuple[tuple[float, float], ...] = ((0.0, 0.4), (0.0, 1.0), (0.9, 0.4), (-0.9, 0.4))

    def __post_init__(self) -> None:
        SteadyConfig.__post_init__(self)
        check_positive(self, "images", "missed")


@dataclass(frozen=True, kw_only=True, slots=True)
class ApproachConfig(LookConfig):
    """Settings of `LookForBox`.

    Attributes:
        distance: Distance of the box from the middle between the feet, for the grasp [m].
        approach: Distance by which the robot stops before, to look again [m].
        largest_distance: Distance from the place for the grasp with which it is reached [m].
        largest_angle: Difference of the yaws with which it is reached [rad].
    """

    distance: float = 0.38
    approach: float = 0.3
    largest_distance: float = 0.02
    largest_angle: float = 0.035

    def __post_init__(self) -> None:
        LookConfig.__post_init__(self)
        check_positive(self, "distance", "approach", "largest_distance", "largest_angle")


class LookState(CarryState):
    """Base of the states that look for the box, while the robot and its head are at rest."""

    outcomes: ClassVar[tuple[str, ...]] = ("not_found", *CarryState.outcomes)
    failures: ClassVar[tuple[str, ...]] = ("not_found", *CarryState.failures)
    Config: ClassVar[type[Any] | None] = LookConfig

    def start(self, context: StateContext) -> None:
        """Aim at the box, or begin to search."""
        view = context.store.get(VIEW)
        view.look()
        self._direction = -1 if view.box is not None else 0
        self._turn(context)

    def _turn(self, context: StateContext) -> None:
        walker, view = context.store.get(WALKER), context.store.get(VIEW)
        self._is_aimed = False
        if self._direction < 0:
            view.aim_at_box(walker)
        elif self._direction < len(self.config.sweep):
            view.aim(walker, *self.config.sweep[self._direction])

    def run(self, context: StateContext) -> str | None:
        """Take images, in one direction after the other."""
        ended = self.balance(context, STANDING)
        if ended is not None or not self.is_steady(context):
            return ended
        store, config = context.store, self.config
        walker, view = store.get(WALKER), store.get(VIEW)
        if not self._is_aimed:
            self._is_aimed = view.is_aimed(walker, context.observation.q)
            if self._is_aimed:
                view.look()
            return None
        view.step(context, walker)
        if view.box is not None and view.count >= config.images:
            return self.decide(context, view.box)
        if view.count == 0 and view.images >= config.missed:
            self._direction += 1
            if self._direction == len(config.sweep):
                context.reason = "the camera sees no marker of the box"
                view.forget()
                return "not_found"
            self._turn(context)
        return None

    def decide(self, context: StateContext, box: PlanarPose) -> str:
        """Return the outcome, given where the box is."""
        raise NotImplementedError


class LookForBox(LookState):
    """Looks for the box, and decides where to go."""

    outcomes = ("far", "near", "there", *LookState.outcomes)
    Config = ApproachConfig
    config: ApproachConfig

    def decide(self, context: StateContext, box: PlanarPose) -> str:
        """Set the goal of the walk."""
        walker, config = context.store.get(WALKER), self.config
        target = joined(box, PlanarPose(-config.distance, 0.0, 0.0))
        error = error_of(target, walker.place())
        missing = hypot(error.x, error.y)
        context.reason = f"the box can be grasped from {missing:.2f} m away"
        if missing > config.approach + _NEARER:
            walker.goal = joined(box, PlanarPose(-config.distance - config.approach, 0.0, 0.0))
            return "far"
        walker.goal = target
        is_close = missing <= config.largest_distance
        return "there" if is_close and abs(error.yaw) <= config.largest_angle else "near"


class CheckBox(LookState):
    """Looks whether the box stands in front of the robot."""

    outcomes = ("found", *LookState.outcomes)
    config: LookConfig

    def decide(self, context: StateContext, box: PlanarPose) -> str:
        """Return ``found``."""
        place = context.store.get(WALKER).place()
        distance = hypot(box.x - place.x, box.y - place.y)
        context.reason = f"the box stands {distance:.2f} m away"
        return "found"
