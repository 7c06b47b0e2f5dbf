"""The panel of a robot: joints, references and gains."""

import math

import numpy as np
import pytest

from mujoco_ros.viewer.clients import ParameterInfo, Request
from mujoco_ros.viewer.joint_rows import joint_rows
from mujoco_ros.viewer.panels.robots import RobotsPanel


@pytest.fixture
def gains(clients):
    """The first joint's gains, as parameters of the simulator."""
    for name, value in (("kp", 80.0), ("kd", 4.0)):
        clients.parameters.known[f"gains.shoulder_pan_joint.{name}"] = ParameterInfo(
            value=value, low=0.0, high=1e4, description=f"{name} [Nm/rad]"
        )


def test_a_row_has_the_limits_of_its_joint(state):
    robot = state.layout.robots[0]
    by_name = {row.name: row for row in joint_rows(state.model, robot.joints)}
    joint, finger = by_name["shoulder_pan_joint"], by_name["left_finger_joint"]
    assert (joint.unit, finger.unit, finger.effort_unit) == ("rad", "m", "N")
    assert joint.is_limited
    assert joint.is_actuated
    model = state.model.joint(robot.prefix + "shoulder_pan_joint")
    assert (joint.low, joint.high) == tuple(model.range)
    assert 0.0 < joint.effort < math.inf


def test_positions_and_efforts_are_shown_with_their_units(show, state):
    robot = state.layout.robots[0]
    state.data.qpos[robot.joints.qpos] = np.linspace(0.1, 0.9, robot.joints.qpos.size)
    state.data.qfrc_actuator[robot.joints.dof[0]] = 2.5
    frames = show(RobotsPanel)
    assert "0.100" in frames.texts
    assert "0.900 m" in frames.texts
    frames.use("degrees", entered=True)
    assert f"{np.degrees(0.1):.1f}" in frames.texts
    assert "0.900 m" in frames.texts


def test_a_number_that_rounds_to_zero_has_no_sign(show, state):
    state.data.qpos[state.layout.robots[0].joints.qpos] = -1e-9
    frames = show(RobotsPanel)
    assert "0.000" in frames.texts
    assert "-0.000" not in frames.texts


def test_a_diverged_simulation_is_shown(show, state):
    state.data.qpos[:] = state.data.qfrc_actuator[:] = np.nan
    frames = show(RobotsPanel)
    assert "nan" in frames.texts
    assert not any("Error" in text for text in frames.texts)


def test_a_slider_sends_the_reference_of_its_joint(show, clients):
    frames = show(RobotsPanel)
    frames.use("##shoulder_pan_joint reference", entered=0.25)
    assert clients.called("command_joints") == [("", {"shoulder_pan_joint": 0.25})]


def test_the_last_reference_has_the_command_that_does_the_same(show, clients, monkeypatch):
    request = Request("command elbow", ok=True, message="published", command="ros2 topic pub")
    monkeypatch.setattr(clients.commands, "command_joints", lambda *_: request)
    frames = show(RobotsPanel)
    assert "Copy" not in frames.seen
    frames.use("##shoulder_pan_joint reference", entered=0.25)
    assert {"command elbow: published", "ros2 topic pub"} <= set(frames.texts)
    assert frames.seen["Copy"]


def test_a_slider_sets_the_joint_itself_while_paused(show, state, clients):
    state.paused = True
    frames = show(RobotsPanel)
    frames.use("##shoulder_pan_joint reference", entered=0.25)
    assert clients.called("set_joints") == [("", {"shoulder_pan_joint": 0.25})]
    assert clients.called("command_joints") == []
    assert frames.seen["##right_finger_joint reference"], "joints without an actuator, too"
    state.paused = False
    frames.build(2)
    assert not frames.seen["##right_finger_joint reference"]


def test_a_replay_shows_its_joints_but_takes_no_references_and_has_no_gains(show, clients):
    clients.parameters.known["at_end"] = ParameterInfo(value="pause")
    frames = show(RobotsPanel)
    assert "A replay accepts no references." in frames.texts
    assert not frames.seen["Hold here"]
    assert not frames.seen["##shoulder_pan_joint reference"]
    frames.use("Gains")
    frames.use("Gains")
    assert "A replay has no gains." in frames.texts


def test_a_slider_in_degrees_sends_radians(show, clients):
    frames = show(RobotsPanel)
    frames.use("degrees", entered=True)
    frames.use("##shoulder_pan_joint reference", entered=90.0)
    [(_namespace, references)] = clients.called("command_joints")
    assert references == pytest.approx({"shoulder_pan_joint": math.pi / 2})


def test_holding_makes_the_positions_the_references(show, state, clients):
    robot = state.layout.robots[0]
    state.data.qpos[robot.joints.qpos] = 0.01
    frames = show(RobotsPanel)
    frames.use("Hold here")
    [(_namespace, references)] = clients.called("command_joints")
    assert references["shoulder_pan_joint"] == 0.01
    assert set(references) <= set(robot.joints.names)


def test_an_edited_gain_is_set_and_the_result_is_shown(show, clients, gains):
    frames = show(RobotsPanel)
    frames.use("Gains")
    frames.use("##gains.shoulder_pan_joint.kp", entered=120.0)
    assert clients.called("set_parameters") == [({"gains.shoulder_pan_joint.kp": 120.0},)]
    clients.requests[-1].complete(False, "must be at most 100")
    frames.build()
    assert "must be at most 100" in frames.text


def test_only_joints_with_gains_are_in_the_table_of_gains(show, gains):
    frames = show(RobotsPanel)
    frames.use("Gains")
    assert {label for label in frames.seen if label.startswith("##gains")} == {
        "##gains.shoulder_pan_joint.kp",
        "##gains.shoulder_pan_joint.kd",
    }


def test_without_parameters_the_table_of_gains_names_the_simulator(show):
    frames = show(RobotsPanel)
    frames.use("Gains")
    assert "/mujoco does not respond" in frames.texts
