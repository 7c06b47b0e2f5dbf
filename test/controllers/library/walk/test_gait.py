"""Phases and references of a walk whose footsteps are moved."""

import numpy as np
import pytest

from mujoco_ros.controllers.interface.inputs import BodyVelocity
from mujoco_ros.controllers.library.walk.gait import Gait, GaitConfig

PERIOD = 0.005
WIDTH = 0.2


def gait_in_its_last_swing() -> Gait:
    """Return a gait that stops, with the last foot in the air."""
    gait = Gait(GaitConfig(), 3.3, WIDTH)
    while gait.steps < 4:
        gait.step(PERIOD, BodyVelocity(x=0.2))
    while True:
        gait.step(PERIOD, BodyVelocity())
        phase = gait.phase
        assert phase is not None, "the last swing was missed"
        is_last = phase.swing is not None and abs(phase.swing.x - phase.support.x) < 1e-9
        if is_last and gait.progress > 0.7:
            return gait


@pytest.mark.parametrize(("moved", "rests"), [(1e-5, True), (0.02, True), (0.08, False)])
def test_the_last_step_stays_the_last_one_when_its_footstep_is_moved_a_little(moved, rests):
    gait = gait_in_its_last_swing()
    before, steps = gait.reference(), gait.steps
    gait.land_at(gait.phase.swing._replace(x=gait.phase.swing.x + moved))
    jump = np.abs(gait.reference().dcm - before.dcm).max()
    assert jump < moved, "the planned motion changes by no more than the footstep"
    while gait.phase is not None and gait.steps < 20:
        gait.step(PERIOD, BodyVelocity())
    assert gait.phase is None
    assert (gait.steps == steps + 1) is rests


def test_a_robot_that_is_not_steady_waits_on_both_feet_with_the_dcm_at_rest():
    gait, forwards = Gait(GaitConfig(), 3.3, WIDTH), BodyVelocity(x=0.2)
    for _ in range(1000):
        gait.step(PERIOD, forwards)
        if gait.steps == 2:
            break
    assert gait.phase.swing is None
    for _ in range(60):  # the double support of 0.2 s, and 0.1 s more
        gait.step(PERIOD, forwards, is_steady=False)
    waiting = gait.reference()
    np.testing.assert_array_equal(waiting.dcm, waiting.zmp)
    assert gait.phase.swing is None
    gait.step(PERIOD, forwards)
    assert gait.phase.swing is not None
    assert np.abs(gait.reference().dcm - waiting.dcm).max() < 0.005, "the motion is continuous"


def test_a_robot_that_is_never_steady_walks_on_after_a_second():
    gait = Gait(GaitConfig(), 3.3, WIDTH)
    for _ in range(2000):
        gait.step(PERIOD, BodyVelocity(x=0.2), is_steady=False)
    assert 4 <= gait.steps <= 6


def test_a_marching_robot_steps_in_place_until_it_shall_stand():
    gait = Gait(GaitConfig(), 3.3, WIDTH)
    gait.is_marching = True
    for _ in range(1000):
        gait.step(PERIOD, BodyVelocity())
    assert gait.steps >= 4
    assert gait.phase is not None
    gait.is_marching = False
    for _ in range(600):
        gait.step(PERIOD, BodyVelocity())
    assert gait.phase is None
    np.testing.assert_allclose([(it.x, abs(it.y)) for it in gait.feet], [(0.0, 0.1)] * 2, atol=1e-9)
