import xml.etree.ElementTree as ET
from pathlib import Path
from urllib.parse import unquote, urlparse

import mujoco
import numpy as np
import pytest
import trimesh

from mujoco_ros.model.pose import Pose, PoseConfig, quaternion_wxyz
from mujoco_ros.model.urdf.exporting.exporter import export_urdf
from mujoco_ros.model.urdf.exporting.meshes import MeshCache
from mujoco_ros.model.urdf.exporting.shapes import material_rgba

TETRAHEDRON = "0 0 0 1 0 0 0 1 0 0 0 1"


@pytest.fixture
def cache(tmp_path) -> MeshCache:
    return MeshCache(tmp_path / "cache")


def model_of(assets: str, geom: str) -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><asset>{assets}</asset><worldbody>"
        f'<body name="b" pos="1 2 3"><geom pos=".1 .2 .3" euler="40 50 60" {geom}/></body>'
        "</worldbody></mujoco>"
    )


def shapes(model: mujoco.MjModel, cache: MeshCache | None, tag: str = "visual") -> list[ET.Element]:
    return ET.fromstring(export_urdf(model, mesh_cache=cache)).findall(f"link/{tag}")


def drawn(element: ET.Element) -> np.ndarray:
    """Return the points of a mesh in the link's frame, as a reader of the URDF places them."""
    mesh, origin = element.find("geometry/mesh"), element.find("origin")
    file = Path(unquote(urlparse(mesh.get("filename")).path))
    scale = [float(x) for x in mesh.get("scale", "1 1 1").split()]
    pose = Pose()
    if origin is not None:
        xyz, rpy = ([float(x) for x in origin.get(key).split()] for key in ("xyz", "rpy"))
        pose = Pose(position=np.array(xyz), quat_wxyz=quaternion_wxyz(PoseConfig(rpy=rpy)))
    return trimesh.load_mesh(file).vertices * scale @ pose.matrix.T + pose.position


def compiled(model: mujoco.MjModel) -> np.ndarray:
    """Return the vertices of the only mesh, in the frame of the body of its geom."""
    geom = Pose(position=model.geom_pos[0], quat_wxyz=model.geom_quat[0])
    return model.mesh_vert @ geom.matrix.T + geom.position


def assert_same_points(found: np.ndarray, expected: np.ndarray) -> None:
    for some, all_of in ((found, expected), (expected, found)):
        for point in some:
            assert np.linalg.norm(all_of - point, axis=1).min() < 1e-6


def test_a_mesh_without_a_file_is_exported_to_the_cache(cache):
    model = model_of(
        f'<mesh name="m" vertex="{TETRAHEDRON}" scale="1 -2 .5"/>', 'type="mesh" mesh="m"'
    )
    (visual,) = shapes(model, cache)
    assert_same_points(drawn(visual), compiled(model))
    (collision,) = shapes(model, cache, "collision")
    assert_same_points(drawn(collision), compiled(model))
    assert len(list(cache.folder.iterdir())) == 1


@pytest.mark.parametrize("moved", ["", 'refpos="1 2 3"', 'refquat="0.5 0.5 -0.5 0.5"'])
@pytest.mark.parametrize("kind", ["stl", "obj"])
def test_a_mesh_of_a_file_has_the_pose_of_the_engine(kind, moved, cache, tmp_path):
    cone = trimesh.creation.cone(radius=0.1, height=0.3)
    cone.apply_translation((0.4, 0.5, 0.6))
    file = tmp_path / f"cone.{kind}"
    cone.export(file)
    model = model_of(
        f'<mesh name="m" file="{file}" scale="1 2 1" {moved}/>', 'type="mesh" mesh="m"'
    )
    (visual,) = shapes(model, cache)
    assert_same_points(drawn(visual), compiled(model))
    assert (file.as_uri() == visual.find("geometry/mesh").get("filename")) == (not moved)


def test_a_mesh_in_a_format_of_mujoco_only_is_exported_to_the_cache(cache, tmp_path):
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype="<f4")
    faces = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], dtype="<i4")
    head = np.array([len(corners), 0, 0, len(faces)], dtype="<i4")
    file = tmp_path / "m.msh"
    file.write_bytes(head.tobytes() + corners.tobytes() + faces.tobytes())
    model = model_of(f'<mesh name="m" file="{file}"/>', 'type="mesh" mesh="m"')
    (visual,) = shapes(model, cache)
    assert visual.find("geometry/mesh").get("filename").endswith(".stl")
    assert_same_points(drawn(visual), compiled(model))


