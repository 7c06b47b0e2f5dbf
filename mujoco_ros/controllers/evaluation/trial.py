"""Base class of the trials of controllers."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import mujoco

from mujoco_ros.controllers.evaluation.conditions import CommandFilter
from mujoco_ros.controllers.evaluation.episode_recorder import EpisodeRecorder
from mujoco_ros.controllers.evaluation.observation_noise import ObservationFilter, noise_filter
from mujoco_ros.model.scene.config import SceneConfig, load_scene
from mujoco_ros.sim.simulation import Simulation

Conditions = Mapping[str, float]
"""Conditions of an episode by name."""
Settings = Mapping[str, Mapping[str, Any]]
"""Settings of states by full name of the state."""


@dataclass(frozen=True)
class Trial(ABC):
    """A task under random conditions. It holds plain data, because worker processes get a copy.

    Attributes:
        ranges: Ranges of the conditions, with the noise of the observations.
        changes: Settings of the controller's states.
        controller: Name or file of the controller.
        limit: Longest simulated time of an episode [s].
    """

    ranges: Any
    changes: Settings = field(default_factory=dict)
    controller: str = ""
    limit: float = 60.0

    @property
    @abstractmethod
    def scene(self) -> str:
        """Name or file of the scene."""

    def scene_config(self) -> SceneConfig:
        """Return the scene.

        Raises:
            UserInputError: The scene does not exist or is invalid.
        """
        return load_scene(self.scene)

    @abstractmethod
    def conditions(self, seed: int) -> Conditions:
        """Draw the conditions of an episode."""

    @abstractmethod
    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Apply the conditions to the initial state and the parameters of a model."""

    def settings(self, conditions: Conditions) -> Settings:
        """Return settings of the controller's states."""
        return self.changes

    def goal(self, conditions: Conditions) -> Conditions:
        """Return the numbers of the task that the controller is given; none by default."""
        return {}

    def disturb(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Apply conditions that the controller's model of the robot and the scene lacks."""
        return

    def observation_filter(self, seed: int, conditions: Conditions) -> ObservationFilter:
        """Return a function that adds noise to observations."""
        return noise_filter(self.ranges.noise, seed)

    def command_filter(self, conditions: Conditions) -> CommandFilter | None:
        """Return a function that changes the commands of the controller; None if nothing does."""
        return None

    def impossible(self, model: mujoco.MjModel) -> str:
        """Return the failure that the conditions in a model require; "" if it can succeed."""
        return ""

    def act(
        self, simulation: Simulation, request: Callable[[str], object], conditions: Conditions
    ) -> None:
        """Apply disturbances and request transitions at a tick; none by default."""
        return

    def is_over(self, simulation: Simulation, outcome: str | None) -> bool:
        """Return whether the episode ends, given the outcome of the controller."""
        return outcome is not None

    @abstractmethod
    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        """Return measures of the final state of the simulation and of the whole episode."""

    @abstractmethod
    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return the failure of an episode that the controller reports as a success; "" if none."""
