"""The panel "Plots": its signals and their samples."""

from types import SimpleNamespace

import mujoco
import numpy as np
import pytest
from mujoco.studio.dear_imgui import dear_imgui as imgui
from mujoco.studio.implot import implot
from still_state import StillState

from mujoco_ros.sim.shared_memory.past_states import PastStates
from mujoco_ros.viewer.client_set import FieldKey, FieldSample
from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.panels.plots.plots import SHORTEST_S, PlotsPanel, TimeAxis, padded
from mujoco_ros.viewer.plots.signals import signals

Q = ("arm joints", "shoulder_pan_joint", "q")
TORQUE = ("arm joints", "shoulder_pan_joint", "torque")


def add(past: PastStates, time: float) -> None:
    past.add(memoryview(np.array([time])).cast("B"))


def past_states(*times: float) -> PastStates:
    past = PastStates(np.zeros((100, 1)), memoryview(np.zeros(1, np.int64)))
    for time in times:
        add(past, time)
    return past


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
    frames.panel.signals.select(key := ("arm wrenches", sensor.name, "force"), True)
    frames.build()
    assert frames.panel.signals.history(key).curve(0).tolist() == [sign * 7.0]


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
    for state.time in (3.0, 4.0, 5.0):
        frames.build()
    times, values = frames.curves["shoulder_pan_joint q"]
    assert times[-3:] == [1.0, 2.0, 3.0], "with one sample beyond the end of the axis"
    assert values[-3:-1] == [10.0, 20.0]
    assert set(frames.curves) == {"shoulder_pan_joint q", "shoulder_pan_joint torque"}
    frames.use("Continue")
    assert frames.curves["shoulder_pan_joint q"][0][-1] == 5.0
    frames.use("Clear")
    assert not frames.curves


def test_joints_and_a_force_are_plotted_before_any_choice(show, state, arm, monkeypatch):
    frames = show(PlotsPanel)
    keys = [signal.key for signal in frames.panel.signals.selected]
    assert keys[0] == Q
    assert {heading for heading, _, _ in keys[:6]} == {"arm joints"}
    assert keys[6:] == [("arm wrenches", state.layout.robots[0].sensors["wrench"][0].name, "force")]
    frames.use("Clear")
    monkeypatch.setattr(state, "model", arm.model.__copy__())
    frames.build(2)
    assert not frames.panel.signals.selected, "a choice of the user, which stays"


def test_only_the_last_seconds_are_drawn_with_a_limited_number_of_points(show, state):
    frames = show(PlotsPanel)
    frames.panel.signals.select(Q, True)
    history = frames.panel.signals.history(Q)
    for time in np.arange(0.0, 30.0, 0.01):
        history.add(time, np.zeros(1))
    state.time = 30.0
    frames.use("##span", entered=2)
    frames.build()
    times, _values = frames.curves["shoulder_pan_joint q"]
    assert frames.panel.axis.span_s == 5.0
    assert len(times) <= 601
    assert times[0] == pytest.approx(25.0, abs=0.02)


def test_a_signal_stays_selected_if_another_model_has_it_too(show, state, arm, monkeypatch):
    frames = show(PlotsPanel)
    frames.use("Clear")
    frames.panel.signals.select(Q, True)
    monkeypatch.setattr(state, "model", arm.model.__copy__())
    frames.build(2)
    assert [signal.key for signal in frames.panel.signals.selected] == [Q]


def test_a_choice_survives_a_world_without_its_signals(clients):
    state = StillState("arm")
    panel = PlotsPanel(state, clients.parameters, clients.fields)
    panel.update()
    panel.signals.clear()
    panel.signals.select(TORQUE, True)
    kept = panel.settings()
    state.load("quadruped")
    panel.update()
    assert not panel.signals.selected
    assert panel.settings() == kept
    state.load("arm")
    panel.update()
    assert [signal.key for signal in panel.signals.selected] == [TORQUE]
    state.load("quadruped")
    panel.update()
    panel.signals.clear()
    assert panel.settings()["signals"] == []


