"""Runs of the example scenes with extensions, without ROS."""

from pathlib import Path
from typing import Any

import numpy as np

from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.model.scene.config import SceneConfig, read_scene
from mujoco_ros.sim.simulation import Simulation

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "extensions"


class ExtensionRun:
    """A scene with extensions, which is stepped.

    Attributes:
        simulation: The simulation.
        set: Its extensions.
    """

    def __init__(self, scene: str | SceneConfig, seed: int = 0) -> None:
        """Begin an example by its name, or another scene."""
        config = read_scene(EXAMPLES / f"{scene}.yaml") if isinstance(scene, str) else scene
        self.simulation = Simulation(config, seed=seed)
        self.set = ExtensionSet(self.simulation)

    @property
    def data(self) -> Any:
        """The state of the engine."""
        return self.simulation.data

    def extension(self, key: str = "") -> Any:
        """Return the present instance of an extension; by default of the first."""
        return next(it.extension for it in self.set.runners if key in ("", it.key))

    def step(self, seconds: float) -> bytes:
        """Return the state after a time, also that of the extensions; nothing has failed."""
        for _ in range(round(seconds / self.simulation.model.opt.timestep)):
            self.set.before_step()
            assert self.simulation.step()
            self.set.after_step()
        failures = [it.failure for it in self.set.runners if it.failure]
        assert not failures
        states = self.simulation.plant.extensions.arrays.values()
        return np.concatenate([self.data.qpos, self.data.qvel, *states]).tobytes()

    def command(self, *positions: float) -> None:
        """Command the positions of the first joints."""
        self.simulation.references.q[: len(positions)] = positions

    def close(self) -> None:
        """Remove the hooks."""
        self.set.close()
