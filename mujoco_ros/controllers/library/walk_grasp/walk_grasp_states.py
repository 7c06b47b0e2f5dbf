"""States of `walk_grasp` that look and walk; the other states are listed at the end."""

from math import hypot
from typing import Any, ClassVar, Literal

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.inputs import BodyVelocity, PlanarPose
from mujoco_ros.controllers.interface.store import Key
from mujoco_ros.controllers.library.config_checks import Positive, PositiveInt
from mujoco_ros.controllers.library.walk.footsteps import error_of, is_reached, joined
from mujoco_ros.controllers.library.walk.walk_states import WALKER, approached
from mujoco_ros.controllers.library.walk_grasp import carrying, handling
from mujoco_ros.controllers.library.walk_grasp.carrying import BOX, GOAL, RELEASED, CarryConfig
from mujoco_ros.controllers.library.walk_grasp.marker_view import MarkerView

_FOUND = 0.15  # largest distance of a box that was put down from where it was released [m]
_NEARER = 0.1  # distance by which the robot need not stop before [m]


class LookConfig(CarryConfig):
    """Settings of the states that look."""

    images: PositiveInt = setting("Number of images with the object for a measurement", 8)
    missed: PositiveInt = setting(
        "Number of images without it until the camera turns on, more if others have it", 3
    )
    sweep: tuple[tuple[float, float], ...] = setting(
        "Angles to the left and downwards to which the camera turns one after the other, if it "
        "was not seen before [rad]",
        ((0.0, 0.4), (0.0, 1.0), (0.9, 0.4), (-0.9, 0.4)),
    )


class LookState(carrying.StandingState, failures=("not_found",)):
    """Base of the states that look for an object, while the robot and its head are at rest."""

    Config: ClassVar[type[Any] | None] = LookConfig
    seen: ClassVar[Key[MarkerView]] = BOX
    what: ClassVar[str] = "box"

    def start(self, context: StateContext) -> None:
        view = context.store.get(self.seen)
        view.look()
        self._direction = -1 if view.place is not None else 0
        self._turn(context)

    def _turn(self, context: StateContext) -> None:
        walker, view = context.store.get(WALKER), context.store.get(self.seen)
        self._is_aimed = False
        if self._direction < 0:
            view.aim_at_object(walker)
        elif self._direction < len(self.config.sweep):
            view.aim(walker, *self.config.sweep[self._direction])

    def interrupt(self) -> None:
        """Measure again after a push."""
        self._is_aimed = False

    def act(self, context: StateContext) -> str | None:
        store, config = context.store, self.config
        walker, view = store.get(WALKER), store.get(self.seen)
        if not self._is_aimed:
            self._is_aimed = view.is_aimed(walker, context.observation.q)
            if self._is_aimed:
                view.look()
            return None
        view.step(context, walker)
        if view.place is not None and view.count >= config.images:
            return self.decide(context, view.place)
        missed = view.images - view.count
        if missed >= config.missed * (1 + view.count):  # an object at the edge is found sometimes
            self._direction += 1
            if self._direction == len(config.sweep):
                context.reason = f"no image has a marker of the {self.what}{view.problem}"
                view.forget()
                return "not_found"
            self._turn(context)
        return None

    def decide(self, context: StateContext, place: PlanarPose) -> str:
        """Return the outcome, given where the object is."""
        raise NotImplementedError


class LookForBox(LookState, outcomes=("far", "near", "there")):
    """Searches for the box, and decides where to go to grasp it."""

    class Config(LookConfig):
        """Settings of `LookForBox` and `LookForGoal`."""

        distance: Positive = setting(
            "Distance of the object from the middle between the feet, to reach it [m]", 0.38
        )
        approach: Positive = setting(
            "Distance by which the robot stops before, to look again [m]", 0.3
        )
        largest_distance: Positive = setting(
            "Distance from where the robot reaches it, that is small enough [m]", 0.02
        )
        largest_angle: Positive = setting(
            "Difference of the yaws that is small enough [rad]", 0.035
        )

    config: Config

    def decide(self, context: StateContext, place: PlanarPose) -> str:
        walker, config = context.store.get(WALKER), self.config
        target = joined(place, PlanarPose(-config.distance, 0.0, 0.0))
        error = error_of(target, walker.place())
        missing = hypot(error.x, error.y)
        context.reason = f"the robot is {missing:.2f} m from where it reaches the {self.what}"
        if missing > config.approach + _NEARER:
            before = PlanarPose(-config.distance - config.approach, 0.0, 0.0)
            walker.goal = joined(place, before)
            return "far"
        walker.goal = target
        return "there" if is_reached(error, config) else "near"


class LookForGoal(LookForBox):
    """Searches for the place where the box is put down, and decides where to go."""

    seen = GOAL
    what = "goal"


class CheckBox(LookState, outcomes=("found",)):
    """Checks whether the box stands in front of the robot."""

    def decide(self, context: StateContext, place: PlanarPose) -> str:
        """Return ``found`` if the box is where the hands have released it."""
        x, y, z = context.store.get(RELEASED)
        aside = hypot(place.x - x, place.y - y)
        below = z - context.store.get(BOX).height
        context.reason = f"the box is {aside:.2f} m beside and {below:.2f} m below the hands' place"
        return "found" if aside < _FOUND and abs(below) < _FOUND else "not_found"


class WalkToPlace(carrying.CarryState, outcomes=("reached",)):
    """Walks to a place, with what is between the hands."""

    has_live_settings = True

    class Config(CarryConfig):
        """Settings of `WalkToPlace`; they take effect at once."""

        relative_to: Literal["seen", "here"] = setting(
            "``seen``: the state that looked last has decided the place; ``here``: it is relative "
            "to where this state begins",
            "seen",
        )
        x: float = setting("Place forwards of here [m]", 0.0)
        y: float = setting("Place to the left of here [m]", 0.0)
        yaw: float = setting("Direction there, relative to that here [rad]", 0.0)
        velocity: Positive = setting("Largest velocity forwards [m/s]", 0.3)
        largest_distance: Positive = setting(
            "Distance from the place with which it is reached [m]", 0.02
        )
        largest_angle: Positive = setting(
            "Difference of the yaws with which it is reached [rad]", 0.035
        )

    config: Config

    def start(self, context: StateContext) -> None:
        config, walker = self.config, context.store.get(WALKER)
        if config.relative_to == "here":
            walker.goal = joined(walker.place(), PlanarPose(config.x, config.y, config.yaw))

    def run(self, context: StateContext) -> str | None:
        fastest = BodyVelocity(self.config.velocity, 0.1, 0.35)
        error, velocity = approached(context.store.get(WALKER), fastest)
        ended = self.balance(context, velocity)
        if ended is not None or not self.is_steady(context):
            return ended
        return "reached" if is_reached(error, self.config) else None


STATES: tuple[type[State], ...] = (
    *(carrying.BeginWalkGrasp, LookForBox, LookForGoal, CheckBox, WalkToPlace, carrying.Retry),
    *(handling.MoveHands, handling.RestHands, handling.Reach, handling.Squeeze),
    *(handling.LiftBox, handling.LowerBox, handling.ReleaseBox, carrying.HoldBalance),
)
