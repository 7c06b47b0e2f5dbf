"""Trial of trot_policy: a quadruped trots with a constant velocity, and is pushed."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.conditions import (
    CommandFilter,
    check_ranges,
    delayed_commands,
    draw_pushes,
    drawn_pushes,
    free_base,
    push_base,
    scale_masses,
)
from mujoco_ros.controllers.evaluation.observation_noise import USUAL, Noise
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder, Settings, Trial
from mujoco_ros.controllers.library.config_checks import check_positive
from mujoco_ros.sim.simulation import Simulation

Range = tuple[float, float]
_FALLEN = 0.6
"""Part of the initial height of the base, below which the robot has fallen."""
_UPRIGHT = 0.4
"""Largest tilt of the base at the end [rad]."""
_TOLERANCE = 0.15
"""Largest difference of a mean velocity from the commanded one, as part of the latter."""
_SLACK = 0.05
"""The same, in m/s and rad/s."""


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyTrots:
    """Ranges of the conditions, with uniform distributions.

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
    duration: float = 20.0
    push: Range = (0.0, 0.5)
    push_period: float = 4.0
    friction: Range = (0.5, 1.5)
    trunk_mass: Range = (0.9, 1.1)
    mass: Range = (0.95, 1.05)
    com: Range = (-0.02, 0.02)
    armature: Range = (0.8, 1.2)
    delay: Range = (0.0, 0.01)
    noise: Noise = USUAL

    def __post_init__(self) -> None:
        check_ranges(
            self,
            positive=("friction", "trunk_mass", "mass", "armature"),
            not_negative=("push", "delay"),
        )
        check_positive(self, "duration", "push_period")


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
class PolicyTrotTrial(Trial):
    """The trial."""

    ranges: PolicyTrots = POLICY_TROTS["randomised"]
    controller: str = "trot_policy"
    limit: float = 600.0

    @property
    def scene(self) -> str:
        """Name of the scene."""
        return "quadruped"

    def conditions(self, seed: int) -> Conditions:
        """Draw the conditions; each push has a strength, a direction and a time."""
        random, ranges = np.random.default_rng(seed), self.ranges
        names = ("x", "y", "yaw", "friction", "trunk_mass", "armature", "delay")
        drawn = {name: random.uniform(*getattr(ranges, name)) for name in names}
        drawn |= {f"com_{axis}": random.uniform(*ranges.com) for axis in "xyz"}
        drawn["masses"] = float(random.integers(2**31))  # seed of the factors
        return drawn | draw_pushes(random, ranges.push, ranges.push_period, ranges.duration)

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Set the friction."""
        model.geom_friction[:, 0] *= conditions["friction"]

    def disturb(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Set the masses, the centre of mass of the trunk and the inertia of the rotors."""
        random, base = np.random.default_rng(int(conditions["masses"])), free_base(model)
        factors = random.uniform(*self.ranges.mass, size=model.nbody)
        factors[base] = conditions["trunk_mass"]
        scale_masses(model, factors)
        model.body_ipos[base] += [conditions[f"com_{axis}"] for axis in "xyz"]
        model.dof_armature[:] *= conditions["armature"]

    def command_filter(self, conditions: Conditions) -> CommandFilter:
        """Return a function that delays commands."""
        return delayed_commands(conditions["delay"])

    def settings(self, conditions: Conditions) -> Settings:
        """Return the velocity as settings of WALK."""
        velocity = {f"velocity_{axis}": conditions[axis] for axis in ("x", "y", "yaw")}
        return {**self.changes, "WALK": {**velocity, **self.changes.get("WALK", {})}}

    def act(
        self, simulation: Simulation, request: Callable[[str], object], conditions: Conditions
    ) -> None:
        """Push."""
        push_base(simulation, drawn_pushes(conditions))

    def is_over(self, simulation: Simulation, outcome: str | None) -> bool:
        """Return whether the time is over, or the robot has fallen."""
        return outcome is not None or simulation.time >= self.ranges.duration - 0.01

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        """Measure the base at the end, and the mean velocity along its own axes."""
        simulation = recorder.simulation
        start, address = simulation.plant.start.qpos, simulation.layout.robots[0].bases[0].qpos
        _, _, height, _, x, y, _ = simulation.data.qpos[address : address + 7].tolist()
        mean = np.array([*recorder.travelled, recorder.turned]) / simulation.time
        commanded = np.array([conditions[axis] for axis in ("x", "y", "yaw")])
        error = mean - commanded
        return {
            "height": height / float(start[address + 2]),
            "tilt": float(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0))),
            "speed": float(np.hypot(*commanded[:2])),
            "velocity_error": float(np.hypot(*error[:2])),
            "yaw_rate": abs(float(commanded[2])),
            "yaw_rate_error": abs(float(error[2])),
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return ``fell`` for a low or tilted base, ``velocity`` or ``turn`` for a wrong one."""
        if not (measures["height"] >= _FALLEN and measures["tilt"] <= _UPRIGHT):
            return "fell"
        for flaw, name, commanded in (
            ("velocity", "velocity_error", "speed"),
            ("turn", "yaw_rate_error", "yaw_rate"),
        ):
            if not measures[name] <= _TOLERANCE * measures[commanded] + _SLACK:
                return flaw
        return ""
