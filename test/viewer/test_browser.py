"""The page in a browser: what it draws, what reaches the viewer, and what it outlives.

What a panel does with its input is tested without a browser, in `panels` and `ros`.
"""

import json
import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command_clients import seconds
from geometry_msgs.msg import Point, PoseStamped
from page_driver import PageDriver
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulated_page import START_MS, opened_page, set_state, simulator_with_page, viewer_of
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import DeleteEntity, ResetSimulation, SetEntityState
from simulators import Listener, Recording, Simulator
from std_msgs.msg import ColorRGBA
from tf2_msgs.msg import TFMessage
from visualization_msgs.msg import InteractiveMarkerFeedback, Marker

from mujoco_ros.viewer.keys import TITLE as KEY_HELP
from mujoco_ros.wire.names import PULL
from mujoco_ros.wire.qos import LATCHED

SCENE = Path(__file__).parent / "data" / "scene.yaml"
SIZE = (1280, 800)
EMPTY = (640.0, 60.0)
"""A place in the scene without a body."""
DIFFERENCE = 20
"""Least difference of a colour that is visible, of 255."""
MAGENTA, GREY = [1.0, 0.0, 1.0, 1.0], [0.7, 0.7, 0.7, 1.0]
NOTICE = "#reconnecting"
ROBOT = "arm###robot arm"
SLIDER = f"{ROBOT}/##elbow_joint reference"
CAMERA, IMAGE, LOG = "Cameras/corner", "Cameras/##320 ('', 'corner')", "Log/##word"
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
def running(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Simulator, Path]]:
    folder = tmp_path_factory.mktemp("page")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        with simulator_with_page(folder, scene=SCENE, cameras="true") as both:
            yield both


@pytest.fixture(scope="module")
def listener(running: tuple[Simulator, Path]) -> Iterator[Listener]:
    listener = Listener(running[0].domain)
    yield listener
    listener.close()


@pytest.fixture(autouse=True)
def forget(listener: Listener) -> Iterator[None]:
    """Let no recording outlive its test."""
    yield
    listener.forget_subscriptions()


@pytest.fixture(scope="module")
def shown(running: tuple[Simulator, Path], browser: Any) -> Iterator[PageDriver]:
    """The page with robot and panels."""
    with opened_page(browser, running, SIZE, UNCOVERED) as shown:
        yield shown


def paint(listener: Listener, material: str, colour: list[float]) -> None:
    (done,) = listener.set_parameters({f"material.{material}.rgba": colour})
    assert done.successful, done.reason


@pytest.fixture
def magenta_arm(shown: PageDriver, listener: Listener) -> Iterator[None]:
    """Paint the arm for a test."""
    assert len(shown.magenta()) == 0
    paint(listener, "steel", MAGENTA)
    shown.wait(lambda: len(shown.magenta()) > 8, "the magenta arm")
    yield
    paint(listener, "steel", GREY)
    shown.wait(lambda: len(shown.magenta()) == 0, "the grey arm")


@pytest.fixture
def magenta_box(shown: PageDriver, listener: Listener) -> Iterator[None]:
    """Paint the box for a test."""
    assert len(shown.magenta()) == 0
    paint(listener, "box.paint", MAGENTA)
    shown.wait(lambda: len(shown.magenta()) > 8, "the magenta box")
    yield
    paint(listener, "box.paint", GREY)
    shown.wait(lambda: len(shown.magenta()) == 0, "the grey box")


def differing(first: np.ndarray, second: np.ndarray) -> float:
    """Return the share of pixels in which two images differ clearly."""
    return float((np.abs(first.astype(int) - second).max(axis=2) > DIFFERENCE).mean())


def test_the_title_has_scene_and_robot_and_a_key_shows_and_hides_the_keys(shown):
    assert shown.page.title() == "scene (arm) \u2013 mujoco_ros"
    assert KEY_HELP not in shown.found
    shown.key("F1")
    shown.wait(lambda: KEY_HELP in shown.found, "the keys")
    shown.key("Escape")
    shown.wait(lambda: KEY_HELP not in shown.found, "the scene without the keys")


