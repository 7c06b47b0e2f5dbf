"""Force limits of actuators, which commands and motors can lower."""

from collections.abc import Collection

import mujoco
import numpy as np

from mujoco_ros.model.scene.correspondence import Pairs


class ForceLimits:
    """The force ranges of all actuators, as commanded; `MotorLimits` may lower them further.

    What lowers them for other reasons, as an empty battery, sets factors, which apply to both.

    Attributes:
        ranges: Range of each actuator [N or Nm at the actuator].  # (nactuator, 2)
        limited: Whether it is limited.  # (nactuator,)
        factors: Factor of the range of each actuator, from 0 to 1.  # (nactuator,)
    """

    def __init__(self, model: mujoco.MjModel) -> None:
        """Begin with the ranges of `model`, which are those of the actuators themselves."""
        self._model = model
        self._own_ranges = model.actuator_forcerange.copy()
        self._own_limited = model.actuator_forcelimited.astype(bool)
        self.ranges, self.limited = self._own_ranges.copy(), self._own_limited.copy()
        self.factors = np.ones(len(self.limited))

    def limit(self, actuators: Collection[int], effort: float) -> None:
        """Limit the total effort of actuators on one joint or tendon, from the next step on.

        Args:
            actuators: The actuators.
            effort: Largest effort at the joint or tendon [Nm or N]; 0 restores their own limits.
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
        """Multiply the limits of actuators that have one, from the next step on.

        Args:
            actuators: The actuators.  # (m,)
            factors: From 0, no force, to 1, the limits themselves.  # (m,)
        """
        self.factors[actuators] = factors
        self.apply(actuators)

    def save_state(self) -> np.ndarray:
        """Return a copy of the ranges, and whether they apply.  # (nactuator, 3)"""
        return np.column_stack([self.ranges, self.limited])

    def restore_state(self, state: np.ndarray, pairs: Pairs | None = None) -> None:
        """Set saved limits.

        Args:
            state: From `save_state`, of this model or another one.
            pairs: Actuators of that model and of this one that are the same; None if all are.
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
