"""The analytic pattern agrees with an integration of the pendulum."""

import numpy as np
import pytest

from mujoco_ros.controllers.library.walk.gait import (
    ZmpSegment,
    dcm_at_start,
    dcm_before,
    zmp_between,
)

OMEGA = 3.4
SEGMENTS = [
    ZmpSegment(np.array([0.0, 0.0]), np.array([0.0, 0.1]), 0.3),
    ZmpSegment(np.array([0.0, 0.1]), np.array([0.0, 0.1]), 0.7),
    ZmpSegment(np.array([0.0, 0.1]), np.array([0.2, 0.0]), 0.5),
]


def test_the_dcm_comes_to_rest_above_the_last_zmp():
    dcm, steps = dcm_at_start(SEGMENTS, OMEGA), 20000
    for segment in SEGMENTS:
        period = segment.duration / steps
        for step in range(steps):
            part = (step + 0.5) / steps
            zmp = segment.begin + part * (segment.end - segment.begin)
            dcm = zmp + (dcm - zmp) * np.exp(OMEGA * period)
    np.testing.assert_allclose(dcm, SEGMENTS[-1].end, atol=1e-6)


def test_a_segment_ends_at_its_end():
    end = np.array([0.3, 0.2])
    np.testing.assert_allclose(dcm_before(SEGMENTS[0], end, 0.0, OMEGA), end)


def test_a_constant_zmp_moves_the_dcm_between_two_points():
    start, end = np.array([0.0, 0.0]), np.array([0.02, -0.03])
    zmp = zmp_between(start, end, 0.3, OMEGA)
    assert zmp + (start - zmp) * np.exp(OMEGA * 0.3) == pytest.approx(end)
