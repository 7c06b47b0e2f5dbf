import numpy as np
import pytest

from benchmark.eyes import CAMERAS, SCENE, Watched
from benchmark.watching import BEGUN, PUBLISHED, SHARED, STAMP
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene


def test_figures_follow_from_what_the_probe_notes():
    steps = np.zeros((5, 8), dtype=np.int64)
    steps[:, BEGUN] = [0, 1_000_000, 2_000_000, 4_000_000, 5_000_000]
    steps[:, STAMP] = [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]
    steps[:, PUBLISHED] = steps[:, BEGUN] + 200_000
    steps[:, SHARED] = steps[:, PUBLISHED] + 5_000
    seen = Watched(steps=steps, cpu={})
    assert seen.period.tolist() == [1000, 1000, 2000, 1000]
    assert seen.dropped == pytest.approx(0.2)
    assert seen.sharing == pytest.approx(5 * 5_000 / 5_000_000)


def test_the_scene_has_the_two_cameras_that_are_looked_through():
    layout = lay_out(assemble(load_scene(SCENE)))
    cameras = {
        within(camera.namespace, "camera", topic_token(camera.name)): (camera.width, camera.height)
        for camera in layout.every_camera
    }
    assert cameras == dict.fromkeys(CAMERAS, (320, 240))
