"""The first view of a scene shows its bodies."""

import math

import mujoco
import numpy as np
import pytest
from still_state import StillState

from mujoco_ros.viewer.scene.fitting import fitted_pose

VIEW = {"azimuth": 90.0, "elevation": -25.0}


def projected(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    points: np.ndarray,
    aspect: float,
    above: float = 0.0,
) -> np.ndarray:
    """Return where points are in the fitted picture, from -1 to 1 in both directions.  # (n, 2)"""
    pose = fitted_pose(model, data, 0, aspect=aspect, above=above, **VIEW)
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance = pose["lookat"], pose["distance"]
    camera.azimuth, camera.elevation = pose["azimuth"], pose["elevation"]
    position, forward, up, right = (np.zeros(3) for _ in range(4))
    mujoco.mjv_cameraFrame(position, forward, up, right, data, camera)
    offsets = points - position
    depth = offsets @ forward * math.tan(math.radians(model.vis.global_.fovy) / 2.0)
    return np.stack([offsets @ right / (aspect * depth), offsets @ up / depth], axis=1)


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
    points = np.array([data.geom(name).xpos for name in ("one", "other")])
    places = projected(model, data, points, 1.6)
    assert (np.abs(places) < 1.0).all()
    assert abs(places[0, 0] - places[1, 0]) > 0.2, "they are not tiny"


@pytest.mark.parametrize("aspect", [0.6, 1.0, 2.0])
@pytest.mark.parametrize("scene", ["humanoid", "quadruped", "arm", "zoo"])
def test_robots_and_objects_fill_the_picture(scene, aspect):
    state = StillState(scene)
    places = projected(state.model, state.data, vertices(state.model, state.data), aspect)
    assert (np.abs(places) <= 1.0).all()
    assert np.abs(places).max() > 0.6, "they are not tiny"


@pytest.mark.parametrize("scene", ["humanoid", "quadruped"])
def test_room_above_the_robots_stays_free(scene):
    state, above = StillState(scene), 0.16
    seen = vertices(state.model, state.data)
    filled = projected(state.model, state.data, seen, 1.2)
    with_room = projected(state.model, state.data, seen, 1.2, above)
    assert with_room[:, 1].max() < 1.0 - 2.0 * above < filled[:, 1].max()
    assert (np.abs(with_room) <= 1.0).all()


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


def test_a_model_without_bodies_has_no_fitted_pose():
    model = mujoco.MjSpec.from_string(
        "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"
    ).compile()
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    assert fitted_pose(model, data, 0, aspect=1.0, **VIEW) == {}
