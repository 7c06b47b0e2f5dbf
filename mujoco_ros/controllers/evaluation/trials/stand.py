"""Trial of stand: a robot squats and sways under a push."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.conditions import free_base, push_base
from mujoco_ros.controllers.evaluation.observation_noise import USUAL, Noise
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder, Trial
from mujoco_ros.controllers.fsm.transition import TransitionRejectedError
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.simulation import Simulation

Range = tuple[float, float]
_REQUESTS = ((3.0, "squat"), (10.0, "sway"))
"""Times [s] and labels of the requests."""
_RATE = 200.0
"""Ticks per second."""
_FALLEN = 0.6
"""Part of the initial height of the base, below which the robot has fallen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pushes:
    """Ranges of the conditions, with uniform distributions.

    Attributes:
        scene: Name or file of the scene.
        push: Horizontal impulse on the base in any direction, per mass of the robot [m/s].
        at: Time of the push [s].
        mass: Factor on the mass of the base.
        friction: Factor on all friction.
        noise: Noise of the observations.
    """

    scene: str = "humanoid"
    push: Range = (0.0, 0.1)
    at: Range = (1.0, 15.0)
    mass: Range = (0.9, 1.1)
    friction: Range = (0.7, 1.3)
    noise: Noise = USUAL

    def __post_init__(self) -> None:
        for name in ("push", "at", "mass", "friction"):
            low, high = getattr(self, name)
            if not 0.0 <= low <= high:
                raise UserInputError(f"{name} from {low:g} to {high:g} is reversed or negative")


PUSHES: Mapping[str, Pushes] = {
    "humanoid": Pushes(),
    "quadruped": Pushes(scene="quadruped", push=(0.0, 0.2)),
}


@dataclass(frozen=True)
class StandTrial(Trial):
    """The trial."""

    ranges: Pushes = PUSHES["humanoid"]
    controller: str = "stand"
    limit: float = 18.0

    @property
    def scene(self) -> str:
        """Name or file of the scene."""
        return self.ranges.scene

    def conditions(self, seed: int) -> Conditions:
        """Draw the push, the mass of the base and the friction."""
        random, ranges = np.random.default_rng(seed), self.ranges
        return {
            "push": random.uniform(*ranges.push),
            "direction": random.uniform(-np.pi, np.pi),
            "at": random.uniform(*ranges.at),
            "base_mass": random.uniform(*ranges.mass),
            "friction": random.uniform(*ranges.friction),
        }

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Set mass and friction."""
        base = free_base(model)
        model.body_mass[base] *= conditions["base_mass"]
        model.body_inertia[base] *= conditions["base_mass"]
        model.geom_friction[:, 0] *= conditions["friction"]

    def act(
        self, simulation: Simulation, request: Callable[[str], object], conditions: Conditions
    ) -> None:
        """Request a squat and a sway, and apply the push."""
        for when, label in _REQUESTS:
            if abs(simulation.time - when) < 0.5 / _RATE:
                with suppress(TransitionRejectedError):  # after a fall
                    request(label)
        push = conditions["push"], conditions["direction"], conditions["at"]
        push_base(simulation, [push])

    def is_over(self, simulation: Simulation, outcome: str | None) -> bool:
        """Return whether the time limit is reached."""
        return outcome is not None or simulation.time >= self.limit - 0.01

    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        """Measure height and displacement of the base, and tracking."""
        simulation = recorder.simulation
        start = simulation.plant.start.qpos
        address = simulation.layout.robots[0].bases[0].qpos
        now = simulation.data.qpos[address : address + 3]
        return {
            "height": float(now[2] / start[address + 2]),
            "moved": float(np.hypot(*(now - start[address : address + 3])[:2])),
            "tracking": max(recorder.tracking.values(), default=0.0),
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return ``fell`` if the base is too low."""
        return "fell" if measures["height"] < _FALLEN else ""
