"""The initial camera pose."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.viewer.framing import ScreenProjection, fit_camera, frame_bodies

PAGE = (1280.0, 768.0)
SCENE = (300.0, 24.0, 600.0, 500.0)


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjSpec.from_string(
        "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"
    ).compile()


def test_the_middle_of_the_page_moves_to_the_height_of_the_middle_of_the_scene(model):
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    middle, distance = np.array(camera.lookat), camera.distance
    fit_camera(model, camera, SCENE, PAGE[1])
    x, y = ScreenProjection.of_camera(model, data, camera, *PAGE).project(middle)
    assert x == pytest.approx(PAGE[0] / 2.0)
    assert y == pytest.approx(SCENE[1] + SCENE[3] / 2.0, abs=15.0)
    assert camera.distance == pytest.approx(distance * PAGE[1] / SCENE[3])


def test_all_bodies_are_in_view_wherever_they_stand():
    model = mujoco.MjSpec.from_string(
        """<mujoco><worldbody>
          <geom type="plane" size="9 9 1"/>
          <geom type="box" size="9 9 9" pos="99 0 0"/>
          <body pos="5 0 0.5"><freejoint/><geom name="one" size="0.5"/></body>
          <body pos="20 0 0"><geom type="plane" size="0 0 1"/></body>
          <body pos="8 2 1"><geom name="other" type="box" size="0.2 0.2 1"/></body>
        </worldbody></mujoco>"""
    ).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    frame_bodies(model, data, camera)
    shown = ScreenProjection.of_camera(model, data, camera, *PAGE)
    places = [shown.project(data.geom(name).xpos) for name in ("one", "other")]
    assert all(0.0 < x < PAGE[0] and 0.0 < y < PAGE[1] for x, y in places)
    assert abs(places[0][0] - places[1][0]) > 0.2 * PAGE[1], "they are not tiny"


@pytest.mark.parametrize("scene", ["humanoid", "quadruped", "arm", "zoo"])
def test_the_scene_of_the_page_shows_all_robots_and_objects(scene):
    simulation = Simulation(load_scene(scene))
    model, data, camera = simulation.model, simulation.data, mujoco.MjvCamera()
    mujoco.mj_forward(model, data)
    mujoco.mjv_defaultFreeCamera(model, camera)
    frame_bodies(model, data, camera)
    fit_camera(model, camera, SCENE, PAGE[1])
    shown = ScreenProjection.of_camera(model, data, camera, *PAGE)
    points = np.array([shown.project(point) for point in vertices(model, data)])
    assert (points[:, 1] > SCENE[1]).all()
    assert (points[:, 1] < SCENE[1] + SCENE[3]).all()
    assert np.ptp(points, axis=0).max() > 0.6 * SCENE[3], "they are not tiny"


def vertices(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Return the vertices of all visible meshes of bodies, in the world."""
    found = []
    for geom in range(model.ngeom):
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH and model.geom_group[geom] < 3:
            mesh = model.geom_dataid[geom]
            start, number = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
            local = model.mesh_vert[start : start + number]
            found.append(local @ data.geom_xmat[geom].reshape(3, 3).T + data.geom_xpos[geom])
    return np.vstack(found)


def test_a_model_without_bodies_keeps_its_camera(model):
    data, camera = mujoco.MjData(model), mujoco.MjvCamera()
    mujoco.mj_forward(model, data)
    mujoco.mjv_defaultFreeCamera(model, camera)
    before = camera.distance
    frame_bodies(model, data, camera)
    assert camera.distance == before


WIDTH, HEIGHT = 800.0, 600.0


@pytest.fixture(scope="module")
def empty() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjSpec().compile()
    return model, mujoco.MjData(model)


def projection(empty, **camera) -> ScreenProjection:
    viewed = mujoco.MjvCamera()
    viewed.lookat[:] = (1.0, 2.0, 0.5)
    viewed.distance, viewed.azimuth, viewed.elevation = 2.0, 0.0, 0.0  # along +x
    for name, value in camera.items():
        setattr(viewed, name, value)
    return ScreenProjection.of_camera(*empty, viewed, WIDTH, HEIGHT)


def test_the_point_that_the_camera_targets_is_in_the_middle(empty):
    np.testing.assert_allclose(projection(empty).project(np.array([1.0, 2.0, 0.5])), [400.0, 300.0])


def test_the_field_of_view_ends_at_the_top_of_the_screen(empty):
    model, _ = empty
    rise = 2.0 * np.tan(np.radians(model.vis.global_.fovy) / 2)
    np.testing.assert_allclose(
        projection(empty).project(np.array([1.0, 2.0, 0.5 + rise])), [400.0, 0.0], atol=1e-3
    )


def test_a_point_on_the_left_is_on_the_left_of_the_screen(empty):
    x, y = projection(empty).project(np.array([1.0, 2.3, 0.5]))
    assert x < 400.0
    assert y == pytest.approx(300.0)


def test_a_point_behind_the_camera_has_no_projection(empty):
    assert projection(empty).project(np.array([-5.0, 2.0, 0.5])) is None


def test_a_point_follows_the_mouse_parallel_to_the_screen(empty):
    screen, point = projection(empty, azimuth=37.0, elevation=-20.0), np.array([1.2, 1.9, 0.6])
    pixels = np.array([30.0, -12.0])
    moved = point + screen.drag_in_plane(point, pixels)
    np.testing.assert_allclose(screen.project(moved), screen.project(point) + pixels, atol=1e-6)


@pytest.mark.parametrize("orthographic", [0, 1])
def test_a_point_on_an_axis_follows_the_mouse_over_any_distance(empty, orthographic):
    screen = projection(empty, azimuth=30.0, elevation=-35.0, orthographic=orthographic)
    point, direction = np.array([1.1, 1.9, 0.4]), np.array([0.0, 0.6, 0.8])
    goal = point + 0.7 * direction
    pixels = screen.project(goal) - screen.project(point)
    assert screen.drag_along(point, direction, pixels) == pytest.approx(0.7)


def test_without_perspective_the_scale_is_the_same_at_any_depth(empty):
    screen = projection(empty, orthographic=1)
    near, far = np.array([0.0, 2.0, 0.5]), np.array([1.5, 2.0, 0.5])
    assert screen.metres_per_pixel(near) == screen.metres_per_pixel(far)
