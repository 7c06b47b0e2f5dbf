"""Chunks of positions, as learned policies send them, as twice differentiable curves."""

import numpy as np

from mujoco_ros.control.errors import CommandError
from mujoco_ros.control.joints import LARGEST
from mujoco_ros.control.trajectory.spline import Spline, Waypoints, spline

LEADING = 3
"""Segments of a chunk's curve before its first waypoint."""
_UNEVEN = "the times of the points are too uneven for a smooth curve; send velocities with them"


def is_positions_only(given: np.ndarray) -> bool:
    """Return whether all points have positions, and none has velocities or accelerations.

    Args:
        given: Which of positions, velocities, accelerations and efforts points have.  # (4, m) bool
    """
    position, velocity, acceleration, _effort = given
    return bool(position.all() and not velocity.any() and not acceleration.any())


def chunk_times(times: np.ndarray, frequency: float) -> np.ndarray:
    """Return (i + 1) / `frequency` for point i of a chunk without times, else `times` (m,) [s].

    A chunk has no times if all are zero. Without a frequency (0 Hz), they stay.
    """
    if frequency <= 0 or times.any():
        return times
    return np.arange(1.0, len(times) + 1) / frequency


def chunk_curve(points: Waypoints) -> Spline:
    """Return the curve of a chunk, with continuous accelerations, for all times.

    It is the cubic spline through the positions, with not-a-knot ends. Two parts differ:

    - Its last segment is quintic and ends at rest, and the curve stays there. So the end of a
      chunk does not slow down the motion before its last but one waypoint.
    - Before the first waypoint, its first polynomial continues for the duration of a segment.
      Before that, the acceleration fades to zero within the same duration, and the velocity is
      constant.

    Raises:
        CommandError: The distances in time of the points are too different for such a curve.
    """
    from scipy.interpolate import CubicSpline  # here, as few sessions need it

    times, q, tau = points.times, points.q, points.tau
    dq, ddq = np.zeros((2, *q.shape))
    step = float(times[1] - times[0]) if len(times) > 1 else 1.0
    earlier = times[0] - step * np.array([3.0, 2.0, 1.0])
    q_earlier, dq_earlier, ddq_earlier = np.zeros((3, LEADING, q.shape[1]))
    q_earlier[:] = q[0]
    if len(times) > 1:
        try:
            through = CubicSpline(times, q)
        except np.linalg.LinAlgError:
            raise CommandError(_UNEVEN) from None
        dq[:-1], ddq[:-1] = through(times[:-1], 1), through(times[:-1], 2)
        q_earlier[2], dq_earlier[2], ddq_earlier[2] = (through(earlier[2], k) for k in range(3))
        dq_earlier[:2] = dq_earlier[2] - ddq_earlier[2] * step / 2
        q_earlier[1] = q_earlier[2] - dq_earlier[2] * step + ddq_earlier[2] * step**2 / 3
        q_earlier[0] = q_earlier[1] - dq_earlier[1] * step
    rest = np.zeros_like(q[:1])
    curve = spline(
        Waypoints(
            times=np.concatenate([earlier, times, times[-1:] + step]),
            q=np.concatenate([q_earlier, q, q[-1:]]),
            dq=np.concatenate([dq_earlier, dq, rest]),
            ddq=np.concatenate([ddq_earlier, ddq, rest]),
            tau=np.concatenate([tau[[0] * LEADING], tau, tau[-1:]]),
            degree=np.full(len(times) + LEADING + 1, 5),
        )
    )
    if not np.abs(curve.q).max() <= LARGEST:  # also if there is a NaN
        raise CommandError(_UNEVEN)
    curve.q[0, 2:] = 0.0  # without the rounding, which would grow far before the begin
    return curve
