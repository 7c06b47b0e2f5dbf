"""Poses of bodies and cameras that follow from measured positions."""

import mujoco

from mujoco_ros.sim.plant import Plant


class MeasuredPoses:
    """Evaluates the kinematics of the positions that encoders and odometry measure.

    Attributes:
        data: Has the poses ``xpos``, ``xquat``, ``cam_xpos`` and ``cam_xmat``.
    """

    def __init__(self, plant: Plant) -> None:
        """Allocate, for a plant with realism."""
        self._plant = plant
        self.data = mujoco.MjData(plant.model)

    def update(self) -> None:
        """Compute the poses of the current sample."""
        model, data, now = self._plant.model, self.data, self._plant.data
        data.qpos[:] = self._plant.sample.measured_qpos
        data.mocap_pos[:], data.mocap_quat[:] = now.mocap_pos, now.mocap_quat
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_camlight(model, data)
