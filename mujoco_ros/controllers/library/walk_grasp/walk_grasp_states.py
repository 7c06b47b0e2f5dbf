"""States of `walk_grasp`, with which a humanoid carries a box."""

from dataclasses import dataclass
from math import hypot

from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.interface.inputs import BodyVelocity, PlanarPose
from mujoco_ros.controllers.library.config_checks import check_positive
from mujoco_ros.controllers.library.walk.goal import error_of, joined, velocity_to
from mujoco_ros.controllers.library.walk.walk_states import WALKER
from mujoco_ros.controllers.library.walk_grasp.carrying import (
    BeginWalkGrasp,
    CarryState,
    HoldBalance,
    Retry,
    SteadyConfig,
)
from mujoco_ros.controllers.library.walk_grasp.handling import (
    LiftBox,
    LowerBox,
    MoveHands,
    Reach,
    ReleaseBox,
    RestHands,
    Squeeze,
)
from mujoco_ros.controllers.library.walk_grasp.looking import CheckBox, LookForBox, LookForGoal
from mujoco_ros.model.errors import unknown

_RELATIVE = ("seen", "here")


@dataclass(frozen=True, kw_only=True, slots=True)
class WalkToPlaceConfig(SteadyConfig):
    """Settings of `WalkToPlace`; they take effect at once.

    Attributes:
        relative_to: ``seen``: the state that looked last has decided the place; ``here``: it is
            relative to where this state begins.
        x: Place forwards of here [m].
        y: Place to the left of here [m].
        yaw: Direction there, relative to that here [rad].
        velocity: Largest velocity forwards [m/s].
        largest_distance: Distance from the place with which it is reached [m].
        largest_angle: Difference of the yaws with which it is reached [rad].
    """

    relative_to: str = "seen"
    x: float = 0.0
    y: float = 0.0
    yaw: float = 0.0
    velocity: float = 0.3
    largest_distance: float = 0.02
    largest_angle: float = 0.035

    def __post_init__(self) -> None:
        SteadyConfig.__post_init__(self)
        check_positive(self, "velocity", "largest_distance", "largest_angle")
        if self.relative_to not in _RELATIVE:
            raise unknown("relative_to:", self.relative_to, _RELATIVE)


class WalkToPlace(CarryState):
    """Walks to a place, with what is between the hands."""

    has_live_settings = True
    outcomes = ("reached", *CarryState.outcomes)
    Config = WalkToPlaceConfig
    config: WalkToPlaceConfig

    def start(self, context: StateContext) -> None:
        """Set the goal."""
        config, walker = self.config, context.store.get(WALKER)
        if config.relative_to == "here":
            walker.goal = joined(walker.place(), PlanarPose(config.x, config.y, config.yaw))

    def run(self, context: StateContext) -> str | None:
        """Walk; a robot that stands beside the goal walks again."""
        walker, config = context.store.get(WALKER), self.config
        place = walker.place()
        error = error_of(walker.goal or place, place)
        step = walker.gait.approach_time
        fastest = BodyVelocity(config.velocity, 0.1, 0.35)
        ended = self.balance(context, velocity_to(error, step, fastest))
        if ended is not None or not self.is_steady(context):
            return ended
        is_there = hypot(error.x, error.y) <= config.largest_distance
        return "reached" if is_there and abs(error.yaw) <= config.largest_angle else None


STATES: tuple[type[State], ...] = (
    *(
        BeginWalkGrasp,
        LookForBox,
        LookForGoal,
        CheckBox,
        WalkToPlace,
        Retry,
        MoveHands,
        RestHands,
        Reach,
        Squeeze,
        LiftBox,
    ),
    *(LowerBox, ReleaseBox, HoldBalance),
)
