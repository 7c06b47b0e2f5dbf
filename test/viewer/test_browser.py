"""The page in a browser, and its effects over ROS."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_clients import seconds
from lifecycle_msgs.srv import GetState
from page_driver import PageDriver
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulated_page import START_MS, opened_page, set_state, simulator_with_page, viewer_of
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import DeleteEntity, GetEntityState, GetSimulationState
from simulators import ROOT, Listener, Recording, Simulator
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import InteractiveMarkerFeedback

from mujoco_ros.wire.names import PULL

SCENE = Path(__file__).parent / "data" / "scene.yaml"
SIZE = (1000, 640)
MAGENTA, GREY = [1.0, 0.0, 1.0, 1.0], [0.7, 0.7, 0.7, 1.0]
NOTICE = "#reconnecting"
END_S = 60.0
"""Longest time that another program takes to end after a signal."""
CONTROLLER = ROOT / "test" / "support" / "ros" / "state_machine_node.py"
MARKERS = ROOT / "test" / "support" / "ros" / "marker_server_node.py"
SLOW = """window.draws = 0;
window.requestAnimationFrame = draw => setTimeout(() => { draws++; draw(0); }, 500);"""
"""Script of a page that draws twice a second."""
UNCOVERED = """window.WebSocket = class extends WebSocket {
  constructor(...values) {
    super(...values);
    this.addEventListener("message", ({ data }) => {
      if (typeof data === "string" && data.startsWith("uncovered=")) {
        window.uncovered = data.slice(10).split(";").map(Number);
      }
    });
  }
};"""
"""Script of a page that records which part of it the panels leave uncovered."""
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def simulator(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Simulator, Path]]:
    folder = tmp_path_factory.mktemp("page")
    with simulator_with_page(folder, scene=SCENE, cameras="false") as running:
        yield running


@pytest.fixture(scope="module")
def listener(simulator: tuple[Simulator, Path]) -> Iterator[Listener]:
    listener = Listener(simulator[0].domain)
    yield listener
    listener.close()


@pytest.fixture(autouse=True)
def forget(listener: Listener) -> Iterator[None]:
    """Let no recording outlive its test."""
    yield
    listener.forget_subscriptions()


@pytest.fixture(scope="module")
def shown(simulator: tuple[Simulator, Path], browser: Any) -> Iterator[PageDriver]:
    """The page with robot and panels."""
    with opened_page(browser, simulator, SIZE) as shown:
        yield shown


def paint(listener: Listener, material: str, colour: list[float]) -> None:
    (done,) = listener.set_parameters({f"material.{material}.rgba": colour})
    assert done.successful, done.reason


def height_of(recording: Recording, frame: str) -> Callable[[], float]:
    def height() -> float:
        transforms = recording.latest.transforms if len(recording) else ()
        heights = {each.child_frame_id: each.transform.translation.z for each in transforms}
        return float(heights.get(frame, np.nan))

    return height


def test_the_page_shows_a_body_in_its_new_colour(shown, listener):
    assert len(shown.magenta()) == 0
    paint(listener, "box.paint", MAGENTA)
    shown.wait(lambda: len(shown.magenta()) > 8, "the box in its new colour")


def start_to_pull(shown: PageDriver) -> None:
    """Select the magenta body and drag it upwards, far enough to lift the box.

    The spring of the pull stretches by about 0.1 m under its weight.
    """
    middle = tuple(np.median(shown.magenta(), axis=0))
    shown.press(middle)
    shown.press(middle)  # a double click selects it
    shown.page.keyboard.down("Control")
    shown.drag(middle, (0.0, -140.0), "right")


def pull(shown: PageDriver, listener: Listener, has_effect: Callable[[], bool]) -> bool:
    """Pull until it has an effect: on a busy machine a double click may be two clicks.

    Returns:
        Whether it has an effect; the pull continues then.
    """
    for _ in range(3):
        start_to_pull(shown)
        if listener.spin_until(has_effect, 20.0):
            return True
        end_the_pull(shown)
    return False


def end_the_pull(shown: PageDriver) -> None:
    """Release the mouse and the keyboard, and wait until the viewer has read it."""
    shown.page.mouse.up(button="right")
    shown.page.keyboard.up("Control")
    shown.frames(6)


def is_over(pulls: Recording) -> bool:
    """Return whether the latest message of a pull is its end."""
    latest: InteractiveMarkerFeedback = pulls.latest
    return bool(latest.event_type == latest.MOUSE_UP)


def test_a_body_is_pulled_with_the_mouse_until_the_release(shown, listener):
    pulls = listener.record(InteractiveMarkerFeedback, f"/{PULL}", reliable=True)
    frames = listener.record(TFMessage, "/tf")
    height = height_of(frames, "box")
    assert listener.spin_until(lambda: height() == height())
    before = height()
    try:
        assert pull(shown, listener, lambda: height() > before + 0.02), "the pull has no effect"
        assert pulls.latest.marker_name == "box"
    finally:  # otherwise later tests cannot click
        end_the_pull(shown)
    assert listener.spin_until(lambda: is_over(pulls)), "no end"
    assert listener.spin_until(lambda: height() < before + 0.01), "the box stays lifted"


def drag_slider(shown: PageDriver, joint: str) -> tuple[float, float]:
    """Drag the slider of a joint's reference, which stays held; return its middle."""
    shown.click("arm###robot arm/Joints")
    slider = shown.middle(f"arm###robot arm/##{joint} reference")
    shown.drag((slider[0] + 15.0, slider[1]), (10.0, 0.0), "left")
    return slider


