"""Battery and motor temperature, against their integrals."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from extension_runs import ExtensionRun

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism_config import RealismConfig
from mujoco_ros.model.scene.config import scene_from_text
from mujoco_ros.sim.simulation import Simulation

MOTOR = """<mujoco><worldbody><body><joint name="j" axis="0 0 1"/><geom size=".1"/></body>
</worldbody><actuator><motor name="m" joint="j" {limit}/></actuator></mujoco>"""
SCENE = """robots: [{{name: r, model: {}}}]
extensions: [{{use: battery, robot: r, settings: {{warm: 65.0, hot: 85.0}}}}]"""


@pytest.fixture
def robot() -> Iterator[ExtensionRun]:
    run = ExtensionRun("battery")
    yield run
    run.close()


def test_the_heat_of_holding_torques_warms_the_motors(robot: ExtensionRun) -> None:
    extension, its = robot.extension(), robot.extension().settings
    robot.step(0.5)
    torque = robot.data.actuator_force * robot.simulation.model.actuator_gear[:, 0]
    before, used = extension.state["warmth"].copy(), extension.state["used"][0]
    robot.step(1.0)
    heat = its.heating * torque**2
    # dT/dt = (heat - cooling * T) / capacity, at rest.
    end = heat / its.cooling
    expected = end + (before - end) * np.exp(-its.cooling / its.heat_capacity)
    assert extension.state["warmth"] == pytest.approx(expected, rel=0.03, abs=0.3)
    assert extension.state["warmth"].max() > 5.0
    assert extension.state["used"][0] - used == pytest.approx(heat.sum(), rel=0.03)
    temperatures = extension.temperatures().data
    assert temperatures == pytest.approx(25.0 + extension.state["warmth"])


def test_torque_falls_with_the_temperature(robot: ExtensionRun) -> None:
    extension, model = robot.extension(), robot.simulation.model
    full = model.actuator_forcerange.copy()
    for temperature, share in ((59.0, 1.0), (75.0, 0.5), (120.0, 0.0)):
        extension.state["warmth"][:] = temperature - 25.0
        extension.before_step()
        assert model.actuator_forcerange == pytest.approx(share * full)
    extension.state["warmth"][:] = 0.0
    robot.step(0.02)
    height = robot.data.qpos[2]
    extension.state["warmth"][:] = 1000.0
    robot.step(0.3)
    assert robot.data.qpos[2] < height - 0.02, "it falls"


def test_an_empty_battery_has_no_torque(robot: ExtensionRun) -> None:
    extension = robot.extension()
    assert extension.battery().percentage == 1.0
    extension.state["used"][0] = 1.0 * 3600.0
    message = extension.battery()
    assert (message.percentage, message.voltage) == pytest.approx((0.5, 48.0))
    assert message.charge == pytest.approx(0.5 * message.design_capacity)
    extension.state["used"][0] = 2.1 * 3600.0
    robot.step(0.1)
    assert not robot.data.actuator_force.any()
    assert extension.battery().percentage == 0.0
    robot.simulation.reset()
    robot.step(0.1)
    assert robot.data.actuator_force.any()


def _motor(folder: Path, limit: str) -> ExtensionRun:
    (folder / "r.xml").write_text(MOTOR.format(limit=limit))
    return ExtensionRun(scene_from_text(SCENE.format(folder / "r.xml")))


def test_commanded_limits_of_effort_remain(tmp_path: Path) -> None:
    run = _motor(tmp_path, 'ctrlrange="-10 10"')
    run.simulation.references.tau[0] = 100.0
    for commanded, warmth, effort in ((4.0, 0.0, 4.0), (4.0, 50.0, 2.0), (0.0, 50.0, 5.0)):
        run.simulation.drives.limit_effort(0, commanded)
        run.extension().state["warmth"][:] = warmth
        run.step(0.002)
        assert run.data.actuator_force[0] == pytest.approx(effort, rel=1e-3)
    run.close()


def test_an_empty_battery_also_stops_motors_with_limits_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    realism = RealismConfig(actuators={"all": {"peak_effort": 6.0}})
    monkeypatch.setattr(
        "extension_runs.Simulation", lambda *args, **kw: Simulation(*args, **kw, realism=realism)
    )
    run = _motor(tmp_path, 'ctrlrange="-10 10"')
    run.simulation.references.tau[0] = 100.0
    run.step(0.01)
    assert run.data.actuator_force[0] == pytest.approx(6.0)
    run.extension().state["used"][0] = 1e9
    run.step(0.01)
    assert run.data.actuator_force[0] == 0.0
    run.close()


def test_a_motor_without_a_limit_is_named(tmp_path: Path) -> None:
    message = (
        "^extension 'r/battery': actuator 'm' has no limit of force that the battery can lower"
    )
    with pytest.raises(UserInputError, match=message):
        _motor(tmp_path, "")


@pytest.mark.parametrize("how", ["disabled", "error"])
def test_a_battery_that_is_disabled_limits_nothing(robot: ExtensionRun, how: str) -> None:
    model, runner = robot.simulation.model, robot.set.runners[0]
    full = model.actuator_forcerange.copy()
    robot.extension().state["used"][0] = 1e9
    robot.step(0.01)
    assert not model.actuator_forcerange.any()
    if how == "disabled":
        runner.enable(enabled=False)
    else:
        runner.fail("before_step", "is wrong")
    assert model.actuator_forcerange.tolist() == full.tolist()
    runner.enable(enabled=True)
    robot.step(0.01)
    assert not model.actuator_forcerange.any()
