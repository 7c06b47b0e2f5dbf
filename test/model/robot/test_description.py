from pathlib import Path
from unittest.mock import Mock
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.packages import share_directory
from mujoco_ros.model.robot.description import describe, descriptions, mesh_uri
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.urdf.exporting.exporter import export_urdf
from mujoco_ros.model.uri import resolve

DATA = Path(__file__).parents[1] / "data"
SCENES = ["arm", "handover", "humanoid", "quadruped", "walk_grasp", "zoo"]


@pytest.fixture
def describe_scene(tmp_path: Path):
    """Describe the only robot of a scene: the pendulum, with more keys given as text."""

    def describer(extra: str) -> str:
        model = DATA / "scene_pendulum.xml"
        path = tmp_path / "my.yaml"
        path.write_text(f"robots: [{{name: r, model: {model}, {extra}}}]")
        (robot,) = describe(str(path))
        return robot.urdf

    return describer


@pytest.mark.parametrize("scene", SCENES)
def test_every_robot_of_a_shipped_scene_is_described_with_each_of_its_joints(scene):
    assembly = assemble(load_scene(scene))
    layout = lay_out(assembly)
    described = descriptions(assembly, layout)
    assert len(described) == len(layout.robots)
    for robot, description in zip(layout.robots, described, strict=True):
        tree = ElementTree.fromstring(description.urdf)
        assert tree.tag == "robot"
        moving = [j.get("name") for j in tree.iter("joint") if j.get("type") != "fixed"]
        assert sorted(moving) == sorted(robot.joints.names)
        links = {link.get("name") for link in tree.iter("link")}
        bodies = {assembly.model.body(b).name.removeprefix(robot.prefix) for b in robot.bodies}
        assert bodies <= links
        assert description.namespace == robot.namespace
        assert description.frame_prefix == robot.frame_prefix


@pytest.mark.parametrize("scene", SCENES)
def test_meshes_of_shipped_robots_are_found_by_their_package_uris(scene):
    for robot in describe(scene):
        tree = ElementTree.fromstring(robot.urdf)
        uris = {mesh.get("filename") for mesh in tree.iter("mesh")}
        assert uris
        for uri in uris:
            assert uri.startswith("package://mujoco_ros/urdf_mjcf/")
            assert resolve(uri, Path()).is_file()


def test_links_of_every_shipped_robot_have_the_poses_of_the_engine(link_transforms):
    assembly = assemble(load_scene("zoo"))
    model, layout = assembly.model, lay_out(assembly)
    data, rng = mujoco.MjData(model), np.random.default_rng(3)
    described = descriptions(assembly, layout)
    for _ in range(10):
        for robot in layout.robots:
            data.qpos[robot.joints.qpos] = rng.uniform(-3, 3, len(robot.joints.names))
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        for robot, description in zip(layout.robots, described, strict=True):
            positions = dict(zip(robot.joints.names, data.qpos[robot.joints.qpos], strict=True))
            found = link_transforms(description.urdf, positions)
            origin, axes = data.xpos[robot.roots[0]], data.xmat[robot.roots[0]].reshape(3, 3)
            for body in robot.bodies:
                link = found[model.body(body).name.removeprefix(robot.prefix)]
                expected = axes.T @ (data.xpos[body] - origin)
                np.testing.assert_allclose(link[:3, 3], expected, atol=1e-6)
                expected = axes.T @ data.xmat[body].reshape(3, 3)
                np.testing.assert_allclose(link[:3, :3], expected, atol=1e-6)
            for camera in robot.cameras:
                link = found[f"{camera.name}_optical_frame"]
                expected = axes.T @ (data.cam_xpos[camera.camera] - origin)
                np.testing.assert_allclose(link[:3, 3], expected, atol=1e-6)


def test_shapes_without_a_file_are_written_to_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "egg.xml").write_text(
        '<mujoco><worldbody><body name="egg"><freejoint/><geom type="ellipsoid" size=".1 .2 .3"/>'
        "</body></worldbody></mujoco>"
    )
    (robot,) = describe(str(tmp_path / "egg.xml"))
    mesh = ElementTree.fromstring(robot.urdf).find("link/visual/geometry/mesh")
    file = resolve(mesh.get("filename"), Path())
    assert file.parent == tmp_path / "cache" / "mujoco_ros" / "meshes"
    assert file.is_file()
    assert mesh.get("scale") == "0.1 0.2 0.3"


