"""Record of an episode, and the error of the base that a controller estimates."""

from collections.abc import Mapping, Sequence
from hashlib import sha256

import mujoco
import numpy as np

from mujoco_ros.control.references import as_slice
from mujoco_ros.controllers.fsm.transition import TransitionEvent
from mujoco_ros.controllers.interface.observation import BaseReading
from mujoco_ros.controllers.interface.outputs import ESTIMATED_BASE
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.robot.layout import FloatingBase
from mujoco_ros.sim.simulation import Simulation

_LEAST_PATH = 1.0
"""Path to which the drift of a shorter one is relative [m]."""


class EstimateError:
    """Compares estimates of a floating base with the truth.

    The horizontal position, which drifts, is compared relative to its first error. Yaw, which
    drifts too, is not compared; velocities are compared in the axes of the base, so that an error
    of yaw does not count.
    """

    def __init__(self) -> None:
        self._count, self._squares, self._tilt, self._distance = 0, 0.0, 0.0, 0.0
        self._offset, self._last, self._drift = np.zeros(3), np.zeros(3), 0.0

    def add(self, estimate: BaseReading, qpos: np.ndarray, qvel: np.ndarray) -> None:
        """Add the errors of a tick; qpos (7,) and qvel (6,) are those of the free joint."""
        inverse, linear, up = np.zeros(4), np.zeros(3), np.zeros(3)
        mujoco.mju_negQuat(inverse, qpos[3:])
        mujoco.mju_rotVecQuat(linear, qvel[:3], inverse)
        self._squares += float(((estimate.linear - linear) ** 2).sum())
        mujoco.mju_rotVecQuat(up, np.array([0.0, 0.0, 1.0]), inverse)
        measured = estimate.pose.matrix[2, :3]  # the vertical in the frame of the base
        tilt = float(np.linalg.norm(np.cross(up, measured)))
        self._tilt = max(self._tilt, float(np.arcsin(min(tilt, 1.0))))
        offset = estimate.pose.position - qpos[:3]
        if not self._count:
            self._offset, self._last = offset.copy(), qpos[:3].copy()
        self._drift = float(np.linalg.norm((offset - self._offset)[:2]))
        self._distance += float(np.linalg.norm((qpos[:3] - self._last)[:2]))
        self._last = qpos[:3].copy()
        self._count += 1

    def metrics(self) -> Mapping[str, float]:
        """Return the errors by name; none without estimates.

        The drift is that at the end [m], with the length of the path [m] and as part of it (of at
        least a metre), the tilt the largest
        error of roll and pitch [rad], the velocity the root mean square [m/s].
        """
        if not self._count:
            return {}
        return {
            "estimate_drift": self._drift,
            "estimate_path": self._distance,
            "estimate_relative_drift": self._drift / max(self._distance, _LEAST_PATH),
            "estimate_tilt": self._tilt,
            "estimate_velocity": float(np.sqrt(self._squares / self._count)),
        }


class EpisodeRecorder:
    """Records transitions, tracking errors and positions of a hosted controller.

    Attributes:
        simulation: The simulation.
        store: The store of the controller.
        tracking: Largest position error of a joint under PD control, by state [rad].
        state: State at the last tick.
        estimate: Errors of the base that the controller estimates.
        turned: Angle by which a floating base has turned about the vertical, with whole turns
            [rad].
        travelled: Path of a floating base along its own heading, and to its left [m].  # (2,)
    """

    def __init__(self, simulation: Simulation, host: ControllerHost) -> None:
        self.tracking: dict[str, float] = {}
        self.simulation, self.store = simulation, host.supervised.controller.store
        self.estimate = EstimateError()
        self._host = host
        self._initial = self.state = host.supervised.state
        self._ticks = 0
        self._hash = sha256()
        joints = simulation.drives.servo_joints
        self._joints, self._qpos = as_slice(joints), as_slice(simulation.joints.qpos[joints])
        self._base = simulation.layout.robots[0].base
        self.turned, self._yaw = 0.0, _yaw(simulation.data.qpos, self._base)
        self.travelled = np.zeros(2)
        self._place = _place(simulation.data.qpos, self._base)

    def record(self) -> bool:
        """Record the last step if it was a tick; return whether it was."""
        if self._host.ticks == self._ticks:
            return False
        self._ticks = self._host.ticks
        sample = self.simulation.sample
        self._hash.update(sample.qpos.tobytes())
        error = np.abs(self.simulation.references.q[self._joints] - sample.qpos[self._qpos])
        largest = float(error.max(initial=0.0))
        self.tracking[self.state] = max(largest, self.tracking.get(self.state, 0.0))
        self.state = self._host.supervised.machine.state
        yaw = _yaw(sample.qpos, self._base)
        self.turned += (yaw - self._yaw + np.pi) % (2.0 * np.pi) - np.pi
        self._yaw = yaw
        place = _place(sample.qpos, self._base)
        (x, y), cosine, sine = place - self._place, np.cos(yaw), np.sin(yaw)
        self.travelled += cosine * x + sine * y, cosine * y - sine * x
        self._place = place
        if self._base is not None and ESTIMATED_BASE in self.store:
            qpos, dof = self._base.qpos, self._base.dof
            pose, velocity = sample.qpos[qpos : qpos + 7], sample.qvel[dof : dof + 6]
            self.estimate.add(self.store.get(ESTIMATED_BASE), pose, velocity)
        return True

    @property
    def digest(self) -> str:
        """Hash of the positions at all ticks."""
        return self._hash.hexdigest()[:16]

    @property
    def made(self) -> Sequence[TransitionEvent]:
        """All transitions of the table that were made."""
        return [event for event in self._host.supervised.log.since(0) if event.transition.id]

    @property
    def failures(self) -> Sequence[TransitionEvent]:
        """The transitions after failures."""
        return [event for event in self.made if event.transition.failure]

    def phases(self, end: float) -> dict[str, float]:
        """Return the total time in each state until `end` [s]."""
        durations: dict[str, float] = {}
        state, since = self._initial, 0.0
        for event in self.made:
            durations[state] = durations.get(state, 0.0) + event.time - since
            state, since = event.transition.goal, event.time
        durations[state] = durations.get(state, 0.0) + end - since
        return durations


def _yaw(qpos: np.ndarray, base: FloatingBase | None) -> float:
    """Return the heading of a base [rad]; 0 without one."""
    if base is None:
        return 0.0
    w, x, y, z = qpos[base.qpos + 3 : base.qpos + 7]
    return float(np.arctan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z)))


def _place(qpos: np.ndarray, base: FloatingBase | None) -> np.ndarray:
    """Return the horizontal position of a base [m]; zero without one.  # (2,)"""
    return np.zeros(2) if base is None else qpos[base.qpos : base.qpos + 2].copy()
