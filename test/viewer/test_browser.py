"""The page of a running simulator in a browser: what is done there reaches ROS, and comes back."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command_clients import seconds
from geometry_msgs.msg import PoseStamped
from playwright.sync_api import expect
from rosgraph_msgs.msg import Clock
from simulated_page import START_MS, opened_page, simulator_with_page
from simulators import Listener, Simulator
from visualization_msgs.msg import Marker

from mujoco_ros.wire.qos import LATCHED

SCENE = Path(__file__).parent / "data" / "scene.yaml"
pytestmark = pytest.mark.timeout(400)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Simulator]:
    folder = tmp_path_factory.mktemp("page")
    with simulator_with_page(folder, viewer_port=18080, scene=SCENE) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def listener(running: Simulator) -> Iterator[Listener]:
    listener = Listener(running.domain)
    yield listener
    listener.close()


@pytest.fixture(autouse=True)
def forget(listener: Listener) -> Iterator[None]:
    """Let no recording outlive its test."""
    yield
    listener.forget_subscriptions()


@pytest.fixture(scope="module")
def page(browser: Any, running: Simulator) -> Iterator[Any]:
    with opened_page(browser, running) as page:
        yield page


def panel(page: Any, title: str) -> Any:
    """Return the body of the panel with a title, selected first."""
    page.get_by_role("tab", name=title, exact=True).click()
    return page.get_by_role("tabpanel", name=title, exact=True)


def test_a_button_resets_the_simulation(page, listener):
    assert page.title() == "scene (arm) \u2013 mujoco_ros"
    clock = listener.record(Clock, "/clock")
    assert listener.spin_until(lambda: len(clock) > 0 and clock.latest.clock.sec >= 1)
    before = seconds(clock.latest.clock)
    page.get_by_role("button", name="Reset all").click()
    assert listener.spin_until(lambda: seconds(clock.latest.clock) < before)


def test_an_edited_gain_is_a_parameter(page, listener):
    shown = panel(page, "Robots")
    shown.get_by_role("button", name="Gains").click()
    field = shown.get_by_role("spinbutton", name="elbow_joint kp")
    field.fill("321")
    field.press("Enter")
    assert listener.spin_until(lambda: listener.get_parameter("gains.elbow_joint.kp") == 321.0)


def test_a_target_is_published_until_it_is_removed(page, listener):
    shown, topic = panel(page, "Targets"), "/target/grasp/pose"
    shown.get_by_role("textbox", name="Name of the target").fill("grasp")
    shown.get_by_role("button", name="Add target").click()
    poses = listener.record(PoseStamped, topic, qos=LATCHED)
    assert listener.spin_until(lambda: len(poses) > 0)
    assert poses.latest.header.frame_id == "world"
    shown.get_by_role("button", name="Remove grasp").click()
    assert listener.spin_until(lambda: listener.node.count_publishers(topic) == 0)


def test_the_topic_of_a_marker_of_another_program_is_offered(page, listener):
    publisher = listener.node.create_publisher(Marker, "/goal", LATCHED)
    marker = Marker(type=Marker.SPHERE)
    marker.header.frame_id = "world"
    publisher.publish(marker)
    topic = panel(page, "Overlays").get_by_role("checkbox", name="/goal", exact=True)
    expect(topic).to_be_checked(timeout=START_MS)
    listener.node.destroy_publisher(publisher)


def test_the_terminal_has_no_traceback(running):
    assert "Traceback" not in running.log