def test_the_scene_is_drawn_wherever_no_panel_covers_it(shown):
    shown.wait(lambda: len(shown.page.evaluate("window.uncovered || []")) > 0, "its part")
    shown.move_to(EMPTY)
    drawn = shown.screenshot()
    left, top, right, bottom, aspect = part = shown.page.evaluate("uncovered")
    shown.page.evaluate("visibleScene.set([])")
    shown.frames(4)
    whole = shown.screenshot()
    shown.page.evaluate("part => visibleScene.set(part)", part)
    width, height = SIZE[0], SIZE[0] / aspect  # Studio's bar is below
    assert height == pytest.approx(SIZE[1], abs=60.0)
    assert 0.4 < right - left < 0.6, "columns of panels are beside the scene"
    rows = slice(int(top * height) + 4, int(bottom * height) - 4)
    columns = slice(int(left * width) + 4, int(right * width) - 4)
    assert differing(whole[rows, columns], drawn[rows, columns]) < 0.01
    assert len(np.unique(drawn[rows, columns].reshape(-1, 3), axis=0)) > 50, "there is no scene"


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


@pytest.mark.usefixtures("magenta_box")
def test_a_body_in_its_new_colour_is_pulled_with_the_mouse_until_the_release(shown, listener):
    pulls = listener.record(InteractiveMarkerFeedback, f"/{PULL}", reliable=True)
    frames = listener.record(TFMessage, "/tf")

    def height() -> float:
        transforms = frames.latest.transforms if len(frames) else ()
        heights = {each.child_frame_id: each.transform.translation.z for each in transforms}
        return float(heights.get("box", np.nan))

    assert listener.spin_until(lambda: height() == height())
    before = height()
    try:
        assert pull(shown, listener, lambda: height() > before + 0.02), "the pull has no effect"
        assert pulls.latest.marker_name == "box"
    finally:  # otherwise later tests cannot click
        end_the_pull(shown)
    assert listener.spin_until(lambda: is_over(pulls)), "no end"
    assert listener.spin_until(lambda: height() < before + 0.01), "the box stays lifted"


def resets(shown: PageDriver, listener: Listener) -> bool:
    """Press the reset button; return whether the time goes back."""
    clock = listener.record(Clock, "/clock")
    assert listener.spin_until(lambda: len(clock) > 0 and clock.latest.clock.sec >= 1)
    before = clock.latest.clock
    shown.click("Simulation/Reset")
    is_back = listener.spin_until(lambda: clock.latest.clock.sec < before.sec)
    listener.forget_subscriptions()
    return is_back


def test_a_button_resets_the_simulation(shown, listener):
    assert resets(shown, listener)


@pytest.mark.usefixtures("magenta_box")
def test_the_page_shows_a_past_state_from_which_the_simulation_continues(shown, listener):
    bar, back = "##history/##past", "##history/Continue from here"

    def time() -> float:
        """Return the time in the panel [s]."""
        (text,) = (text for text in shown.texts if "s, in steps of" in text)
        return float(text.removeprefix("Simulation/").split()[0])

    def place() -> float:
        """Return how far the box is from the upper edge of the page [px]."""
        return float(np.median(shown.magenta()[:, 1]))

    def show_the_past() -> None:
        left, top, right, bottom = shown.found[bar]
        shown.press((left + 0.1 * (right - left), 0.5 * (top + bottom)))
        shown.wait(lambda: back in shown.found and time() < 0.2 * now, "the past time")
        shown.wait(lambda: place() > halfway, "the box where it was")

    shown.front("Simulation")
    request = ResetSimulation.Request()
    request.scope = request.SCOPE_TIME | request.SCOPE_STATE
    answer = listener.call(ResetSimulation, "reset_simulation", request)
    assert answer.result.result == answer.result.RESULT_OK
    clock = listener.record(Clock, "/clock")
    assert listener.spin_until(lambda: len(clock) > 0 and clock.latest.clock.sec >= 2)
    set_state(listener, SimulationState.STATE_PAUSED)
    try:
        shown.frames(6)
        below, now = place(), time()
        lift = SetEntityState.Request(entity="box")
        lift.state.header.frame_id = "world"
        lift.state.pose.position = Point(x=0.6, z=0.6)
        answer = listener.call(SetEntityState, "set_entity_state", lift)
        assert answer.result.result == answer.result.RESULT_OK, answer.result.error_message
        shown.wait(lambda: place() < below - 30.0, "the lifted box")
        halfway = 0.5 * (below + place())
        show_the_past()
        shown.click("##history/Live")
        shown.wait(lambda: back not in shown.found and time() == now, "the present time")
        shown.wait(lambda: place() < halfway, "the box where it is")
        show_the_past()
        past = time()
        shown.click(back)
        shown.wait(lambda: back not in shown.found and time() == past, "the end of the past")
        shown.wait(lambda: place() > halfway, "the box where it was")
    finally:
        set_state(listener, SimulationState.STATE_PLAYING)
    later = listener.record(Clock, "/clock")
    assert listener.spin_until(lambda: len(later) > 0)
    assert past < seconds(later.messages[0].clock) < now, "it continues from then"


