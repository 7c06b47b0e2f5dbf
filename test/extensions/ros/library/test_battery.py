"""Battery and motor temperature, against their integrals."""

from collections.abc import Iterator

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from extension_runs import ExtensionRun


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
