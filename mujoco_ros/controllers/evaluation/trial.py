"""The protocol of a trial of a controller."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import mujoco

from mujoco_ros.controllers.evaluation.episode_recorder import EpisodeRecorder
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.store import Store
from mujoco_ros.sim.simulation import Simulation

Conditions = Mapping[str, float]
"""Conditions of an episode by name."""
Settings = Mapping[str, Mapping[str, Any]]
"""Settings of states by full name of the state."""
ObservationFilter = Callable[[Observation], Observation]


class Trial(Protocol):
    """A task under random conditions. It holds plain data, because worker processes get a copy."""

    @property
    def controller(self) -> str:
        """Name or file of the controller."""

    @property
    def scene(self) -> str:
        """Name or file of the scene."""

    @property
    def limit(self) -> float:
        """Longest simulated time of an episode [s]."""

    def conditions(self, seed: int) -> Conditions:
        """Draw the conditions of an episode."""

    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Apply the conditions to the initial state and the parameters of a model."""

    def settings(self, conditions: Conditions) -> Settings:
        """Return settings of the controller's states."""

    def observation_filter(self, seed: int) -> ObservationFilter:
        """Return a function that adds noise to observations."""

    def act(
        self, simulation: Simulation, request: Callable[[str], object], conditions: Conditions
    ) -> None:
        """Apply disturbances and request transitions at a tick."""

    def is_over(self, simulation: Simulation, outcome: str | None) -> bool:
        """Return whether the episode ends, given the outcome of the controller."""

    def measure(
        self,
        simulation: Simulation,
        store: Store,
        recorder: EpisodeRecorder,
        conditions: Conditions,
    ) -> Mapping[str, float]:
        """Return measures of the final state of the simulation and of the whole episode."""

    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return the failure of an episode that the controller reports as a success, or nothing."""
