"""The panel "Robots" in a browser."""

import re
from dataclasses import replace

import numpy as np
import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.control.references import References
from mujoco_ros.sim.shared_memory.past_states import PastState
from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.joint_rows import joint_rows
from mujoco_ros.viewer.page.panels import robots


def test_a_joint_has_its_position_reference_and_torque_with_units(panel, state):
    row = panel("Robots").get_by_role("row", name="elbow_joint")
    state.data.qpos[2], state.data.qfrc_actuator[2] = 0.25, -0.0001
    expect(row.get_by_role("cell").first).to_have_text("0.250")
    expect(row.get_by_role("meter", name="elbow_joint torque")).to_have_text("0.00")
    expect(panel("Robots").get_by_role("columnheader").nth(1)).to_have_text("qrad")
    hold = panel("Robots").get_by_role("button", name="Hold here")
    slider = row.get_by_role("slider")
    expect(hold).to_be_enabled()
    state.time, state.shown = 2.0, PastState(0, 1.0)  # whose positions are not commanded
    expect(hold).to_be_disabled()
    expect(slider).to_be_disabled()
    state.shown = None
    expect(slider).to_be_enabled()


def test_a_slider_commands_a_reference_and_keeps_within_the_limits(panel, clients):
    number = panel("Robots").get_by_role("spinbutton", name="elbow_joint reference, number")
    number.fill("0.5")
    number.press("Enter")
    eventually(lambda: clients.called("command_joints"), lambda: clients.calls)
    namespace, positions = clients.called("command_joints")[-1]
    assert (namespace, positions) == ("", {"elbow_joint": pytest.approx(0.5)})
    slider = panel("Robots").get_by_role("slider", name="elbow_joint reference")
    slider.focus()
    slider.press("ArrowRight")
    eventually(lambda: clients.called("command_joints")[-1][1]["elbow_joint"] > 0.505)
    number.fill("99")
    number.press("Enter")
    most = float(slider.get_attribute("max"))
    expect(number).not_to_have_value("99")
    eventually(
        lambda: clients.called("command_joints")[-1][1]["elbow_joint"] == pytest.approx(most)
    )


def test_a_slider_returns_to_the_reference_if_a_command_has_no_effect(panel, clients):
    number = panel("Robots").get_by_role("spinbutton", name="elbow_joint reference, number")
    expect(number).to_have_value("0.000")
    number.fill("0.5")
    number.press("Enter")
    number.blur()
    eventually(lambda: clients.called("command_joints"), lambda: clients.calls)
    expect(number).to_have_value("0.000")


def test_a_slider_of_a_wheel_commands_a_velocity(panel, clients, state, monkeypatch):
    monkeypatch.setattr(
        robots,
        "joint_rows",
        lambda *args: [replace(row, takes_velocities=True) for row in joint_rows(*args)],
    )
    shown = panel("Robots")
    shown.get_by_role("button", name="Gains").click()
    expect(shown.get_by_role("row", name="elbow_joint")).to_be_hidden()
    shown.get_by_role("button", name="Joints").click()  # builds the rows again
    number = shown.get_by_role("spinbutton", name="elbow_joint velocity, number")
    number.fill("2.5")
    number.press("Enter")
    expected = [("", {"elbow_joint": pytest.approx(2.5)})]
    eventually(lambda: clients.called("command_velocities") == expected, lambda: clients.calls)
    assert clients.called("command_joints") == []
    shown.get_by_role("button", name="Hold here").click()
    eventually(lambda: clients.called("command_velocities")[-1][1]["elbow_joint"] == 0.0)


def test_while_paused_a_slider_sets_the_position(panel, state, clients):
    state.paused = True
    number = panel("Robots").get_by_role("spinbutton", name="elbow_joint position, number")
    number.fill("0.5")
    number.press("Enter")
    eventually(lambda: clients.called("set_joints"), lambda: clients.calls)
    assert clients.called("set_joints")[-1][1] == {"elbow_joint": pytest.approx(0.5)}


def test_angles_are_shown_in_degrees(panel, state):
    state.data.qpos[2] = 0.5
    shown = panel("Robots")
    shown.get_by_role("checkbox", name="degrees").check()
    row = shown.get_by_role("row", name="elbow_joint")
    expect(row.get_by_role("cell").first).to_have_text("28.6")


def test_an_edited_gain_is_set(panel, clients):
    for gain, value in (("kp", 100.0), ("kd", 1.0)):
        clients.parameters.known[f"gains.elbow_joint.{gain}"] = ParameterInfo(
            value=value, low=0.0, high=1000.0
        )
    shown = panel("Robots")
    shown.get_by_role("button", name="Gains").click()
    field = shown.get_by_role("spinbutton", name="elbow_joint kp")
    expect(field).to_have_value("100")
    field.fill("250")
    field.press("Enter")
    expected = [({"gains.elbow_joint.kp": 250.0},)]
    eventually(lambda: clients.called("set_parameters") == expected, lambda: clients.calls)


