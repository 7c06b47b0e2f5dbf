import io

import mujoco
import numpy as np
import pytest
import trimesh

from mujoco_ros.model.urdf.exporting.meshes import (
    Triangles,
    height_field_triangles,
    mesh_triangles,
    unit_sphere,
)

TETRAHEDRON = '<mesh name="t" vertex="0 0 0 1 0 0 0 1 0 0 0 1" scale="1 2 3"/>'
HILLS = '<hfield name="h" nrow="3" ncol="4" size="2 1 .5 .1" elevation="0 1 2 3 4 3 2 1 0 1 2 3"/>'


@pytest.fixture(scope="module")
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(
        f"<mujoco><asset>{TETRAHEDRON}{HILLS}</asset><worldbody>"
        '<geom type="hfield" hfield="h" pos="0 0 5"/><body><geom type="mesh" mesh="t"/></body>'
        "</worldbody></mujoco>"
    )


def read(triangles: Triangles) -> trimesh.Trimesh:
    return trimesh.load_mesh(io.BytesIO(triangles.stl()), file_type="stl")


def test_the_sphere_is_closed_and_faces_outwards():
    ball = read(unit_sphere())
    assert ball.is_watertight
    assert ball.volume == pytest.approx(4 / 3 * np.pi, rel=0.01)
    assert np.linalg.norm(ball.vertices, axis=1) == pytest.approx(1.0, abs=1e-6)


def test_a_mesh_has_the_triangles_of_the_model_scaled(model):
    tetrahedron = read(mesh_triangles(model, 0))
    assert tetrahedron.is_watertight
    assert tetrahedron.volume == pytest.approx(1 * 2 * 3 / 6)
    assert len(tetrahedron.faces) == 4


def test_a_height_field_has_the_surface_that_rays_hit_and_faces_upwards(model):
    hills = read(height_field_triangles(model, 0))
    assert (hills.face_normals[:, 2] > 0).all()
    assert len(hills.faces) == 2 * 2 * 3
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    geom = np.zeros(1, dtype=np.int32)
    for x, y, z in hills.vertices:
        # Just inside the edge, where the ray still hits.
        start = np.array([0.9999 * x, 0.9999 * y, 9.0])
        down = mujoco.mj_ray(model, data, start, np.array([0.0, 0, -1]), None, 1, -1, geom)
        assert 9.0 - down - 5.0 == pytest.approx(z, abs=1e-3)


def test_equal_triangles_are_written_equally_and_degenerate_ones_without_a_normal():
    flat = Triangles(
        vertices=np.zeros((3, 3), dtype=np.float32), faces=np.array([[0, 1, 2]], dtype=np.int32)
    )
    assert flat.stl() == flat.stl()
    assert np.frombuffer(flat.stl()[84:134], "<f4", 12).tolist() == [0.0] * 12
