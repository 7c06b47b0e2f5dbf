"""What the panels of the page do, in a browser with a small and with a common window."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import pytest
from command_clients import seconds
from geometry_msgs.msg import Point
from page_driver import PageDriver
from rclpy.parameter import Parameter
from rosgraph_msgs.msg import Clock
from simulated_page import opened_page, set_state, simulator_with_page
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import GetEntities, LoadWorld
from simulators import Listener, Simulator
from spawn_requests import named_resource
from std_msgs.msg import ColorRGBA, String
from std_srvs.srv import Trigger
from visualization_msgs.msg import Marker

from mujoco_ros.bridge.publishing.topics import LATCHED
from mujoco_ros.viewer.key_help import TITLE as KEY_HELP

SCENE = Path(__file__).parent / "data" / "scene_with_camera.yaml"
SIZES = ((1000, 640), (1366, 768))
SAVED = "saved"
EMPTY = (500.0, 60.0)
"""A place in the scene without a body."""
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
    shown.middle("World/Spawn")  # below the list, which is then visible
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
