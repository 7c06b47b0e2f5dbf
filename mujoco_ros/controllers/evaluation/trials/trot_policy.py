"""Trial of trot_policy: a quadruped trots with a constant velocity, and is pushed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.conditions import (
    USUAL,
    Noise,
    NotNegativeRange,
    PositiveRange,
    Range,
    draw_pushes,
    free_base,
)
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder
from mujoco_ros.controllers.evaluation.trials.legged import (
    LeggedTrial,
    base_poses,
    relative_flaw,
    tilt,
)
from mujoco_ros.controllers.library.config_checks import CheckedConfig, Positive

_TOLERANCE = 0.15
"""Largest difference of mean and commanded velocity, as part of the commanded one."""
_SLACK = 0.05
"""The same, in m/s and rad/s."""


class PolicyTrots(CheckedConfig):
    """Ranges of the conditions of `PolicyTrotTrial`.

    Attributes:
        x: Velocity forwards [m/s].
        y: Velocity to the left [m/s].
        yaw: Angular velocity to the left [rad/s].
        duration: [s]
        push: Horizontal impulses on the base in any direction, per mass of the robot [m/s].
        push_period: Mean time between two pushes [s].
        friction: Factor on all friction.
        trunk_mass: Factor on the mass of the trunk.
        mass: Factor on the mass of each other link.
        com: Displacement of the trunk's centre of mass along each axis [m].
        armature: Factor on the inertia of the rotors.
        delay: Delay of the commands [s].
        noise: Noise of the observations.
    """

    x: Range = (0.6, 0.6)
    y: Range = (-0.2, 0.2)
    yaw: Range = (-0.5, 0.5)
    duration: Positive = 20.0
    push: NotNegativeRange = (0.0, 0.5)
    push_period: Positive = 4.0
    friction: PositiveRange = (0.5, 1.5)
    trunk_mass: PositiveRange = (0.9, 1.1)
    mass: PositiveRange = (0.95, 1.05)
    com: Range = (-0.02, 0.02)
    armature: PositiveRange = (0.8, 1.2)
    delay: NotNegativeRange = (0.0, 0.01)
    noise: Noise = USUAL


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
class PolicyTrotTrial(LeggedTrial):
    """A quadruped trots, and is pushed."""

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

    def conditions(self, seed: int) -> Conditions:
        random, ranges = np.random.default_rng(seed), self.ranges
        names = ("x", "y", "yaw", "friction", "trunk_mass", "armature", "delay")
        drawn = {name: random.uniform(*getattr(ranges, name)) for name in names}
        drawn |= {f"com_{axis}": random.uniform(*ranges.com) for axis in "xyz"}
        drawn["masses"] = float(random.integers(2**31))
        return drawn | draw_pushes(random, ranges.push, ranges.push_period, ranges.duration)

    def disturb(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        LeggedTrial.disturb(self, model, conditions)
        model.body_ipos[free_base(model)] += [conditions[f"com_{axis}"] for axis in "xyz"]
        model.dof_armature[:] *= conditions["armature"]

    def mass_factors(self, model: mujoco.MjModel, conditions: Conditions) -> Mapping[int, float]:
        return {free_base(model): conditions["trunk_mass"]}

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        start, now = base_poses(recorder.simulation)
        mean = np.array([*recorder.travelled, recorder.turned]) / recorder.simulation.time
        commanded = np.array([conditions[axis] for axis in ("x", "y", "yaw")])
        error = mean - commanded
        return {
            "height": float(now[2] / start[2]),
            "tilt": tilt(now[3:]),
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
        return LeggedTrial.flaw(self, measures) or relative_flaw(measures, rows, _TOLERANCE)
