"""Positions and lengths of the overlays."""

from copy import copy
from dataclasses import replace

import mujoco
import numpy as np
import pytest
from overlay_scenes import OverlayState, state_of

from mujoco_ros.control.references import References
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.viewer.colours import CONTACT, STABLE, UNSTABLE
from mujoco_ros.viewer.overlays import robot_overlays, shapes
from mujoco_ros.viewer.overlays.balance import balance_of, convex_hull, inside
from mujoco_ros.viewer.overlays.entity_marks import Ghost
from mujoco_ros.viewer.overlays.robot_overlays import balance
from mujoco_ros.viewer.overlays.shapes import Scale

# A table of 4 kg on legs at the corners of a square of 0.8 m, with an arm of 1 kg in its middle.
TABLE = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 0.1"/>
    <body name="table" pos="0 0 0.5">
      <freejoint/>
      <geom type="box" size="0.4 0.4 0.02" mass="4"/>
      <geom name="leg0" type="sphere" size="0.02" pos="0.4 0.4 -0.48" mass="0.001"/>
      <geom name="leg1" type="sphere" size="0.02" pos="-0.4 0.4 -0.48" mass="0.001"/>
      <geom name="leg2" type="sphere" size="0.02" pos="-0.4 -0.4 -0.48" mass="0.001"/>
      <geom name="leg3" type="sphere" size="0.02" pos="0.4 -0.4 -0.48" mass="0.001"/>
      <body name="arm" pos="0 0 0.1">
        <joint name="turn" axis="0 0 1"/>
        <geom name="rod" type="capsule" size="0.03" fromto="0 0 0 0.3 0 0" mass="1"/>
        <site name="mount"/>
      </body>
    </body>
  </worldbody>
  <sensor><force site="mount"/><torque site="mount"/></sensor>
