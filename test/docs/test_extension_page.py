"""The example on the page about extensions runs."""

import re
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from simulators import ROOT

from mujoco_ros.extensions import extension_set
from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.model.scene.config import ExtensionConfig, load_scene
from mujoco_ros.sim.simulation import Simulation

PAGE = (ROOT / "docs" / "how-to" / "extend_the_simulator.md").read_text(encoding="utf-8")


def test_the_battery_of_the_page_discharges_by_the_work_of_the_motors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code = re.search(r"^```python\n(from dataclasses.*?)^```", PAGE, re.M | re.S)
    assert code is not None
    defined: dict[str, Any] = {"__name__": "example"}
    exec(code.group(1), defined)
    monkeypatch.setattr(extension_set, "load_extension", lambda _name: defined["Battery"])
    config = ExtensionConfig(use="battery", robot="arm", settings={"capacity": 1.0})
    simulation = Simulation(replace(load_scene("arm"), extensions=(config,)))
    extensions = ExtensionSet(simulation)
    simulation.references.q[0] += 0.5
    work = 0.0
    for _ in range(200):
        simulation.step()
        extensions.after_step()
        data, dofs = simulation.data, simulation.joints.dof
        work += abs(data.qfrc_actuator[dofs] * data.qvel[dofs]).sum() * 0.001
    assert simulation.model.opt.timestep == 0.001
    (runner,) = extensions.runners
    battery: Any = runner.extension
    assert work > 0.1
    assert battery.state["used"][0] == pytest.approx(work / 3600.0)
    assert battery.charge().data == pytest.approx(1.0 - work / 3600.0)


def test_the_page_names_every_method_that_can_be_overridden() -> None:
    methods = {name for name, it in vars(Extension).items() if callable(it) and name[0] != "_"}
    assert methods <= set(re.findall(r"`(\w+)[`(]", PAGE))
