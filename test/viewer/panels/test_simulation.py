"""The panel "Simulation"."""

import pytest
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.achieved_factor import AchievedFactor
from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.panels.simulation import SimulationPanel
from mujoco_ros.viewer.panels.widgets import format_speed


def test_a_running_simulation_can_be_paused_and_reset_but_not_stepped(show, clients):
    frames = show(SimulationPanel)
    frames.use("Pause")
    frames.use("Reset")
    frames.use("Reset all")
    assert clients.calls == [("pause",), ("reset", "time", "state"), ("reset",)]
    assert not frames.seen["Step"]
    assert frames.texts[0].startswith("playing"), "with the factor, if a second has passed"


def test_a_paused_simulation_can_be_played_and_stepped(show, state, clients):
    state.paused = True
    frames = show(SimulationPanel)
    frames.use("##steps", entered=7)
    frames.use("Step")
    frames.use("Play")
    assert clients.calls == [("step", 7), ("play",)]
    assert "paused" in frames.texts


def test_a_replay_has_no_keyframes(show, clients):
    clients.parameters.known["at_end"] = ParameterInfo(value="pause")
    frames = show(SimulationPanel)
    assert "A replay has no keyframes." in frames.texts
    assert "Save" not in frames.seen
    frames.use("Pause")
    assert clients.calls == [("pause",)]


def test_the_number_of_steps_is_at_least_one(show, state, clients):
    state.paused = True
    frames = show(SimulationPanel)
    frames.use("##steps", entered=-3)
    frames.use("Step")
    assert clients.called("step") == [(1,)]


@pytest.mark.parametrize(("index", "factor"), [(0, 0.01), (5, 1.0), (9, 0.0)])
def test_a_speed_is_chosen_from_a_list(show, state, clients, index, factor):
    state.factor = 0.1
    frames = show(SimulationPanel)
    frames.use("##speed", entered=index)
    assert clients.called("set_speed") == [(factor,)]


def test_a_speed_that_is_not_in_the_list_is_shown(show, state):
    state.factor = 3.0
    frames = show(SimulationPanel)
    assert frames.seen["##speed"]
    assert format_speed(3.0) == "3x"
    assert format_speed(0.0) == "as fast as possible"


def test_the_achieved_factor_is_measured(show, state, monkeypatch):
    frames = show(SimulationPanel)
    now = 1e6
    monkeypatch.setattr("mujoco_ros.viewer.panels.simulation.time.monotonic", lambda: now)
    for _ in range(20):
        now, state.time = now + 0.1, state.time + 0.05
        frames.build()
    assert "playing at 0.50x" in frames.texts
    assert "1.000 s, in steps of 1 ms" in frames.texts


def test_a_saved_keyframe_is_offered_after_the_response(show, clients):
    frames = show(SimulationPanel)
    assert not frames.seen["Save"]
    frames.use("##keyframe", entered=" crouched ")
    frames.use("Save")
    assert "crouched" not in frames.panel.keyframes
    clients.requests[-1].complete(True, "saved at 1 s")
    assert frames.panel.keyframes[-1] == "crouched"
    frames.use("Load")
    assert clients.calls == [("save_keyframe", "crouched"), ("load_keyframe", "crouched")]


def test_the_models_keyframes_are_offered(show, clients):
    frames = show(SimulationPanel)
    names = frames.panel.keyframes
    frames.use("##keyframes", entered=1)  # the field itself shows 0
    frames.use("Load")
    assert clients.called("load_keyframe") == [(names[0],)]
    assert "home" in names[0]


def test_the_result_of_the_latest_request_is_shown(show, clients):
    frames = show(SimulationPanel)
    frames.use("Reset")
    assert "reset: …" in frames.text
    clients.requests[-1].complete(False, "the model has diverged")
    frames.build()
    assert "reset: the model has diverged" in frames.text


def test_a_simulator_that_does_not_respond_is_named(show, clients):
    clients.simulation.status = ""
    assert "/mujoco does not respond" in show(SimulationPanel).texts


def test_the_command_that_does_the_same_can_be_copied(show, clients, monkeypatch):
    copied: list[str] = []
    monkeypatch.setattr(imgui, "SetClipboardText", copied.append)
    frames = show(SimulationPanel)
    frames.use("Pause")
    assert "Copy" not in frames.seen
    clients.requests[-1].command = "ros2 service call /mujoco/set_simulation_state"
    frames.use("Copy")
    assert copied == ["ros2 service call /mujoco/set_simulation_state"]
    assert copied[0] in frames.texts


def test_the_factor_is_that_of_the_last_second():
    achieved = AchievedFactor()
    assert achieved.value is None
    simulated = 0.0
    for step in range(100):
        simulated += 0.02 if step < 50 else 0.005
        achieved.add(0.02 * step, simulated)
    assert achieved.value == pytest.approx(0.25, abs=0.05)


def test_a_step_back_in_time_starts_the_measurement_again():
    achieved = AchievedFactor()
    for step in range(50):
        achieved.add(0.02 * step, 0.02 * step)
    achieved.add(1.0, 0.0)
    assert achieved.value is None
