"""Trial of handover: a box goes from a table through two hands to another table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.conditions import (
    USUAL,
    Noise,
    PositiveRange,
    Range,
    set_mass,
)
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder
from mujoco_ros.controllers.evaluation.trials.pick_place import (
    BOX,
    BoxTrial,
    effort_and_time,
    motion_tracking,
    scale_box_friction,
    set_start,
)
from mujoco_ros.controllers.library.config_checks import CheckedConfig, NotNegative

_HEIGHT = 0.335
_START, _GOAL = (0.1, 0.45), (1.1, -0.45)
"""Middle of the starts and of the goals [m]."""
_PADS = tuple(f"{arm}/{pad}_pad" for arm in ("left_arm", "right_arm") for pad in ("left", "right"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Perturbations(CheckedConfig):
    """Ranges of the conditions of `HandoverTrial`.

    Attributes:
        offset: Largest distance of start and goal from their middle, along x and along y [m].
        yaw: Yaw of the box at its start and at its goal [rad].
        mass: Mass of the box [kg].
        friction: Factor on the friction of box and finger pads.
        noise: Noise of the observations of each arm.
    """

    offset: NotNegative = 0.03
    yaw: Range = (-0.3, 0.3)
    mass: PositiveRange = (0.10, 0.20)
    friction: PositiveRange = (0.8, 1.2)
    noise: Noise = USUAL


PERTURBATIONS: Mapping[str, Perturbations] = {
    "small": Perturbations(),
    "table": Perturbations(offset=0.1, yaw=(-np.pi, np.pi), mass=(0.05, 0.30), friction=(0.7, 1.3)),
}


@dataclass(frozen=True)
class HandoverTrial(BoxTrial):
    """A box goes from a table to another one, in a scene with two arms."""

    idle: ClassVar[str] = "IDLE/TAKER"
    ranges: Perturbations = PERTURBATIONS["small"]
    controller: str = "handover"
    scene: str = "handover"

    def conditions(self, seed: int) -> Conditions:
        random, ranges = np.random.default_rng(seed), self.ranges
        drawn = {}
        for name, middle in (("start", _START), ("goal", _GOAL)):
            for axis, place in zip("xy", middle, strict=True):
                drawn[f"{name}_{axis}"] = place + random.uniform(-ranges.offset, ranges.offset)
            drawn[f"{name}_yaw"] = random.uniform(*ranges.yaw)
        drawn["mass"] = random.uniform(*ranges.mass)
        drawn["friction"] = random.uniform(*ranges.friction)
        return drawn

    def height(self, conditions: Conditions) -> float:
        return _HEIGHT

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        set_start(model, BOX, self.box_pose(conditions, "start"))
        set_mass(model, model.body(f"{BOX}/{BOX}").id, conditions["mass"])
        scale_box_friction(model, _PADS, conditions["friction"])

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        return {
            **self.place_error(recorder.simulation, conditions)[1],
            "tracking": motion_tracking(recorder),
            **effort_and_time(recorder),
        }