def test_signals_are_sampled_at_the_past_states_also_those_before_the_choice(show, state):
    state.past = past_states(0.0, 0.1, 0.2)
    frames = show(PlotsPanel)
    assert frames.panel.signals.history(Q).times.tolist() == pytest.approx([0.0, 0.1, 0.2])
    add(state.past, 0.3)
    frames.panel.signals.select(TORQUE, True)
    frames.build()
    for key in (Q, TORQUE):
        times = frames.panel.signals.history(key).times.tolist()
        assert times == pytest.approx([0.0, 0.1, 0.2, 0.3])
    state.time = 7.0
    frames.build()
    assert len(frames.panel.signals.history(Q).times) == 4, "frames add no samples"


def test_a_return_to_a_past_state_keeps_the_samples_before_it(show, state):
    state.past = past_states(0.0, 0.1, 0.2, 0.3)
    frames = show(PlotsPanel)
    history = frames.panel.signals.history(Q)
    assert len(history.times) == 4
    state.data.qpos[state.layout.robots[0].joints.qpos[0]] = 0.5
    for time in (0.2, 0.25):
        add(state.past, time)
    frames.build()
    assert history.times.tolist() == pytest.approx([0.0, 0.1, 0.2, 0.25])
    assert history.curve(0)[-2:].tolist() == [0.5, 0.5], "not those of before the return"
    assert 0.5 not in history.curve(0)[:2]
    add(state.past, 0.0)  # a reset
    frames.build()
    assert history.times.tolist() == [0.0]


def test_a_click_shows_the_state_of_its_time_and_a_double_click_the_present(
    show, state, monkeypatch
):
    state.past = past_states(*np.arange(0.0, 10.0, 0.5))
    frames = show(PlotsPanel)
    hovered = iter(range(1000))
    monkeypatch.setattr(implot, "IsPlotHovered", lambda: next(hovered) == 0)
    monkeypatch.setattr(implot, "GetPlotMousePos", lambda: SimpleNamespace(x=5.0))

    def mouse(*, pressed: bool, double: bool = False) -> None:
        """Press or release the button in the first plot."""
        nonlocal hovered
        hovered = iter(range(1000))
        monkeypatch.setattr(imgui, "IsMouseClicked", lambda _: pressed)
        monkeypatch.setattr(imgui, "IsMouseDoubleClicked", lambda _: pressed and double)
        monkeypatch.setattr(imgui, "IsMouseReleased", lambda _: not pressed)
        frames.build()

    mouse(pressed=True)
    mouse(pressed=False)
    assert state.shown.time == pytest.approx(5.0)
    frames.panel.axis.hold(2.0, 3.0)
    mouse(pressed=True, double=True)
    mouse(pressed=False)
    assert state.shown is None
    assert frames.panel.axis.held is None
    mouse(pressed=True)
    mouse(pressed=False)
    assert state.shown.time == pytest.approx(5.0), "the next click counts again"
    state.show(None)


def test_a_field_of_a_topic_is_plotted_with_every_message(show, clients):
    clients.fields.topics = ("/joint_states", "/odom")
    clients.fields.paths["/odom"] = ("pose.pose.position.x", "pose.pose.position.y")
    frames = show(PlotsPanel)
    frames.use("Choose")
    frames.use("Topics")
    frames.use("/odom")
    assert clients.fields.inspected == "/odom"
    frames.use("pose.pose.position.y##/odom", entered=True)
    key = FieldKey("/odom", "pose.pose.position.y")
    assert clients.fields.watched == (key,)
    times = np.arange(0.0, 1.0, 0.001)
    clients.fields.samples = [FieldSample("/odom", it, {key.path: 2.0 * it}) for it in times]
    clients.fields.samples.insert(500, FieldSample("/odom", 0.3, {key.path: 9.0}))  # late
    frames.build()
    (curve,) = frames.panel.fields
    assert curve.history.times.tolist() == times.tolist()
    drawn, values = frames.curves["y"]
    assert len(drawn) <= 601
    assert values[-1] == pytest.approx(2.0 * times[-1])
    clients.fields.samples = [FieldSample("/odom", 0.0, {key.path: 5.0})]  # after a reset
    frames.build()
    assert frames.curves["y"] == ([0.0], [5.0])
    frames.use("Clear")
    assert clients.fields.watched == ()


