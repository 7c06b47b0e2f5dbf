"""Runs of the example scenes with extensions, without ROS."""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.config import SceneConfig, read_scene
from mujoco_ros.sim.simulation import Simulation

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "extensions"


SPACING_M = 4.0
"""Distance between the examples in one scene."""


def write_all_examples(folder: Path, scene: str) -> Path:
    """Write a scene with all examples beside another scene, and return its path.

    Args:
        folder: Where it is written.
        scene: The other scene, with absolute paths; its robots come first.
    """
    merged = yaml.safe_load(scene)
    lists = {key: merged.setdefault(key, []) for key in ("robots", "objects", "extensions")}
    names = sorted(path.stem for path in EXAMPLES.glob("*.yaml"))
    for number, name in enumerate(names, start=1):
        if name == "unitree_go" and find_spec("unitree_go") is None:
            continue
        example = yaml.safe_load((EXAMPLES / f"{name}.yaml").read_text(encoding="utf-8"))
        for entity in (*example.get("robots", ()), *example.get("objects", ())):
            if "://" not in entity["model"]:
                entity["model"] = str(EXAMPLES / entity["model"])
            pose = entity.setdefault("pose", {})
            x, y, z = pose.get("xyz", (0.0, 0.0, 0.0))
            pose["xyz"] = [x, y + SPACING_M * number, z]
        for key, its in lists.items():
            present = [it.get("name") for it in its if key != "extensions"]
            its += [it for it in example.get(key, ()) if it.get("name") not in present]
    path = folder / "all_examples.yaml"
    path.write_text(yaml.safe_dump(merged), encoding="utf-8")
    return path


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

    def change(self, **parts: Any) -> None:
        """Change the model as the simulator does."""
        plant = self.simulation.build_plant(rebuild(self.simulation.assembly, **parts))
        self.set.build(plant)
        self.simulation.switch_model(plant)
        self.set.commit()

    def command(self, *positions: float) -> None:
        """Command the positions of the first joints."""
        self.simulation.references.q[: len(positions)] = positions

    def close(self) -> None:
        """Remove the hooks."""
        self.set.close()
