"""The signals of a state that can be plotted."""

import mujoco
import numpy as np
import pytest
from still_state import StillState

from mujoco_ros.control.references import References
from mujoco_ros.viewer.plots.signals import signals


@pytest.fixture(scope="module")
def state() -> StillState:
    state = StillState("arm")
    joints = state.layout.robots[0].joints
    state.references = References.holding(np.array(state.data.qpos[joints.qpos]))
    return state


def test_all_measured_signals_can_be_plotted(state):
    robot = state.layout.robots[0]
    found = {signal.key: signal for signal in signals(state, lambda: 1.0)}
    state.data.qpos[robot.joints.qpos[0]], state.references.q[0] = 0.3, 0.4
    state.data.qfrc_actuator[robot.joints.dof[0]] = 5.0
    labels = {"q": (0.3, "rad"), "q_ref": (0.4, "rad"), "torque": (5.0, "Nm")}
    for label, (value, unit) in labels.items():
        signal = found["arm joints", "shoulder_pan_joint", label]
        assert signal.read().tolist() == [value]
        assert signal.unit == unit
    sensor = robot.sensors["wrench"][0]
    state.data.sensordata[sensor.addresses["force"] : sensor.addresses["force"] + 3] = (
        1.0,
        2.0,
        3.0,
    )
    wrench = found["arm wrenches", sensor.name, "force"]
    assert wrench.read().tolist() == [1.0, 2.0, 3.0]
    assert wrench.curves == tuple(f"{sensor.name} force {axis}" for axis in "xyz")


def test_a_wrench_has_the_sign_with_which_it_is_published(state):
    sensor = state.layout.robots[0].sensors["wrench"][0]
    state.data.sensordata[sensor.addresses["force"]] = 7.0
    for sign in (1.0, -1.0):
        found = {signal.key: signal for signal in signals(state, lambda sign=sign: sign)}
        assert found["arm wrenches", sensor.name, "force"].read()[0] == sign * 7.0


def test_a_distance_out_of_range_is_a_gap_in_its_curve(tmp_path):
    (tmp_path / "cart.xml").write_text(
        """<mujoco><worldbody><geom type="plane" size="1 1 1"/>
        <body name="b" pos="0 0 1"><joint name="j" axis="0 0 1"/><geom size="0.1"/>
        <site name="up"/><site name="down" euler="180 0 0"/></body></worldbody>
        <sensor><rangefinder name="up" site="up"/><rangefinder name="down" site="down"/></sensor>
        </mujoco>"""
    )
    state = StillState(str(tmp_path / "cart.xml"))
    mujoco.mj_forward(state.model, state.data)
    found = {signal.row: signal for signal in signals(state, lambda: 1.0) if signal.unit == "m"}
    assert found["down"].read().tolist() == pytest.approx([1.0])
    assert np.isnan(found["up"].read()).all()
