"""What the panels of the page do, in a browser with a small and with a common window."""

import json
from collections.abc import Callable, Iterator
from itertools import cycle
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from command_clients import CommandClient, seconds
from geometry_msgs.msg import Point, PoseStamped, TwistStamped
from hand_panel import running_hand
from nav_msgs.msg import Path as PathMessage
from page_driver import PageDriver
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from simulated_page import opened_page, set_state, simulator_with_page
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import GetEntities, LoadWorld, ResetSimulation
from simulators import Listener, Simulator
from spawn_requests import named_resource
from std_msgs.msg import ColorRGBA, String
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker

from mujoco_ros.viewer.key_help import TITLE as KEY_HELP
from mujoco_ros.wire.qos import LATCHED

SCENE = Path(__file__).parent / "data" / "scene_with_camera.yaml"
SIZES = ((1000, 640), (1366, 768))
SAVED = "saved"
HAND = "hand panel###/hand/panel"
EMPTY = (500.0, 60.0)
"""A place in the scene without a body."""
DIFFERENCE = 20
"""Least difference of a colour that is visible, of 255."""
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def running(
    browser: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Simulator, Path]]:
    folder = tmp_path_factory.mktemp("panels")
    output = folder / SAVED
    with simulator_with_page(folder, scene=SCENE, cameras="true", output_folder=output) as both:
        yield both


@pytest.fixture(scope="module")
def listener(running: tuple[Simulator, Path]) -> Iterator[Listener]:
    listener = Listener(running[0].domain)
    yield listener
    listener.close()


