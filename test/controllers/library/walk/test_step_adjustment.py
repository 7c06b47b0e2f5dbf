"""Displacements of footsteps."""

import numpy as np
import pytest

from mujoco_ros.controllers.library.walk.footsteps import LEFT, RIGHT, Footstep, StepAdjustment

LEAST = 0.16


def offset_after_a_push(planned: Footstep, push: tuple[float, float]) -> np.ndarray:
    """Return the displacement for a DCM that `push` has moved away from the plan [m]."""
    support = Footstep(1 - planned.side, 0.0, 0.0, 0.0)
    adjustment = StepAdjustment(3.3, np.array([0.05, 0.03]), LEAST)
    adjustment.begin(support, planned)
    zmp, end = np.zeros(2), 0.5 * planned.point
    remaining = 0.3
    dcm = end * np.exp(-3.3 * remaining) + np.array(push)
    for _ in range(400):
        adjustment.step(dcm, end, zmp, support, 0.2, remaining, 0.005)
    return adjustment.offset


@pytest.mark.parametrize("side", [LEFT, RIGHT])
@pytest.mark.parametrize("width", [0.16, 0.2, 0.3])
def test_a_footstep_is_not_moved_nearer_to_the_other_foot_than_the_least_width(side, width):
    outwards = 1.0 if side == LEFT else -1.0
    inwards = offset_after_a_push(Footstep(side, 0.1, outwards * width, 0.0), (0.0, -outwards))
    assert outwards * inwards[1] == pytest.approx(-min(width - LEAST, 0.1))


@pytest.mark.parametrize(("push", "axis"), [((0.2, 0.0), 0), ((0.0, 0.2), 1)])
def test_a_push_moves_the_footstep_in_its_direction_and_not_without_limit(push, axis):
    offset = offset_after_a_push(Footstep(LEFT, 0.1, 0.2, 0.0), push)
    assert 0.05 < offset[axis] <= 0.12
    assert offset[1 - axis] == pytest.approx(0.0, abs=1e-9)


def test_a_small_displacement_is_balanced_by_the_foot():
    offset = offset_after_a_push(Footstep(LEFT, 0.1, 0.2, 0.0), (0.01, 0.01))
    np.testing.assert_array_equal(offset, 0.0)