def test_links_on_ball_joints_are_reported_because_no_joint_state_moves_them(tmp_path):
    (tmp_path / "m.xml").write_text(
        '<mujoco><worldbody><body name="a"><geom size=".1"/><body name="b"><joint type="ball"/>'
        '<geom size=".1"/></body></body></worldbody></mujoco>'
    )
    (robot,) = describe(str(tmp_path / "m.xml"))
    assert robot.floating == {"b"}


def test_equal_robots_have_the_same_description_in_their_namespaces():
    left, right = (r for r in describe("zoo") if r.namespace.endswith("_arm"))
    assert left.urdf.replace("left_arm", "right_arm", 1) == right.urdf
    assert (left.frame_prefix, right.frame_prefix) == ("left_arm/", "right_arm/")


def test_equal_robots_are_exported_once(monkeypatch):
    exports = Mock(side_effect=export_urdf)
    monkeypatch.setattr("mujoco_ros.model.robot.description.export_urdf", exports)
    assert len(describe("handover")) == 2
    assert exports.call_count == 1


def test_equal_robots_on_rails_are_described_at_their_places(tmp_path):
    (tmp_path / "rail.xml").write_text(
        '<mujoco><worldbody><body name="a"><joint type="slide"/><geom size=".1"/></body>'
        "</worldbody></mujoco>"
    )
    (tmp_path / "rails.yaml").write_text(
        "robots: [{name: near, model: rail.xml}, "
        "{name: far, model: rail.xml, pose: {xyz: [5, 0, 0]}}]"
    )
    near, far = (ElementTree.fromstring(r.urdf) for r in describe(str(tmp_path / "rails.yaml")))
    assert near.find("joint/origin") is None
    assert far.find("joint/origin").get("xyz") == "5 0 0"


def test_meshes_elsewhere_have_file_uris(tmp_path):
    assert mesh_uri(tmp_path / "a b.stl") == f"file://{tmp_path}/a%20b.stl"
    assert mesh_uri(share_directory() / "a b.stl") != f"file://{share_directory()}/a%20b.stl"


def test_a_bare_model_is_described_with_its_own_name():
    (robot,) = describe(str(DATA / "scene_pendulum.xml"))
    tree = ElementTree.fromstring(robot.urdf)
    assert tree.get("name") == "pendulum"
    assert (robot.namespace, robot.frame_prefix) == ("", "")
    assert {"shoulder", "elbow"} <= {joint.get("name") for joint in tree.iter("joint")}


def test_a_compiled_model_is_described(tmp_path):
    path = tmp_path / "pendulum.mjb"
    model = mujoco.MjModel.from_xml_path(str(DATA / "scene_pendulum.xml"))
    mujoco.mj_saveModel(model, str(path), None)
    (robot,) = describe(str(path))
    joints = {j.get("name") for j in ElementTree.fromstring(robot.urdf).iter("joint")}
    assert {"shoulder", "elbow"} <= joints


def test_the_description_of_a_urdf_robot_is_its_file():
    (robot,) = describe(str(DATA.parent / "urdf" / "data" / "plain.urdf"))
    assert robot.urdf == (DATA.parent / "urdf" / "data" / "plain.urdf").read_text()


def test_the_urdf_of_a_scene_replaces_the_exported_one(describe_scene):
    urdf = DATA.parent / "urdf" / "data" / "plain.urdf"
    assert describe_scene(f"urdf: {urdf}") == urdf.read_text()


def test_names_with_special_characters_are_escaped(tmp_path):
    path = tmp_path / "odd.xml"
    path.write_text(
        '<mujoco><worldbody><body name="a&amp;&lt;&quot;"><joint name="j&lt;ö"/>'
        '<geom size="0.1"/></body></worldbody></mujoco>'
    )
    (robot,) = describe(str(path))
    tree = ElementTree.fromstring(robot.urdf)
    assert 'a&<"' in {link.get("name") for link in tree.iter("link")}
    assert "j<ö" in {joint.get("name") for joint in tree.iter("joint")}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "does not exist"),
        (b"", "not well-formed XML"),
        (b"<robot>", "not well-formed XML"),
        (b"\xff\xfe", "it is not UTF-8 text"),
        (b"<mujoco/>", "the top element is <mujoco>; a URDF starts with <robot>"),
    ],
)
def test_an_invalid_urdf_of_a_scene_is_an_error_of_one_line(
    describe_scene, tmp_path, content, message
):
    if content is not None:
        (tmp_path / "my.urdf").write_bytes(content)
    with pytest.raises(UserInputError) as caught:
        describe_scene("urdf: my.urdf")
    assert str(caught.value).startswith("robot 'r': ")
    assert str(tmp_path / "my.urdf") in str(caught.value)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
