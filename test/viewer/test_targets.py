"""Targets: their names, topics and handles."""

import numpy as np
import pytest
from fake_clients import FakeClients

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.targets import Targets


@pytest.fixture
def clients() -> FakeClients:
    return FakeClients()


@pytest.fixture
def targets(clients) -> Targets:
    return Targets(clients.commands)


def test_a_dragged_target_is_published_once_for_each_pose(targets, clients):
    targets.put("goal", Pose())
    (entry,) = targets.entries()
    assert entry.label == "goal"
    moved = Pose(position=np.array([1.0, 2.0, 3.0]))
    for _ in range(3):
        targets.drag(entry.name, "move x", moved)
    targets.release()
    assert [call[0] for call in clients.called("publish_target")] == ["goal", "goal"]
    assert targets.poses["goal"] is moved


def test_a_removed_target_is_neither_published_nor_dragged(targets, clients):
    targets.put("goal", Pose())
    (entry,) = targets.entries()
    targets.remove("goal")
    targets.remove("goal")
    targets.drag(entry.name, "move x", Pose(position=np.ones(3)))
    assert clients.called("remove_target") == [("goal",)]
    assert (targets.poses, len(clients.called("publish_target"))) == ({}, 1)


def test_names_that_share_a_topic_are_found_and_numbers_continue(targets):
    for name in ("grasp 1", "target", "target2"):
        targets.put(name, Pose())
    assert targets.same_topic("grasp_1") == "grasp 1"
    assert targets.same_topic("grasp") == ""
    assert targets.next_name("target") == "target3"
