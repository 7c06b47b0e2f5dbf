"""Force limits of actuators, and counts of the steps in which actuators were at their limits."""

from collections.abc import Collection, Iterable

import mujoco
import numpy as np

from mujoco_ros.model.robot.actuators import joint_actuators
from mujoco_ros.model.robot.layout import Joints
from mujoco_ros.model.scene.correspondence import Pairs
from mujoco_ros.native.plan import Plan
from mujoco_ros.sim.settings.element_properties import Property, element


class ForceLimits:
    """The force ranges of all actuators, as commanded; `MotorLimits` may lower them further.

    What lowers them for other reasons, as an empty battery, sets factors, which apply to both.
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        self._model = model
        self._own_ranges = model.actuator_forcerange.copy()
        self._own_limited = model.actuator_forcelimited.astype(bool)
        # Of each actuator: its range [N or Nm at the actuator] (nactuator, 2), whether it has one,
        # the commanded largest force, which is infinite without a command, and the factor of the
        # range, from 0 to 1 (nactuator,)
        self.ranges, self.limited = self._own_ranges.copy(), self._own_limited.copy()
        self.commanded = np.full(len(self.limited), np.inf)
        self.factors = np.ones(len(self.limited))

    def limit(self, actuators: Collection[int], effort: float) -> None:
        """Limit the total effort of actuators on one joint or tendon, from the next step on.

        The largest effort is at the joint or tendon [Nm or N]; 0 restores their own limits.
        """
        model = self._model
        for actuator in actuators:
            gear = abs(float(model.actuator_gear[model.actuator_outadr[actuator], 0]))
            self.commanded[actuator] = effort / (gear * len(actuators)) if effort else np.inf
        self.apply(np.array(list(actuators), dtype=np.intp))

    def scale(self, actuators: np.ndarray, factors: np.ndarray | float) -> None:
        """Multiply the limits of `actuators` (m,) that have one, from the next step on.

        Factors (m,) are from 0, no force, to 1, the limits themselves.
        """
        self.factors[actuators] = factors
        self.apply(actuators)

    def uncover(self, changed: Iterable[Property]) -> None:
        """Show the actuators' own force ranges in the model, until the next change of limits."""
        actuators = self._ranged(changed)
        self._model.actuator_forcerange[actuators] = self._own_ranges[actuators]
        self._model.actuator_forcelimited[actuators] = self._own_limited[actuators]

    def follow(self, changed: Iterable[Property]) -> None:
        """Take the present force ranges of the model for the actuators' own."""
        model, actuators = self._model, self._ranged(changed)
        self._own_ranges[actuators] = model.actuator_forcerange[actuators]
        self._own_limited[actuators] = model.actuator_forcelimited[actuators]
        self.commanded[actuators] = np.inf
        self.apply(actuators)

    def _ranged(self, changed: Iterable[Property]) -> np.ndarray:
        """Return the actuators of which the force range is among changed properties."""
        found = [element(self._model, each) for each in changed if each.attribute == "forcerange"]
        return np.array([actuator for actuator in found if actuator >= 0], dtype=np.intp)

    def transfer(self, old: "ForceLimits", actuators: Pairs) -> None:
        """Take the limits of another model, for shared actuators."""
        before, now = actuators
        self._own_ranges[now] = old._own_ranges[before]
        self._own_limited[now] = old._own_limited[before]
        self.restore_state(old.commanded, actuators)

    def restore_state(self, commanded: np.ndarray, pairs: Pairs | None = None) -> None:
        """Set the commanded limits of this model or another one, for actuators that both have.

        `pairs` are actuators of that model and of this one that are the same; None if all are.
        """
        old, new = (slice(None), slice(None)) if pairs is None else pairs
        self.commanded[new] = commanded[old]
        self.apply(new)

    def apply(self, actuators: np.ndarray | slice) -> None:
        """Write the limits of some actuators to the engine."""
        own, limited = self._own_ranges[actuators], self._own_limited[actuators]
        most = self.commanded[actuators, None]
        self.limited[actuators] = limited | (most[:, 0] < np.inf)
        ends = np.where(limited[:, None], own, (-np.inf, np.inf))
        self.ranges[actuators] = np.where(most < np.inf, np.clip(ends, -most, most), own)
        self._model.actuator_forcerange[actuators] = (
            self.factors[actuators, None] * self.ranges[actuators]
        )
        self._model.actuator_forcelimited[actuators] = self.limited[actuators]


class Saturation:
    """Counts the steps in which an actuator, or all actuators of a joint, were at their limit."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData, joints: Joints) -> None:
        self._model, self._names = model, joints.names
        self._actuators = [joint_actuators(model, int(joint)) for joint in joints.ids]
        # Actuators of a joint have one output each; only actuators of sites may have more.
        self._outputs = model.actuator_outadr
        self._force, self._qfrc_actuator = data.actuator_force, data.qfrc_actuator
        self._low, self._high = model.actuator_forcerange.T  # may change while it runs
        self._steps = np.zeros(model.nactuator, dtype=np.int64)
        self._of_joints = np.flatnonzero(model.jnt_actfrclimited[joints.ids])
        self._ids, self._dof = joints.ids[self._of_joints], joints.dof[self._of_joints]
        self._joint_low, self._joint_high = model.jnt_actfrcrange[self._ids].T.copy()
        self._joint_steps = np.zeros(len(joints.names), dtype=np.int64)

    def count(self) -> None:
        """Count the current step."""
        force = self._force[self._outputs]
        at_limit = (force <= self._low) | (force >= self._high)
        self._steps += at_limit & self._model.actuator_forcelimited.astype(bool)
        torque = self._qfrc_actuator[self._dof]
        at_limit = (torque <= self._joint_low) | (torque >= self._joint_high)
        self._joint_steps[self._of_joints] += at_limit

    def compiled_limits(self, plan: Plan) -> list[tuple[int, ...]]:
        """Return the rows of ``Limited`` in steps.c, which do what `count` does."""
        model, ints = self._model, np.int64
        rows: list[tuple[int, ...]] = [
            (
                plan.address(self._force, output),
                plan.address(model.actuator_forcerange, 2 * actuator, 2),
                plan.address(model.actuator_forcelimited, actuator, kind=np.bool_),
                plan.address(self._steps, actuator, kind=ints),
            )
            for actuator, output in enumerate(self._outputs.tolist())
        ]
        for joint, dof, index in zip(self._ids, self._dof, self._of_joints, strict=True):
            torque = plan.address(self._qfrc_actuator, int(dof))
            limits = plan.address(model.jnt_actfrcrange, 2 * int(joint), 2)
            rows.append((torque, limits, 0, plan.address(self._joint_steps, int(index), kind=ints)))
        return rows

    def transfer(self, old: "Saturation", actuators: Pairs, joints: Pairs) -> None:
        """Continue the counts of the previous plant, for shared actuators and joints."""
        self._steps[actuators[1]] = old._steps[actuators[0]]
        self._joint_steps[joints[1]] = old._joint_steps[joints[0]]

    def steps(self) -> dict[str, int]:
        """Return the steps at the limit since the start, for each joint with any."""
        steps = self._steps.tolist()
        counts = [
            max([own, *(steps[actuator] for actuator in actuators)])
            for own, actuators in zip(self._joint_steps.tolist(), self._actuators, strict=True)
        ]
        return {name: count for name, count in zip(self._names, counts, strict=True) if count}
