"""Joints whose references became NaN after they were commanded."""

import logging

import numpy as np

from mujoco_ros.controllers.fsm.machine import Machine

_LOG = logging.getLogger(__name__)
_ROWS = ("position", "velocity", "effort")


class NanError(ValueError):
    """A reference became NaN in a strict controller."""


class NanReferences:
    """Warns of joints that were commanded and whose references become NaN, once for each state.

    NaN leaves a value unchanged, so that a controller may command some joints only. A NaN that
    replaces a number is rather the result of a failed computation.

    Attributes:
        found: The joints with the states in which this happened, since the start or the last reset.
    """

    def __init__(self, controller: str, *, is_error: bool) -> None:
        """Watch a controller, by name; `is_error` raises an error instead of a warning."""
        self.found: dict[str, str] = {}
        self._controller, self._is_error = controller, is_error
        self._joints: tuple[str, ...] = ()
        self._reported: set[str] = set()
        self._missing: np.ndarray | None = None  # at the last tick, if there was any  # (3, n)

    def configure(self, joints: tuple[str, ...]) -> None:
        """Set the names of the joints."""
        self._joints = joints
        self.reset()

    def reset(self) -> None:
        """Forget all joints."""
        self.found = {}
        self._reported.clear()
        self._missing = None

    def check(
        self, values: np.ndarray, uncommanded: np.ndarray, machine: Machine, has_nan: bool
    ) -> None:
        """Check the references of a tick.

        Args:
            values: Position, velocity and effort.  # (3, n)
            uncommanded: Indices of the joints without a command before this tick.
            machine: The state machine.
            has_nan: Whether the controller returned any NaN.

        Raises:
            NanError: A joint became NaN, and that is an error.
        """
        if not has_nan:
            self._missing = None
            return
        missing = np.isnan(values)
        new = missing if self._missing is None else missing & ~self._missing
        self._missing = missing
        new[:, uncommanded] = False
        if not new.any():
            return
        states = [state for state in machine.active if state not in self._reported]
        if not states:
            return
        self._reported.update(states)
        joints = new.any(axis=0).nonzero()[0]
        lines = [
            f"the {' and '.join(np.array(_ROWS)[new[:, joint]])} of joint '{self._joints[joint]}'"
            for joint in joints
        ]
        where = " or ".join(f"'{state}'" for state in states)
        text = f"state {where}: {', '.join(lines)} became NaN after it was commanded"
        if self._is_error:
            raise NanError(text)
        self.found |= {self._joints[joint]: " or ".join(states) for joint in joints}
        _LOG.warning("controller '%s': %s; it keeps its last value", self._controller, text)