</mujoco>
"""
WEIGHT_N = 5.004 * 9.81
SCALE = Scale(force=0.01, torque=0.1, radius=0.01)


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> OverlayState:
    """The table at rest."""
    path = tmp_path_factory.mktemp("scene") / "table.xml"
    path.write_text(TABLE)
    state = state_of(assemble(load_scene(str(path))))
    for _ in range(2000):
        mujoco.mj_step(state.model, state.data)
    mujoco.mj_forward(state.model, state.data)
    state.references = References.holding(state.data.qpos[state.layout.robots[0].joints.qpos])
    return state


def turned(state: OverlayState, angle: float) -> OverlayState:
    """Return a state with other references."""
    return replace(state, references=References.holding(state.references.q + angle))


def vector(geom: mujoco.MjvGeom) -> np.ndarray:
    """Return the vector of an arrow [m]."""
    return geom.mat.reshape(3, 3)[:, 2] * geom.size[2]


def arrows(geoms: list[mujoco.MjvGeom]) -> list[mujoco.MjvGeom]:
    return [geom for geom in geoms if geom.type == mujoco.mjtGeom.mjGEOM_ARROW]


def test_contact_forces_add_up_to_the_weight(standing):
    geoms = robot_overlays.contacts(standing, SCALE)
    drawn = arrows(geoms)
    assert len(drawn) == 4
    assert len(geoms) == 8
    total = sum(vector(geom) for geom in drawn)
    np.testing.assert_allclose(total, [0.0, 0.0, SCALE.force * WEIGHT_N], atol=2e-3)
    for geom in drawn:
        np.testing.assert_allclose(np.abs(geom.pos[:2]), 0.4, atol=1e-3)


def test_a_sensed_wrench_has_the_sign_of_its_topic(standing):
    # The arm hangs on its mount: the load it puts there points down.
    (force, torque) = arrows(robot_overlays.sensed(standing, SCALE))
    np.testing.assert_allclose(vector(force), [0.0, 0.0, -SCALE.force * 9.81], atol=1e-4)
    # … 0.15 m before the mount, which turns it about its y axis.
    np.testing.assert_allclose(vector(torque), [0.0, SCALE.torque * 0.15 * 9.81, 0.0], atol=2e-3)
    reversed_ = replace(SCALE, sensor_sign=1.0)
    (force, _torque) = arrows(robot_overlays.sensed(standing, reversed_))
    np.testing.assert_allclose(vector(force), [0.0, 0.0, SCALE.force * 9.81], atol=1e-4)


def test_external_wrenches_are_drawn_at_the_centre_of_mass(standing):
    data = copy(standing.data)
    data.xfrc_applied[2] = [10.0, 0.0, 0.0, 0.0, 2.0, 0.0]
    force, torque = arrows(robot_overlays.applied(replace(standing, data=data), SCALE))
    np.testing.assert_allclose(vector(force), [0.1, 0.0, 0.0], atol=1e-6)
    np.testing.assert_allclose(vector(torque), [0.0, 0.2, 0.0], atol=1e-6)
    np.testing.assert_allclose(force.pos, standing.data.xipos[2], atol=1e-6)
    assert robot_overlays.applied(standing, SCALE) == []


def test_a_vector_that_is_zero_or_not_finite_is_not_drawn():
    for vector in (np.zeros(3), np.array([np.nan, 0.0, 0.0]), np.array([np.inf, 0.0, 0.0])):
        assert shapes.arrow(np.zeros(3), vector, 0.01, CONTACT) == []


def test_the_ghost_shows_only_joints_that_differ_from_their_reference(standing):
    ghost = Ghost()
    assert ghost(standing, SCALE) == []
    moved = turned(standing, np.pi / 2)
    (rod,) = ghost(moved, SCALE)
    assert rod.rgba[3] < 0.5
    x, y, _ = rod.pos - standing.data.xpos[2]
    assert x == pytest.approx(0.0, abs=1e-3)
    assert y == pytest.approx(0.15, abs=1e-3)
    assert ghost(turned(standing, np.nan), SCALE) == []


def test_the_ghost_does_not_change_the_simulated_state(standing):
    before = standing.data.qpos.copy()
    Ghost()(turned(standing, 1.0), SCALE)
    np.testing.assert_array_equal(standing.data.qpos, before)


def test_the_centre_of_mass_is_over_the_support_polygon(standing):
    (robot,) = standing.layout.robots
    found = balance_of(standing, robot)
    np.testing.assert_allclose(found.centre[0], 0.15 / 5.004, atol=1e-3)
    hull = found.support
    assert len(hull) == 4
    assert np.abs(hull).max() == pytest.approx(0.4, abs=1e-3)
    geoms = balance(standing, SCALE)
    assert all(tuple(geom.rgba) == pytest.approx(STABLE) for geom in geoms)
    assert len(geoms) == 2 + 1 + 4  # balls, plumb line, outline


def test_a_robot_without_contacts_is_unstable(standing):
    data = mujoco.MjData(standing.model)
    data.qpos[2] = 2.0
    mujoco.mj_forward(standing.model, data)
    geoms = balance(replace(standing, data=data), SCALE)
    assert len(geoms) == 3
    assert all(tuple(geom.rgba) == pytest.approx(UNSTABLE) for geom in geoms)


def test_a_hull_has_only_the_outermost_points_as_corners():
    points = np.array([[0, 0], [2, 0], [2, 2], [0, 2], [1, 1], [1, 0], [2, 0], [0.5, 1.5]])
    hull = convex_hull(points)
    assert hull.tolist() == [[0, 0], [2, 0], [2, 2], [0, 2]]
    assert inside(hull, np.array([0.1, 1.9]))
    assert not inside(hull, np.array([2.1, 1.0]))
    assert convex_hull(np.zeros((0, 2))).shape == (0, 2)
    assert convex_hull(np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])).shape[0] == 2
    assert not inside(convex_hull(points[:2]), np.array([1.0, 0.0]))