def test_a_chosen_signal_is_plotted_and_the_wheel_zooms_its_plot(shown):
    none, box = "Plots/Select the signals to plot.", "Plots/##arm joints elbow_joint q"
    shown.front("Plots")
    shown.click("Plots/Clear")
    shown.wait(lambda: none in shown.texts, "no signal")
    shown.move_to(EMPTY)
    empty = shown.part("Plots")
    shown.click("Plots/Choose")
    shown.click("Plots/arm joints")
    shown.click(box)
    shown.key("Escape")
    shown.wait(lambda: box not in shown.found and none not in shown.texts, "the plot alone")
    shown.wait(lambda: differing(empty, shown.part("Plots")) > 0.01, "the image of the plot")
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
    shown.click(f"{ROBOT}/Gains")
    shown.type(f"{ROBOT}/##{name}", "321")
    assert listener.spin_until(lambda: listener.get_parameter(name) != before)
    assert listener.get_parameter(name) == 321.0


def open_arm(shown: PageDriver) -> None:
    """Open the node of the arm in the panel World."""
    if not shown.shows("World/Visual##arm"):
        shown.click("World/arm (robot)###arm")


@pytest.mark.usefixtures("magenta_arm")
def test_a_switch_of_an_entity_hides_and_shows_it(shown):
    open_arm(shown)
    shown.click("World/Visual##arm")
    shown.wait(lambda: len(shown.magenta()) == 0, "the scene without the arm")
    shown.click("World/Visual##arm")
    shown.wait(lambda: len(shown.magenta()) > 8, "the arm")


def test_the_command_of_an_action_is_copied(shown):
    shown.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    service = "ros2 service call /mujoco/set_joints "
    open_arm(shown)
    shown.click("World/Reset##arm")
    shown.middle("World/Copy")
    shown.wait(lambda: any(f"World/{service}" in text for text in shown.texts), "the command")
    shown.click("World/Copy")

    def copied() -> str:
        return str(shown.page.evaluate("navigator.clipboard.readText()"))

    shown.wait(lambda: copied().startswith(service), "the copied command")
    assert f"World/{copied()}" in shown.texts


def test_a_target_is_published_dragged_and_removed(shown, listener):
    button, topic = "Targets/Add target", "/target/grasp/pose"
    shown.wait(lambda: shown.shows(button), "the targets")
    shown.type("Targets/##name", "grasp")
    shown.click(button)
    poses = listener.record(PoseStamped, topic, qos=LATCHED)
    assert listener.spin_until(lambda: len(poses) > 0)
    before = poses.latest
    assert before.header.frame_id == "world"
    shown.drag(shown.middle("##grasp move/grip"), (30.0, 0.0), "left")
    shown.page.mouse.up()
    assert listener.spin_until(lambda: poses.latest.pose.position != before.pose.position)
    shown.click("Targets/Remove")
    assert listener.spin_until(lambda: listener.node.count_publishers(topic) == 0)