def test_a_free_body_is_moved_and_a_joint_set_with_the_mouse_while_paused(shown, listener):
    joints = listener.record(JointState, "/joint_states")
    assert listener.spin_until(lambda: len(joints) > 0)

    def height() -> float:
        request = GetEntityState.Request(entity="box")
        answer = listener.call(GetEntityState, "get_entity_state", request)
        return float(answer.state.pose.position.z)

    def rests() -> bool:
        last = height()
        listener.spin_for(0.5)
        return height() == last

    set_state(listener, SimulationState.STATE_PAUSED)
    try:
        before = height()
        try:
            assert pull(shown, listener, lambda: height() > before + 0.05), "the box is not moved"
        finally:
            end_the_pull(shown)
        assert any(rests() for _ in range(10)), "it moves after the release"
        assert height() > before + 0.05, "it stays where it was released"
        angle = joints.latest.position[0]
        drag_slider(shown, joints.latest.name[0])
        shown.page.mouse.up(button="left")
        shown.frames(6)
    finally:
        set_state(listener, SimulationState.STATE_PLAYING)
    assert listener.spin_until(lambda: abs(joints.latest.position[0] - angle) > 0.1)
    assert listener.spin_until(lambda: height() < before + 0.01), "the box does not fall"


def resets(shown: PageDriver, listener: Listener) -> bool:
    """Press the reset button; return whether the time goes back."""
    clock = listener.record(Clock, "/clock")
    assert listener.spin_until(lambda: len(clock) > 0)
    before = clock.latest.clock
    shown.click("Simulation/Reset")
    is_back = listener.spin_until(lambda: clock.latest.clock.sec < before.sec)
    listener.forget_subscriptions()
    return is_back


def test_a_button_resets_the_simulation(shown, listener):
    assert resets(shown, listener)


def test_the_simulation_continues_from_a_past_state_that_the_page_shows(shown, listener):
    clock = listener.record(Clock, "/clock")

    def is_paused() -> bool:
        request = GetSimulationState.Request()
        answer = listener.call(GetSimulationState, "get_simulation_state", request)
        return bool(answer.state.state == SimulationState.STATE_PAUSED)

    assert listener.spin_until(lambda: len(clock) > 0 and seconds(clock.latest.clock) > 1.0)
    shown.click("##history/##past")
    shown.middle("##history/Continue from here")
    now = listener.record(Clock, "/clock")  # the other one may have old messages in its queue
    assert listener.spin_until(lambda: len(now) > 0)
    before = seconds(now.latest.clock)
    shown.click("##history/Continue from here")
    assert listener.spin_until(is_paused)
    set_state(listener, SimulationState.STATE_PLAYING)
    count = len(clock)
    assert listener.spin_until(lambda: len(clock) > count)
    earliest = min(seconds(it.clock) for it in clock.messages[count:])
    assert earliest < before, "it continues from then"


def test_the_wheel_zooms_a_plot(shown):
    shown.middle("Plots/Freeze")
    clear = shown.middle("Plots/Clear")
    shown.page.mouse.move(clear[0], clear[1] + 80.0)
    shown.frames()
    shown.page.mouse.wheel(0.0, -100.0)
    shown.click("Plots/Continue")  # a zoomed plot stays
    shown.middle("Plots/Freeze")


def test_an_edited_gain_is_a_parameter(shown, listener):
    name = "gains.elbow_joint.kp"
    before = listener.get_parameter(name)
    shown.click("arm###robot arm/Gains")
    shown.type(f"arm###robot arm/##{name}", "321")
    assert listener.spin_until(lambda: listener.get_parameter(name) != before)
    assert listener.get_parameter(name) == 321.0


