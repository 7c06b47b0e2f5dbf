"""The files of the tutorials work as the tutorials claim."""

import importlib
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from extension_package import write_package
from scipy.ndimage import distance_transform_edt
from scripted_states import ROBOT, seen

from mujoco_ros.cli.export_map import map_of_scene
from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.state import STATES
from mujoco_ros.controllers.fsm.table_reader import table_from_dict
from mujoco_ros.inspection.occupancy_map import FREE
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.strict import parse_yaml
from mujoco_ros.sim.simulation import Simulation

TUTORIALS = Path(__file__).resolve().parents[2] / "docs" / "tutorials"


def block(page: str, file: str) -> str:
    """Return the code block after the first mention of a file."""
    text = (TUTORIALS / f"{page}.md").read_text(encoding="utf-8")
    text = text[text.index(f"`{file}`") :]
    language = {".yaml": "yaml", ".xml": "xml", ".py": "python"}[Path(file).suffix]
    found = re.search(rf"^```{language}\n(.*?)^```", text, re.M | re.S)
    assert found, file
    return found.group(1)


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    for file in ("my_robot.xml", "my_gains.yaml", "my_scene.yaml"):
        (tmp_path / file).write_text(block("your_own_robot", file))
    return tmp_path


@pytest.mark.parametrize("scene", ["my_robot.xml", "my_scene.yaml"])
def test_the_robot_of_the_tutorial_has_two_joints_and_an_imu(robot: Path, scene: str) -> None:
    simulation = Simulation(load_scene(str(robot / scene)))
    (layout,) = simulation.layout.robots
    assert layout.joints.names == ("shoulder", "elbow")
    assert [imu.name for imu in layout.sensors["imu"]] == ["tip"]
    assert simulation.step()


def test_the_robot_of_the_tutorial_stays_upright_without_touching_its_base(robot: Path) -> None:
    simulation = Simulation(load_scene(str(robot / "my_robot.xml")))
    while simulation.time < 1.0:
        simulation.step()
    assert abs(simulation.data.qpos).max() < 1e-3
    assert simulation.data.ncon == 0


def controller(**settings: Any) -> FsmController:
    """Return the controller of the tutorial, with settings of LEFT."""
    found: dict[str, Any] = {"__name__": "tutorial"}
    exec(block("first_controller", "my_package/my_states.py"), found)
    data = parse_yaml(block("first_controller", "my_wave.yaml"), "my_wave.yaml")
    data["states"]["LEFT"] |= settings
    classes = {cls.__name__: cls for cls in STATES} | {"Reach": found["Reach"]}
    made = FsmController(table_from_dict(data, classes, name="my_wave", where="my_wave.yaml"))
    made.configure(ROBOT)
    return made


def test_the_package_of_the_tutorial_registers_its_class_and_the_table_uses_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = tmp_path / "my_states.py"
    module.write_text(block("first_controller", "my_package/my_states.py"))
    setup = block("first_controller", "my_package/setup.py")
    registered = re.search(r'\["(Reach = my_states:Reach)"\]', setup)
    assert registered
    installed = tmp_path / "installed"
    write_package(installed, module, f"[mujoco_ros.states]\n{registered.group(1)}\n")
    monkeypatch.syspath_prepend(installed)
    importlib.invalidate_caches()
    table = tmp_path / "my_wave.yaml"
    table.write_text(block("first_controller", "my_wave.yaml"))
    machine = load(str(table)).machine
    assert type(machine.instances["LEFT"]).__module__ == "my_states"
    assert machine.configs["LEFT"].goal == 0.4
    del sys.modules["my_states"]


def test_the_goals_of_the_tutorial_about_nav2_are_reachable_on_the_map_of_the_office() -> None:
    text = (TUTORIALS / "mobile_robot.md").read_text(encoding="utf-8")
    goals = re.findall(r"position: {x: ([-\d.]+), y: ([-\d.]+)}", text)
    assert len(goals) == 2
    found = map_of_scene("office", heights=(0.05, 0.4), movable=True)
    to_walls = distance_transform_edt(found.pixels[::-1] == FREE) * found.resolution
    for goal in goals:
        x, y = ((np.array(goal, float) - found.origin) / found.resolution).astype(int)
        assert to_walls[y, x] > 0.61  # the corners of the rover, which turns at the goal


def test_the_dock_of_the_parameters_is_where_the_scene_has_it() -> None:
    root = TUTORIALS.parents[1]
    file = parse_yaml((root / "config" / "nav2" / "rover.yaml").read_text(), "rover.yaml")
    docked = file["docking_server"]["ros__parameters"]["dock"]["pose"][:2]
    plant = Simulation(load_scene("office")).plant
    plant.evaluate()
    plate, contacts = (plant.data.site(n).xpos for n in ("rover/docking_plate", "dock/contacts"))
    assert docked == pytest.approx((contacts - plate)[:2].tolist(), abs=1e-3)


def drive(made: FsmController, ticks: int, delay: float = 0.0) -> list[str]:
    """Run ticks with joints that lag by a part of the reference; return the states."""
    states, q = [], 0.0
    for tick in range(ticks):
        references = made.step(seen(q), 0.01 * tick)
        q += (1.0 - delay) * (float(references.q[0]) - q)
        if made.machine.state not in states[-1:]:
            states.append(made.machine.state)
    return states


def test_the_controller_of_the_tutorial_waves_until_it_is_requested_to_rest() -> None:
    made = controller()
    assert drive(made, 5) == ["REST"]
    made.machine.request("wave")
    assert drive(made, 500) == ["LEFT", "RIGHT", "LEFT", "RIGHT"]
    made.machine.request("rest")
    assert drive(made, 5) == ["REST"]


def test_the_controller_of_the_tutorial_stops_where_the_joint_cannot_follow() -> None:
    made = controller(speed=10.0)
    drive(made, 2)
    made.machine.request("wave")
    assert drive(made, 20, delay=0.9)[-1] == "STOPPED"
    assert "rad behind" in made.machine.log.since(0)[-1].reason


def test_the_controller_of_the_tutorial_stops_if_the_joint_has_no_position() -> None:
    made = controller()
    drive(made, 2)
    made.machine.request("wave")
    drive(made, 5)
    references = [made.step(seen(float("nan")), 0.1).q.copy() for _ in range(3)]
    assert made.machine.state == "STOPPED"
    assert made.machine.log.since(0)[-1].reason == "nan rad behind"
    assert all(0.0 < q[0] < 0.1 for q in references)
