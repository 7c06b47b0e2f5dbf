"""Stops with a limited deceleration."""

import numpy as np

from mujoco_ros.control.joints import Clamped
from mujoco_ros.control.references import References
from mujoco_ros.control.trajectory.spline import Waypoints, spline
from mujoco_ros.control.trajectory.trajectory import Trajectory


def stop_trajectory(
    joints: np.ndarray, references: References, deceleration: np.ndarray
) -> Trajectory | None:
    """Return the trajectory that stops moving joints from their references, each on its own.

    Args:
        joints: Indices of the joints.  # (k,)
        references: Where it starts; efforts stay.
        deceleration: Of each joint of the robot [rad/s² or m/s²].  # (n,)

    Returns:
        The trajectory of the joints that move; None if none moves, or a joint that moves has no
        deceleration.
    """
    moving = joints[references.dq[joints] != 0]
    limit = deceleration[moving]
    if not moving.size or not limit.all():
        return None
    q, dq, tau = references.values[:, moving]
    stopping = np.abs(dq) / limit  # (k,)
    times = np.unique(stopping)
    braked = np.minimum(times[:, None], stopping)  # (m, k)
    change = -np.sign(dq) * limit
    velocity = dq + change * braked
    velocity[times[:, None] >= stopping] = 0.0
    # Cubic segments are exact: between these times, positions are quadratic.
    points = Waypoints(
        times=times,
        q=q + dq * braked + change * braked**2 / 2,
        dq=velocity,
        ddq=np.zeros_like(velocity),
        tau=np.tile(tau, (len(times), 1)),
        degree=np.full(len(times), 3),
    )
    return Trajectory(
        joints=moving,
        start=None,
        points=points,
        curve=spline(points) if len(times) > 1 else None,
        clamped=Clamped(),
        is_stop=True,
    )
