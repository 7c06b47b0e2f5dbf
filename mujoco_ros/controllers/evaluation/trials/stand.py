"""Robots that are pushed while they stand, squat and sway."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.controllers.evaluation.episode_recorder import EpisodeRecorder
from mujoco_ros.controllers.evaluation.observation_noise import USUAL, Noise, noisy
from mujoco_ros.controllers.evaluation.trial import Conditions, Senses
from mujoco_ros.controllers.fsm.transition import TransitionRejectedError
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.simulation import Simulation

Range = tuple[float, float]
_REQUESTS = ((3.0, "squat"), (10.0, "sway"))
"""When what is asked for [s]."""
_RATE = 200.0
"""Ticks per second."""
_PUSH_S = 0.1
_FALLEN = 0.6
"""Part of the initial height below which a base has fallen."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Pushes:
    """From where to where the conditions of episodes are drawn, evenly.

    Attributes:
        scene: Name or file of the scene.
        push: Impulse on the base, in any level direction, per its robot's mass [m/s].
        at: When it comes [s].
        mass: Factor on the mass of the base.
        friction: Factor on all friction.
        noise: Of the senses.
    """

    scene: str = "humanoid"
    push: Range = (0.0, 0.1)
    at: Range = (1.0, 15.0)
    mass: Range = (0.9, 1.1)
    friction: Range = (0.7, 1.3)
    noise: Noise = USUAL

    def __post_init__(self) -> None:
        """Refuse what cannot be drawn from."""
        for name in ("push", "at", "mass", "friction"):
            low, high = getattr(self, name)
            if not 0.0 <= low <= high:
                raise UserInputError(f"{name} goes from {low:g} to {high:g}: not upwards from 0")


PUSHES: Mapping[str, Pushes] = {
    "humanoid": Pushes(),
    "quadruped": Pushes(scene="quadruped", push=(0.0, 0.2)),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class StandTrial:
    """A robot squats and sways, and is pushed at some time.

    Attributes:
        pushes: What differs from episode to episode.
        changes: Settings of the controller's states.
        controller: Name or file of the controller.
        limit: Simulated time of an episode [s].
    """

    pushes: Pushes = PUSHES["humanoid"]
    changes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    controller: str = "stand"
    limit: float = 18.0

    @property
    def scene(self) -> str:
        """Return name or file of the scene."""
        return self.pushes.scene

    def conditions(self, seed: int) -> Conditions:
        """Draw the push, and what the robot and the ground are like."""
        random, pushes = np.random.default_rng(seed), self.pushes
        return {
            "push": random.uniform(*pushes.push),
            "direction": random.uniform(-np.pi, np.pi),
            "at": random.uniform(*pushes.at),
            "base_mass": random.uniform(*pushes.mass),
            "friction": random.uniform(*pushes.friction),
        }

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Make the base as heavy and the ground as slippery as they shall be."""
        base = _base(model)
        model.body_mass[base] *= conditions["base_mass"]
        model.body_inertia[base] *= conditions["base_mass"]
        model.geom_friction[:, 0] *= conditions["friction"]

    def settings(self, conditions: Conditions) -> Mapping[str, Mapping[str, Any]]:
        """Return what was asked for."""
        return self.changes

    def senses(self, conditions: Conditions, seed: int) -> Senses:
        """Return senses with noise."""
        return noisy(self.pushes.noise, seed)

    def act(
        self,
        simulation: Simulation,
        request: Callable[[str], object],
        conditions: Conditions,
    ) -> None:
        """Ask for a squat and for swaying, and push."""
        time, model = simulation.time, simulation.model
        half = 0.5 / _RATE
        for when, label in _REQUESTS:
            if abs(time - when) < half:
                with suppress(TransitionRejectedError):  # it may have fallen
                    request(label)
        base, since = _base(model), time - conditions["at"]
        force = conditions["push"] * float(model.body_subtreemass[base]) / _PUSH_S
        angle = conditions["direction"]
        direction = np.array([np.cos(angle), np.sin(angle), 0.0])
        pushed = force * direction if 0.0 <= since < _PUSH_S else np.zeros(3)
        simulation.data.xfrc_applied[base, :3] = pushed

    def over(self, simulation: Simulation, outcome: str | None) -> bool:
        """Return whether the time is over."""
        return outcome is not None or simulation.time >= self.limit - 0.01

    def measure(
        self,
        simulation: Simulation,
        store: Store,
        recorder: EpisodeRecorder,
        conditions: Conditions,
    ) -> Mapping[str, float]:
        """Measure how high the base still is, and how far it went."""
        start = simulation.plant.start.qpos
        address = simulation.layout.robots[0].bases[0].qpos
        now = simulation.data.qpos[address : address + 3]
        return {
            "height": float(now[2] / start[address + 2]),
            "moved": float(np.hypot(*(now - start[address : address + 3])[:2])),
            "tracking": max(recorder.tracking.values(), default=0.0),
        }

    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return ``fell`` if the base is not where a standing robot has it."""
        return "fell" if measures["height"] < _FALLEN else ""


def _base(model: mujoco.MjModel) -> int:
    """Return the first body on a free joint."""
    free = model.jnt_type == int(mujoco.mjtJoint.mjJNT_FREE)
    return int(model.jnt_bodyid[int(np.argmax(free))])
