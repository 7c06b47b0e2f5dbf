"""The curves of plots, and their samples."""

import numpy as np
import pytest
from fake_clients import FakeClients
from past_times import past_states
from still_state import StillState

from mujoco_ros.control.references import References
from mujoco_ros.sim.shared_memory.past_states import PastStates
from mujoco_ros.viewer.clients import FieldKey, FieldSample
from mujoco_ros.viewer.plots.curves import FieldCurves, StateCurves

Q = ("arm joints", "shoulder_pan_joint", "q")
TORQUE = ("arm joints", "shoulder_pan_joint", "torque")


def add(past: PastStates, time: float) -> None:
    past.add(memoryview(np.array([time])).cast("B"))


@pytest.fixture
def state() -> StillState:
    state = StillState("arm")
    joints = state.layout.robots[0].joints
    state.references = References.holding(np.array(state.data.qpos[joints.qpos]))
    return state


@pytest.fixture
def curves(state) -> StateCurves:
    return StateCurves(state, FakeClients().parameters)


def test_joints_and_a_force_are_plotted_before_any_choice(curves, state):
    curves.update()
    keys = [signal.key for signal in curves.selected]
    assert keys[0] == Q
    assert {heading for heading, _, _ in keys[:6]} == {"arm joints"}
    assert keys[6:] == [("arm wrenches", state.layout.robots[0].sensors["wrench"][0].name, "force")]
    curves.clear()
    state.load("arm")
    curves.update()
    assert not curves.selected, "a choice of the user, which stays"


def test_the_velocity_of_a_floating_base_and_torques_are_plotted_at_first():
    state = StillState("humanoid")
    curves = StateCurves(state, FakeClients().parameters)
    (base,) = state.layout.robots[0].bases
    cosine = np.sqrt(0.5)
    state.data.qpos[base.qpos + 3 : base.qpos + 7] = (cosine, 0.0, 0.0, cosine)
    state.data.qvel[base.dof : base.dof + 3] = (0.0, 0.5, 0.1)
    curves.update()
    labels = [signal.label for signal in curves.selected]
    assert labels[:7] == ["velocity", *["torque"] * 6]
    np.testing.assert_allclose(curves.selected[0].read(), (0.5, 0.0, 0.1), atol=1e-12)


def test_a_choice_survives_a_world_without_its_signals(curves, state):
    curves.update()
    curves.clear()
    curves.select(TORQUE, True)
    state.load("quadruped")
    curves.update()
    assert not curves.selected
    assert curves.chosen == [TORQUE]
    state.load("arm")
    curves.update()
    assert [signal.key for signal in curves.selected] == [TORQUE]
    state.load("quadruped")
    curves.update()
    curves.clear()
    assert curves.chosen == []


def test_signals_are_sampled_at_the_past_states_also_those_before_the_choice(curves, state):
    state.past = past_states(0.0, 0.1, 0.2)
    curves.update()
    assert curves.history(Q).times.tolist() == pytest.approx([0.0, 0.1, 0.2])
    add(state.past, 0.3)
    curves.select(TORQUE, True)
    curves.update()
    for key in (Q, TORQUE):
        assert curves.history(key).times.tolist() == pytest.approx([0.0, 0.1, 0.2, 0.3])
    state.time = 7.0
    curves.update()
    assert len(curves.history(Q).times) == 4, "frames add no samples"


def test_a_return_to_a_past_state_keeps_the_samples_before_it(curves, state):
    state.past = past_states(0.0, 0.1, 0.2, 0.3)
    curves.update()
    history = curves.history(Q)
    assert len(history.times) == 4
    state.data.qpos[state.layout.robots[0].joints.qpos[0]] = 0.5
    for time in (0.2, 0.25):
        add(state.past, time)
    curves.update()
    assert history.times.tolist() == pytest.approx([0.0, 0.1, 0.2, 0.25])
    assert history.curve(0)[-2:].tolist() == [0.5, 0.5], "not the values before the return"
    assert 0.5 not in history.curve(0)[:2]
    add(state.past, 0.0)  # a reset
    curves.update()
    assert history.times.tolist() == [0.0]


def test_a_field_has_every_message_but_late_ones_until_the_time_goes_back():
    client, key = FakeClients().fields, FieldKey("/odom", "pose.pose.position.y")
    fields = FieldCurves(client)
    fields.select(key, True)
    fields.update()
    assert client.watched == (key,)
    times = np.arange(0.0, 1.0, 0.001)
    client.samples = [FieldSample("/odom", it, {key.path: 2.0 * it}) for it in times]
    client.samples.insert(500, FieldSample("/odom", 0.3, {key.path: 9.0}))  # late
    fields.update()
    (curve,) = fields
    assert curve.history.times.tolist() == times.tolist()
    client.samples = [FieldSample("/odom", 0.0, {key.path: 5.0})]  # after a reset
    fields.update()
    assert (curve.history.times.tolist(), curve.history.curve(0).tolist()) == ([0.0], [5.0])
    fields.keep(())
    fields.update()
    assert client.watched == ()
