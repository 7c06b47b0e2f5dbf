"""Trial of pick_place: a box is moved from one position on a table to another."""

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.episode_recorder import EpisodeRecorder
from mujoco_ros.controllers.evaluation.observation_noise import USUAL, Noise
from mujoco_ros.controllers.evaluation.trial import Conditions, Settings, Trial
from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.controllers.library.pick_place.task import QUARTER, TASK, upright, yaw
from mujoco_ros.model.errors import UserInputError

Range = tuple[float, float]
Position = tuple[float, float]
_BOX, _HALF, _TOP = "box", 0.020, 0.315
_MASS = 0.150
_MIN_DISTANCE = 0.08
"""Minimum distance between start and goal [m]: a box and its fingers."""
_MAX_DRAWS = 1000
LAB_START, LAB_GOAL = (0.35, 0.20), (0.35, -0.20)
"""Of "MuJoCo Robotics Lab, Part 9" [m]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spread:
    """Ranges of the conditions, with uniform distributions.

    Attributes:
        x: Start and goal in ``world`` [m]; None for the positions of the lab.
        y: Start and goal [m].
        reach: Distance of both from the arm's axis [m].
        yaw: Yaw of the box at its start and at its goal [rad].
        mass: Mass of the box [kg].
        friction: Factor on the friction of box and finger pads.
        noise: Noise of the observations.
    """

    x: Range | None = None
    y: Range = (-0.35, 0.35)
    reach: Range = (0.30, 0.70)
    yaw: Range = (0.0, 0.0)
    mass: Range = (_MASS, _MASS)
    friction: Range = (1.0, 1.0)
    noise: Noise = USUAL

    def __post_init__(self) -> None:
        for name in ("x", "y", "reach", "yaw", "mass", "friction"):
            pair = getattr(self, name)
            if pair is not None and not pair[0] <= pair[1]:
                raise UserInputError(f"{name} from {pair[0]:g} to {pair[1]:g} is reversed")
        if self.mass[0] <= 0.0 or self.friction[0] <= 0.0:
            raise UserInputError("mass and friction must be positive")


SPREADS: Mapping[str, Spread] = {
    "lab": Spread(),
    "table": Spread(
        x=(0.28, 0.65),
        yaw=(-np.pi, np.pi),
        mass=(0.05, 0.30),
        friction=(0.7, 1.3),
    ),
}
"""The lab's start and goal; all positions on the table that are reachable from above."""


@dataclass(frozen=True)
class PickPlaceTrial(Trial):
    """The trial.

    Attributes:
        scene: Name or file of the scene, with an object ``box`` on a table as in ``arm``.
        tolerance: Largest horizontal place error of a success [m].
    """

    ranges: Spread = SPREADS["lab"]
    controller: str = "pick_place"
    scene: str = "arm"
    tolerance: float = 0.005

    def conditions(self, seed: int) -> Conditions:
        """Draw start, goal, mass and friction of the box."""
        random, ranges = np.random.default_rng(seed), self.ranges
        start, goal = LAB_START, LAB_GOAL
        if ranges.x is not None:
            start, goal = self._positions(ranges.x, random)
        return {
            "start_x": start[0],
            "start_y": start[1],
            "start_yaw": random.uniform(*ranges.yaw),
            "goal_x": goal[0],
            "goal_y": goal[1],
            "goal_yaw": random.uniform(*ranges.yaw),
            "mass": random.uniform(*ranges.mass),
            "friction": random.uniform(*ranges.friction),
        }

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Set start, mass and friction of the box."""
        body = model.body(f"{_BOX}/{_BOX}")
        address = int(model.jnt_qposadr[int(body.jntadr[0])])
        start = _box_pose(conditions, "start")
        model.qpos0[address : address + 7] = *start.position, *start.quat_wxyz
        scale = conditions["mass"] / float(body.mass[0])
        model.body_mass[body.id] *= scale
        model.body_inertia[body.id] *= scale
        for geom in range(model.ngeom):
            if model.geom(geom).name in (f"{_BOX}/{_BOX}", "arm/left_pad", "arm/right_pad"):
                model.geom_friction[geom] *= conditions["friction"]

    def settings(self, conditions: Conditions) -> Settings:
        """Return the goal, and the changed settings."""
        position = _box_pose(conditions, "goal").position
        goal = [*map(float, position), conditions["goal_yaw"]]
        changes = {state: dict(values) for state, values in self.changes.items()}
        changes["IDLE"] = {"goal": goal, **changes.get("IDLE", {})}
        return changes

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        """Measure place error, tracking, planning and payload."""
        simulation, store = recorder.simulation, recorder.store
        q = simulation.data.joint(f"{_BOX}/{_BOX}_free").qpos
        box = Pose(position=q[:3].copy(), quat_wxyz=q[3:].copy())
        goal = _box_pose(conditions, "goal")
        error, rotation = box.position - goal.position, yaw(box) - yaw(goal)
        tracking = [it for state, it in recorder.tracking.items() if state.startswith("EXEC")]
        metrics, made = store.get(TASK).metrics if TASK in store else {}, recorder.made
        return {
            "error_x": float(error[0]),
            "error_y": float(error[1]),
            "error_xy": float(np.hypot(error[0], error[1])),
            "error_z": float(error[2]),
            "error_yaw": abs(rotation - QUARTER * round(rotation / QUARTER)),
            "tracking": max(tracking, default=0.0),
            **{name: metrics.get(name, 0.0) for name in ("ik_error", "ik_turn", "corners")},
            "payload_error": metrics.get("payload", np.nan) - conditions["mass"],
            "saturated_steps": float(sum(simulation.saturation.steps().values())),
            "cycle": made[-1].time if made else simulation.time,
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return ``missed_place`` if the box is not at its goal."""
        missed = measures["error_xy"] > self.tolerance or abs(measures["error_z"]) > self.tolerance
        return "missed_place" if missed else ""

    def _positions(self, x: Range, random: np.random.Generator) -> tuple[Position, Position]:
        start = self._position(x, random)
        for _ in range(_MAX_DRAWS):
            goal = self._position(x, random)
            if np.hypot(goal[0] - start[0], goal[1] - start[1]) >= _MIN_DISTANCE:
                return start, goal
        raise UserInputError(
            f"x and y have no space for a start and a goal {_MIN_DISTANCE:g} m apart"
        )

    def _position(self, x: Range, random: np.random.Generator) -> Position:
        reach = self.ranges.reach
        for _ in range(_MAX_DRAWS):
            position = random.uniform(*x), random.uniform(*self.ranges.y)
            if reach[0] <= np.hypot(*position) <= reach[1]:
                return position
        raise UserInputError(
            f"reach from {reach[0]:g} to {reach[1]:g} m: (almost) no position within x and y is at "
            "that distance from the arm"
        )


def _box_pose(conditions: Conditions, what: str) -> Pose:
    x, y, rotation = (conditions[f"{what}_{name}"] for name in ("x", "y", "yaw"))
    return upright(x, y, _TOP + _HALF, rotation)
