"""Base classes of the states of `walk_grasp`, and the states that wait."""

from math import hypot
from typing import Any, ClassVar

from mujoco_ros.control.settings import setting
from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.interface.inputs import BodyVelocity
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.controllers.library.config_checks import Positive, PositiveInt
from mujoco_ros.controllers.library.walk import walk_states
from mujoco_ros.controllers.library.walk.walk_states import STANDING, WALKER
from mujoco_ros.controllers.library.walk.walker import Walker
from mujoco_ros.controllers.library.walk_grasp.hands import Hands, HandsConfig
from mujoco_ros.controllers.library.walk_grasp.marker_view import MarkerConfig, MarkerView
from mujoco_ros.model.errors import UserInputError

HANDS: Key[Hands] = Key("walk_grasp/hands", Hands)
BOX: Key[MarkerView] = Key("walk_grasp/box", MarkerView)
GOAL: Key[MarkerView] = Key("walk_grasp/goal", MarkerView)  # where the box is put down
RELEASED: Key[tuple[float, ...]] = Key("walk_grasp/released", tuple)
"""Middle of the box when the hands released it, in the frame of the estimated base [m]."""
SIZE: Key[tuple[float, ...]] = Key("walk_grasp/size", tuple)
"""Depth, width and height of the box [m]."""
_RETRIES: Key[dict[int, int]] = Key("walk_grasp/retries", dict)
"""How often each `Retry` was entered."""
_WAIST_WEIGHT = 1.0


class CarryConfig(walk_states.SteadyConfig, walk_states.WatchedConfig):
    """Settings of all states.

    Attributes:
        recover_above: Error of the DCM from which on the robot steps in place [m].
        steady_for: Time for which it is small before the robot continues [s].
    """


class CarryState(walk_states.BalancedWalkState, failures=("dropped",)):
    """Base of the states: balances, and holds what is between the hands.

    After a strong push the robot steps in place until it is steady, and then continues.
    """

    Config: ClassVar[type[Any] | None] = CarryConfig
    _shaken: float | None = None

    def balance(self, context: StateContext, velocity: BodyVelocity) -> str | None:
        walker, hands = context.store.get(WALKER), context.store.get(HANDS)
        hands.step(context.observation, walker, context.period)
        gait, config = walker.gait, self.config
        error = hypot(*walker.dcm_error.tolist())
        if error > (config.steady_below if gait.is_marching else config.recover_above):
            self._shaken = context.time
        if self._shaken is not None:
            gait.is_marching = context.time - self._shaken < config.steady_for
            self._shaken = self._shaken if gait.is_marching else None
        fallen = super().balance(context, STANDING if gait.is_marching else velocity)
        if fallen is not None:
            return fallen
        if hands.has_lost:
            context.reason = f"the hands press with {hands.force.mean():.1f} N"
            hands.release()
            return "dropped"
        return None

    def is_steady(self, context: StateContext) -> bool:
        walker = context.store.get(WALKER)
        return walker.is_at_rest and not walker.gait.is_marching

    def teardown(self, context: StateContext) -> None:
        self._shaken = None
        if WALKER in context.store:
            context.store.get(WALKER).gait.is_marching = False


class StandingState(CarryState):
    """Base of the states in which the robot stands, and acts while it is steady."""

    def run(self, context: StateContext) -> str | None:
        ended = self.balance(context, STANDING)
        if ended is not None or not self.is_steady(context):
            self.interrupt()
            return ended
        return self.act(context)

    def interrupt(self) -> None:
        """Prepare to act again, after the robot was not steady."""

    def act(self, context: StateContext) -> str | None:
        """Run a tick in which the robot is steady; return an outcome when the state is over."""
        raise NotImplementedError


class BeginWalkGrasp(StandingState, outcomes=("done",)):
    """Stands on both feet, at first in the measured pose."""

    class Config(walk_states.StandBalancedConfig, CarryConfig):
        """Settings of `BeginWalkGrasp`; they take effect when the controller starts."""

        hands: HandsConfig = setting("The hands")
        camera: str = setting("Name of the camera that searches for the box")
        neck: tuple[str, ...] = setting("Names of the joints that turn the camera left and down")
        markers: tuple[MarkerConfig, ...] = setting(
            "Markers of the box, in the frame of its middle, x forwards"
        )
        goal_markers: tuple[MarkerConfig, ...] = setting(
            "Markers beside the place where the box is put down, in a frame there"
        )
        size: tuple[float, float, float] = setting("Depth, width and height of the box [m]")
        waist: tuple[str, ...] = setting("Names of joints that the hands shall hardly use", ())
        duration: Positive = setting("Time until the robot begins [s]", 1.5)

        def check(self) -> None:
            super().check()
            if not min(self.size) > 0.0:
                raise UserInputError(f"size must be positive, got {self.size}")

    config: Config

    def configure(self, robot: RobotModel, store: Store) -> None:
        config = self.config
        self._walker = Walker(
            *(robot, config.feet, config.force_sensors), imu=config.imu, joints=config.joints
        )
        self._walker.stiffen(config.waist, _WAIST_WEIGHT)
        self._hands = Hands(robot, config.hands)
        self._walker.add_tasks(self._hands.tasks)
        self._box, self._goal = (
            MarkerView(robot, config.camera, config.neck, markers, self._walker.joints)
            for markers in (config.markers, config.goal_markers)
        )

    def start(self, context: StateContext) -> None:
        config, store = self.config, context.store
        if WALKER in store:
            return
        self._walker.begin(context.observation, config, context.period)
        self._box.reset()
        self._goal.reset()
        self._hands.reset()
        store.set(WALKER, self._walker)
        store.set(HANDS, self._hands)
        store.set(BOX, self._box)
        store.set(GOAL, self._goal)
        store.set(SIZE, config.size)
        store.set(_RETRIES, {})

    def act(self, context: StateContext) -> str | None:
        return "done" if context.has_elapsed(self.config.duration) else None


class Retry(CarryState, outcomes=("retry",), failures=("give_up",)):
    """Counts how often it was entered, and fails after the last retry."""

    class Config(CarryConfig):
        """Settings of `Retry`."""

        most: PositiveInt = setting("Number of retries", 2)

    config: Config

    def run(self, context: StateContext) -> str | None:
        ended = self.balance(context, STANDING)
        if ended is not None:
            return ended
        counts = context.store.get(_RETRIES)
        counts[id(self)] = count = counts.get(id(self), 0) + 1
        if count <= self.config.most:
            return "retry"
        counts[id(self)] = 0
        context.reason = f"after {self.config.most} retries"
        return "give_up"


class HoldBalance(CarryState):
    """Balances with the hands where they are; after a fall, it holds all joints."""

    outcomes = ()
    failures = ()
    _has_fallen = False

    def start(self, context: StateContext) -> None:
        self._has_fallen = False

    def run(self, context: StateContext) -> str | None:
        if not self._has_fallen and self.balance(context, STANDING) == "fell":
            self._has_fallen = True
            walk_states.hold_fallen(context)
        return None

    def teardown(self, context: StateContext) -> None:
        super().teardown(context)
        if _RETRIES in context.store:
            context.store.get(_RETRIES).clear()
