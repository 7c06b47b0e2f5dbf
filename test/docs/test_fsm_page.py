"""The pages of state machines: their example runs, and their names are those of the code."""

import re
import sys
from pathlib import Path

import pytest
from scripted_states import ROBOT, seen

from mujoco_ros.controllers import catalogue
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.table import Trigger
from mujoco_ros.controllers.interface import host
from mujoco_ros.controllers.interface.store import Key

ROOT = Path(__file__).resolve().parents[2]
HOW_TO = (ROOT / "docs" / "how-to" / "write_controllers.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "reference" / "state_machines.md").read_text(encoding="utf-8")


@pytest.fixture
def table(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "docs")
    from fsm_diagrams import example

    yield example()
    sys.modules.pop("fsm_diagrams", None)


def drive(controller: FsmController, q: float, ticks: int, *, follows: bool = True) -> list[str]:
    """Run ticks, from `q` with joints that follow at once; return the visited states."""
    states: list[str] = []
    for tick in range(ticks):
        references = controller.step(seen(q), 0.01 * tick)
        q = float(references.q[0]) if follows else q
        if controller.machine.state not in states[-1:]:
            states.append(controller.machine.state)
    return states


def test_the_example_waves_rests_and_detects_a_joint_that_is_stuck(table):
    controller = FsmController(table)
    controller.configure(ROBOT)
    drive(controller, 0.0, 2)
    controller.machine.request("wave")
    assert drive(controller, 0.0, 300) == ["WAVE/LEFT", "WAVE/RIGHT", "WAVE/WAVED"]
    controller.machine.request("waved")
    assert drive(controller, -0.4, 200) == ["BACK", "REST"]
    controller.machine.request("wave")
    assert drive(controller, 0.0, 50, follows=False)[-1] == "STOPPED"
    assert controller.machine.outcome == "stopped"
    assert re.match(r"0\.05\d rad behind", controller.machine.log.since(0)[-1].reason)


def test_the_example_stops_if_the_joint_has_no_position(table):
    controller = FsmController(table)
    controller.configure(ROBOT)
    drive(controller, 0.0, 2)
    controller.machine.request("wave")
    drive(controller, 0.0, 5)
    assert drive(controller, float("nan"), 3, follows=False)[-1] == "STOPPED"
    assert controller.machine.log.since(0)[-1].reason == "nan rad behind"


def test_the_pages_name_the_triggers_the_keys_and_the_entry_points():
    rows = re.findall(r"^\| `(\w+)` \| (?:as soon|likewise|on request)", REFERENCE, re.M)
    assert rows == list(Trigger)
    keys = {name for name, value in vars(host).items() if isinstance(value, Key)}
    assert keys == set(re.findall(r"`([A-Z]+_?[A-Z]+)`", REFERENCE.split("| A function that |")[1]))
    assert f'{{"{catalogue.GROUP}": [' in HOW_TO


def test_a_page_of_the_reference_shows_every_shipped_controller():
    pages = "".join(page.read_text(encoding="utf-8") for page in ROOT.glob("docs/reference/*.md"))
    for name in catalogue.names():
        assert f"(../images/fsm_{name}.svg)" in pages
