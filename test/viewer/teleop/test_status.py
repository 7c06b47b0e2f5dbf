"""What the pages display of the simulation."""

import numpy as np
from fake_clients import FakeClients
from still_state import StillState

from mujoco_ros.viewer.plots.curves import Curve
from mujoco_ros.viewer.plots.history import History
from mujoco_ros.viewer.teleop.status import PageStatus, velocity_topic


def test_the_status_has_run_state_time_and_what_can_be_moved():
    state, clients = StillState("arm"), FakeClients()
    clients.velocities.topics = ("/cmd_vel",)
    clients.velocities.tool_topics = ("/arm/cartesian_controller/target_twist", "/target_twist")
    status = PageStatus(state, clients, list, lambda: ["target box"])
    state.time, state.paused = 1.25, True
    status.tick(10.0)
    assert status.values["run"] == "paused"
    assert status.values["time"] == 1.25
    assert status.values["movable"] == [
        "/cmd_vel",
        "tool /arm/cartesian_controller",
        "tool /",
        "target box",
    ]
    topics = [velocity_topic(name) for name in status.values["movable"]]
    assert topics == [*clients.velocities.topics, *clients.velocities.tool_topics, ""]
    assert list(status.cameras) == status.values["cameras"]
    state.paused = False
    status.tick(10.05)
    assert status.values["run"] == "paused", "it is collected ten times a second"
    status.tick(10.11)
    assert status.values["run"] == "playing"
    clients.simulation.status = ""
    status.tick(10.3)
    assert status.values["run"] == ""


def test_curves_are_sampled_until_the_time_goes_back():
    history = History(2, 60.0)
    curves = [Curve("N", "x", history, 0), Curve("N", "y", history, 1)]
    status = PageStatus(StillState("arm"), FakeClients(), lambda: curves, list)
    history.add(1.0, np.array([1.0, np.nan]))
    status.tick(0.0)
    status.tick(0.2)
    history.add(1.1, np.array([2.0, 3.0]))
    status.tick(0.4)
    assert status.values["curves"] == [["N", "x"], ["N", "y"]]
    assert list(status.rows) == [(1, 1.0, [1.0, None]), (2, 1.1, [2.0, 3.0])]
    history.add(0.5, np.array([4.0, 5.0]))
    status.tick(0.6)
    assert list(status.rows) == [(3, 0.5, [4.0, 5.0])]
