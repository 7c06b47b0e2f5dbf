import numpy as np
import pytest

from mujoco_ros.identification.replay import noise_of

TIMES = np.arange(0.0, 10.0, 0.002)


def test_noise_is_found_in_a_motion_with_jumps_of_its_velocity():
    motion = np.abs(np.sin(3.0 * TIMES))[:, None] * [1.0, 5.0]
    noise = np.random.default_rng(1).normal(0.0, [1e-3, 1e-4], (len(TIMES), 2))
    assert noise_of(motion + noise) == pytest.approx([1e-3, 1e-4], rel=0.06)


def test_a_signal_without_noise_has_a_little_nevertheless():
    assert 0.0 < noise_of(np.sin(TIMES)[:, None])[0] < 1e-4


def test_a_coarse_encoder_has_the_noise_of_its_resolution():
    times = np.arange(0.0, 10.0, 0.001)
    coarse = np.round(0.1 * np.sin(times) / 2e-3)[:, None] * 2e-3
    assert noise_of(coarse) == pytest.approx([2e-3 / np.sqrt(12.0)], rel=1e-6)


def test_a_signal_that_is_not_measured_has_no_noise():
    assert np.isnan(noise_of(np.full((100, 1), np.nan))).all()
