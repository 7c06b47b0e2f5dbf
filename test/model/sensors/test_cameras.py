"""Cameras that a scene adds or configures."""

from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism_config import Delivery
from mujoco_ros.model.robot.layout import ModelLayout, lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene, read_scene
from mujoco_ros.model.sensors.cameras import MAX_SIDE, Camera, CameraNoise

ROBOT = """
  <mujoco><worldbody>
    <body name="link" pos="0 0 1"><joint name="j"/><geom size="0.1"/>
      <camera name="eye" fovy="90" resolution="200 100"/>
      <camera name="lens" sensorsize="4e-3 3e-3" focalpixel="400 400" principalpixel="20 -10"
              resolution="400 300"/>
      <camera name="plan" projection="orthographic"/>
    </body>
    <camera name="overview" pos="0 0 3"/>
  </worldbody></mujoco>
"""
WORLD = """
  <mujoco><worldbody>
    <geom type="plane" size="1 1 1"/><camera name="corner" pos="2 2 2"/>
  </worldbody></mujoco>
"""
CUP = """
  <mujoco><worldbody>
    <body name="cup"><freejoint/><geom size="0.1"/><camera name="inside"/></body>
  </worldbody></mujoco>
"""


@pytest.fixture
def scene(tmp_path: Path):
    """Lay out a scene of one robot (or two), a world with a camera, and a cup with one."""

    def builder(
        cameras: str = "", *, top: str = "", more: str = ""
    ) -> tuple[mujoco.MjModel, ModelLayout]:
        for name, text in (("robot", ROBOT), ("world", WORLD), ("cup", CUP)):
            (tmp_path / f"{name}.xml").write_text(text)
        path = tmp_path / "my.yaml"
        path.write_text(
            f"world: world.xml\n"
            f"robots: [{{name: arm, model: robot.xml, cameras: [{cameras}]}}{more}]\n"
            f"objects: [{{name: mug, model: cup.xml}}]\n"
            f"cameras: [{top}]\n"
        )
        assembly = assemble(read_scene(path))
        return assembly.model, lay_out(assembly)

    return builder


def named(layout: ModelLayout) -> dict[str, Camera]:
    return {camera.name: camera for camera in layout.every_camera}


def test_every_perspective_camera_belongs_to_a_robot_or_the_scene(scene):
    _, layout = scene()
    assert [camera.name for camera in layout.robots[0].cameras] == ["overview", "eye", "lens"]
    assert [camera.name for camera in layout.cameras] == ["corner", "mug/inside"]
    assert named(layout)["mug/inside"].frame == "mug/inside_optical_frame"


def test_topics_and_frames_of_several_robots_differ(scene):
    _, layout = scene(more=", {name: leg, model: robot.xml}")
    one, other = (robot.cameras[1] for robot in layout.robots)
    assert (one.namespace, one.frame) == ("arm", "arm/eye_optical_frame")
    assert (other.namespace, other.frame) == ("leg", "leg/eye_optical_frame")


def test_missing_settings_of_a_scene_are_those_of_the_model_or_the_defaults(scene):
    _, layout = scene()
    eye = named(layout)["eye"]
    assert (eye.width, eye.height) == (200, 100)
    optics = eye.intrinsics
    assert (optics.fx, optics.fy) == (pytest.approx(50), pytest.approx(50))
    assert (optics.cx, optics.cy) == (99.5, 49.5)
    assert (eye.rate, eye.depth_encoding, eye.noise) == (30.0, "32FC1", CameraNoise())
    corner = named(layout)["corner"]
    assert (corner.width, corner.height) == (320, 240)


