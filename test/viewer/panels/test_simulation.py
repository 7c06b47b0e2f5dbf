"""The panel "Simulation"."""

import pytest

from mujoco_ros.viewer.link import ParameterInfo, ViewerRunState
from mujoco_ros.viewer.panels.simulation import SimulationPanel, speed_label


def test_a_running_simulation_can_be_paused_and_reset_but_not_stepped(show, link):
    frames = show(SimulationPanel)
    frames.use("Pause")
    frames.use("Reset")
    frames.use("Reset all")
    assert link.calls == [("pause",), ("reset", "time", "state"), ("reset",)]
    assert not frames.seen["Step"]
    assert "playing" in frames.texts


def test_a_paused_simulation_can_be_played_and_stepped(show, state, link):
    state.paused = True
    frames = show(SimulationPanel)
    frames.use("##steps", entered=7)
    frames.use("Step")
    frames.use("Play")
    assert link.calls == [("step", 7), ("play",)]
    assert "paused" in frames.texts


def test_a_replay_has_no_keyframes_and_says_so(show, link):
    link.parameters["at_end"] = ParameterInfo(value="pause")
    frames = show(SimulationPanel)
    assert "A replay has no keyframes." in frames.texts
    assert "Save" not in frames.seen
    frames.use("Pause")
    assert link.calls == [("pause",)]


def test_the_number_of_steps_is_at_least_one(show, state, link):
    state.paused = True
    frames = show(SimulationPanel)
    frames.use("##steps", entered=-3)
    frames.use("Step")
    assert link.called("step") == [(1,)]


@pytest.mark.parametrize(("index", "factor"), [(0, 0.01), (5, 1.0), (9, 0.0)])
def test_a_speed_is_chosen_from_a_list(show, state, link, index, factor):
    state.factor = 0.1
    frames = show(SimulationPanel)
    frames.use("##speed", entered=index)
    assert link.called("set_speed") == [(factor,)]


def test_a_speed_that_is_not_in_the_list_is_shown_as_it_is(show, state):
    state.factor = 3.0
    frames = show(SimulationPanel)
    assert frames.seen["##speed"]
    assert speed_label(3.0) == "3x"
    assert speed_label(0.0) == "as fast as possible"


def test_the_achieved_factor_is_measured(show, state, monkeypatch):
    frames = show(SimulationPanel)
    now = 1e6
    monkeypatch.setattr("mujoco_ros.viewer.panels.simulation.time.monotonic", lambda: now)
    for _ in range(20):
        now, state.time = now + 0.1, state.time + 0.05
        frames.build()
    assert "playing at 0.50x" in frames.texts
    assert "1.000 s, in steps of 1 ms" in frames.texts


def test_a_keyframe_is_saved_by_name_and_offered_when_that_is_done(show, link):
    frames = show(SimulationPanel)
    assert not frames.seen["Save"]
    frames.use("##keyframe", entered=" crouched ")
    frames.use("Save")
    assert "crouched" not in frames.panel.keyframes
    link.requests[-1].settle(True, "saved at 1 s")
    assert frames.panel.keyframes[-1] == "crouched"
    frames.use("Load")
    assert link.calls == [("save_keyframe", "crouched"), ("load_keyframe", "crouched")]


def test_the_models_keyframes_are_offered(show, link):
    frames = show(SimulationPanel)
    names = frames.panel.keyframes
    frames.use("##keyframes", entered=1)  # 0 is what the field shows itself
    frames.use("Load")
    assert link.called("load_keyframe") == [(names[0],)]
    assert "home" in names[0]


def test_the_last_answer_is_shown(show, link):
    frames = show(SimulationPanel)
    frames.use("Reset")
    assert "reset: …" in frames.text
    link.requests[-1].settle(False, "the model has diverged")
    frames.build()
    assert "reset: the model has diverged" in frames.text


def test_a_simulator_that_does_not_answer_is_named(show, link):
    link.reachable, link.run_state = False, ViewerRunState.UNKNOWN
    assert "/mujoco does not answer" in show(SimulationPanel).texts
