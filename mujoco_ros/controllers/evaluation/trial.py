"""Base class of the trials of controllers, and the record of an episode."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.references import as_slice
from mujoco_ros.controllers.evaluation import variations
from mujoco_ros.controllers.fsm.table import TransitionEvent
from mujoco_ros.controllers.interface.inputs import ESTIMATED_BASE
from mujoco_ros.controllers.interface.observation import BaseReading
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.robot.layout import FloatingBase
from mujoco_ros.model.scene.config import SceneConfig, load_scene
from mujoco_ros.model.scene.random_ranges import RandomRange
from mujoco_ros.sim.simulation import Simulation

_LEAST_PATH = 1.0  # path to which the drift of a shorter one is relative [m]


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
        """Add the errors of a tick, given qpos (7,) and qvel (6,) of the free joint."""
        inverse, linear, up = np.zeros(4), np.zeros(3), np.zeros(3)
        mujoco.mju_negQuat(inverse, qpos[3:])
        mujoco.mju_rotVecQuat(linear, qvel[:3], inverse)
        self._squares += float(((estimate.linear - linear) ** 2).sum())
        mujoco.mju_rotVecQuat(up, np.array([0.0, 0.0, 1.0]), inverse)
        measured = estimate.pose.matrix[2, :3]  # the vertical in the frame of the base
        tilted = np.zeros(3)
        mujoco.mju_cross(tilted, up, measured)
        tilt = float(np.linalg.norm(tilted))
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

        The drift is at the end [m], with the length of the path [m], and as part of a path of at
        least a metre. The tilt is the largest error of roll and pitch [rad], the velocity the RMS.
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
        turned: Angle by which a floating base has turned about the vertical, with whole turns
            [rad].
    """

    def __init__(self, simulation: Simulation, host: ControllerHost) -> None:
        # Largest position error of a joint under PD control, by state [rad]
        self.tracking: dict[str, float] = {}
        self.simulation, self.store = simulation, host.supervised.controller.store
        self.estimate = EstimateError()  # errors of the base that the controller estimates
        self._host = host
        self._initial = self.state = host.supervised.state
        self._ticks = 0
        self._hash = sha256()
        joints = simulation.drives.servo_joints
        self._joints, self._qpos = as_slice(joints), as_slice(simulation.joints.qpos[joints])
        self._base = simulation.layout.robots[0].base
        self.turned, self._yaw = 0.0, _yaw(simulation.data.qpos, self._base)
        # Path of a floating base along its own heading, and to its left [m] (2,)
        self.travelled = np.zeros(2)
        self._place = _place(simulation.data.qpos, self._base)

    def record(self) -> bool:
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
        return self._hash.hexdigest()[:16]

    @property
    def made(self) -> Sequence[TransitionEvent]:
        return [event for event in self._host.supervised.log.since(0) if event.transition.id]

    @property
    def failures(self) -> Sequence[TransitionEvent]:
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


Conditions = Mapping[str, float]  # conditions of an episode by name
Settings = Mapping[str, Mapping[str, Any]]  # settings of states by full name of the state


@dataclass(frozen=True)
class Trial(ABC):
    """A task under random conditions. It holds plain data, because worker processes get a copy."""

    ranges: Any  # ranges of the conditions, with the noise of the observations
    changes: Settings = field(default_factory=dict)  # settings of the controller's states
    controller: str = ""  # name or file of the controller
    limit: float = 60.0  # longest simulated time of an episode [s]
    # Ranges of numbers of the model, added to the ranges of the scene
    randomize: Mapping[str, RandomRange] = field(default_factory=dict)

    @property
    @abstractmethod
    def scene(self) -> str:
        """Name or file of the scene."""

    def scene_config(self) -> SceneConfig:
        scene = load_scene(self.scene)
        return replace(scene, randomize={**scene.randomize, **self.randomize})

    @abstractmethod
    def conditions(self, seed: int) -> Conditions:
        """Draw the conditions of an episode."""

    @abstractmethod
    def edit(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Apply the conditions to the initial state and the parameters of a model."""

    def settings(self, conditions: Conditions) -> Settings:
        return self.changes

    def goal(self, conditions: Conditions) -> Conditions:
        """Return the numbers of the task that the controller is given; none by default."""
        return {}

    def disturb(self, model: mujoco.MjModel, conditions: Conditions) -> None:
        """Apply conditions that the controller's model of the robot and the scene lacks."""
        return

    def observation_filter(self, seed: int, conditions: Conditions) -> variations.ObservationFilter:
        return variations.noise_filter(self.ranges.noise, seed)

    def command_filter(self, conditions: Conditions) -> variations.CommandFilter | None:
        """Return a function that changes the commands of the controller; None if nothing does."""
        return None

    def impossible(self, model: mujoco.MjModel) -> str:
        """Return the failure that the conditions in a model require; "" if it can succeed."""
        return ""

    def act(
        self, simulation: Simulation, request: Callable[[str], object], conditions: Conditions
    ) -> None:
        """Apply disturbances and request transitions at a tick; none by default."""
        return

    def is_over(self, simulation: Simulation, outcome: str | None) -> bool:
        """Return whether the episode ends, given the outcome of the controller."""
        return outcome is not None

    @abstractmethod
    def measure(self, recorder: EpisodeRecorder, conditions: Conditions) -> Mapping[str, float]:
        """Return measures of the final state of the simulation and of the whole episode."""

    @abstractmethod
    def flaw(self, measures: Mapping[str, float]) -> str:
        """Return the failure of an episode that the controller reports as a success; "" if none."""
