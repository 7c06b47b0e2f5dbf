"""Objects by TF."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage

from mujoco_ros.controllers.ros.node.inbox import ObjectFrames
from mujoco_ros.wire.conversions import stamp


@pytest.fixture
def frames() -> ObjectFrames:
    silent = SimpleNamespace(subscription=lambda *_args, **_options: None)
    return ObjectFrames(silent, ["box", "cup"])


def placed(child: str, xyz: tuple, time: float, parent="world", wxyz=(1, 0, 0, 0)):
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id, message.header.stamp = parent, stamp(time)
    at, turned = message.transform.translation, message.transform.rotation
    at.x, at.y, at.z = map(float, xyz)
    turned.w, turned.x, turned.y, turned.z = map(float, wxyz)
    return message


def receive(frames: ObjectFrames, *args, **options) -> None:
    frames.receive(TFMessage(transforms=[placed(*args, **options)]))


def test_an_object_pose_is_composed_of_a_chain_of_frames(frames):
    receive(frames, "box", (1, 0, 0), 1.0, parent="camera")
    assert not frames.is_known("box")
    assert frames.poses(1_000_000_000) == {}
    receive(frames, "camera", (0, 0, 2), 1.0, wxyz=(np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
    assert frames.is_known("box")
    assert frames.poses(1_000_000_000)["box"].position == pytest.approx([0, 1, 2])
    assert frames.stamp("box") == 1_000_000_000
    assert frames.stamp("cup") is None


def test_the_motion_of_an_object_is_extrapolated_briefly(frames):
    receive(frames, "box", (0, 0, 0), 1.00)
    receive(frames, "box", (0.01, 0, 0), 1.01)
    assert frames.poses(1_015_000_000)["box"].position[0] == pytest.approx(0.015)
    assert frames.poses(9_000_000_000)["box"].position[0] == pytest.approx(0.11)
    receive(frames, "box", (0.5, 0, 0), 5.0)
    assert frames.poses(5_050_000_000)["box"].position[0] == 0.5, "a jump is not a motion"


def test_a_pose_has_the_time_until_which_it_is_known(frames):
    receive(frames, "box", (0, 0, 0), 1.00)
    assert frames.times(1.05) == {"box": 1.05}
    assert frames.times(3.0)["box"] == pytest.approx(1.1), "after the longest extrapolation"
    frames.receive(TFMessage(transforms=[placed("cup", (0, 0, 0), 0.0)]), is_static=True)
    assert frames.times(3.0)["cup"] == 3.0, "a static transform does not age"


def test_drain_processes_queued_messages():
    waiting = [TFMessage(transforms=[placed("box", (x, 0, 0), x)]) for x in (1.0, 1.01)]
    handle = MagicMock()
    handle.take_message = lambda *_: (waiting.pop(0), None) if waiting else None
    queue = SimpleNamespace(handle=handle)
    frames = ObjectFrames(SimpleNamespace(subscription=lambda *_, **__: queue), ["box"])
    frames.drain()
    assert frames.poses(1_020_000_000)["box"].position[0] == pytest.approx(1.02)


def test_frames_in_a_loop_and_forgotten_objects_have_no_pose(frames):
    receive(frames, "box", (1, 0, 0), 1.0, parent="cup")
    receive(frames, "cup", (1, 0, 0), 1.0, parent="box")
    assert frames.poses(1_000_000_000) == {}
    receive(frames, "cup", (1, 0, 0), 1.0)
    frames.forget(5)
    assert not frames.is_known("cup")


def test_the_pose_at_the_stamp_of_a_transform_is_the_same_bit_by_bit(frames):
    receive(frames, "box", (0.1, 0.2, -0.0), 0.34, wxyz=(0.6, 0, 0.8, 0))
    receive(frames, "box", (0.3, 0.2, -0.0), 0.35, wxyz=(0.6, 0, 0.8, 0))
    pose = frames.poses(350_000_000)["box"]
    assert pose.position.tobytes() == np.array([0.3, 0.2, -0.0]).tobytes()
    assert pose.quat_wxyz.tobytes() == np.array([0.6, 0.0, 0.8, 0.0]).tobytes()
    frames.forget(350_000_000)
    assert frames.is_known("box"), "it is of this instant"
