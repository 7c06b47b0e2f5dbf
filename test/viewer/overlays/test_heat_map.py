"""The links in colours of the loads of their joints."""

import numpy as np
import pytest
from still_state import StillState

from mujoco_ros.control.references import References
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.overlays import heat_map
from mujoco_ros.viewer.overlays.heat_map import Heat, HeatMap, heat_colour

HEAT: dict[tuple[str, str], float] = {}


@pytest.fixture(scope="module")
def arm():
    return StillState("arm")


@pytest.fixture
def displays(arm):
    return EntityDisplays(arm)


@pytest.fixture
def heat(arm, displays, monkeypatch):
    monkeypatch.setattr(heat_map, "_PERIOD_S", 0.0)
    joints = arm.layout.robots[0].joints
    arm.references = References.holding(arm.data.qpos[joints.qpos].copy())
    arm.data.qfrc_actuator[:] = 0.0
    return HeatMap(arm, displays, lambda: HEAT)


def load(heat, name):
    return next(each for each in heat.loads() if each.row.name == name)


def test_a_load_is_the_share_of_the_limit(heat, arm):
    elbow = load(heat, "elbow_joint")
    arm.data.qfrc_actuator[elbow.row.dof] = -0.5 * elbow.row.effort
    elbow = load(heat, "elbow_joint")
    assert elbow.share(Heat.TORQUE) == pytest.approx(0.5)
    assert elbow.share(Heat.ERROR) == 0.0
    arm.references.q[2] += 0.05
    assert load(heat, "elbow_joint").error == pytest.approx(0.05)
    assert load(heat, "elbow_joint").share(Heat.ERROR) == pytest.approx(0.5)


def test_a_temperature_is_a_share_of_that_from_which_torque_is_limited(heat, monkeypatch):
    assert np.isnan(load(heat, "elbow_joint").temperature)
    assert load(heat, "elbow_joint").share(Heat.TEMPERATURE) == 0.0, "not reported"
    monkeypatch.setitem(HEAT, ("arm", "elbow_joint"), 62.5)
    assert load(heat, "elbow_joint").temperature == 62.5
    assert load(heat, "elbow_joint").share(Heat.TEMPERATURE) == pytest.approx(0.5)
    assert load(heat, "shoulder_pan_joint").share(Heat.TEMPERATURE) == 0.0


def test_a_link_has_the_colour_of_its_joint_in_the_displayed_model(heat, arm, displays):
    elbow = load(heat, "elbow_joint")
    arm.data.qfrc_actuator[elbow.row.dof] = elbow.row.effort
    heat.heat = Heat.TORQUE
    heat.update()
    shown = displays.displayed_model()
    assert shown is not arm.model
    own = (arm.model.geom_bodyid == elbow.body) & (arm.model.geom_group < 3)
    assert own.any()
    np.testing.assert_allclose(shown.geom_rgba[own], [heat_colour(1.0)] * own.sum(), atol=1e-6)
    assert (shown.geom_matid[own] == -1).all()
    table = arm.model.body("table/table").id if "table/table" in _bodies(arm) else 0
    others = arm.model.geom_bodyid == table
    np.testing.assert_array_equal(shown.geom_rgba[others], arm.model.geom_rgba[others])


def _bodies(arm):
    return [arm.model.body(body).name for body in range(arm.model.nbody)]


def test_other_colours_change_the_same_copy_and_none_restore_the_model(heat, arm, displays):
    heat.heat = Heat.TORQUE
    heat.update()
    first, changes = displays.displayed_model(), displays.changes
    heat.update()
    assert displays.changes == changes, "the loads are the same"
    elbow = load(heat, "elbow_joint")
    arm.data.qfrc_actuator[elbow.row.dof] = elbow.row.effort
    heat.update()
    assert displays.changes == changes + 1
    assert displays.displayed_model() is first
    heat.heat = Heat.NONE
    heat.update()
    assert displays.displayed_model() is arm.model


def test_colours_go_from_green_over_yellow_to_red():
    (red, green, _, _), (more, _, _, opacity) = heat_colour(0.0), heat_colour(7.0)
    assert green > red
    assert more > 0.8
    assert opacity == 1.0
    assert heat_colour(7.0) == heat_colour(1.0)