def test_a_marker_of_another_program_is_drawn_until_its_topic_is_switched_off(shown, listener):
    publisher = listener.node.create_publisher(Marker, "/goal", LATCHED)
    marker = Marker(type=Marker.SPHERE, color=ColorRGBA(r=1.0, g=0.0, b=1.0, a=1.0))
    marker.header.frame_id = "world"
    marker.pose.position = Point(x=0.3, z=0.3)
    marker.scale.x = marker.scale.y = marker.scale.z = 0.3
    assert len(shown.magenta()) == 0
    publisher.publish(marker)
    shown.wait(lambda: len(shown.magenta()) > 8, "the marker")
    shown.wait(lambda: shown.shows("Overlays//goal"), "the topic of the marker")
    shown.click("Overlays//goal")
    shown.wait(lambda: len(shown.magenta()) == 0, "the scene without the marker")
    shown.click("Overlays//goal")
    shown.wait(lambda: len(shown.magenta()) > 8, "the marker again")
    listener.node.destroy_publisher(publisher)
    shown.wait(lambda: len(shown.magenta()) == 0, "the scene after the end of the publisher")


def test_a_click_enlarges_a_thumbnail_and_escape_closes_it(shown):
    shown.wait(lambda: shown.shows(IMAGE), "the thumbnail")
    shown.wait(lambda: np.ptp(shown.part(IMAGE)) > 50, "its image")
    shown.click(IMAGE)
    enlarged = "corner, colour###enlarged camera"
    shown.wait(lambda: enlarged in shown.found, "the enlarged image")
    shown.middle(f"{enlarged}/##640 ('', 'corner')")
    shown.key("Escape")
    shown.wait(lambda: enlarged not in shown.found, "the scene without the image")


def kept(running: tuple[Simulator, Path]) -> dict[str, Any]:
    """Return the settings of the page that the viewer has written."""
    file = running[1].parent / "state" / "mujoco_ros" / "viewer" / f"{SCENE.stem}.json"
    return json.loads(file.read_text()) if file.exists() else {}


def wait_for_flags(shown: PageDriver, running: Any, **flags: Any) -> dict[str, Any]:
    """Wait until these flags of the display are kept, and no others; return all settings."""
    shown.wait(lambda: kept(running).get("Display") == flags, f"{flags} in the file")
    return kept(running)


def change_the_view(shown: PageDriver) -> None:
    """Select no camera image, bring the log to the front, turn the camera, and press keys."""
    shown.wait(lambda: shown.shows(IMAGE), "the image of the camera")
    shown.click(CAMERA)
    shown.wait(lambda: IMAGE not in shown.found, "no image")
    assert LOG not in shown.found, "the log is in front at the start"
    shown.wait(lambda: shown.shows(LOG), "the log")
    shown.drag(EMPTY, (80.0, 30.0), "left")
    shown.page.mouse.up()
    for key in ("c", "F7", "0"):
        shown.key(key)


def test_a_deleted_entity_disappears(shown, listener):
    paint(listener, "box.paint", MAGENTA)
    shown.wait(lambda: len(shown.magenta()) > 8, "the box")
    answer = listener.call(DeleteEntity, "delete_entity", DeleteEntity.Request(entity="box"))
    assert answer.result.result == answer.result.RESULT_OK
    shown.wait(lambda: len(shown.magenta()) == 0, "the table without the box")


def test_the_page_reconnects_to_a_new_viewer_which_shows_the_same(shown, listener, running):
    change_the_view(shown)
    flags = {"mjVIS_CONTACTPOINT": True, "label": "mjLABEL_BODY"}
    before = wait_for_flags(shown, running, **flags, **{"geomgroup 0": False})
    assert before["Cameras"]["selected"] == []
    assert before["View"]["camera"] is not None
    shown.page.evaluate(
        """() => {
            window.hadNotice = false;
            new MutationObserver(() => { hadNotice ||= document.querySelector("#lag") !== null; })
                .observe(document.body, {childList: true});
        }"""
    )
    os.kill(viewer_of(running[0]), signal.SIGKILL)
    shown.page.wait_for_selector(NOTICE)
    shown.forget()
    shown.page.wait_for_selector(NOTICE, state="detached")
    assert shown.page.evaluate("hadNotice"), "the page does not report that its image is old"
    shown.page.wait_for_function("document.documentElement.dataset.lagS <= 0.5", timeout=START_MS)
    shown.wait(lambda: {CAMERA, LOG} <= {*shown.found}, "the tabs that were in front")
    assert IMAGE not in shown.found
    shown.key("0")  # so that the viewer writes its settings
    after = wait_for_flags(shown, running, **flags)
    assert after["Cameras"] == before["Cameras"]
    assert after["View"]["camera"] == pytest.approx(before["View"]["camera"], rel=1e-4, abs=1e-4)
    paint(listener, "steel", MAGENTA)
    shown.wait(lambda: len(shown.magenta()) > 8, "the arm in its new colour")
    assert resets(shown, listener)