def test_a_button_requests_a_transition_of_a_controller(shown, listener, simulator):
    controller = subprocess.Popen(
        [sys.executable, str(CONTROLLER)], env=simulator[0].environment, cwd=ROOT
    )
    try:
        client = listener.node.create_client(GetState, "/walking_controller/get_state")
        assert client.wait_for_service(60.0)

        def state() -> str:
            answer = listener.result(client.call_async(GetState.Request()))
            return str(answer.current_state.label)

        def stands() -> bool:
            """Press the button, which may move when the controller appears."""
            shown.front("Controller")
            shown.click("Controller/stand")
            return listener.spin_until(lambda: state() == "standing", 5.0)

        assert any(stands() for _ in range(5))
    finally:
        controller.terminate()
        controller.wait(END_S)


def test_an_interactive_marker_of_another_program_is_moved_pressed_and_selected_from(
    shown, listener, simulator
):
    feedback = listener.record(InteractiveMarkerFeedback, "/planner/feedback", reliable=True)
    server = subprocess.Popen(
        [sys.executable, str(MARKERS)], env=simulator[0].environment, cwd=ROOT
    )
    window, handle = "Interactive markers", "##goal move x 1/grip"
    down, up = InteractiveMarkerFeedback.MOUSE_DOWN, InteractiveMarkerFeedback.MOUSE_UP

    def was_sent(event: int, control: str) -> bool:
        messages = [*feedback.messages]
        return any((it.event_type, it.control_name) == (event, control) for it in messages)

    def selects() -> bool:
        shown.front(window)
        shown.click(f"{window}/##/planner: goal")
        for _ in range(20):  # frames with only some of the widgets
            if handle in shown.found:
                return True
            shown.frames()
        return False

    try:
        assert any(selects() for _ in range(5))
        shown.click(f"{window}/Plan and go")
        click = InteractiveMarkerFeedback.BUTTON_CLICK
        assert listener.spin_until(lambda: was_sent(click, "go"))
        shown.drag(shown.middle(handle), (30.0, -20.0), "left")
        assert listener.spin_until(lambda: was_sent(down, "move_x"))
        shown.page.mouse.up()
        assert listener.spin_until(lambda: was_sent(up, "move_x"))
        pose = feedback.latest.pose.position
        assert abs(pose.x - 0.45) > 1e-3
        assert (pose.y, pose.z) == (0.1, 0.4)
        selected = InteractiveMarkerFeedback.MENU_SELECT
        for entry in ("Speed", "Fast"):
            shown.click(f"{window}/{entry}")
        assert listener.spin_until(lambda: was_sent(selected, "menu"))
        assert feedback.latest.menu_entry_id == 3
    finally:
        server.terminate()
        server.wait(END_S)


def test_the_page_reconnects_to_a_new_viewer_after_the_old_one_is_killed(
    shown, listener, simulator
):
    running, _ = simulator
    shown.page.evaluate(
        """() => {
            window.hadNotice = false;
            new MutationObserver(() => { hadNotice ||= document.querySelector("#lag") !== null; })
                .observe(document.body, {childList: true});
        }"""
    )
    os.kill(viewer_of(running), signal.SIGKILL)
    shown.page.wait_for_selector(NOTICE)
    shown.forget()
    shown.page.wait_for_selector(NOTICE, state="detached")
    assert shown.page.evaluate("hadNotice"), "the page does not report that its image is old"
    shown.page.wait_for_function("document.documentElement.dataset.lagS <= 0.5", timeout=START_MS)
    paint(listener, "box.paint", GREY)
    shown.wait(lambda: len(shown.magenta()) == 0, "the box in its old colour")
    assert resets(shown, listener)


def test_a_deleted_entity_disappears(shown, listener):
    paint(listener, "box.paint", MAGENTA)
    shown.wait(lambda: len(shown.magenta()) > 8, "the box")
    request = DeleteEntity.Request(entity="box")
    answer = listener.call(DeleteEntity, "delete_entity", request)
    assert answer.result.result == answer.result.RESULT_OK
    shown.wait(lambda: len(shown.magenta()) == 0, "the table without the box")


def test_a_pull_ends_when_the_page_is_closed(shown, listener):
    paint(listener, "steel", MAGENTA)
    shown.wait(lambda: len(shown.magenta()) > 8, "the arm")
    pulls = listener.record(InteractiveMarkerFeedback, f"/{PULL}", reliable=True)
    assert pull(shown, listener, lambda: len(pulls) > 0 and not is_over(pulls))
    assert pulls.latest.marker_name == "forearm"
    shown.page.close()
    assert listener.spin_until(lambda: is_over(pulls)), "the pull continues"


