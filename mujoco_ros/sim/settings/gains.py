"""The PD gains of all robots: those in force, and those that a reset restores."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.model.scene.correspondence import Pairs
from mujoco_ros.model.scene.parts import Part
from mujoco_ros.sim.drives import Drives

KP, KD = 0, 1


class GainChange(NamedTuple):
    """One gain of one joint of a robot.

    Attributes:
        robot: The robot.
        row: `KP` or `KD`.
        joint: Index among the robot's joints.
        value: Stiffness [Nm/rad or N/m] or damping [Nms/rad or Ns/m].
    """

    robot: Part
    row: int
    joint: int
    value: float


class GainSettings:
    """The one owner of PD gains; belongs to the thread that owns the plant.

    Gains are written to the engine between two steps and act from the next step on.

    Attributes:
        changes: Number of sets of changes by `change`, since the start.
    """

    def __init__(self, drives: Drives, robots: Mapping[Part, slice], configured: Gains) -> None:
        """Set the configured gains.

        Args:
            drives: Writes gains to the engine.
            robots: The columns of each robot in arrays over the joints of all robots.
            configured: Gains that a reset restores, over the joints of all robots.
        """
        self.changes = 0
        self._drives = drives
        self._robots = robots
        self._configured = np.stack([configured.kp, configured.kd])  # (2, n)
        self.restore()

    def of(self, robot: Part) -> Gains:
        """Return a copy of the gains of a robot."""
        columns = self._robots[robot]
        return Gains(kp=self._drives.kp[columns].copy(), kd=self._drives.kd[columns].copy())

    def by_robot(self) -> dict[object, Gains]:
        """Return a copy of the gains of every robot."""
        return {robot: self.of(robot) for robot in self._robots}

    def configured(self, robot: Part) -> Gains:
        """Return a copy of the gains that a reset restores for a robot."""
        kp, kd = self._configured[:, self._robots[robot]].copy()
        return Gains(kp=kp, kd=kd)

    def change(self, changes: Iterable[GainChange]) -> None:
        """Set single gains, and count that; changes of robots that do not exist are ignored."""
        gains = self._current()
        for change in changes:
            if change.robot in self._robots:
                gains[change.row, self._robots[change.robot].start + change.joint] = change.value
        self._drives.set_gains(*gains)
        self.changes += 1

    def set(self, robot: Part, gains: Gains) -> None:
        """Set all gains of a robot."""
        rows = self._current()
        rows[:, self._robots[robot]] = gains.kp, gains.kd
        self._drives.set_gains(*rows)

    def configure(self, robot: Part, gains: Gains) -> None:
        """Set the gains that a reset restores for a robot; ignored for one that does not exist."""
        if robot in self._robots:
            self._configured[:, self._robots[robot]] = gains.kp, gains.kd

    def restore(self) -> None:
        """Set the configured gains."""
        self._drives.set_gains(*self._configured)

    def save_state(self) -> np.ndarray:
        """Return a copy of the gains over the joints of all robots.  # (2, n)"""
        return self._current()

    def restore_state(self, state: np.ndarray, pairs: Pairs | None = None) -> None:
        """Set saved gains.

        Args:
            state: Gains over the joints of all robots of a plant.  # (2, n)
            pairs: Joints of that plant and of this one that are the same; None if all are.
        """
        gains = self._current()
        old, new = (slice(None), slice(None)) if pairs is None else pairs
        gains[:, new] = state[:, old]
        self._drives.set_gains(*gains)

    def transfer(self, old: "GainSettings", pairs: Pairs) -> None:
        """Copy the gains, in force and configured, of the joints that two plants share.

        Args:
            old: The settings of the previous plant.
            pairs: Joints of that plant and of this one that are the same.
        """
        self._configured[:, pairs[1]] = old._configured[:, pairs[0]]
        self.restore_state(old.save_state(), pairs)

    def _current(self) -> np.ndarray:
        return np.stack([self._drives.kp, self._drives.kd])
