"""Force limits of actuators, and counts of the steps in which actuators were at their limits."""

from collections.abc import Collection

import mujoco
import numpy as np

from mujoco_ros.model.robot.actuators import joint_actuators
from mujoco_ros.model.robot.layout import Joints
from mujoco_ros.model.scene.correspondence import Pairs


class ForceLimits:
    """The force ranges of all actuators, as commanded; `MotorLimits` may lower them further.

    What lowers them for other reasons, as an empty battery, sets factors, which apply to both.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._own_ranges = model.actuator_forcerange.copy()
        self._own_limited = model.actuator_forcelimited.astype(bool)
        # Of each actuator: its range [N or Nm at the actuator] (nactuator, 2), whether it has one,
        # and the factor of the range, from 0 to 1 (nactuator,)
        self.ranges, self.limited = self._own_ranges.copy(), self._own_limited.copy()
        self.factors = np.ones(len(self.limited))

    def limit(self, actuators: Collection[int], effort: float) -> None:
        """Limit the total effort of actuators on one joint or tendon, from the next step on.

        The largest effort is at the joint or tendon [Nm or N]; 0 restores their own limits.
        """
        model = self._model
        for actuator in actuators:
            own, limited = self._own_ranges[actuator], bool(self._own_limited[actuator])
            gear = abs(float(model.actuator_gear[model.actuator_outadr[actuator], 0]))
            reach = effort / (gear * len(actuators))
            self.limited[actuator] = limited or bool(effort)
            low, high = own if limited else (-np.inf, np.inf)
            self.ranges[actuator] = (max(low, -reach), min(high, reach)) if effort else own
        self.apply(np.array(list(actuators), dtype=np.intp))

    def scale(self, actuators: np.ndarray, factors: np.ndarray | float) -> None:
        """Multiply the limits of `actuators` (m,) that have one, from the next step on.

        Factors (m,) are from 0, no force, to 1, the limits themselves.
        """
        self.factors[actuators] = factors
        self.apply(actuators)

    def save_state(self) -> np.ndarray:
        """Return a copy of the ranges, and whether they apply.  # (nactuator, 3)"""
        return np.column_stack([self.ranges, self.limited])

    def restore_state(self, state: np.ndarray, pairs: Pairs | None = None) -> None:
        """Set limits that this model or another one saved.

        `pairs` are actuators of that model and of this one that are the same; None if all are.
        """
        old, new = (slice(None), slice(None)) if pairs is None else pairs
        self.ranges[new] = state[old, :2]
        self.limited[new] = state[old, 2].astype(bool)
        self.apply(new)

    def apply(self, actuators: np.ndarray | slice) -> None:
        """Write the limits of some actuators to the engine."""
        self._model.actuator_forcerange[actuators] = (
            self.factors[actuators, None] * self.ranges[actuators]
        )
        self._model.actuator_forcelimited[actuators] = self.limited[actuators]


_BATCH = 64
"""Steps that are evaluated together; evaluating each takes half the time of a small step."""


class Saturation:
    """Counts the steps in which an actuator, or all actuators of a joint, were at their limit."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, joints: Joints) -> None:
        self._names = joints.names
        self._actuators = [joint_actuators(model, int(joint)) for joint in joints.ids]
        # Actuators of a joint have one output each; only actuators of sites may have more.
        self._outputs = slice(None) if model.nout == model.nactuator else model.actuator_outadr
        self._force, self._qfrc_actuator = data.actuator_force, data.qfrc_actuator
        self._ranges, self._limited = model.actuator_forcerange, model.actuator_forcelimited
        self._steps = np.zeros(model.nactuator, dtype=np.int64)
        limited = np.flatnonzero(model.jnt_actfrclimited[joints.ids])
        self._of_joints = limited
        self._dof = joints.dof[limited]
        self._joint_low, self._joint_high = model.jnt_actfrcrange[joints.ids[limited]].T.copy()
        self._joint_steps = np.zeros(len(joints.names), dtype=np.int64)
        self._forces = np.zeros((_BATCH, model.nout))
        self._torques = np.zeros((_BATCH, model.nv if len(limited) else 0))
        self._recorded = 0
        self._take_limits()

    def count(self) -> None:
        """Count the current step."""
        # Limits may change while the simulation runs.
        changed = self._ranges.tobytes() != self._ranges_then
        if changed or self._recorded == _BATCH or self._limited.tobytes() != self._limited_then:
            self._evaluate()
        self._forces[self._recorded] = self._force
        if len(self._dof):
            self._torques[self._recorded] = self._qfrc_actuator
        self._recorded += 1

    def transfer(self, old: "Saturation", actuators: Pairs, joints: Pairs) -> None:
        """Continue the counts of the previous plant, for shared actuators and joints."""
        old._evaluate()
        self._steps[actuators[1]] = old._steps[actuators[0]]
        self._joint_steps[joints[1]] = old._joint_steps[joints[0]]

    def steps(self) -> dict[str, int]:
        """Return the steps at the limit since the start, for each joint with any."""
        self._evaluate()
        steps = self._steps.tolist()
        counts = [
            max([own, *(steps[actuator] for actuator in actuators)])
            for own, actuators in zip(self._joint_steps.tolist(), self._actuators, strict=True)
        ]
        return {name: count for name, count in zip(self._names, counts, strict=True) if count}

    def _evaluate(self) -> None:
        """Evaluate the recorded steps with the limits of that time."""
        force = self._forces[: self._recorded, self._outputs]
        at_limit = ((force <= self._low) | (force >= self._high)) & self._are_limited
        self._steps += at_limit.sum(axis=0)
        torque = self._torques[: self._recorded, self._dof]
        at_limit = (torque <= self._joint_low) | (torque >= self._joint_high)
        self._joint_steps[self._of_joints] += at_limit.sum(axis=0)
        self._recorded = 0
        self._take_limits()

    def _take_limits(self) -> None:
        self._ranges_then, self._limited_then = self._ranges.tobytes(), self._limited.tobytes()
        self._low, self._high = self._ranges.T.copy()
        self._are_limited = self._limited.astype(bool)