def test_the_selection_is_kept_for_the_next_viewer(show, clients):
    frames = show(PlotsPanel)
    frames.panel.signals.select(TORQUE, True)
    frames.panel.fields.select(FieldKey("/odom", "x"), True)
    frames.panel.axis.span_s = 5.0
    kept = frames.panel.settings()
    other = show(PlotsPanel)
    other.panel.restore(kept)
    assert clients.fields.watched == (FieldKey("/odom", "x"),)
    assert other.panel.settings()["fields"] == [["/odom", "x"]]
    assert other.panel.settings()["span_s"] == 5.0


def test_two_cursors_measure_between_them(show, state):
    state.past = past_states(*np.arange(0.0, 10.0, 0.5))
    frames = show(PlotsPanel)
    frames.panel.signals.clear()
    frames.panel.signals.select(Q, True)
    qpos = state.layout.robots[0].joints.qpos[0]
    frames.use("Cursors")
    frames.panel.axis.cursors = (2.2, 7.2)
    history = frames.panel.signals.history(Q)
    history.curve(0)[:] = 3.0 * history.times
    frames.build()
    assert "dt = 5.0000 s, 0.2 Hz" in frames.texts
    assert "shoulder_pan_joint q (rad)" in frames.texts
    assert [text for text in frames.texts if text in ("6", "21", "15")] == ["6", "21", "15"]
    assert qpos >= 0
    frames.use("No cursors")
    assert not any(text.startswith("dt") for text in frames.texts)


def test_the_velocity_of_a_floating_base_and_torques_are_plotted_at_first(clients):
    state = StillState("humanoid")
    panel = PlotsPanel(state, clients.parameters, clients.fields)
    (base,) = state.layout.robots[0].bases
    cosine = np.sqrt(0.5)
    state.data.qpos[base.qpos + 3 : base.qpos + 7] = (cosine, 0.0, 0.0, cosine)
    state.data.qvel[base.dof : base.dof + 3] = (0.0, 0.5, 0.1)
    panel.update()
    labels = [signal.label for signal in panel.signals.selected]
    assert labels[:7] == ["velocity", *["torque"] * 6]
    np.testing.assert_allclose(panel.signals.selected[0].read(), (0.5, 0.0, 0.1), atol=1e-12)


def test_a_range_follows_the_newest_sample_until_it_is_held():
    axis = TimeAxis(span_s=5.0)
    assert axis.range(12.0) == (7.0, 12.0)
    axis.hold(8.0, 9.0)
    assert axis.range(20.0) == (8.0, 9.0)
    axis.follow()
    assert axis.range(20.0) == (15.0, 20.0)


def test_a_held_range_has_a_least_span():
    axis = TimeAxis()
    axis.hold(8.0, 8.0)
    begin, end = axis.range(0.0)
    assert end - begin == pytest.approx(SHORTEST_S)
    assert 0.5 * (begin + end) == pytest.approx(8.0)


def test_cursors_begin_within_the_range():
    axis = TimeAxis(span_s=9.0)
    axis.put_cursors(9.0)
    assert axis.cursors == (3.0, 6.0)
    assert axis.range(20.0) == (0.0, 9.0), "which stays"


def test_values_have_margins():
    assert padded(1.0, 3.0) == pytest.approx((0.9, 3.1))


@pytest.mark.parametrize("value", [0.0, 1e-9, 5.0, -4000.0])
def test_rounding_errors_do_not_fill_the_axis(value):
    low, high = padded(value, value + 1e-12 * max(1.0, abs(value)))
    assert low < value < high
    assert high - low >= 1e-3 * max(1.0, abs(value))
