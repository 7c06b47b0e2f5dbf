"""What a controller is put to, time and again."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import mujoco

from mujoco_ros.controllers.evaluation.episode_recorder import EpisodeRecorder
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.sim.simulation import Simulation

Conditions = Mapping[str, float]
"""What differs from episode to episode, by name."""
Senses = Callable[[Observation], Observation]
"""What becomes of an observation before the controller gets it."""


class Trial(Protocol):
    """What is tried. It goes to other processes, so it holds plain data.

    Attributes:
        controller: Name or file of the controller.
        scene: Name or file of the scene.
        limit: Simulated time after which an episode ends [s].
    """

    @property
    def controller(self) -> str:
        """Return name or file of the controller."""

    @property
    def scene(self) -> str:
        """Return name or file of the scene."""

    @property
    def limit(self) -> float:
        """Return the simulated time after which an episode ends [s]."""

    def conditions(self, seed: int) -> Conditions:
        """Draw the conditions of an episode."""

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Change a model so that its initial state and its numbers are those of the conditions."""

    def settings(self, conditions: Conditions) -> Mapping[str, Mapping[str, Any]]:
        """Return settings of the controller's states."""

    def senses(self, conditions: Conditions, seed: int) -> Senses:
        """Return what the controller's senses are like."""

    def act(
        self,
        simulation: Simulation,
        request: Callable[[str], object],
        conditions: Conditions,
    ) -> None:
        """Do at a tick what somebody outside does: push, or ask for a transition."""

    def over(self, simulation: Simulation, outcome: str | None) -> bool:
        """Return whether an episode has come to its end, given the controller's outcome."""

    def measure(
        self,
        simulation: Simulation,
        store: Store,
        recorder: EpisodeRecorder,
        conditions: Conditions,
    ) -> Mapping[str, float]:
        """Measure at the end of an episode, in the simulation itself, how well it went."""

    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return what is wrong with an episode that the controller took for done; or nothing."""
