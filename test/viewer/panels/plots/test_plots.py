"""The panel "Plots": its signals and their samples."""

import mujoco
import numpy as np
import pytest
from still_state import StillState

from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.panels.plots.history import History
from mujoco_ros.viewer.panels.plots.plots import PlotsPanel
from mujoco_ros.viewer.panels.plots.signals import signals

Q = ("arm joints", "shoulder_pan_joint", "q")
TORQUE = ("arm joints", "shoulder_pan_joint", "torque")


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


@pytest.mark.parametrize(("setting", "sign"), [("child_on_parent", -1.0), ("parent_on_child", 1.0)])
def test_a_wrench_has_the_sign_with_which_it_is_published(show, state, clients, setting, sign):
    clients.parameters.known["wrench_sign"] = ParameterInfo(value=setting)
    sensor = state.layout.robots[0].sensors["wrench"][0]
    state.data.sensordata[sensor.addresses["force"]] = 7.0
    frames = show(PlotsPanel)
    frames.panel.select(key := ("arm wrenches", sensor.name, "force"), True)
    frames.build()
    assert frames.panel.history(key).curve(0).tolist() == [sign * 7.0]


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


def test_selected_signals_are_plotted_and_frozen_on_request(show, state):
    frames = show(PlotsPanel)
    frames.use("Clear")
    assert "Select the signals to plot." in frames.texts
    frames.use("Choose")
    frames.use("arm joints")
    frames.use(f"##{' '.join(Q)}", f"##{' '.join(TORQUE)}", entered=True)
    for time in (1.0, 2.0):
        state.time, state.data.qpos[state.layout.robots[0].joints.qpos[0]] = time, 10.0 * time
        frames.build()
    frames.use("Freeze")
    state.time = 3.0
    frames.build()
    times, values = frames.curves["shoulder_pan_joint q"]
    assert times[-2:] == [1.0, 2.0]
    assert values[-2:] == [10.0, 20.0]
    assert set(frames.curves) == {"shoulder_pan_joint q", "shoulder_pan_joint torque"}
    frames.use("Continue")
    assert frames.curves["shoulder_pan_joint q"][0][-1] == 3.0
    frames.use("Clear")
    assert not frames.curves


def test_joints_and_a_force_are_plotted_before_any_choice(show, state, arm, monkeypatch):
    frames = show(PlotsPanel)
    keys = [signal.key for signal in frames.panel.plotted]
    assert keys[0] == Q
    assert {heading for heading, _, _ in keys[:6]} == {"arm joints"}
    assert keys[6:] == [("arm wrenches", state.layout.robots[0].sensors["wrench"][0].name, "force")]
    frames.use("Clear")
    monkeypatch.setattr(state, "model", arm.model.__copy__())
    frames.build(2)
    assert not frames.panel.plotted, "a choice of the user, which stays"


def test_only_the_last_seconds_are_drawn_with_a_limited_number_of_points(show, state):
    frames = show(PlotsPanel)
    frames.panel.select(Q, True)
    history = frames.panel.history(Q)
    for time in np.arange(0.0, 30.0, 0.01):
        history.add(time, np.zeros(1))
    state.time = 30.0
    frames.use("##span", entered=2)
    frames.build()
    times, _values = frames.curves["shoulder_pan_joint q"]
    assert frames.panel.span_s == 5.0
    assert len(times) <= 601
    assert times[0] == pytest.approx(25.0, abs=0.02)


def test_a_signal_stays_selected_if_another_model_has_it_too(show, state, arm, monkeypatch):
    frames = show(PlotsPanel)
    frames.use("Clear")
    frames.panel.select(Q, True)
    monkeypatch.setattr(state, "model", arm.model.__copy__())
    frames.build(2)
    assert [signal.key for signal in frames.panel.plotted] == [Q]


def test_a_history_drops_samples_older_than_its_span():
    history = History(2, span_s=5.0, capacity=20)
    for time in range(53):
        history.add(float(time), np.array([time, -time]))
    assert history.times.size <= 20
    assert history.times.tolist() == list(np.arange(history.times[0], 53.0))
    assert history.times[0] <= 47.0
    np.testing.assert_array_equal(history.curve(1), -history.times)


def test_a_full_history_drops_every_second_sample():
    history = History(1, span_s=1e6, capacity=20)
    for time in range(1000):
        history.add(float(time), np.array([time]))
        assert history.times[-1] == time
        assert history.times.size <= 20
    assert history.times[0] == 0.0
    assert (np.diff(history.times) > 0.0).all()
    np.testing.assert_array_equal(history.curve(0), history.times)


def test_a_history_starts_again_when_the_time_goes_back_and_stores_each_time_once():
    history = History(1, span_s=60.0)
    for time in (1.0, 2.0, 2.0, 0.5):
        history.add(time, np.array([time]))
        if time == 2.0:
            assert history.times.tolist() == [1.0, 2.0]
    assert history.times.tolist() == [0.5]
