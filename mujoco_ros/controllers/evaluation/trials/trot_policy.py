"""Trial of trot_policy: a quadruped trots with a constant velocity, and is pushed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation import variations
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder
from mujoco_ros.controllers.evaluation.trials import legged
from mujoco_ros.controllers.library.config_checks import Positive

_SLACK = 0.05  # difference of mean and commanded velocity that is always allowed [m/s, rad/s]


class PolicyTrots(legged.LeggedRanges):
    """Ranges of the conditions of `PolicyTrotTrial`."""

    x: variations.Range = (0.6, 0.6)
    y: variations.Range = (-0.2, 0.2)
    yaw: variations.Range = (-0.5, 0.5)
    duration: Positive = 20.0  # [s]
    push: variations.NotNegativeRange = (0.0, 0.5)
    push_period: Positive = 4.0
    friction: variations.PositiveRange = (0.5, 1.5)
    trunk_mass: variations.PositiveRange = (0.9, 1.1)  # factor on the mass of the trunk
    mass: variations.PositiveRange = (0.95, 1.05)  # factor on the mass of each other link
    com: variations.Range = (-0.02, 0.02)  # displacement of the trunk's, along each axis [m]
    armature: variations.PositiveRange = (0.8, 1.2)  # factor on the inertia of the rotors
    delay: variations.NotNegativeRange = (0.0, 0.01)


def _constant(x: float, y: float, yaw: float) -> PolicyTrots:
    return PolicyTrots(x=(x, x), y=(y, y), yaw=(yaw, yaw))


POLICY_TROTS: Mapping[str, PolicyTrots] = {
    "randomised": PolicyTrots(),
    "forwards": _constant(0.6, 0.0, 0.0),
    "backwards": _constant(-0.4, 0.0, 0.0),
    "sideways": _constant(0.0, 0.3, 0.0),
    "turning": _constant(0.0, 0.0, 0.8),
    "standing": _constant(0.0, 0.0, 0.0),
}
"""At 0.6 m/s with random curves; with one constant command. All with pushes and other physics."""


@dataclass(frozen=True)
class PolicyTrotTrial(legged.LeggedTrial):
    """A quadruped trots, and is pushed."""

    drawn: ClassVar[tuple[str, ...]] = (
        *("x", "y", "yaw", "friction", "trunk_mass", "armature", "delay"),
    )
    lowest: ClassVar[float] = 0.6
    steepest: ClassVar[float] = 0.4
    ranges: PolicyTrots = POLICY_TROTS["randomised"]
    controller: str = "trot_policy"
    limit: float = 600.0

    @property
    def scene(self) -> str:
        return "quadruped"

    @property
    def end(self) -> float:
        return self.ranges.duration

    def draw(self, random: np.random.Generator) -> dict[str, float]:
        ranges = self.ranges
        drawn = {f"com_{axis}": random.uniform(*ranges.com) for axis in "xyz"}
        drawn["masses"] = float(random.integers(2**31))
        pushes = ranges.push, ranges.push_period, ranges.duration
        return drawn | variations.draw_pushes(random, *pushes)

    def disturb(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        super().disturb(model, conditions)
        offset = [conditions[f"com_{axis}"] for axis in "xyz"]
        model.body_ipos[variations.free_base(model)] += offset
        model.dof_armature[:] *= conditions["armature"]

    def mass_factors(self, model: mujoco.MjModel, conditions: Conditions) -> Mapping[int, float]:
        return {variations.free_base(model): conditions["trunk_mass"]}

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        mean = np.array([*recorder.travelled, recorder.turned]) / recorder.simulation.time
        commanded = np.array([conditions[axis] for axis in ("x", "y", "yaw")])
        error = mean - commanded
        return {
            **legged.base_motion(recorder.simulation)[1],
            "speed": float(np.hypot(*commanded[:2])),
            "velocity_error": float(np.hypot(*error[:2])),
            "yaw_rate": abs(float(commanded[2])),
            "yaw_rate_error": abs(float(error[2])),
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        rows = (
            ("velocity", measures["velocity_error"], "speed", _SLACK),
            ("turn", measures["yaw_rate_error"], "yaw_rate", _SLACK),
        )
        return super().flaw(measures) or legged.relative_flaw(measures, rows)
