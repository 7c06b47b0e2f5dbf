"""Trajectories of joints as paths of the ends of their chains."""

from dataclasses import replace
from math import inf

import mujoco
import numpy as np
import pytest
from overlay_scenes import OverlayState, initial_scene

from mujoco_ros.viewer.message_shapes import JointPath
from mujoco_ros.viewer.overlays.robot_overlays import (
    JointPaths,
    camera_images,
    contacts,
    fields_of_view,
    image_corners,
)
from mujoco_ros.viewer.overlays.shapes import Scale

JOINTS = ("shoulder_pan_joint", "elbow_joint")
POINTS = np.array([[0.3, 1.2], [0.6, 1.0]])


@pytest.fixture(scope="module")
def scene() -> OverlayState:
    return initial_scene("handover")


def ends(geom: mujoco.MjvGeom) -> tuple[np.ndarray, np.ndarray]:
    half = geom.size[2] * geom.mat.reshape(3, 3)[:, 2]
    return geom.pos - half, geom.pos + half


def test_the_path_goes_from_the_present_place_of_the_gripper_through_all_points(scene):
    first, second = [it.namespace for it in scene.layout.robots][:2]
    for namespace in (first, second):
        robot = next(it for it in scene.layout.robots if it.namespace == namespace)
        path = JointPath(JOINTS, POINTS, inf)
        topic = f"/{namespace}/joint_trajectory_controller/joint_trajectory"
        geoms = JointPaths()(scene, {topic: path}, Scale())
        assert len(geoms) == 2
        data = mujoco.MjData(scene.model)
        data.qpos[:] = scene.data.qpos
        columns = [robot.joints.names.index(name) for name in JOINTS]
        places = [scene.data.xpos.copy()]
        for point in POINTS:
            data.qpos[robot.joints.qpos[columns]] = point
            mujoco.mj_kinematics(scene.model, data)
            places.append(data.xpos.copy())
        distances = np.linalg.norm(places[0] - ends(geoms[0])[0], axis=1)
        tip = int(np.argmin(distances))
        name = scene.model.body(tip).name
        assert name.startswith(robot.prefix)
        assert "finger" in name
        for geom, start, end in zip(geoms, places[:-1], places[1:], strict=True):
            np.testing.assert_allclose(ends(geom), [start[tip], end[tip]], atol=1e-6)


def test_the_image_of_a_camera_is_where_its_field_of_view_ends(scene):
    camera, plane = scene.layout.every_camera[0], camera_images(scene, Scale())[0]
    axes = plane.mat.reshape(3, 3)
    corners = [
        plane.pos + axes @ (plane.size * np.array([x, y, 0.0]))
        for x, y in ((-1, 1), (1, 1), (1, -1), (-1, -1))
    ]
    np.testing.assert_allclose(corners, image_corners(scene.data, camera), atol=1e-6)
    assert (plane.objtype, plane.objid) == (mujoco.mjtObj.mjOBJ_CAMERA, camera.camera)


def test_the_field_of_view_of_a_camera_follows_its_angle(scene):
    camera = scene.layout.every_camera[0]
    assert not scene.model.cam_sensorsize[camera.camera].all()

    def height() -> float:
        corners = image_corners(scene.data, camera)
        return float(np.linalg.norm(corners[0] - corners[3]))

    before, angles = height(), scene.model.cam_fovy.copy()
    scene.model.cam_fovy[:] = 0.5 * angles
    ratio = np.tan(np.radians(angles / 4)) / np.tan(np.radians(angles / 2))
    scaled = height() / before
    scene.model.cam_fovy[:] = angles
    assert scaled == pytest.approx(ratio[camera.camera], rel=1e-6)


def test_contacts_leave_a_gripped_object_visible():
    scene, scale = initial_scene("humanoid"), Scale()
    geoms = contacts(scene, scale)
    assert len(geoms) >= 2 * scene.data.ncon > 0
    assert max(geom.size[0] for geom in geoms) < 0.004, "thinner than a finger"


def test_a_path_stays_where_it_was_and_vanishes_with_its_topic(scene):
    draw, path = JointPaths(), JointPath(JOINTS, POINTS, inf)
    before = ends(draw(scene, {"/plan": path}, Scale())[0])[0]
    joint = scene.layout.robots[0].joints.qpos[0]
    scene.data.qpos[joint] += 0.5
    mujoco.mj_forward(scene.model, scene.data)
    np.testing.assert_array_equal(ends(draw(scene, {"/plan": path}, Scale())[0])[0], before)
    renewed = JointPath(JOINTS, POINTS, inf)
    assert np.abs(ends(draw(scene, {"/plan": renewed}, Scale())[0])[0] - before).max() > 0.01
    assert draw(scene, {}, Scale()) == []
    scene.data.qpos[joint] -= 0.5
    mujoco.mj_forward(scene.model, scene.data)


def test_joints_that_no_robot_has_are_not_drawn(scene):
    path = JointPath(("knee", "elbow_joint"), POINTS, inf)
    assert JointPaths()(scene, {"/plan": path}, Scale()) == []


def test_a_path_of_joints_of_several_robots_is_drawn_at_each_of_them(scene):
    path = JointPath(JOINTS, POINTS, inf)
    geoms = JointPaths()(scene, {"/plan": path}, Scale())
    able = [it for it in scene.layout.robots if set(JOINTS) <= set(it.joints.names)]
    assert len(able) == 2
    for number, robot in enumerate(able):
        drawn = JointPaths()(scene, {f"/{robot.namespace}/plan": path}, Scale())
        own = geoms[2 * number : 2 * number + 2]
        for both, alone in zip(own, drawn, strict=True):
            np.testing.assert_array_equal(ends(both), ends(alone))


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
