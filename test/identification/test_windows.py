"""The states from which the windows of a recording begin."""

import numpy as np
import pytest

from mujoco_ros.identification.joint_record import JointRecord
from mujoco_ros.identification.replay import smooth_states


@pytest.mark.parametrize("period", [0.001, 0.015])
def test_a_window_begins_with_the_velocity_of_positions_alone(period):
    times = np.arange(0.0, 4.0, period)
    wave = np.sin(2.0 * times)[:, None]
    unknown = np.full_like(wave, np.nan)
    record = JointRecord(
        joints=("hip",),
        times=times,
        position=wave,
        velocity=unknown,
        effort=unknown,
        command_times=times,
        references=np.stack([wave, unknown, unknown], axis=1),
    )
    starts = np.array([0, len(times) // 2, len(times) - 1])
    q, dq = smooth_states(record, starts, np.array([[1e-5], [np.nan]]))
    assert q[:, 0] == pytest.approx(wave[starts, 0], abs=1e-4)
    assert dq[:, 0] == pytest.approx(2.0 * np.cos(2.0 * times[starts]), abs=1e-3)
