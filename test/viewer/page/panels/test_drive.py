"""The panel "Drive" in a browser."""

import re
from dataclasses import replace
from types import SimpleNamespace

import pytest
from eventually import eventually
from playwright.sync_api import expect

from mujoco_ros.model.robot.drive import Drive
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.page.panels.drive import DrivePanel
from mujoco_ros.viewer.page.session import Shared

TOPIC, TOOL = "/cmd_vel", "/arm/cartesian_controller/target_twist"
ZERO = (0.0, 0.0, 0.0)
# As Chromium reports: empty slots, a device without the standard mapping that rests at -1, and a
# gamepad whose left shoulder button is held
GAMEPAD = """() => {
    const button = (pressed) => ({ pressed, value: +pressed, touched: pressed });
    const pad = { id: "Xbox 360 Controller (XInput STANDARD GAMEPAD)", index: 2, connected: true,
        mapping: "standard", timestamp: 812.4, axes: [0, -1, 0, 0],
        buttons: Array.from({ length: 17 }, (_, it) => button(it === 4)) };
    const pedals = { id: "Pedals (Vendor: 06a3 Product: 0763)", index: 1, connected: true,
        mapping: "", axes: [-1, -1, -1], buttons: [button(true)] };
    window.held = pad.buttons[4];
    window.a = pad.buttons[0];
    navigator.getGamepads = () => [null, pedals, pad, null];
}"""

MOUSE = """() => {
    window.mouse = { id: "256f-c635-3Dconnexion SpaceMouse Compact", mapping: "",
        connected: true, axes: [0, 0, 0, 0, 0, 0], buttons: [{ pressed: false }] };
    navigator.getGamepads = () => [window.mouse];
}"""


@pytest.fixture
def clients(clients):
    clients.velocities.topics = (TOPIC,)
    return clients


def test_a_pad_that_is_held_drives_and_a_released_one_stops(page, panel, clients):
    shown = panel("Drive")
    pad = shown.get_by_role("application", name="Move")
    expect(shown.get_by_role("application", name="Tilt")).to_be_hidden()
    expect(shown.get_by_role("combobox")).to_be_hidden()
    pad.hover()  # as soon as it stands still
    box = pad.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.down()
    page.mouse.move(x, y - 200, steps=2)
    expect(shown.get_by_text("0.30 m/s ahead, 0.00 m/s left, 0.00 rad/s")).to_be_visible()
    full = (TOPIC, (0.3, 0.0, 0.0), ZERO)  # a still pad reports that it is held
    eventually(lambda: clients.called("drive")[-3:] == [full] * 3, lambda: clients.calls)
    page.mouse.up()
    eventually(lambda: clients.calls[-1] == ("stop", TOPIC), lambda: clients.calls)
    expect(shown.get_by_text(f"Hold a pad to move {TOPIC}.")).to_be_visible()


def test_a_robot_that_cannot_move_sideways_is_steered_by_one_pad(
    page, panel, clients, state, monkeypatch
):
    wheels = Drive(type="diff_drive_controller/DiffDriveController", parameters={}, wheels=())
    robot = replace(state.layout.robots[0], drive=wheels)
    monkeypatch.setattr(state, "layout", replace(state.layout, robots=(robot,)))
    shown = panel("Drive")
    for name in ("Move", "Turn"):
        expect(shown.get_by_role("application", name=name)).to_be_hidden()
    expect(shown.get_by_role("spinbutton", name="left [m/s]")).to_be_hidden()
    shown.get_by_role("application", name="Steer").focus()
    page.keyboard.down("ArrowRight")
    eventually(lambda: clients.called("drive")[-1:] == [(TOPIC, ZERO, (0.0, 0.0, -0.35))])
    expect(shown.get_by_text(re.compile(r"0.00 m/s ahead, .0.35 rad/s"))).to_be_visible()
    page.keyboard.up("ArrowRight")


def test_the_arrow_keys_hold_a_pad_and_do_not_step(page, panel, clients, state):
    state.paused = True
    shown = panel("Drive")
    shown.get_by_role("application", name="Turn").focus()
    page.keyboard.down("ArrowRight")
    eventually(lambda: clients.called("drive")[-1:] == [(TOPIC, ZERO, (0.0, 0.0, -0.35))])
    page.keyboard.up("ArrowRight")
    eventually(lambda: clients.called("stop") == [(TOPIC,)], lambda: clients.calls)
    assert clients.called("step") == []