@pytest.fixture(scope="module")
def slow(
    running: tuple[Simulator, Path], listener: Listener, shown: PageDriver, browser: Any
) -> Iterator[PageDriver]:
    """A slow page, opened after one that was closed while it dragged a slider."""
    joints = listener.record(JointState, "/joint_states")
    assert listener.spin_until(lambda: len(joints) > 0)
    before = joints.latest.position[0]
    shown.front(ROBOT)
    shown.click(f"{ROBOT}/Joints")
    x, y = shown.middle(SLIDER)
    shown.drag((x + 15.0, y), (10.0, 0.0), "left")
    assert listener.spin_until(lambda: abs(joints.latest.position[0] - before) > 0.1)
    shown.page.close()
    listener.forget_subscriptions()
    with opened_page(browser, running, SIZE, SLOW) as slow:
        yield slow


def test_a_page_that_is_closed_moves_no_slider(slow, listener):
    joints = listener.record(JointState, "/joint_states")
    assert listener.spin_until(lambda: len(joints) > 0)
    held = joints.latest.position[0]
    x, y = slow.middle(SLIDER)
    for move in (20.0, 60.0):
        slow.page.mouse.move(x - move, y)
        slow.frames(3)
    count = len(joints)
    assert listener.spin_until(lambda: len(joints) > count + 100)
    assert all(abs(it.position[0] - held) < 0.02 for it in joints.messages)


def test_a_slow_page_receives_as_many_frames_of_the_panels_as_it_draws(slow):
    draws, frames = slow.page.evaluate("draws"), slow.frame_count
    slow.wait(lambda: slow.frame_count >= frames + 10, "frames of the viewer")
    # Studio's page and the script each draw; the last frames may be in flight.
    assert slow.frame_count - frames <= slow.page.evaluate("draws") - draws + 2


def test_a_quick_drag_on_a_slow_page_is_read(slow, listener):
    joints = listener.record(JointState, "/joint_states")
    assert listener.spin_until(lambda: len(joints) > 0)
    x, y = slow.middle(SLIDER)
    for end in (x + 30.0, x - 30.0):
        start = joints.latest.position[0]
        slow.page.mouse.move(x, y)
        slow.page.mouse.down()
        slow.page.mouse.move(end, y)
        slow.page.mouse.up()
        is_moved = listener.spin_until(
            lambda start=start: abs(joints.latest.position[0] - start) > 0.2
        )
        assert is_moved, "the drag has no effect"
        slow.frames()


def test_a_short_click_on_a_slow_page_is_read_and_a_press_as_it_is_closed_is_not(slow, listener):
    clock = listener.record(Clock, "/clock")
    place = slow.middle("Simulation/Reset")
    for _ in range(2):
        assert listener.spin_until(lambda: len(clock) > 0 and clock.latest.clock.sec >= 1)
        slow.page.mouse.move(*place)
        slow.page.mouse.down()
        slow.page.mouse.up()
        slow.page.mouse.move(place[0], place[1] + 200.0)
        is_back = listener.spin_until(lambda: clock.latest.clock.sec < 1)
        assert is_back, "the click has no effect"
    slow.drag(place, (1.0, 0.0), "left")
    assert listener.spin_until(lambda: clock.latest.clock.sec >= 1)
    before = seconds(clock.latest.clock)
    slow.page.close()
    assert listener.spin_until(lambda: seconds(clock.latest.clock) > before + 1.0), "a reset"


def test_the_terminal_has_no_traceback(running):
    assert "Traceback" not in running[0].log
