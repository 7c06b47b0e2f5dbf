"""Objects by TF."""

from types import SimpleNamespace
from unittest.mock import MagicMock

import numpy as np
import pytest
from geometry_msgs.msg import TransformStamped
from tf2_msgs.msg import TFMessage

from mujoco_ros.bridge.publishing.template_publisher import stamp
from mujoco_ros.controllers.ros.node.object_frames import ObjectFrames


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


def tell(frames: ObjectFrames, *args, **options) -> None:
    frames.take(TFMessage(transforms=[placed(*args, **options)]))


def test_an_object_is_where_a_chain_of_frames_to_the_world_says(frames):
    tell(frames, "box", (1, 0, 0), 1.0, parent="camera")
    assert not frames.is_known("box")
    assert frames.poses(1.0) == {}
    tell(frames, "camera", (0, 0, 2), 1.0, wxyz=(np.sqrt(0.5), 0, 0, np.sqrt(0.5)))
    assert frames.is_known("box")
    assert frames.poses(1.0)["box"].position == pytest.approx([0, 1, 2])
    assert frames.stamp("box") == 1_000_000_000
    assert frames.stamp("cup") == 0


def test_an_object_that_moves_is_thought_to_go_on_for_a_moment(frames):
    tell(frames, "box", (0, 0, 0), 1.00)
    tell(frames, "box", (0.01, 0, 0), 1.01)
    assert frames.poses(1.015)["box"].position[0] == pytest.approx(0.015)
    assert frames.poses(9.0)["box"].position[0] == pytest.approx(0.11)
    tell(frames, "box", (0.5, 0, 0), 5.0)
    assert frames.poses(5.05)["box"].position[0] == 0.5, "that was no motion"


def test_what_waits_in_queues_is_known_before_its_turn():
    waiting = [TFMessage(transforms=[placed("box", (x, 0, 0), x)]) for x in (1.0, 1.01)]
    handle = MagicMock()
    handle.take_message = lambda *_: (waiting.pop(0), None) if waiting else None
    queue = SimpleNamespace(handle=handle)
    frames = ObjectFrames(SimpleNamespace(subscription=lambda *_, **__: queue), ["box"])
    frames.drain()
    assert frames.poses(1.02)["box"].position[0] == pytest.approx(1.02)


def test_frames_in_a_ring_and_objects_from_before_a_reset_are_nowhere(frames):
    tell(frames, "box", (1, 0, 0), 1.0, parent="cup")
    tell(frames, "cup", (1, 0, 0), 1.0, parent="box")
    assert frames.poses(1.0) == {}
    tell(frames, "cup", (1, 0, 0), 1.0)
    frames.forget()
    assert not frames.is_known("cup")
