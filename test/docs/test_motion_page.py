"""The pages of planning: their examples run, and their names are those of the code."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.table_reader import table_from_dict
from mujoco_ros.controllers.planning.collisions.planning_scene import PlanningScene
from mujoco_ros.controllers.planning.kinematics import limits
from mujoco_ros.controllers.planning.kinematics.kinematics import Kinematics
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

ROOT = Path(__file__).resolve().parents[2]
HOW_TO = (ROOT / "docs" / "how-to" / "plan_motions.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "reference" / "planning.md").read_text(encoding="utf-8")


def example(number: int) -> dict[str, Any]:
    """Return the names that an example of the page defines."""
    there: dict[str, Any] = {"__name__": "example"}
    exec(re.findall(r"^```python\n(.*?)^```", HOW_TO, re.M | re.S)[number], there)
    return there


def test_the_example_moves_above_the_box():
    there = example(0)
    reached = Kinematics(there["chain"]).pose(there["plan"].trajectory.goal)
    assert reached.position == pytest.approx([0.35, 0.2, 0.485], abs=1e-5)
    assert abs(there["dq"]).max() > 0.1


def test_the_page_names_every_error_and_every_field_of_the_planning_scene():
    kinds = {name for name in vars(limits) if name.endswith("Error")}
    assert set(re.findall(r"^\| `(\w+Error)` \|", REFERENCE, re.M)) == kinds - {
        "MotionError",
        "UserInputError",
    }
    rows = REFERENCE.split("| Field of `PlanningScene` |")[1].split("\n\n")[0]
    named = set(re.findall(r"^\| `(\w+)` \|", rows, re.M))
    assert named == {field.name for field in fields(PlanningScene)}


def pressing(force):
    """Return a simulation of the page's state, and its host."""
    states = {"PRESS": {"class": "Press", "force": force, "outcome": "pressed"}}
    table = table_from_dict(
        {"rate": 500, "initial": "PRESS", "states": states},
        {"Press": example(1)["Press"]},
        name="press",
        where="plan_motions.md",
    )
    simulation = Simulation(assemble(load_scene("arm")))
    return simulation, ControllerHost(simulation, FsmController(table))


def weight_on(model, data, prefix):
    """Return the vertical force of all contacts of a robot with others [N]."""
    total, wrench = 0.0, np.zeros(6)
    for number, contact in enumerate(data.contact):
        own = [model.body(model.geom_bodyid[g]).name.startswith(prefix) for g in contact.geom]
        if own[0] != own[1]:
            mujoco.mj_contactForce(model, data, number, wrench)
            total += abs(contact.frame.reshape(3, 3)[:, 2] @ wrench[:3])
    return total


def test_the_example_of_impedance_presses_with_the_set_force():
    simulation, host = pressing(12.0)
    model, data = simulation.plant.model, simulation.plant.data
    own = model.actuator_biasprm[:6, 1:3].copy()
    host.step()
    host.step()
    assert (model.actuator_biasprm[:6, 1:3] == 0.0).all()
    while simulation.time < 2.5:
        host.step()
    assert weight_on(model, data, "arm/") == pytest.approx(12.0, abs=0.02)
    assert np.abs(data.qvel[:6]).max() < 0.01
    simulation.reset()
    assert (model.actuator_biasprm[:6, 1:3] == own).all(), "it restores the gains"


def test_the_example_of_impedance_yields_to_a_lateral_force_and_returns():
    simulation, host = pressing(0.0)
    data = simulation.plant.data
    hand, tool = data.body("arm/gripper_base"), data.site("arm/grasp")
    host.step()
    begin = tool.xpos.copy()
    for push, where in ((4.0, 0.02), (0.0, 0.0)):
        until = simulation.time + 1.6
        while simulation.time < until:
            data.xfrc_applied[hand.id, 1] = push
            host.step()
        assert tool.xpos[1] - begin[1] == pytest.approx(where, abs=2e-3)
