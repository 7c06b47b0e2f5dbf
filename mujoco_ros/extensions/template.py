"""A package with one extension to start from: a passive force, a setting, a topic and a test."""

import re
from importlib.metadata import packages_distributions
from importlib.util import find_spec
from pathlib import Path

from mujoco_ros.extensions.interface import GROUP, SHIPPED
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import complete_folder

_NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
_FILES = {
    "pyproject.toml": """\
[build-system]
requires = ["setuptools>=64"]
build-backend = "setuptools.build_meta"

[project]
name = "@name@"
version = "0.1.0"
requires-python = ">=3.11"

[project.entry-points."@group@"]
@name@ = "@name@.extension:@Class@"

[tool.setuptools]
packages = ["@name@"]

[tool.pytest.ini_options]
testpaths = ["test"]
""",
    "scene.yaml": """\
robots:
  - {name: pendulum, model: pendulum.xml}
physics: {timestep: 0.001}
extensions:
  - {use: @name@, robot: pendulum, settings: {damping: 0.5}}
""",
    "pendulum.xml": """\
<mujoco model="pendulum">
  <worldbody>
    <body name="rod" pos="0 0 1">
      <joint name="hinge" axis="0 1 0"/>
      <geom type="capsule" size="0.02" fromto="0 0 0 0.5 0 0" mass="1"/>
    </body>
  </worldbody>
</mujoco>
""",
    "@name@/__init__.py": '"""An extension of mujoco_ros."""\n',
    "@name@/extension.py": '''\
"""Viscous friction in all joints, as a start for another extension."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from std_msgs.msg import Float64

from mujoco_ros.extensions.endpoints import publisher
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.settings import setting


@dataclass(frozen=True)
class @Class@Settings:
    """The settings, which are parameters of the simulator."""

    damping: float = setting(0.1, "Damping of each joint [Nms/rad]", low=0.0, high=1e3)


class @Class@(Extension):
    """Adds friction, and integrates the energy that it takes [J], which is a state."""

    Settings = @Class@Settings
    initial_state: ClassVar = {"energy": [0.0]}
    settings: @Class@Settings

    def set_up(self) -> None:
        """Find the degrees of freedom of the robot."""
        self._dofs = self.elements.dofs

    def passive(self, data: Any, force: np.ndarray) -> None:
        """Write the forces of the friction: a hook within the engine's step."""
        force[:] = -self.settings.damping * data.qvel[self._dofs]

    def after_step(self) -> None:
        """Integrate the power."""
        speed = self.data.qvel[self._dofs]
        power = self.settings.damping * speed.dot(speed)
        self.state["energy"] += power * self.model.opt.timestep

    @publisher(Float64, "energy", rate_hz=10.0)
    def energy(self) -> Float64:
        """Return the energy so far [J]."""
        return Float64(data=self.state["energy"][0])
''',
    "test/test_@name@.py": '''\
"""The friction takes the energy of a pendulum."""

from pathlib import Path

import pytest

from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.model.scene.config import read_scene
from mujoco_ros.sim.simulation import Simulation

SCENE = Path(__file__).resolve().parents[1] / "scene.yaml"


def test_the_pendulum_loses_the_energy_that_the_friction_takes() -> None:
    simulation = Simulation(read_scene(SCENE))
    extensions = ExtensionSet(simulation)
    for _ in range(20_000):
        extensions.before_step()
        assert simulation.step()
        extensions.after_step()
    extensions.close()
    (runner,) = extensions.runners
    assert not runner.failure
    # It ends at rest: the weight of 1 kg has fallen by 0.25 m.
    assert runner.extension.state["energy"][0] == pytest.approx(9.81 * 0.25, rel=0.02)
    assert abs(simulation.data.qvel[0]) < 1e-3
''',
    "README.md": """\
# @name@

An extension of mujoco_ros.

```bash
pip install --editable .        # again only if pyproject.toml changes
python -m pytest                # its test
python -m mujoco_ros --ros-args -p scene:=$PWD/scene.yaml
```
""",
}


def write_extension(folder: Path, name: str) -> Path:
    """Write a package with an extension of a name into a folder, and return its own folder."""
    if not _NAME.fullmatch(name):
        raise UserInputError(
            f"'{name}' is not a name such as 'my_wind': lower case letters, digits and underscores"
        )
    if name in SHIPPED or find_spec(name) is not None or name in packages_distributions():
        raise UserInputError(f"the name '{name}' is taken by an installed package or extension")
    root = folder / name
    if root.exists():
        raise UserInputError(f"'{root}' exists already")
    words = {
        "@name@": name,
        "@Class@": "".join(word.capitalize() for word in name.split("_")),
        "@group@": GROUP,
    }
    folder.mkdir(parents=True, exist_ok=True)
    with complete_folder(root) as package:
        for path, text in _FILES.items():
            file = package / _filled(path, words)
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(_filled(text, words), encoding="utf-8")
    return root


def _filled(text: str, words: dict[str, str]) -> str:
    for placeholder, word in words.items():
        text = text.replace(placeholder, word)
    return text
