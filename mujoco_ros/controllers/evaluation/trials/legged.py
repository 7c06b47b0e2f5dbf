"""Trials of robots with legs; in the trial of stand, a robot squats and sways under a push."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.conditions import (
    USUAL,
    CommandFilter,
    Noise,
    NotNegativeRange,
    Push,
    delayed_commands,
    drawn_pushes,
    free_base,
    push_base,
    scale_masses,
)
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder, Settings, Trial
from mujoco_ros.controllers.fsm.table import TransitionRejectedError
from mujoco_ros.controllers.library.config_checks import CheckedConfig
from mujoco_ros.sim.simulation import Simulation

_RATE = 200.0
"""Ticks per second."""


@dataclass(frozen=True)
class LeggedTrial(Trial):
    """A trial with pushes, other friction and masses of the links, and delayed commands.

    Attributes:
        walking: State of the controller that has the commanded velocity; empty for none.
        lowest: Part of the initial height of the base below which the robot has fallen.
        steepest: Largest tilt of the base at the end [rad].
    """

    walking: ClassVar[str] = "WALK"
    lowest: ClassVar[float] = 0.6
    steepest: ClassVar[float] = np.inf

    @property
    def scene(self) -> str:
        """Name or file of the scene."""
        name: str = self.ranges.scene
        return name

    @property
    def requests(self) -> Sequence[tuple[float, str]]:
        """Times [s] and labels of the requests."""
        return ()

    @property
    def end(self) -> float:
        """Time at which the episode ends without an outcome of the controller [s]."""
        return np.inf

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        model.geom_friction[:, 0] *= conditions["friction"]

    def disturb(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Set the masses of the links; the condition ``masses`` is the seed of their factors."""
        random = np.random.default_rng(int(conditions["masses"]))
        least, largest = self.ranges.mass
        factors = random.uniform(float(least), float(largest), size=model.nbody)
        for body, factor in self.mass_factors(model, conditions).items():
            factors[body] = factor
        scale_masses(model, factors)

    def mass_factors(self, model: mujoco.MjModel, conditions: Conditions) -> Mapping[int, float]:
        """Return factors on the masses of bodies that are not drawn as the others."""
        return {}

    def command_filter(self, conditions: Conditions) -> CommandFilter | None:
        return delayed_commands(conditions["delay"])

    def settings(self, conditions: Conditions) -> Settings:
        """Return the velocity as settings of the state that walks."""
        if not self.walking:
            return self.changes
        velocity = {f"velocity_{axis}": conditions[axis] for axis in ("x", "y", "yaw")}
        changes = self.changes.get(self.walking, {})
        return {**self.changes, self.walking: {**velocity, **changes}}

    def pushes(self, conditions: Conditions) -> Iterable[Push]:
        """Return the pushes of an episode in the order of their times."""
        return drawn_pushes(conditions)

    def act(
        self, simulation: Simulation, request: Callable[[str], object], conditions: Conditions
    ) -> None:
        """Request transitions at their times, and push."""
        for when, label in self.requests:
            if abs(simulation.time - when) < 0.5 / _RATE:
                with suppress(TransitionRejectedError):  # after a fall
                    request(label)
        push_base(simulation, self.pushes(conditions))

    def is_over(self, simulation: Simulation, outcome: str | None) -> bool:
        return outcome is not None or simulation.time >= self.end - 0.01

    def flaw(self, measures: Mapping[str, float]) -> str:
        is_low = not measures["height"] >= self.lowest
        return "fell" if is_low or not measures.get("tilt", 0.0) <= self.steepest else ""


def base_poses(simulation: Simulation) -> np.ndarray:
    """Return position and orientation of the base at the start and now.  # (2, 7)"""
    address = simulation.layout.robots[0].bases[0].qpos
    poses = (simulation.plant.start.qpos, simulation.data.qpos)
    return np.array([qpos[address : address + 7] for qpos in poses])


def tilt(quat_wxyz: np.ndarray) -> float:
    """Return the tilt of a body [rad]."""
    _, x, y, _ = quat_wxyz.tolist()
    return float(np.arccos(np.clip(1.0 - 2.0 * (x * x + y * y), -1.0, 1.0)))


def relative_flaw(
    measures: Mapping[str, float], rows: Iterable[tuple[str, float, str, float]], share: float
) -> str:
    """Return the first flaw that is too large; "" if none is.

    Args:
        rows: Name of the flaw, its size, the measure of the commanded size, and the size that is
            allowed besides.
        share: Part of the commanded size that is allowed.
    """
    for flaw, size, commanded, slack in rows:
        if not abs(size) <= share * abs(measures[commanded]) + slack:
            return flaw
    return ""


class Pushes(CheckedConfig):
    """Ranges of the conditions of `StandTrial`.

    Attributes:
        scene: Name or file of the scene.
        push: Horizontal impulse on the base in any direction, per mass of the robot [m/s].
        at: Time of the push [s].
        mass: Factor on the mass of the base.
        friction: Factor on all friction.
        noise: Noise of the observations.
    """

    scene: str = "humanoid"
    push: NotNegativeRange = (0.0, 0.1)
    at: NotNegativeRange = (1.0, 15.0)
    mass: NotNegativeRange = (0.9, 1.1)
    friction: NotNegativeRange = (0.7, 1.3)
    noise: Noise = USUAL


PUSHES: Mapping[str, Pushes] = {
    "humanoid": Pushes(),
    "quadruped": Pushes(scene="quadruped", push=(0.0, 0.2)),
}


@dataclass(frozen=True)
class StandTrial(LeggedTrial):
    """A robot squats, sways, and is pushed once."""

    walking: ClassVar[str] = ""
    ranges: Pushes = PUSHES["humanoid"]
    controller: str = "stand"
    limit: float = 18.0

    @property
    def requests(self) -> Sequence[tuple[float, str]]:
        return (3.0, "squat"), (10.0, "sway")

    @property
    def end(self) -> float:
        return self.limit

    def conditions(self, seed: int) -> Conditions:
        random, ranges = np.random.default_rng(seed), self.ranges
        return {
            "push": random.uniform(*ranges.push),
            "direction": random.uniform(-np.pi, np.pi),
            "at": random.uniform(*ranges.at),
            "base_mass": random.uniform(*ranges.mass),
            "friction": random.uniform(*ranges.friction),
        }

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Set mass and friction, which the controller knows."""
        LeggedTrial.edit(self, model, conditions)
        factors = np.ones(model.nbody)
        factors[free_base(model)] = conditions["base_mass"]
        scale_masses(model, factors)

    def disturb(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Change nothing else."""

    def command_filter(self, conditions: Conditions) -> CommandFilter | None:
        return None

    def pushes(self, conditions: Conditions) -> Iterable[Push]:
        return [(conditions["push"], conditions["direction"], conditions["at"])]

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        start, now = base_poses(recorder.simulation)
        return {
            "height": float(now[2] / start[2]),
            "moved": float(np.hypot(*(now - start)[:2])),
            "tracking": max(recorder.tracking.values(), default=0.0),
        }
