"""Outputs of a network as references of joints."""

from collections.abc import Sequence

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.control.references import References
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.library.policy.config import ActionConfig
from mujoco_ros.controllers.library.policy.input_vector import elements, limits
from mujoco_ros.model.errors import UserInputError

_ROWS = {"position": 0, "velocity": 1, "effort": 2}
"""Rows of references."""


class JointTargets:
    """The joints that a part of the output commands.

    Attributes:
        joints: Indices of the joints.  # (n,)
        has_gains: Whether it sets gains.
    """

    def __init__(
        self, config: ActionConfig, joints: np.ndarray, names: Sequence[str], pose: np.ndarray
    ) -> None:
        """Prepare for joints.

        Args:
            config: The settings.
            joints: Indices of the joints.  # (n,)
            names: Names of all joints of the robot.
            pose: Default positions of all joints of the robot.

        Raises:
            UserInputError: A setting has another number of elements than there are joints.
        """
        size, where = len(joints), "actions"
        self.joints, self._names, self._row = joints, names, _ROWS[config.target]
        self._largest, self._smoothing = config.largest, config.smoothing
        self._scale = elements(config.scale, size, f"{where}: scale")
        if config.offset is None:
            self._offset = pose[joints] if config.target == "position" else np.zeros(size)
        else:
            self._offset = elements(config.offset, size, f"{where}: offset")
        self._limits = limits(config.clip, size, f"{where}: clip")
        self._gains = [
            None if values is None else elements(values, size, f"{where}: {name}")
            for name, values in (("kp", config.kp), ("kd", config.kd))
        ]
        self.has_gains = any(it is not None for it in self._gains)
        self._target, self._previous = np.zeros(size), np.zeros(size)

    def start(self, references: References) -> None:
        """Begin at the references."""
        np.copyto(self._previous, references.values[self._row, self.joints])

    def with_gains(self, gains: Gains) -> Gains:
        """Return gains with those of the settings."""
        return self._replaced(gains, *self._gains)

    def with_gains_before(self, gains: Gains, before: Gains) -> Gains:
        """Return gains in which those that `with_gains` sets are as `before`."""
        return self._replaced(gains, before.kp[self.joints], before.kd[self.joints])

    def _replaced(self, gains: Gains, *values: np.ndarray | None) -> Gains:
        """Return gains with the values of the joints where the settings have some."""
        new = [gains.kp.copy(), gains.kd.copy()]
        for present, own, value in zip(new, self._gains, values, strict=True):
            if own is not None:
                present[self.joints] = value
        return Gains(kp=new[0], kd=new[1])

    def problem(self, action: np.ndarray) -> str:
        """Return why actions are invalid; empty if they are not."""
        valid = np.abs(action) <= self._largest  # false for NaN
        if valid.all():
            return ""
        worst = int(np.argmin(valid))
        return (
            f"the action of joint '{self._names[self.joints[worst]]}' is {action[worst]:g}; the "
            f"limit is {self._largest:g}"
        )

    def command(self, action: np.ndarray, references: References, observation: Observation) -> None:
        """Write references of a valid action.  # (n,)

        With targets of velocity or effort, the reference positions are the measured ones.
        """
        target = self._target
        np.multiply(action, self._scale, out=target)
        target += self._offset
        if self._limits is not None:
            np.clip(target, *self._limits, out=target)
        if self._smoothing:
            target *= 1.0 - self._smoothing
            self._previous *= self._smoothing
            target += self._previous
            np.copyto(self._previous, target)
        joints, values = self.joints, references.values
        if self._row:
            values[0, joints] = observation.q[joints]
        values[1:, joints] = 0.0
        values[self._row, joints] = target


def check_disjoint(targets: Sequence[JointTargets], names: Sequence[str]) -> None:
    """Reject a joint that two parts of the output command.

    Raises:
        UserInputError: It names the joint.
    """
    found: set[int] = set()
    for joint in (int(it) for part in targets for it in part.joints):
        if joint in found:
            raise UserInputError(f"actions: joint '{names[joint]}' is commanded twice")
        found.add(joint)
