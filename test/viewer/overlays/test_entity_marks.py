"""Frames, trails and ghosts of entities."""

import mujoco
import numpy as np
import pytest
from still_state import StillState

from mujoco_ros.control.references import References
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.overlays.entity_marks import EntityMarks
from mujoco_ros.viewer.overlays.shapes import Scale


@pytest.fixture
def state():
    return StillState("arm")


@pytest.fixture
def displays(state):
    return EntityDisplays(state)


@pytest.fixture
def draw(state, displays):
    marks = EntityMarks(state, displays)
    joints = [robot.joints.qpos for robot in state.layout.robots]

    def drawn():
        mujoco.mj_forward(state.model, state.data)
        state.references = References.holding(
            np.concatenate([state.data.qpos[addresses] + 0.3 for addresses in joints])
        )
        return marks(Scale())

    return drawn


def test_three_axes_are_drawn_at_each_link(displays, draw):
    assert draw() == []
    displays.set("arm", frames=True)
    assert len(draw()) == 3 * len(displays.entities["arm"].bodies)


def test_the_ghost_of_a_hidden_robot_is_drawn(displays, draw):
    displays.set("arm", references=True)
    count = len(draw())
    meshes = [geom.dataid for geom in draw() if geom.type == mujoco.mjtGeom.mjGEOM_MESH]
    assert count > 0
    assert meshes
    assert all(dataid >= 0 and dataid % 2 == 0 for dataid in meshes)
    displays.set("arm", visual=False)
    assert len(draw()) == count


def test_a_trail_has_the_positions_of_the_last_ten_seconds(displays, draw, state):
    displays.set("box", trail="box/box")
    address = displays.entities["box"].free[0]
    for step in range(200):
        state.time = 0.1 * step
        state.data.qpos[address] = 0.01 * step
        geoms = draw()
    ends = [geom.pos[0] for geom in geoms]
    assert min(ends) == pytest.approx(0.995, abs=0.02)
    assert max(ends) == pytest.approx(1.985, abs=0.02)
    state.time = 0.0  # a reset
    assert draw() == []


def test_a_trail_does_not_grow_while_a_past_state_is_shown(displays, draw, state):
    displays.set("box", trail="box/box")
    address = displays.entities["box"].free[0]
    for step in range(10):
        state.time = 0.1 * step
        state.data.qpos[address] = 0.01 * step
        before = len(draw())
    state.show(0.3)
    state.time, state.data.qpos[address] = 0.3, 0.5
    assert len(draw()) <= before + 1
    state.show(None)
    state.time, state.data.qpos[address] = 1.0, 0.1
    assert len(draw()) == before + 1
