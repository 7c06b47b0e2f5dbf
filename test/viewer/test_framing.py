"""The initial camera pose."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.viewer.framing import fit_camera, frame_bodies
from mujoco_ros.viewer.projection import ScreenProjection

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