def test_a_short_click_on_a_slow_page_is_read(simulator, listener, browser):
    clock = listener.record(Clock, "/clock")
    with opened_page(browser, simulator, SIZE, SLOW) as shown:
        place = shown.middle("Simulation/Reset")
        for _ in range(3):
            assert listener.spin_until(lambda: len(clock) > 0 and clock.latest.clock.sec >= 1)
            shown.page.mouse.move(*place)
            shown.page.mouse.down()
            shown.page.mouse.up()
            shown.page.mouse.move(place[0], place[1] + 200.0)
            is_back = listener.spin_until(lambda: clock.latest.clock.sec < 1)
            assert is_back, "the click has no effect"


def test_a_quick_drag_on_a_slow_page_is_read(simulator, listener, browser):
    joints = listener.record(JointState, "/joint_states")
    with opened_page(browser, simulator, SIZE, SLOW) as shown:
        shown.click("arm###robot arm/Joints")
        assert listener.spin_until(lambda: len(joints) > 0)
        x, y = shown.middle(f"arm###robot arm/##{joints.latest.name[0]} reference")
        for end in (x + 30.0, x - 30.0):
            start = joints.latest.position[0]
            shown.page.mouse.move(x, y)
            shown.page.mouse.down()
            shown.page.mouse.move(end, y)
            shown.page.mouse.up()
            is_moved = listener.spin_until(
                lambda start=start: abs(joints.latest.position[0] - start) > 0.2
            )
            assert is_moved, "the drag has no effect"
            listener.spin_for(3.0)


def test_a_page_that_is_closed_moves_no_slider_and_presses_no_button(simulator, listener, browser):
    joints = listener.record(JointState, "/joint_states")
    assert listener.spin_until(lambda: len(joints) > 0)
    before = joints.latest.position[0]
    with opened_page(browser, simulator, SIZE) as shown:
        slider = drag_slider(shown, joints.latest.name[0])
        assert listener.spin_until(lambda: abs(joints.latest.position[0] - before) > 0.1)
        listener.spin_for(2.0)
        held = joints.latest.position[0]
    with opened_page(browser, simulator, SIZE) as shown:
        for move in (20.0, 60.0):
            shown.page.mouse.move(slider[0] - move, slider[1])
            shown.frames(6)
        listener.spin_for(2.0)
        assert abs(joints.latest.position[0] - held) < 0.02
        shown.drag(shown.middle("Simulation/Reset"), (1.0, 0.0), "left")
    listener.spin_for(2.0)
    assert abs(joints.latest.position[0] - held) < 0.02, "there was a reset"


@pytest.mark.parametrize("size", [(1280, 800), (1920, 1080)])
def test_the_scene_is_drawn_wherever_no_panel_covers_it(simulator, browser, size):
    with opened_page(browser, simulator, size, UNCOVERED) as shown:
        shown.wait(lambda: len(shown.page.evaluate("window.uncovered || []")) > 0, "its part")
        shown.frames(4)
        drawn = shown.screenshot()
        left, top, right, bottom, aspect = shown.page.evaluate("uncovered")
        shown.page.evaluate("visibleScene.set([])")
        shown.frames(4)
        whole = shown.screenshot()
    width, height = size[0], size[0] / aspect  # Studio's bar is below
    assert height == pytest.approx(size[1], abs=60.0)
    assert 0.4 < right - left < 0.6, "columns of panels are beside the scene"
    rows = slice(int(top * height) + 4, int(bottom * height) - 4)
    columns = slice(int(left * width) + 4, int(right * width) - 4)
    differences = np.abs(whole.astype(int) - drawn)[rows, columns].max(axis=2)
    assert (differences > 20).mean() < 0.01
    assert len(np.unique(drawn[rows, columns].reshape(-1, 3), axis=0)) > 50, "there is no scene"


def test_a_slow_page_receives_as_many_frames_of_the_panels_as_it_draws(simulator, browser):
    with opened_page(browser, simulator, SIZE, SLOW) as shown:
        draws, frames = shown.page.evaluate("draws"), shown.frame_count
        shown.wait(lambda: shown.frame_count >= frames + 10, "frames of the viewer")
        # Studio's page and the script each draw; the last frames may be in flight.
        assert shown.frame_count - frames <= shown.page.evaluate("draws") - draws + 2
