"""Motion of targets and mocap bodies."""

import math

import numpy as np
import pytest
from fake_clients import FakeClients
from still_state import StillState

from mujoco_ros.model.pose import Pose
from mujoco_ros.sim.shared_memory.past_states import PastState
from mujoco_ros.viewer.frame_motion import FrameMotion
from mujoco_ros.viewer.targets import Targets

ZERO, FOREVER = (0.0, 0.0, 0.0), math.inf
MOCAP = """
<mujoco>
  <worldbody>
    <body name="hand" mocap="true" pos="1 2 3"><geom size="0.1"/></body>
    <body name="ball"><joint name="slide" type="slide"/><geom size="0.1"/></body>
  </worldbody>
</mujoco>
"""


class Moved:
    def __init__(self, scene: str) -> None:
        self.state, self.clients = StillState(scene), FakeClients()
        targets = Targets(self.clients.commands)
        self.targets = targets.poses
        self.targets["box"] = Pose(position=np.array([1.0, 2.0, 3.0]))
        self.motion = FrameMotion(self.state, self.clients.commands, targets)


@pytest.fixture
def moved(tmp_path) -> Moved:
    scene = tmp_path / "hand.xml"
    scene.write_text(MOCAP)
    return Moved(str(scene))


def test_targets_and_mocap_bodies_can_be_moved(moved):
    moved.motion.tick(0.0)
    assert list(moved.motion.names) == ["target box", "mocap hand"]


def test_a_target_moves_along_the_axes_of_the_world_without_a_jump(moved):
    moved.motion.command("target box", (0.5, 0.0, -1.0), ZERO, FOREVER)
    moved.motion.tick(10.0)
    assert tuple(moved.targets["box"].position) == (1.0, 2.0, 3.0), "it jumps"
    moved.motion.tick(10.05)
    np.testing.assert_allclose(moved.targets["box"].position, [1.005, 2.0, 2.99])
    moved.motion.tick(20.0)  # the viewer was stopped
    np.testing.assert_allclose(moved.targets["box"].position, [1.015, 2.0, 2.97])
    moved.motion.stop()
    moved.motion.tick(20.05)
    moved.targets["box"] = Pose()
    moved.motion.command("target box", (1.0, 0.0, 0.0), ZERO, FOREVER)
    moved.motion.tick(30.0)
    moved.motion.tick(30.05)
    np.testing.assert_allclose(moved.targets["box"].position, [0.01, 0.0, 0.0])


def test_a_command_after_a_stop_begins_at_the_pose_that_the_target_has_then(moved):
    moved.motion.command("target box", (1.0, 0.0, 0.0), ZERO, FOREVER)
    moved.motion.tick(0.0)
    moved.motion.tick(0.05)
    moved.motion.stop()
    moved.targets["box"] = Pose()
    moved.motion.command("target box", (1.0, 0.0, 0.0), ZERO, FOREVER)
    moved.motion.tick(0.1)
    moved.motion.tick(0.15)
    np.testing.assert_allclose(moved.targets["box"].position, [0.01, 0.0, 0.0])


def test_a_motion_ends_by_itself(moved):
    moved.motion.command("target box", (1.0, 0.0, 0.0), ZERO, 0.1)
    for now in (0.0, 0.1, 0.2, 0.3):
        moved.motion.tick(now)
    np.testing.assert_allclose(moved.targets["box"].position, [1.02, 2.0, 3.0])


def test_a_target_rotates_about_the_axes_of_the_world(moved):
    quarter = math.sqrt(0.5)
    moved.targets["box"] = Pose(quat_wxyz=np.array([quarter, quarter, 0.0, 0.0]))
    moved.motion.command("target box", ZERO, (0.0, 0.0, 1.0), FOREVER)
    for tick in range(101):
        moved.motion.tick(0.05 * tick)
    angle = 0.5 * 0.8 * 5.0
    expected = quarter * np.array(
        [math.cos(angle), math.cos(angle), math.sin(angle), math.sin(angle)]
    )
    np.testing.assert_allclose(moved.targets["box"].quat_wxyz, expected, atol=1e-9)


def test_a_mocap_body_moves_from_its_pose(moved):
    moved.motion.command("mocap hand", (1.0, 0.0, 0.0), ZERO, FOREVER)
    for now in (0.0, 0.05, 0.1):
        moved.motion.tick(now)
    (_, name, first, _), (_, _, second, _) = moved.clients.called("move_mocap")
    assert name == "hand"
    np.testing.assert_allclose([first, second], [[1.01, 2.0, 3.0], [1.02, 2.0, 3.0]])


def test_nothing_moves_while_a_past_state_is_shown(moved):
    moved.state.shown = PastState(0, 0.0)
    moved.motion.command("mocap hand", (1.0, 0.0, 0.0), ZERO, FOREVER)
    for now in (0.0, 0.05):
        moved.motion.tick(now)
    assert moved.clients.called("move_mocap") == []


def test_a_frame_that_is_removed_moves_no_more(moved):
    moved.motion.command("target box", (1.0, 0.0, 0.0), ZERO, FOREVER)
    moved.motion.tick(0.0)
    del moved.targets["box"]
    moved.motion.tick(0.05)
    assert moved.targets == {}