def test_a_replay_accepts_no_references(panel, clients):
    clients.parameters.known["at_end"] = ParameterInfo(value="pause")
    shown = panel("Robots")
    expect(shown.get_by_text("A replay accepts no references.")).to_be_visible()
    expect(shown.get_by_role("slider", name="elbow_joint reference")).to_be_disabled()


def test_the_head_has_the_units_of_most_joints_and_rows_have_the_others(panel, state, monkeypatch):
    def rows(*args):
        wheel, rail, *others = joint_rows(*args)
        return [replace(wheel, takes_velocities=True), replace(rail, is_prismatic=True), *others]

    monkeypatch.setattr(robots, "joint_rows", rows)
    monkeypatch.setattr(state, "edits", state.edits + 1)  # builds the panel again
    shown = panel("Robots")
    heads = shown.get_by_role("columnheader")
    expect(heads).to_have_text(["Joint", "qrad", "Referencerad", "TorqueNm"])
    for joint, *units in (
        ("shoulder_pan_joint", "", "rad/s", ""),
        ("shoulder_lift_joint", "m", "m", "N"),
        ("elbow_joint", "", "", ""),
    ):
        cells = shown.get_by_role("row", name=joint).get_by_role("cell")
        for number, unit in enumerate(units):
            expect(cells.nth(number)).to_have_text(re.compile(rf"^[−.\d]* ?{unit}$"))
    state.paused = True
    expect(heads).to_have_text(["Joint", "qrad", "Set qrad", "TorqueNm"])
    expect(shown.get_by_text("rad/s")).to_have_count(0)


def test_many_robots_are_chosen_from_a_list(panel, state, served, monkeypatch):
    (robot,) = state.layout.robots
    names = [f"arm {number}" for number in range(20)]
    many = replace(state.layout, robots=tuple(replace(robot, name=name) for name in names))
    state.references = References.holding(np.tile(state.references.q, len(names)))
    monkeypatch.setattr(state, "layout", many)
    monkeypatch.setattr(state, "edits", state.edits + 1)
    shown = panel("Robots")
    expect(shown.get_by_role("tab")).to_have_count(0)
    shown.get_by_role("combobox", name="Robots").select_option("arm 17")
    eventually(lambda: served.session.robot == "arm 17")
    expect(shown.get_by_role("combobox", name="Robots")).to_have_value("arm 17")


def test_a_position_beyond_the_limits_is_marked(panel, state):
    cell = panel("Robots").get_by_role("row", name="elbow_joint").get_by_role("cell").first
    (row,) = [
        r for r in joint_rows(state.model, state.layout.robots[0].joints) if "elbow" in r.name
    ]
    bad = cell.locator("[data-tone=bad]")
    expect(cell).to_have_text("0.000")
    expect(bad).to_have_count(0)
    state.data.qpos[row.qpos] = row.high + 0.01
    expect(bad).to_have_count(1)
    state.data.qpos[row.qpos] = row.high
    expect(bad).to_have_count(0)


def test_actuators_without_a_joint_are_commanded_and_cleared(panel, state, clients, monkeypatch):
    monkeypatch.setitem(state.metadata, "controls", {"arm": {"muscle": 1, "winch": 2}})
    shown = panel("Robots")
    shown.get_by_role("button", name="Actuators").click()
    state.data.ctrl[1], state.data.actuator_force[1] = 0.25, 3.0
    number = shown.get_by_role("spinbutton", name="muscle control, number")
    expect(number).to_have_value("0.250")
    expect(shown.get_by_role("meter", name="muscle force")).to_have_text("3.00")
    number.fill("0.5")
    number.press("Enter")
    eventually(lambda: clients.called("command_actuators"), lambda: clients.calls)
    assert clients.called("command_actuators")[-1] == ("", {"muscle": pytest.approx(0.5)})
    shown.get_by_role("button", name="Clear").click()
    zero = ("", {"muscle": 0.0, "winch": 0.0})
    eventually(lambda: clients.called("command_actuators")[-1] == zero, lambda: clients.calls)


def test_the_control_of_a_muscle_without_limits_is_from_0_to_1(panel, state, monkeypatch):
    monkeypatch.setitem(state.metadata, "controls", {"arm": {"biceps": 1, "winch": 2}})
    monkeypatch.setattr(robots, "actuator_kind", lambda _, it: "muscle" if it == 1 else "tendon")
    limited, state.model.actuator_ctrllimited[1:3] = state.model.actuator_ctrllimited[1:3].copy(), 0
    try:
        shown = panel("Robots")
        shown.get_by_role("button", name="Actuators").click()
        for name, low in (("biceps", "0"), ("winch", "-1")):
            slider = shown.get_by_role("slider", name=f"{name} control")
            expect(slider).to_have_attribute("min", low)
            expect(slider).to_have_attribute("max", "1")
    finally:
        state.model.actuator_ctrllimited[1:3] = limited
