"""Trial of handover: a box goes from a table through two hands to another table."""

from collections.abc import Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.episode_recorder import EpisodeRecorder
from mujoco_ros.controllers.evaluation.observation_noise import USUAL, Noise
from mujoco_ros.controllers.evaluation.trial import Conditions, Settings, Trial
from mujoco_ros.controllers.library.pick_place.task import QUARTER, upright, yaw
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose

Range = tuple[float, float]
_BOX, _HEIGHT = "box", 0.335
_START, _GOAL = (0.1, 0.45), (1.1, -0.45)
"""Middle of the starts and of the goals [m]."""
_PADS = tuple(f"{arm}/{pad}_pad" for arm in ("left_arm", "right_arm") for pad in ("left", "right"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Perturbations:
    """Ranges of the conditions, with uniform distributions.

    Attributes:
        offset: Largest distance of start and goal from their middle, along x and along y [m].
        yaw: Yaw of the box at its start and at its goal [rad].
        mass: Mass of the box [kg].
        friction: Factor on the friction of box and finger pads.
        noise: Noise of the observations of each arm.
    """

    offset: float = 0.03
    yaw: Range = (-0.3, 0.3)
    mass: Range = (0.10, 0.20)
    friction: Range = (0.8, 1.2)
    noise: Noise = USUAL

    def __post_init__(self) -> None:
        for name in ("yaw", "mass", "friction"):
            low, high = getattr(self, name)
            if not low <= high:
                raise UserInputError(f"{name} from {low:g} to {high:g} is reversed")
        if self.offset < 0.0:
            raise UserInputError(f"offset must not be negative, got {self.offset:g}")
        if self.mass[0] <= 0.0 or self.friction[0] <= 0.0:
            raise UserInputError("mass and friction must be positive")


PERTURBATIONS: Mapping[str, Perturbations] = {
    "small": Perturbations(),
    "table": Perturbations(offset=0.1, yaw=(-np.pi, np.pi), mass=(0.05, 0.30), friction=(0.7, 1.3)),
}


@dataclass(frozen=True)
class HandoverTrial(Trial):
    """The trial.

    Attributes:
        scene: Name or file of the scene, with two arms, tables and an object ``box``.
        tolerance: Largest horizontal place error of a success [m].
    """

    ranges: Perturbations = PERTURBATIONS["small"]
    controller: str = "handover"
    scene: str = "handover"
    tolerance: float = 0.005

    def conditions(self, seed: int) -> Conditions:
        """Draw start, goal, mass and friction of the box."""
        random, ranges = np.random.default_rng(seed), self.ranges
        drawn = {}
        for name, middle in (("start", _START), ("goal", _GOAL)):
            for axis, place in zip("xy", middle, strict=True):
                drawn[f"{name}_{axis}"] = place + random.uniform(-ranges.offset, ranges.offset)
            drawn[f"{name}_yaw"] = random.uniform(*ranges.yaw)
        drawn["mass"] = random.uniform(*ranges.mass)
        drawn["friction"] = random.uniform(*ranges.friction)
        return drawn

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Set start, mass and friction of the box."""
        body = model.body(f"{_BOX}/{_BOX}")
        address = int(model.jnt_qposadr[int(body.jntadr[0])])
        start = _pose(conditions, "start")
        model.qpos0[address : address + 7] = *start.position, *start.quat_wxyz
        scale = conditions["mass"] / float(body.mass[0])
        model.body_mass[body.id] *= scale
        model.body_inertia[body.id] *= scale
        for name in (f"{_BOX}/{_BOX}", *_PADS):
            model.geom_friction[model.geom(name).id] *= conditions["friction"]

    def settings(self, conditions: Conditions) -> Settings:
        """Return the goal, and the changed settings."""
        position = _pose(conditions, "goal").position
        goal = [*map(float, position), conditions["goal_yaw"]]
        changes = {state: dict(values) for state, values in self.changes.items()}
        changes["IDLE/TAKER"] = {"goal": goal, **changes.get("IDLE/TAKER", {})}
        return changes

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        """Measure place error, tracking and the time of the cycle."""
        simulation = recorder.simulation
        q = simulation.data.joint(f"{_BOX}/{_BOX}_free").qpos
        box = Pose(position=q[:3].copy(), quat_wxyz=q[3:].copy())
        goal = _pose(conditions, "goal")
        error, turned = box.position - goal.position, yaw(box) - yaw(goal)
        tracking = [it for state, it in recorder.tracking.items() if state.startswith("EXEC")]
        made = recorder.made
        return {
            "error_xy": float(np.hypot(error[0], error[1])),
            "error_z": float(error[2]),
            "error_yaw": abs(turned - QUARTER * round(turned / QUARTER)),
            "tracking": max(tracking, default=0.0),
            "saturated_steps": float(sum(simulation.plant.saturation.steps().values())),
            "cycle": made[-1].time if made else simulation.time,
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return ``missed_place`` if the box is not at its goal."""
        missed = measures["error_xy"] > self.tolerance or abs(measures["error_z"]) > self.tolerance
        return "missed_place" if missed else ""


def _pose(conditions: Conditions, what: str) -> Pose:
    x, y, rotation = (conditions[f"{what}_{name}"] for name in ("x", "y", "yaw"))
    return upright(x, y, _HEIGHT, rotation)
