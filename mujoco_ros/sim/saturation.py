"""How often actuators gave all they can."""

import mujoco
import numpy as np

from mujoco_ros.model.correspondence import Pairs
from mujoco_ros.model.layout import Joints
from mujoco_ros.model.limits import joint_actuators


class Saturation:
    """Counts the steps in which an actuator, or all those of a joint, were at their limit."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, joints: Joints) -> None:
        """Watch `data`, and count for `joints`."""
        self._names = joints.names
        self._actuators = [joint_actuators(model, int(joint)) for joint in joints.ids]
        # Views: limits may change while the simulation runs.
        self._force = data.actuator_force
        self._low, self._high = model.actuator_forcerange[:, 0], model.actuator_forcerange[:, 1]
        self._limited = model.actuator_forcelimited
        # Actuators of a joint have one output each; only those of sites may have more.
        self._outputs = None if model.nout == model.nactuator else model.actuator_outadr
        self._at_limit, self._above = np.zeros((2, model.nactuator), dtype=bool)
        self._steps = np.zeros(model.nactuator, dtype=np.int64)
        limited = np.flatnonzero(model.jnt_actfrclimited[joints.ids])
        self._of_joints = limited
        self._dof = joints.dof[limited]
        self._joint_low, self._joint_high = model.jnt_actfrcrange[joints.ids[limited]].T.copy()
        self._qfrc_actuator = data.qfrc_actuator
        self._joint_steps = np.zeros(len(joints.names), dtype=np.int64)

    def count(self) -> None:
        """Count the present step."""
        at_limit, above = self._at_limit, self._above
        force = self._force if self._outputs is None else self._force[self._outputs]
        np.less_equal(force, self._low, out=at_limit)
        np.greater_equal(force, self._high, out=above)
        np.logical_or(at_limit, above, out=at_limit)
        np.logical_and(at_limit, self._limited, out=at_limit)
        self._steps += at_limit
        if len(self._dof):
            torque = self._qfrc_actuator[self._dof]
            self._joint_steps[self._of_joints] += (torque <= self._joint_low) | (
                torque >= self._joint_high
            )

    def carry(self, older: "Saturation", actuators: Pairs, joints: Pairs) -> None:
        """Go on with the counts of an older model, for what both have."""
        self._steps[actuators[1]] = older._steps[actuators[0]]
        self._joint_steps[joints[1]] = older._joint_steps[joints[0]]

    def steps(self) -> dict[str, int]:
        """Return the number of steps at the limit since the start, for each joint with any."""
        counts = [
            max([int(own), *(int(self._steps[actuator]) for actuator in actuators)])
            for own, actuators in zip(self._joint_steps, self._actuators, strict=True)
        ]
        return {name: count for name, count in zip(self._names, counts, strict=True) if count}
