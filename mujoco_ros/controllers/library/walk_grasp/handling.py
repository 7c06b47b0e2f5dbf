"""States of `walk_grasp` that move the hands."""

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.interface.inputs import PlanarPose
from mujoco_ros.controllers.library.config_checks import NotNegative, Positive
from mujoco_ros.controllers.library.walk.footsteps import error_of, joined
from mujoco_ros.controllers.library.walk.walk_states import WALKER
from mujoco_ros.controllers.library.walk.walker import Walker
from mujoco_ros.controllers.library.walk_grasp import carrying
from mujoco_ros.controllers.library.walk_grasp.carrying import BOX, HANDS, SIZE, CarryConfig
from mujoco_ros.controllers.library.walk_grasp.hands import Hands
from mujoco_ros.model.pose import rpy_of


def _base(walker: Walker) -> tuple[PlanarPose, float]:
    pose = walker.estimator.base.pose
    x, y, z = pose.position.tolist()
    return PlanarPose(x, y, rpy_of(pose.quat_wxyz)[2]), z


class HandState(carrying.StandingState, outcomes=("done",)):
    """Base of the states in which the robot stands and moves its hands."""

    def act(self, context: StateContext) -> str | None:
        return self.move(context, context.store.get(HANDS))

    def move(self, context: StateContext, hands: Hands) -> str | None:
        """Move the hands; finish when they are there."""
        return "done" if hands.is_there else None


class MoveHands(HandState):
    """Moves the empty hands to a place in front of the body."""

    class Config(CarryConfig):
        """Settings of `MoveHands`."""

        x: float = setting("Place of the middle between the hands, forwards of the base [m]", 0.28)
        z: float = setting("Place of the middle between the hands, upwards from the base [m]", 0.2)
        gap: Positive = setting("Half of the distance between the hands [m]", 0.28)

    config: Config

    def start(self, context: StateContext) -> None:
        hands, config = context.store.get(HANDS), self.config
        hands.begin(context.store.get(WALKER))
        hands.move((config.x, 0.0, config.z), config.gap)


class RestHands(HandState):
    """Lets the arms return to their initial configuration."""

    def start(self, context: StateContext) -> None:
        context.store.get(HANDS).end(context.store.get(WALKER))


class Reach(HandState):
    """Moves the hands beside the box, and measures what they weigh."""

    class Config(CarryConfig):
        """Settings of `Reach`."""

        clearance: Positive = setting("Distance of the hands from the sides of the box [m]", 0.06)
        above: NotNegative = setting(
            "Height of the hands above the middle of the box, which would turn over if its centre "
            "of mass were above them [m]",
            0.03,
        )

    config: Config

    def start(self, context: StateContext) -> None:
        store = context.store
        walker, view, hands = store.get(WALKER), store.get(BOX), store.get(HANDS)
        assert view.place is not None
        base, z = _base(walker)
        box = error_of(view.place, base)
        hands.begin(walker)
        half = 0.5 * store.get(SIZE)[1] + self.config.clearance
        hands.move((box.x, box.y, view.height + self.config.above - z), half, box.yaw)

    def move(self, context: StateContext, hands: Hands) -> str | None:
        if not hands.is_there:
            return None
        hands.tare()
        return "done"


class Squeeze(HandState):
    """Presses the hands against the box."""

    def start(self, context: StateContext) -> None:
        store = context.store
        store.get(HANDS).press(store.get(SIZE)[1], store.get(WALKER))

    def move(self, context: StateContext, hands: Hands) -> str | None:
        return "done" if hands.is_pressing else None


class LiftBox(HandState, failures=("slipped",)):
    """Lifts the box."""

    class Config(CarryConfig):
        """Settings of `LiftBox`."""

        height: Positive = setting("[m]", 0.1)
        lightest: Positive = setting("Least mass of a box that is lifted [kg]", 0.04)
        settled: Positive = setting("Time at rest until the mass is measured [s]", 0.4)

    config: Config

    def start(self, context: StateContext) -> None:
        context.store.get(HANDS).goal.centre[2] += self.config.height
        self._since = context.time

    def move(self, context: StateContext, hands: Hands) -> str | None:
        """Finish when the hands are at rest there; they must carry something."""
        if not hands.is_there:
            self._since = context.time
        if context.time - self._since < self.config.settled:
            return None
        mass = hands.weight / context.store.get(WALKER).gravity
        context.reason = f"the hands carry {mass:.2f} kg"
        return "done" if mass >= self.config.lightest else "slipped"


class LowerBox(HandState, failures=("no_table",)):
    """Lowers the box until it stands on something."""

    class Config(CarryConfig):
        """Settings of `LowerBox`."""

        depth: Positive = setting("Largest distance [m]", 0.25)
        speed: Positive = setting("Velocity [m/s]", 0.05)
        contact: Positive = setting(
            "Force of the table on the box, beyond its weight, with which it stands [N]", 8.0
        )

    config: Config

    def start(self, context: StateContext) -> None:
        self._lowered = 0.0

    def move(self, context: StateContext, hands: Hands) -> str | None:
        config = self.config
        if hands.weight < -config.contact:
            return "done"
        if self._lowered > config.depth:
            context.reason = f"there is no table {config.depth:g} m below"
            return "no_table"
        step = config.speed * context.period
        self._lowered += step
        hands.goal.centre[2] -= step
        return None


class ReleaseBox(HandState):
    """Opens the hands, and lifts them."""

    class Config(CarryConfig):
        """Settings of `ReleaseBox`."""

        clearance: Positive = setting("Distance of the hands from the sides of the box [m]", 0.08)
        height: Positive = setting("Height by which they are lifted then [m]", 0.2)

    config: Config

    def start(self, context: StateContext) -> None:
        store = context.store
        hands, (base, z) = store.get(HANDS), _base(store.get(WALKER))
        ahead, left, up = hands.goal.centre.tolist()
        place = joined(base, PlanarPose(ahead, left))
        store.set(carrying.RELEASED, (place.x, place.y, z + up))
        hands.open(0.5 * store.get(SIZE)[1] + self.config.clearance)
        store.get(BOX).forget()
        self._is_open = False

    def move(self, context: StateContext, hands: Hands) -> str | None:
        if not hands.is_there:
            return None
        if self._is_open:
            return "done"
        self._is_open = True
        hands.goal.centre[2] += self.config.height
        return None