def test_a_mesh_that_differs_from_its_file_is_omitted_without_a_cache(tmp_path, caplog):
    file = tmp_path / "box.stl"
    trimesh.creation.box().export(file)
    model = model_of(f'<mesh name="m" file="{file}"/>', 'name="crate" type="mesh" mesh="m"')
    assert shapes(model, None)
    trimesh.creation.box((1, 2, 3)).export(file)
    assert not shapes(model, None)
    assert "meshes that differ from their files: crate" in caplog.text


def test_a_moved_file_is_reported_unless_there_is_a_cache(tmp_path, cache):
    file = tmp_path / "box.stl"
    trimesh.creation.box().export(file)
    model = model_of(f'<mesh name="m" file="{file}"/>', 'type="mesh" mesh="m"')
    file.unlink()
    (visual,) = shapes(model, None)
    assert visual.find("geometry/mesh").get("filename") == file.as_uri()
    (visual,) = shapes(model, cache)
    assert_same_points(drawn(visual), compiled(model))


def test_an_ellipsoid_is_a_scaled_ball(cache):
    model = model_of("", 'type="ellipsoid" size=".1 .2 .3"')
    (visual,) = shapes(model, cache)
    geom = Pose(position=model.geom_pos[0], quat_wxyz=model.geom_quat[0])
    inside = (drawn(visual) - geom.position) @ geom.matrix
    np.testing.assert_allclose(np.linalg.norm(inside / [0.1, 0.2, 0.3], axis=1), 1, atol=1e-6)
    assert len(shapes(model, cache, "collision")) == 1


def test_a_height_field_is_visual_and_has_no_collision(cache, caplog):
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><asset><hfield name="h" nrow="9" ncol="7" size="2 1 .5 .1"/></asset><worldbody>'
        '<body name="b"><geom name="hill" type="hfield" hfield="h"/></body></worldbody></mujoco>'
    )
    (visual,) = shapes(model, cache)
    assert np.ptp(drawn(visual), axis=0)[:2] == pytest.approx([4, 2])
    assert not shapes(model, cache, "collision")
    assert "collisions of height fields, which URDF does not have: hill" in caplog.text


@pytest.mark.parametrize(("size", "drawn_size"), [("2 3 1", "4 6"), ("0 3 1", "40 6")])
def test_a_plane_is_a_thin_box_below_its_surface(size, drawn_size):
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><worldbody><body name="b"><geom name="belt" type="plane" '
        f'size="{size}" pos="0 0 1"/></body></worldbody></mujoco>'
    )
    (visual,) = shapes(model, None)
    assert visual.find("geometry/box").get("size") == f"{drawn_size} 0.001"
    assert visual.find("origin").get("xyz") == "0 0 0.9995"


def test_a_material_with_a_texture_has_its_mean_colour():
    model = model_of(
        '<texture name="t" type="2d" builtin="checker" rgb1="1 0 0" rgb2="0 0 1" width="64" '
        'height="64"/><material name="m" texture="t" rgba="1 1 .5 .8"/>',
        'size=".1" material="m"',
    )
    expected = [0.5, 0, 0.25, 0.8]
    np.testing.assert_allclose(material_rgba(model, 0), expected, atol=0.01)
    (material,) = ET.fromstring(export_urdf(model)).findall("material")
    found = [float(x) for x in material.find("color").get("rgba").split()]
    np.testing.assert_allclose(found, expected, atol=0.01)


def test_the_same_model_is_written_to_the_same_text_and_files(cache):
    model = model_of(f'<mesh name="m" vertex="{TETRAHEDRON}"/>', 'type="mesh" mesh="m"')
    first = export_urdf(model, mesh_cache=cache)
    assert export_urdf(model, mesh_cache=MeshCache(cache.folder)) == first
    assert len(list(cache.folder.iterdir())) == 1


def test_a_read_only_cache_does_not_affect_the_rest_of_the_robot(tmp_path, caplog):
    (tmp_path / "file").touch()
    model = model_of("", 'name="egg" type="ellipsoid" size=".1 .2 .3"')
    text = export_urdf(model, mesh_cache=MeshCache(tmp_path / "file" / "meshes"))
    assert '<link name="b">' in text
    assert "<visual" not in text
    assert "left out ellipsoids: egg" in caplog.text
