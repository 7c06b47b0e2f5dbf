"""What trajectory controllers tell beside references and measurements."""

import numpy as np

from mujoco_ros.sim.simulation import Simulation


class Tracking:
    """How well the joints follow their references, at the present sample.

    Attributes:
        error: Position and velocity of the reference minus the measured ones.  # (2, n)
        acceleration: Acceleration of the reference.  # (n,)
        elapsed: Of each robot, the time since its trajectory started [s]; 0 without one.  # (r,)
    """

    def __init__(self, simulation: Simulation) -> None:
        """Prepare the views."""
        self._simulation = simulation
        count = len(simulation.joints.names)
        self.error = np.zeros((2, count))
        self.acceleration = np.zeros(count)
        self.elapsed = np.zeros(len(simulation.controls))
        self._measured = np.zeros((2, count))
        self._parts = []
        first = 0
        for control in simulation.controls:
            self._parts.append((control, slice(first, first + len(control.joints.names))))
            first += len(control.joints.names)

    def update(self) -> None:
        """Compute them all."""
        simulation, joints = self._simulation, self._simulation.joints
        sample, measured = simulation.sample, self._measured
        sample.qpos.take(joints.qpos, out=measured[0], mode="clip")
        sample.qvel.take(joints.dof, out=measured[1], mode="clip")
        for index, (control, part) in enumerate(self._parts):
            desired = control.references.values[:2]
            self.error[:, part] = control.joints.error(desired, measured[:, part])
            self.acceleration[part] = control.trajectory.accelerations(simulation.time)
            self.elapsed[index] = control.trajectory.elapsed(simulation.time)
