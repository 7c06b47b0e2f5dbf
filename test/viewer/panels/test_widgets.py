"""Fields for a pose."""

import time

import numpy as np
import pytest
from panel_frames import Frames

from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import PoseFields, format_stamp

UPRIGHT = (0.1, 0.2, 0.3, 0.0, 0.0, 0.0, 1.0)


class PosePanel(Panel):
    title, area = "Pose", DockArea.RIGHT

    def __init__(self, state):
        super().__init__(state)
        self.fields, self.pose, self.done = PoseFields(), UPRIGHT, 0

    def build(self):
        self.pose, is_done = self.fields.build("pose", self.pose)
        self.done += is_done


@pytest.fixture
def frames(context, state, monkeypatch):
    frames = Frames(PosePanel(state), monkeypatch)
    frames.build(2)
    return frames


def test_a_pose_that_is_not_edited_keeps_its_bits(frames):
    pose = (0.1, 0.2, 0.3, 0.1, 0.7, -0.1, 0.7)
    frames.panel.pose = pose
    frames.build(3)
    assert frames.panel.pose == pose
    assert frames.panel.done == 0


def test_angles_are_entered_one_after_the_other(frames):
    """Also through a pitch of 90 degrees, where roll and yaw are not unique."""
    for label, angle in (("yaw", 30.0), ("pitch", 90.0), ("roll", 20.0), ("pitch", 0.0)):
        frames.use(f"##pose.{label}", entered=angle)
    half_roll, half_yaw = np.radians([10.0, 15.0])
    wanted = (
        np.sin(half_roll) * np.cos(half_yaw),
        np.sin(half_roll) * np.sin(half_yaw),
        np.cos(half_roll) * np.sin(half_yaw),
        np.cos(half_roll) * np.cos(half_yaw),
    )
    np.testing.assert_allclose(frames.panel.pose[3:], wanted, atol=1e-15)
    assert frames.panel.pose[:3] == UPRIGHT[:3]
    assert frames.panel.done >= 4


def test_a_quaternion_without_orientation_is_shown_and_replaced(frames):
    frames.panel.pose = (0.0,) * 7
    frames.use("##pose.roll", entered=180.0)
    np.testing.assert_allclose(frames.panel.pose[3:], (1.0, 0.0, 0.0, 0.0), atol=1e-15)


def test_simulated_time_is_in_seconds_and_system_time_is_the_time_of_day():
    assert format_stamp(12.3456) == "12.35 s"
    assert format_stamp(1795317560.1) == time.strftime("%H:%M:%S", time.localtime(1795317560))
