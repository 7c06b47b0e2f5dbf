"""Velocities while something on a page is held."""

from types import SimpleNamespace

import pytest
from fake_clients import FakeClients

from mujoco_ros.viewer.driver import SCALES, Driver

TOPIC, TOOL = "/robot/cmd_vel", "/left_arm/cartesian_controller/target_twist"
ZERO = (0.0, 0.0, 0.0)
AHEAD, TURNING = ((1.0, 0.5, 0.0), ZERO), (ZERO, (0.0, 0.0, -1.0))


@pytest.fixture
def clients() -> FakeClients:
    clients = FakeClients()
    clients.velocities.topics = (TOPIC,)
    clients.velocities.tool_topics = (TOOL,)
    return clients


@pytest.fixture
def motion(clients) -> SimpleNamespace:
    """What moves frames."""
    return SimpleNamespace(
        names=("target goal",),
        command=lambda *call: clients.calls.append(("move_frame", *call)),
        stop=lambda: clients.calls.append(("stop_frame",)),
    )


@pytest.fixture
def bodies(clients) -> SimpleNamespace:
    """What pushes bodies; the third one can move."""
    return SimpleNamespace(
        frame_of=lambda body: "cup" if body == 3 else "",
        push=lambda *call: clients.calls.append(("push", *call)),
    )


@pytest.fixture
def clock() -> SimpleNamespace:
    return SimpleNamespace(now=100.0)


@pytest.fixture
def driver(clients, motion, bodies, clock) -> Driver:
    driver = Driver(clients.velocities, motion, bodies, lambda: clock.now)
    driver.tick()
    return driver


def test_robots_tools_and_frames_can_be_moved_and_the_first_is_selected(driver):
    assert driver.names == [TOPIC, "tool /left_arm/cartesian_controller", "target goal"]
    assert driver.selected == TOPIC
    assert driver.is_robot


def test_a_robot_drives_with_the_sum_of_what_is_held_until_all_is_released(driver, clients):
    driver.hold("Move", AHEAD)
    driver.hold("Turn", TURNING)
    assert clients.called("drive") == [
        (TOPIC, (0.3, 0.05, 0.0), ZERO),
        (TOPIC, (0.3, 0.05, 0.0), (0.0, 0.0, -0.35)),
    ]
    driver.hold("Move", None)
    assert clients.called("drive")[-1] == (TOPIC, ZERO, (0.0, 0.0, -0.35))
    assert clients.called("stop") == []
    driver.hold("Turn", None)
    driver.hold("Turn", None)
    assert clients.called("stop") == [(TOPIC,)]


def test_two_pads_together_give_no_more_than_the_largest_velocity(driver, clients):
    driver.hold("Move", AHEAD)
    driver.hold("device", AHEAD)
    assert clients.called("drive")[-1] == (TOPIC, (0.3, 0.1, 0.0), ZERO)


def test_a_tool_moves_along_and_about_all_axes(driver, clients):
    driver.select("tool /left_arm/cartesian_controller")
    driver.hold("device", ((1.0, 0.0, -1.0), (0.5, 0.0, 0.0)))
    assert clients.called("drive") == [(TOOL, (0.2, 0.0, -0.2), (0.4, 0.0, 0.0))]
    assert not driver.is_robot


def test_a_frame_moves_and_stops(driver, clients):
    driver.select("target goal")
    driver.hold("Move", AHEAD)
    driver.hold("Move", None)
    assert clients.calls == [("move_frame", "target goal", *AHEAD, 101.0), ("stop_frame",)]


def test_a_page_that_sends_nothing_for_a_second_stops(driver, clients, clock):
    driver.hold("Move", AHEAD)
    clock.now += 0.9
    driver.tick()
    assert clients.called("stop") == []
    clock.now += 0.2
    driver.tick()
    assert clients.called("stop") == [(TOPIC,)]
    driver.hold("Turn", TURNING)
    assert clients.called("drive")[-1] == (TOPIC, ZERO, (0.0, 0.0, -0.35)), "the pad is released"


def test_another_selection_and_a_robot_that_goes_stop(driver, clients):
    driver.hold("Move", AHEAD)
    driver.select("target goal")
    assert clients.called("stop") == [(TOPIC,)]
    driver.select(TOPIC)
    driver.hold("Move", AHEAD)
    clients.velocities.topics = ()
    driver.tick()
    assert len(clients.called("stop")) == 2
    assert driver.selected == "tool /left_arm/cartesian_controller"


def test_nothing_moves_without_a_selection(clients, motion, bodies):
    clients.velocities.topics = clients.velocities.tool_topics = motion.names = ()
    driver = Driver(clients.velocities, motion, bodies)
    driver.tick()
    driver.hold("Move", AHEAD)
    assert (driver.selected, driver.is_driving, clients.calls) == ("", False, [])


def test_the_selected_body_is_pushed_and_turned_at_once_until_all_is_released(driver, clients):
    driver.tick(2)
    assert driver.names[-1] == "target goal", "that body cannot move"
    driver.tick(3)
    driver.select("body cup")
    driver.set_full({"torque": 2.0})
    driver.hold("device", ((0.5, 0.0, -1.0), (0.0, 0.25, 0.0)))
    driver.hold("device", None)
    assert clients.calls == [
        ("push", "cup", (5.0, 0.0, -10.0), (0.0, 0.5, 0.0)),
        ("push", "cup", ZERO, ZERO),
    ]


def test_another_body_in_the_scene_ends_the_push(driver, clients):
    driver.tick(3)
    driver.select("body cup")
    driver.hold("device", AHEAD)
    driver.tick(2)
    assert driver.selected == TOPIC
    assert clients.called("push")[1:] == [("cup", ZERO, ZERO)]


def test_only_valid_scales_are_taken(driver):
    driver.set_full({"forwards": 0.5, "left": -1.0, "turn": "fast", "force": 1e5})
    changed = {name: v for name, v in driver.full.items() if v != SCALES[name].value}
    assert changed == {"forwards": 0.5}