def test_a_tool_has_more_pads_and_the_last_motion_its_command(page, panel, clients, monkeypatch):
    clients.velocities.tool_topics = (TOOL,)
    request = Request("drive", ok=True, message="published", command="ros2 topic pub")
    command = clients.velocities.command
    monkeypatch.setattr(clients.velocities, "command", lambda *call: (command(*call), request)[1])
    shown = panel("Drive")
    expect(shown.get_by_role("spinbutton", name="forwards [m/s]")).to_be_visible()
    shown.get_by_role("combobox").select_option("tool /arm/cartesian_controller")
    expect(shown.get_by_role("spinbutton", name="forwards [m/s]")).to_be_hidden()
    shown.get_by_role("application", name="Tilt").focus()
    page.keyboard.down("ArrowUp")
    eventually(lambda: clients.called("drive")[-1:] == [(TOOL, ZERO, (0.0, 0.8, 0.0))])
    page.keyboard.up("ArrowUp")
    expect(shown.get_by_text("ros2 topic pub")).to_be_visible()


def test_a_gamepad_drives_while_its_button_is_held_even_if_the_panel_is_hidden(
    page, clients, state
):
    expect(page.get_by_role("tab", name="Drive")).to_be_visible()
    expect(page.locator(".devices span")).to_have_text("Press a button of a gamepad to use it.")
    page.evaluate(GAMEPAD)
    full = (TOPIC, (0.3, 0.0, 0.0), ZERO)
    eventually(lambda: clients.called("drive")[-1:] == [full], lambda: clients.calls)
    page.evaluate("window.a.pressed = true")
    closed = ("", {"left_finger_joint": state.model.joint("arm/left_finger_joint").range[0]})
    eventually(lambda: clients.called("command_joints") == [closed], lambda: clients.calls)
    page.evaluate("window.held.pressed = false")
    eventually(lambda: clients.called("stop") == [(TOPIC,)], lambda: clients.calls)
    page.get_by_role("tab", name="Drive").click()
    expect(page.get_by_text("Gamepad: hold LB to move, RB to rotate")).to_be_visible()


def test_the_gripper_of_the_robot_has_a_slider(page, panel, clients):
    page.set_viewport_size({"width": 390, "height": 844})
    number = panel("Drive").get_by_role("spinbutton", name="gripper, number")
    number.fill("0.01")
    number.press("Enter")
    expected = ("", {"left_finger_joint": pytest.approx(0.01)})
    eventually(lambda: clients.called("command_joints") == [expected], lambda: clients.calls)


def test_a_3d_mouse_pushes_the_selected_body_with_its_scales(page, panel, clients, served, state):
    clients.velocities.topics = ()
    # The page selects nothing when it gets its model.
    eventually(lambda: served.session.scene._model is state.model)
    served.session.scene.select(state.model.body("box/box").id)
    shown = panel("Drive")
    expect(shown.get_by_text("Hold a pad to push box.")).to_be_visible()
    expect(shown.get_by_role("spinbutton", name="forwards [m/s]")).to_be_hidden()
    force = shown.get_by_role("spinbutton", name="force [N]")
    force.fill("4")
    force.press("Enter")
    page.evaluate(MOUSE)
    expect(shown.get_by_text("Gamepad: hold a button to move")).to_be_visible()
    page.evaluate("window.mouse.buttons[0] = { pressed: true }")
    eventually(lambda: clients.called("push"), lambda: clients.calls)
    page.evaluate("Object.assign(window.mouse.axes, [-1, 0, 0, 0, 0, -1])")  # to the left, turned

    def pushed() -> bool:
        frame, given, torque = clients.called("push")[-1]
        return frame == "box" and given[1] == 4.0 and torque[2] == 1.0

    eventually(pushed, lambda: clients.calls)
    expect(shown.get_by_text("0.00, 4.00, 0.00 N; 0.00, 0.00, 1.00 Nm")).to_be_visible()
    page.evaluate("window.mouse.buttons[0] = { pressed: false }")
    zero = ("box", [0.0] * 3, [0.0] * 3)
    eventually(lambda: clients.called("push")[-1] == zero, lambda: clients.calls)


def test_a_read_only_page_moves_nothing_and_without_anything_to_move_there_is_no_panel(
    read_only_page, clients
):
    read_only_page.get_by_role("tab", name="Drive").click()
    pad = read_only_page.get_by_role("application", name="Move")
    expect(pad).to_have_attribute("aria-disabled", "true")
    pad.focus()
    read_only_page.keyboard.press("ArrowUp")
    clients.velocities.topics = ()
    expect(read_only_page.get_by_role("tab", name="Drive")).to_be_hidden()
    assert clients.called("drive") == []


def test_what_full_deflection_commands_is_kept(state, clients):
    session = SimpleNamespace(
        state=state,
        clients=clients,
        shared=Shared(state, clients, lambda _seconds: None),
        client=SimpleNamespace(on_delete=lambda _: None),
    )
    panel = DrivePanel(session)
    panel.restore({"full": {"forwards": 0.5}})
    full = {"forwards": 0.5, "left": 0.1, "turn": 0.35, "force": 10.0, "torque": 1.0}
    assert panel.settings() == {"full": full}
    panel.restore({"full": None})
