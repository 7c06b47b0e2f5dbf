"""Poses of what images and scans show."""

import mujoco


def compute_poses(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Compute the poses that images and scans need, from joint positions and mocap poses."""
    for compute in (
        mujoco.mj_kinematics,
        mujoco.mj_comPos,
        mujoco.mj_camlight,
        mujoco.mj_flex,
        mujoco.mj_tendon,
    ):
        compute(model, data)
