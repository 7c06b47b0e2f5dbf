"""How often actuators gave all they can."""

import mujoco
import numpy as np

from mujoco_ros.model.layout import Joints
from mujoco_ros.model.limits import joint_actuators


class Saturation:
    """Counts the steps in which an actuator, or all those of a joint, were at their limit."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, joints: Joints) -> None:
        """Watch `data`, and count for `joints`."""
        self._names = joints.names
        self._outputs = [
            [
                int(model.actuator_outadr[actuator])
                for actuator in joint_actuators(model, int(joint))
            ]
            for joint in joints.ids
        ]
        # Views: limits may change while the simulation runs.
        self._force = data.actuator_force
        self._low, self._high = model.actuator_forcerange[:, 0], model.actuator_forcerange[:, 1]
        self._limited = model.actuator_forcelimited
        self._at_limit, self._above = np.zeros((2, len(self._force)), dtype=bool)
        self._steps = np.zeros(len(self._force), dtype=np.int64)
        limited = np.flatnonzero(model.jnt_actfrclimited[joints.ids])
        self._of_joints = limited
        self._dof = joints.dof[limited]
        self._joint_low, self._joint_high = model.jnt_actfrcrange[joints.ids[limited]].T.copy()
        self._qfrc_actuator = data.qfrc_actuator
        self._joint_steps = np.zeros(len(limited), dtype=np.int64)

    def count(self) -> None:
        """Count the present step."""
        at_limit, above = self._at_limit, self._above
        np.less_equal(self._force, self._low, out=at_limit)
        np.greater_equal(self._force, self._high, out=above)
        np.logical_or(at_limit, above, out=at_limit)
        np.logical_and(at_limit, self._limited, out=at_limit)
        self._steps += at_limit
        if len(self._dof):
            force = self._qfrc_actuator[self._dof]
            self._joint_steps += (force <= self._joint_low) | (force >= self._joint_high)

    def steps(self) -> dict[str, int]:
        """Return the number of steps at the limit since the start, for each joint with any."""
        counts = [
            max((int(self._steps[output]) for output in outputs), default=0)
            for outputs in self._outputs
        ]
        for index, steps in zip(self._of_joints, self._joint_steps, strict=True):
            counts[index] = max(counts[index], int(steps))
        return {name: count for name, count in zip(self._names, counts, strict=True) if count}
