import numpy as np
import pytest

from benchmark.measurements.cameras_and_viewer import CAMERAS, SCENE, ObservedRun
from benchmark.processes.probe_columns import BEGUN, COLUMNS, PUBLISHED, SHARED, STAMP
from mujoco_ros.model.naming import in_namespace, topic_token
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene


def test_statistics_follow_from_the_rows_of_the_probe():
    steps = np.zeros((5, COLUMNS), dtype=np.int64)
    steps[:, BEGUN] = [0, 1_000_000, 2_000_000, 4_000_000, 5_000_000]
    steps[:, STAMP] = [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000]
    steps[:, PUBLISHED] = steps[:, BEGUN] + 200_000
    steps[:, SHARED] = steps[:, PUBLISHED] + 5_000
    run = ObservedRun(steps=steps, cpu={})
    assert run.period.tolist() == [1000, 1000, 2000, 1000]
    assert run.dropped == pytest.approx(0.2)
    assert run.sharing == pytest.approx(5 * 5_000 / 5_000_000)


def test_the_scene_has_the_two_subscribed_cameras():
    layout = lay_out(assemble(load_scene(SCENE)))
    cameras = {
        in_namespace(camera.namespace, "camera", topic_token(camera.name)): (
            camera.width,
            camera.height,
        )
        for camera in layout.every_camera
    }
    assert cameras == dict.fromkeys(CAMERAS, (320, 240))
