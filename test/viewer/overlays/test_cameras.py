"""Fields of view of cameras."""

from dataclasses import replace

import numpy as np
from overlay_scenes import initial_scene

from mujoco_ros.viewer.overlays.cameras import fields_of_view
from mujoco_ros.viewer.overlays.overlay_scene import Scale


def test_the_pyramid_begins_at_the_camera_and_ends_at_the_corners_of_its_image():
    scene = initial_scene("arm")
    model, data, layout = scene.model, scene.data, scene.layout
    (camera,) = [it for it in layout.every_camera if it.name == "wrist_camera"]
    layout = replace(
        layout, robots=tuple(replace(it, cameras=()) for it in layout.robots), cameras=(camera,)
    )
    scene = replace(scene, layout=layout)
    geoms = fields_of_view(scene, Scale())
    assert len(geoms) == 4 + 4 + 1
    apex, axes = data.cam_xpos[camera.camera], data.cam_xmat[camera.camera].reshape(3, 3)
    height = 2.0 * np.tan(0.5 * np.deg2rad(model.cam_fovy[camera.camera]))
    for geom in geoms[4:8]:  # from the camera to a corner
        begin = geom.pos - geom.mat.reshape(3, 3)[:, 2] * geom.size[2]
        end = geom.pos + geom.mat.reshape(3, 3)[:, 2] * geom.size[2]
        np.testing.assert_allclose(begin, apex, atol=1e-6)
        right, up, back = axes.T @ (end - apex)
        assert back < 0.0
        assert np.isclose(abs(up / back), 0.5 * height, rtol=1e-4)
        assert np.isclose(abs(right / up), camera.width / camera.height, rtol=1e-4)