def test_the_optical_axis_of_an_added_camera_is_x_of_its_pose(scene):
    model, layout = scene(
        "{name: new, body: link, pose: {xyz: [0.1, 0.2, 0.3], rpy: [0, 0, 1.5707963267948966]}}",
        top="{name: high, body: world, pose: {xyz: [0, 0, 5], rpy: [0, 1.5707963267948966, 0]}}",
    )
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    new, high = named(layout)["new"], named(layout)["high"]
    assert model.camera(new.camera).name == "arm/new"
    np.testing.assert_allclose(data.cam_xpos[new.camera], [0.1, 0.2, 1.3], atol=1e-12)
    axes = data.cam_xmat[new.camera].reshape(3, 3).T  # right, up, back
    np.testing.assert_allclose(axes, [[1, 0, 0], [0, 0, 1], [0, -1, 0]], atol=1e-12)
    axes = data.cam_xmat[high.camera].reshape(3, 3).T
    np.testing.assert_allclose(axes, [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-12)
    assert high in layout.cameras
    assert high.frame == "high_optical_frame"


def test_settings_of_the_scene_override_those_of_the_model(scene):
    model, layout = scene(
        "{name: eye, fovy: 60, resolution: [64, 48], rate: 5, depth_encoding: 16UC1, "
        "noise: {colour: 2, depth: 0.01}, delivery: {delay: 0.04, dropout: 0.1}}"
    )
    eye = named(layout)["eye"]
    focal = 24 / np.tan(np.pi / 6)
    assert eye.intrinsics.fy == pytest.approx(focal) == eye.intrinsics.fx
    assert model.cam_fovy[eye.camera] == pytest.approx(60)
    assert (eye.width, eye.height, eye.rate) == (64, 48, 5)
    assert (eye.depth_encoding, eye.noise) == ("16UC1", CameraNoise(colour=2, depth=0.01))
    assert eye.delivery == Delivery(delay=0.04, dropout=0.1)


@pytest.mark.parametrize("resolution", [(200, 100), (320, 240)])
def test_the_compiled_model_has_the_intrinsics_of_the_scene(scene, resolution):
    width, height = resolution
    model, layout = scene(
        f"{{name: eye, resolution: [{width}, {height}], "
        "intrinsics: {fx: 111, fy: 122, cx: 90.5, cy: 60.25}}"
    )
    eye = named(layout)["eye"]
    wanted = {"fx": 111, "fy": 122, "cx": 90.5, "cy": 60.25}
    for name, value in wanted.items():
        assert getattr(eye.intrinsics, name) == pytest.approx(value, abs=1e-4), name
    assert np.tan(np.radians(model.cam_fovy[eye.camera]) / 2) == pytest.approx(height / 2 / 122)


def test_the_engine_renders_the_principal_point_of_the_intrinsics(scene):
    model, layout = scene()
    lens = named(layout)["lens"]
    view = mujoco.MjvCamera()
    view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, lens.camera
    vertical, horizontal, near_far = (np.zeros(2, np.float32) for _ in range(3))
    mujoco.mjv_cameraFrustum(vertical, horizontal, near_far, model, view)
    left, right = horizontal / near_far[0]
    top, bottom = vertical / near_far[0]
    # The left edge of the image is at u = -0.5, the upper one at v = -0.5.
    optics = lens.intrinsics
    assert left == pytest.approx((optics.cx + 0.5) / optics.fx, rel=1e-5)
    assert right == pytest.approx((lens.width - 0.5 - optics.cx) / optics.fx, rel=1e-5)
    assert top == pytest.approx((optics.cy + 0.5) / optics.fy, rel=1e-5)
    assert bottom == pytest.approx((lens.height - 0.5 - optics.cy) / optics.fy, rel=1e-5)


def test_another_resolution_shows_the_same_part_of_the_world(scene):
    _, layout = scene()
    before = named(layout)["lens"]
    _, layout = scene("{name: lens, resolution: [800, 600]}")
    after = named(layout)["lens"]
    assert after.intrinsics.fx == pytest.approx(2 * before.intrinsics.fx, rel=1e-6)
    assert after.intrinsics.cx + 0.5 == pytest.approx(2 * (before.intrinsics.cx + 0.5), rel=1e-6)
    assert after.intrinsics.cy + 0.5 == pytest.approx(2 * (before.intrinsics.cy + 0.5), rel=1e-6)


@pytest.mark.parametrize(
    ("cameras", "message"),
    [
        ("{name: new}", r"robot 'arm': camera 'new': the model has no such camera \(it has: .*eye"),
        ("{name: new, body: lnk}", "camera 'new': body 'lnk' not found .did you mean 'link'"),
        ("{name: eye, body: link}", "camera 'eye': the model has one of that name, on body 'link'"),
        ("{name: eye, pose: {}}", "a 'pose' needs the 'body'"),
        ("{name: a b, body: link}", "name 'a b' is not valid"),
        ("{name: eye}, {name: eye}", "two cameras are named 'eye'"),
        ("{name: eye, fovy: 180}", "'fovy' must be between 0 and 180 degrees, got 180"),
        ("{name: eye, fovy: 60, intrinsics: {fx: 1, fy: 1, cx: 1, cy: 1}}", "not both"),
        ("{name: eye, intrinsics: {fx: 0, fy: 1, cx: 1, cy: 1}}", "'fx' must be positive, got 0"),
        (
            "{name: eye, intrinsics: {fx: 1, fy: 1}}",
            r"cameras\[0\].intrinsics: key 'cx' is missing",
        ),
        (f"{{name: eye, resolution: [64, {MAX_SIDE + 1}]}}", "from 1 to 8192 pixels, got 64 x"),
        ("{name: eye, resolution: [0, 48]}", "from 1 to 8192 pixels, got 0 x 48"),
        ("{name: eye, rate: -1}", "'rate' must be 0 .off., or from 0.001 to 1000 Hz, got -1"),
        ("{name: eye, noise: {colour: 256}}", "noise 'colour' must be from 0 to 255, got 256"),
        ("{name: eye, delivery: {delay: 2}}", "'eye': delivery.delay is 2; it must be from 0 to 1"),
        ("{name: eye, depth_encoding: 8UC1}", "'8UC1' .str. is not one of 32FC1, 16UC1"),
        ("{name: eye, size: 3}", r"robots\[0\].cameras\[0\]: key 'size' not found"),
        ("{name: corner, body: link}", "two cameras of the scene are named 'corner'"),
    ],
)
def test_an_invalid_camera_is_refused_with_the_reason(scene, cameras, message):
    with pytest.raises(UserInputError, match=message):
        scene(cameras)


def test_names_that_differ_only_in_invalid_characters_of_topics_are_refused(tmp_path):
    path = tmp_path / "views.xml"
    path.write_text(ROBOT.replace("<camera name=", '<camera name="top view"/><camera name=', 1))
    lay_out(assemble(load_scene(str(path))))
    path.write_text(path.read_text().replace("overview", "top-view"))
    message = "two cameras of the scene are named 'top-view' and 'top view', which is 'top_view' in"
    with pytest.raises(UserInputError, match=message):
        lay_out(assemble(load_scene(str(path))))


def test_a_model_with_images_that_are_too_large_is_refused(tmp_path):
    path = tmp_path / "huge.xml"
    path.write_text(ROBOT.replace("200 100", "20000 100"))
    with pytest.raises(
        UserInputError, match=r"camera 'eye'.* from 1 to 8192 pixels, got 20000 x 100"
    ):
        lay_out(assemble(load_scene(str(path))))


def test_the_cameras_of_a_compiled_model_are_unchanged(tmp_path):
    model = mujoco.MjModel.from_xml_string(ROBOT)
    mujoco.mj_saveModel(model, str(tmp_path / "robot.mjb"))
    path = tmp_path / "my.yaml"
    path.write_text("robots: [{name: arm, model: robot.mjb, cameras: [{name: eye, fovy: 20}]}]")
    with pytest.raises(UserInputError, match="compiled model, whose cameras cannot be changed"):
        assemble(read_scene(path))
