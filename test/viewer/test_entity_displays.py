"""What the page shows of each entity."""

import numpy as np
import pytest
from still_state import StillState

from mujoco_ros.viewer.entity_displays import EntityDisplays


@pytest.fixture(scope="module")
def state():
    return StillState("arm")


@pytest.fixture
def displays(state):
    return EntityDisplays(state)


def shown(model, geoms):
    """Return the geoms that MuJoCo shows by default."""
    return {geom for geom in geoms if model.geom_group[geom] < 3}


def test_without_a_switch_the_model_itself_is_displayed(displays, state):
    assert displays.displayed_model() is state.model
    displays.set("arm", frames=True, references=True, trail="arm/forearm_link")
    assert displays.displayed_model() is state.model
    assert displays.changes == 0


def test_collision_shapes_replace_visual_ones_of_one_entity_alone(displays, state):
    model = state.model
    arm = displays.entities["arm"].geoms
    collides = {it for it in arm if model.geom_contype[it] or model.geom_conaffinity[it]}
    visual = shown(model, arm)
    assert collides
    assert collides - visual, "the arm has shapes for collisions alone"
    displays.set("arm", collision=True)
    assert shown(displays.displayed_model(), arm) == visual | collides
    displays.set("arm", visual=False)
    displayed = displays.displayed_model()
    assert shown(displayed, arm) == collides
    others = np.setdiff1d(np.arange(model.ngeom), arm)
    np.testing.assert_array_equal(displayed.geom_group[others], model.geom_group[others])
    assert displays.changes == 2
    displays.set("arm", visual=True, collision=False)
    assert displays.displayed_model() is model


def test_the_displayed_model_has_the_edits_of_the_present_one(displays, state):
    displays.set("arm", collision=True)
    displays.displayed_model()
    before = state.model.mat_rgba[0].copy()
    state.model.mat_rgba[0] = 0.25
    displayed = displays.displayed_model()
    state.model.mat_rgba[0] = before
    np.testing.assert_array_equal(displayed.mat_rgba[0], [0.25] * 4)


def test_switches_of_entities_of_another_scene_are_kept(displays, state):
    displays.restore({"entities": {"crane": {"visual": False, "trail": 5, "wings": True}}})
    assert displays.displayed_model() is state.model
    kept = displays.settings()["entities"]["crane"]
    assert kept["visual"] is False
    assert kept["trail"] == ""
