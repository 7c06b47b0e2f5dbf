"""A URDF arm with a gripper, as the page shows it."""

import os
import re
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest
import yaml

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.library.pick_place.arm import ARM
from mujoco_ros.controllers.library.pick_place.task import TASK
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

PAGE = Path(__file__).parents[4] / "docs/reference/pick_place.md"
SCENE, PARAMETERS = re.findall(
    r"^```yaml\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.M | re.S
)


@pytest.fixture(scope="module")
def panda(tmp_path_factory) -> Assembly:
    try:
        metadata.files("example-robot-data")
    except metadata.PackageNotFoundError:
        missing = pytest.fail if os.environ.get("CI") else pytest.skip
        missing("example-robot-data is not installed; requirements/models.txt has it")
    path = tmp_path_factory.mktemp("panda") / "panda_table.yaml"
    path.write_text(SCENE)
    return assemble(load_scene(str(path)))


def order(**changes: object) -> dict[str, dict[str, object]]:
    """Return the settings of the page, with changes of IDLE."""
    settings: dict[str, dict[str, object]] = {}
    for name, value in yaml.safe_load(PARAMETERS)["/pick_place"]["ros__parameters"].items():
        state, _, field = name.partition(".")
        settings.setdefault(state, {})[field] = value
    settings["IDLE"] |= changes
    return settings


def test_the_panda_of_the_page_places_the_box(panda):
    simulation = Simulation(panda)
    controller = load("pick_place", settings=order())
    host = ControllerHost(simulation, controller)
    while controller.machine.state not in ("DONE", "FAILED") and simulation.time < 20.0:
        host.tick()
        assert not host.supervised.error
    assert controller.machine.state == "DONE"
    place = simulation.data.joint("box/box_free").qpos[:3]
    assert place == pytest.approx([0.45, -0.2, 0.335], abs=1e-3)
    arm, task = controller.store.get(ARM), controller.store.get(TASK)
    assert task.metrics["payload"] == pytest.approx(0.15, abs=0.03), "by the efforts of the joints"
    assert len(arm.joints) == 7
    # The palm of the hand is at z = 66 mm, and the tool at 103 mm (franka_description).
    assert arm.depth == pytest.approx(0.1034 - 0.0659 - 0.010, abs=2e-3)
    assert np.all(arm.pad > 0.007)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"tool": "panda_tcp"}, "no site or link 'panda_tcp' .* it has: panda_link0, .*hand_tcp"),
        ({"wrist_sensor": "ft"}, "no force-torque sensor 'ft', which IDLE.wrist_sensor names"),
    ],
)
def test_a_tool_or_sensor_that_does_not_exist_is_named(panda, changes, message):
    controller = load("pick_place", settings=order(**changes))

    def run() -> None:
        host = ControllerHost(Simulation(panda), controller)
        host.tick()
        raise UserInputError(host.supervised.error)

    with pytest.raises(UserInputError, match=message):
        run()
