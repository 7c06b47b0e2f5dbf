"""Tracking errors and reference accelerations of the trajectory controllers."""

import numpy as np

from mujoco_ros.sim.plant import Plant


class Tracking:
    """Tracking of the references at the current sample.

    Attributes:
        error: Position and velocity of the reference minus the measured ones.  # (2, n)
        acceleration: Acceleration of the reference.  # (n,)
        elapsed: Time since the trajectory of each robot started [s]; 0 without one.  # (r,)
        speed_scaling: Speed of the trajectories of each robot, as a factor.  # (r,)
    """

    def __init__(self, plant: Plant) -> None:
        self._joints, self._sample = plant.joints, plant.sample
        count = len(plant.joints.names)
        self.error = np.zeros((2, count))
        self.acceleration = np.zeros(count)
        self.elapsed = np.zeros(len(plant.controls))
        self.speed_scaling = np.ones(len(plant.controls))
        self._measured = np.zeros((2, count))
        self._parts = list(zip(plant.controls, plant.layout.columns, strict=True))

    def update(self, time: float) -> None:
        """Compute them all at the time of the sample [s]."""
        joints, sample, measured = self._joints, self._sample, self._measured
        sample.measured_qpos.take(joints.qpos, out=measured[0], mode="clip")
        sample.measured_qvel.take(joints.dof, out=measured[1], mode="clip")
        for index, (control, part) in enumerate(self._parts):
            desired = control.references.values[:2]
            self.error[:, part] = control.joints.error(desired, measured[:, part])
            self.acceleration[part] = control.trajectory.accelerations(time)
            self.elapsed[index] = control.trajectory.elapsed(time)
            self.speed_scaling[index] = control.trajectory.speed_scaling