@pytest.fixture(scope="module", params=SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
def shown(
    request: pytest.FixtureRequest, running: tuple[Simulator, Path], browser: Any
) -> Iterator[PageDriver]:
    with opened_page(browser, running, request.param) as shown:
        yield shown


def entities(listener: Listener) -> list[str]:
    return list(listener.call(GetEntities, "get_entities", GetEntities.Request()).entities)


def choose(shown: PageDriver, file: str, other: str) -> None:
    """Choose a file in a list of the panel World, when the search has left out the other one."""

    def labels(name: str) -> list[str]:
        return [label for label in shown.found if label.startswith(f"World/{name}##")]

    shown.wait(lambda: bool(labels(file)) and not labels(other), f"{file} without {other}")
    shown.click(labels(file)[0])


def show_list(shown: PageDriver, kind: str) -> None:
    """Show the list of models or worlds, which a button requests once for all pages."""
    button, field = f"World/List {kind}s", f"World/##search {kind}"
    shown.wait(
        lambda: shown.shows(button) or shown.shows(field), f"the list of {kind}s, or its button"
    )
    if button in shown.found:
        shown.click(button)
    shown.middle(field)


def differing(first: np.ndarray, second: np.ndarray) -> float:
    """Return the share of pixels in which two images differ clearly."""
    return float((np.abs(first.astype(int) - second).max(axis=2) > DIFFERENCE).mean())


@pytest.fixture
def elbow(listener: Listener) -> Iterator[Callable[[float], None]]:
    """A function that moves the elbow to an angle [rad]; the elbow is at 0 after the test."""
    client, joints = CommandClient(listener), listener.record(JointState, "/joint_states")

    def move(angle: float) -> None:
        client.publish_joints(["elbow_joint"], position=[angle])
        assert listener.spin_until(
            lambda: len(joints) > 0 and abs(joints.latest.position[0] - angle) < 0.02
        )

    yield move
    move(0.0)
    listener.forget_subscriptions()
    client.close()


@pytest.fixture
def magenta_arm(shown: PageDriver, listener: Listener) -> Iterator[None]:
    """Paint the arm for a test."""

    def paint(*colour: float) -> None:
        (done,) = listener.set_parameters({"material.steel.rgba": [*colour]})
        assert done.successful, done.reason

    paint(1.0, 0.0, 1.0, 1.0)
    shown.wait(lambda: len(shown.magenta()) > 8, "the magenta arm")
    yield
    paint(0.7, 0.7, 0.7, 1.0)
    shown.wait(lambda: len(shown.magenta()) == 0, "the grey arm")


def choose_item(shown: PageDriver, label: str, item: str) -> None:
    """Choose an item of a drop-down list, whose window Dear ImGui builds below it."""
    shown.wait(lambda: item in shown.items(label), f"the item {item}")
    x, y = shown.middle(label)
    shown.press((x, y))
    shown.press((x, shown.found[label][3] + shown.items(label)[item]))


def test_the_title_has_scene_and_robot_and_a_key_shows_and_hides_the_keys(shown):
    assert shown.page.title() == "scene_with_camera (arm) \u2013 mujoco_ros"
    assert KEY_HELP not in shown.found
    shown.key("F1")
    shown.wait(lambda: KEY_HELP in shown.found, "the keys")
    shown.key("Escape")
    shown.wait(lambda: KEY_HELP not in shown.found, "the scene without the keys")


def test_a_model_of_the_list_is_spawned_and_deleted_after_a_question(shown, listener):
    show_list(shown, "model")
    shown.type("World/##search model", "carton")
    around = cycle(("World/##search model", "World/Spawn"))  # above and below the list

    def scroll_to_the_list() -> bool:
        shown.middle(next(around))
        return any(label.startswith("World/carton.xml##") for label in shown.found)

    shown.wait(scroll_to_the_list, "carton.xml in the list")
    choose(shown, "carton.xml", "box.xml")
    shown.click("World/Spawn")
    assert listener.spin_until(lambda: "carton" in entities(listener))
    node, button = "World/carton (object)###carton", "World/Delete##carton"
    shown.middle(node)
    if not shown.shows(button):  # a node stays open, even after its entity
        shown.click(node)
    shown.click(button)
    assert "carton" in entities(listener), "deleted without a question"
    shown.click("World/Delete carton")
    assert listener.spin_until(lambda: "carton" not in entities(listener))


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


def test_a_panel_that_a_program_declares_presses_its_button_and_sets_its_parameter(shown, listener):
    node, pressed = listener.node, []
    name = node.get_fully_qualified_name()
    if not node.has_parameter("force"):
        node.declare_parameter("force", 1.0)

    def press(_: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        pressed.append(True)
        response.success = True
        return response

    service = node.create_service(Trigger, f"{name}/open", press)
    button = {"kind": "button", "label": "Open", "service": f"{name}/open"}
    number = {"kind": "number", "label": "Force", "parameter": "force"}
    group = {"name": "", "items": [button, number]}
    description = {"title": "hand", "node": name, "groups": [group]}
    topic = f"{name}/panel"
    publisher = node.create_publisher(String, topic, LATCHED)
    publisher.publish(String(data=json.dumps(description)))
    window = f"hand panel###{topic}"
    with listener.spinning():
        shown.wait(lambda: window in shown.found, "the panel")
        shown.front(window)
        shown.wait(lambda: f"{window}/Force##force" in shown.found, "the setting")
        shown.click(f"{window}/Open##{name}/open")
        shown.wait(lambda: bool(pressed), "the pressed button")
        shown.type(f"{window}/Force##force", "2.5")
        shown.wait(lambda: node.get_parameter("force").value == 2.5, "the parameter")
    node.set_parameters([Parameter("force", value=1.0)])
    node.destroy_publisher(publisher)
    node.destroy_service(service)
    shown.wait(lambda: window not in shown.found, "no panel")


def test_a_form_of_a_declared_panel_sets_its_fields_by_its_button_alone(shown, listener):
    with running_hand(listener) as hand:
        force, button = f"{HAND}/force [N]##force", f"{HAND}/Grasp##Grasp"
        shown.wait(lambda: shown.shows(button), "the form")

        def grasp(item: str) -> None:
            count = len(hand.grasped)
            choose_item(shown, f"{HAND}/object##object", item)
            shown.click(button)
            shown.wait(lambda: len(hand.grasped) > count, "a grasp")

        shown.type(force, "20", is_slider=True)
        assert hand.parameters.values["force"] == 1.0, "set without the button"
        grasp("ball")
        hand.objects = ["cup"]
        grasp("cup")
        assert hand.grasped == [("ball", 20.0), ("cup", 20.0)]
    shown.wait(lambda: HAND not in shown.found, "no panel")


def test_an_integer_of_a_declared_panel_stays_within_its_limits(shown, listener):
    with running_hand(listener) as hand:
        slider = f"{HAND}/fingers##fingers"
        shown.wait(lambda: shown.shows(slider), "the integer")

        def is_set(fingers: int) -> bool:
            return hand.parameters.values["fingers"] == fingers

        shown.type(slider, "4", is_slider=True)
        shown.wait(lambda: is_set(4), "four fingers")
        shown.type(slider, "99", is_slider=True)
        shown.wait(lambda: is_set(5), "the most fingers")
        _, y = shown.middle(slider)
        shown.press((shown.found[slider][0] + 8.0, y))
        shown.wait(lambda: is_set(1), "the fewest fingers")


def test_a_value_of_a_declared_panel_is_drawn_as_it_changes(shown, listener):
    with running_hand(listener) as hand:
        before = f"{HAND}/opening: left 0.01, right 0.02 m"
        shown.wait(lambda: shown.shows(f"{HAND}/fingers##fingers"), "the panel")
        shown.wait(lambda: before in shown.texts, "the value")
        shown.move_to(EMPTY)
        image, openings = shown.part(HAND), hand.openings
        hand.openings = (0.123456, 0.234567)
        after = f"{HAND}/opening: left 0.123456, right 0.234567 m"
        shown.wait(lambda: after in shown.texts, "the new value")
        shown.wait(lambda: differing(image, shown.part(HAND)) > 0.0, "its image")
        hand.openings = openings
        shown.wait(lambda: differing(image, shown.part(HAND)) == 0.0, "the former image")


def test_a_chosen_signal_is_plotted_until_plots_are_frozen_or_cleared(shown, elbow):
    none, box = "Plots/Select the signals to plot.", "Plots/##arm joints elbow_joint q"
    shown.front("Plots")
    shown.click("Plots/Clear")
    shown.wait(lambda: none in shown.texts, "no signal")
    shown.move_to(EMPTY)
    empty = shown.part("Plots")
    shown.click("Plots/Choose")
    shown.middle("Plots/arm joints")
    if box not in shown.found:  # a node stays open
        shown.click("Plots/arm joints")
    shown.click(box)
    shown.key("Escape")
    shown.wait(lambda: box not in shown.found and none not in shown.texts, "the plot alone")
    shown.wait(lambda: differing(empty, shown.part("Plots")) > 0.01, "the image of the plot")
    elbow(0.5)
    shown.click("Plots/Freeze")
    shown.middle("Plots/Continue")
    shown.move_to(EMPTY)
    frozen = shown.part("Plots")
    elbow(-0.5)
    shown.frames(4)
    assert differing(frozen, shown.part("Plots")) < 0.002, "frozen plots change"
    shown.click("Plots/Continue")
    shown.wait(lambda: differing(frozen, shown.part("Plots")) > 0.01, "the present curve")


def test_the_bar_shows_a_past_state_and_returns_to_the_present(shown, listener, elbow, magenta_arm):
    bar, back = "##history/##past", "##history/Continue from here"

    def time() -> float:
        """Return the time in the panel [s]."""
        (text,) = (text for text in shown.texts if "s, in steps of" in text)
        return float(text.removeprefix("Simulation/").split()[0])

    shown.front("Simulation")
    request = ResetSimulation.Request()
    request.scope = request.SCOPE_TIME | request.SCOPE_STATE
    answer = listener.call(ResetSimulation, "reset_simulation", request)
    assert answer.result.result == answer.result.RESULT_OK
    clock = listener.record(Clock, "/clock")
    assert listener.spin_until(lambda: len(clock) > 0 and clock.latest.clock.sec >= 2)
    elbow(0.8)
    set_state(listener, SimulationState.STATE_PAUSED)
    try:
        shown.frames(6)
        present, now = len(shown.magenta()), time()
        left, top, right, bottom = shown.found[bar]
        shown.press((left + 0.1 * (right - left), 0.5 * (top + bottom)))
        shown.wait(lambda: back in shown.found and time() < 0.2 * now, "the past time")
        shown.wait(lambda: len(shown.magenta()) < 0.85 * present, "the arm as it was")
        shown.click("##history/Live")
        shown.wait(lambda: back not in shown.found and time() == now, "the present time")
        shown.wait(lambda: len(shown.magenta()) > 0.95 * present, "the arm as it is")
    finally:
        set_state(listener, SimulationState.STATE_PLAYING)


def open_arm(shown: PageDriver) -> None:
    """Open the node of the arm in the panel World."""
    if not shown.shows("World/Visual##arm"):
        shown.click("World/arm (robot)###arm")


def test_a_switch_of_an_entity_hides_and_shows_it(shown, magenta_arm):
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
    listener.forget_subscriptions()


def test_a_robot_is_driven_while_the_pad_is_held(shown, listener):
    commands = listener.record(TwistStamped, "/cmd_vel", reliable=True)
    clock = listener.record(Clock, "/clock")
    shown.wait(lambda: shown.shows("Drive/pad"), "the panel")
    shown.drag(shown.middle("Drive/pad"), (0.0, -60.0), "left")
    assert listener.spin_until(lambda: len(commands) > 0 and commands.latest.twist.linear.x > 0.2)
    shown.page.mouse.up()
    assert listener.spin_until(lambda: commands.latest.twist.linear.x == 0.0)
    count, released = len(commands), seconds(clock.latest.clock)
    assert listener.spin_until(lambda: seconds(clock.latest.clock) > released + 0.5)
    assert len(commands) == count, "commands after the release"
    listener.forget_subscriptions()
    shown.wait(lambda: "Drive" not in shown.found, "no panel")


def test_a_path_is_drawn_until_its_topic_is_switched_off(shown, listener):
    path = PathMessage()
    path.header.frame_id = "world"
    for index in range(40):
        pose = PoseStamped()
        pose.pose.position = Point(x=0.2 * (-1) ** index, y=0.2, z=0.01 * index)
        path.poses.append(pose)
    shown.move_to(EMPTY)
    without = shown.scene()
    publisher = listener.node.create_publisher(PathMessage, "/plan", LATCHED)
    publisher.publish(path)
    shown.wait(lambda: differing(without, shown.scene()) > 0.02, "the path")
    shown.wait(lambda: shown.shows("Overlays//plan"), "the topic of the path")
    shown.click("Overlays//plan")
    shown.move_to(EMPTY)
    shown.wait(lambda: differing(without, shown.scene()) < 0.002, "the scene without the path")
    shown.click("Overlays//plan")
    shown.move_to(EMPTY)
    shown.wait(lambda: differing(without, shown.scene()) > 0.02, "the path again")
    listener.node.destroy_publisher(publisher)


def test_a_click_enlarges_a_thumbnail_and_escape_closes_it(shown):
    thumbnail = "Cameras/##320 ('', 'corner')"
    shown.wait(lambda: shown.shows(thumbnail), "the thumbnail")
    shown.click(thumbnail)
    enlarged = "corner, colour###enlarged camera"
    shown.wait(lambda: enlarged in shown.found, "the enlarged image")
    shown.middle(f"{enlarged}/##640 ('', 'corner')")
    shown.key("Escape")
    shown.wait(lambda: enlarged not in shown.found, "the scene without the image")


def test_a_film_of_past_states_is_saved(shown, listener, running):
    folder = running[1].parent / SAVED
    before = {*folder.glob("*.mp4")}
    clock = listener.record(Clock, "/clock")
    assert listener.spin_until(lambda: len(clock) > 0)
    before_reset = seconds(clock.latest.clock)
    shown.click("Simulation/Reset")
    assert listener.spin_until(lambda: 0.3 < seconds(clock.latest.clock) < before_reset), (
        "no past states to save"
    )
    listener.forget_subscriptions()
    set_state(listener, SimulationState.STATE_PAUSED)  # a second of film takes many
    try:
        shown.click("##history/Save")
        shown.click("##history/Film (MP4)")
        shown.wait(lambda: {*folder.glob("*.mp4")} != before, "the film")
        (path,) = {*folder.glob("*.mp4")} - before
        film = cv2.VideoCapture(str(path))
        is_read, frame = film.read()
        assert is_read
        assert frame.shape == (720, 1280, 3)
        assert frame.std() > 10.0, "it shows the scene"
        shown.press(EMPTY)  # closes the menu
    finally:
        set_state(listener, SimulationState.STATE_PLAYING)


def test_a_world_of_the_list_is_loaded_after_a_question(shown, listener):
    show_list(shown, "world")
    shown.type("World/##search world", "quadruped")
    shown.middle("World/Load")  # below the list, which is then visible
    choose(shown, "quadruped.yaml", "arm.yaml")
    shown.click("World/Load")
    assert "arm" in entities(listener), "loaded without a question"
    shown.click("World/Load quadruped")
    assert listener.spin_until(lambda: "arm" not in entities(listener))
    request = LoadWorld.Request(**named_resource(LoadWorld.Request, str(SCENE)))
    answer = listener.call(LoadWorld, "load_world", request)
    assert answer.result.result == answer.result.RESULT_OK, answer.result.error_message
    assert listener.spin_until(lambda: "arm" in entities(listener))


def test_the_terminal_has_no_traceback(shown, running):
    assert "Traceback" not in running[0].log
