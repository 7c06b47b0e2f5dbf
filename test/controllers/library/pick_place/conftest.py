"""The arm, its table, a box, and a brick as an obstacle."""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import ObjectConfig, load_scene
from mujoco_ros.sim.simulation import Simulation

BOX_XML = "package://mujoco_ros/urdf_mjcf/objects/box.xml"


class Stage:
    """A simulation with the hosted controller."""

    def __init__(self, assembly: Assembly, changes: Mapping[str, Mapping[str, Any]]) -> None:
        self.simulation = Simulation(replace(assembly, model=copy(assembly.model)))
        self.model, self.data = self.simulation.model, self.simulation.data
        self.made: list[tuple[str, str]] = []
        self.reason, self.changes = "", changes
        self.restart(changes)

    def restart(self, changes: Mapping[str, Mapping[str, Any]] | None = None) -> None:
        """Start another controller, as after a crash."""
        self.controller = load("pick_place", settings=changes or {})
        self.host = ControllerHost(self.simulation, self.controller)
        self._read = 0

    @property
    def state(self) -> str:
        return self.controller.machine.state

    @property
    def labels(self) -> list[str]:
        return [label for _, label in self.made]

    def step(self) -> None:
        self.host.step()
        assert not self.host.supervised.error
        for event in self.host.supervised.log.since(self._read):
            self._read = event.number
            self.made.append((event.transition.start, event.transition.label))
            self.reason = event.reason or self.reason

    def request(self, label: str) -> None:
        """Request a transition, and step until it is made."""
        self.host.supervised.request(label)
        before = self.state
        while self.state == before:
            self.step()

    def until(self, *states: str, limit: float = 15.0, each: Callable[[], object] = bool) -> str:
        """Step until one of these states is active, with a call before each step; return it."""
        end = self.simulation.time + limit
        while self.state not in states:
            assert self.simulation.time < end, f"in {self.state} after {self.made}"
            each()
            self.step()
        return self.state

    def put(self, name: str, x: float, y: float, z: float) -> None:
        """Set the position of a box, upright and at rest."""
        joint = self.data.joint(f"{name}/box_free")
        joint.qpos[:], joint.qvel[:] = (x, y, z, 1.0, 0.0, 0.0, 0.0), 0.0

    def where(self, name: str = "box") -> Sequence[float]:
        return self.data.joint(f"{name}/box_free").qpos[:3].copy()


@pytest.fixture(scope="session")
def assembly() -> Assembly:
    scene = load_scene("arm")
    brick = ObjectConfig(name="brick", model=BOX_XML, pose=PoseConfig(xyz=(0.9, 0.3, 0.315)))
    return assemble(replace(scene, objects=(*scene.objects, brick)))


@pytest.fixture
def stage(assembly: Assembly) -> Callable[..., Stage]:
    return lambda **changes: Stage(assembly, changes)


GUIDE_XML = """<mujoco><worldbody><body name="guide">
  <geom type="box" size="0.01 0.01 0.03" friction="0.1" euler="0 5 0"/>
</body></worldbody></mujoco>"""


@pytest.fixture
def guided_stage(tmp_path: Path) -> Callable[..., Stage]:
    """A stage with a small inclined plate, the static body ``guide``, away from the arm."""
    (tmp_path / "guide.xml").write_text(GUIDE_XML)
    scene, pose = load_scene("arm"), PoseConfig(xyz=(2.0, 2.0, 1.0))
    guide = ObjectConfig(name="guide", model=str(tmp_path / "guide.xml"), pose=pose)
    assembly = assemble(replace(scene, objects=(*scene.objects, guide)))
    return lambda **changes: Stage(assembly, changes)
