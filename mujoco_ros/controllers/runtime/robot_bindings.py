"""The connection of a controller to its robots."""

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import Future
from copy import copy
from itertools import pairwise
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.events import CommandSource
from mujoco_ros.control.gains import Gains
from mujoco_ros.control.joint_command import JointCommand
from mujoco_ros.control.joints import INTERFACES, Clamped
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.controllers.interface.host import check_gains
from mujoco_ros.controllers.interface.observation import Observation, Pose
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.runtime.controller_cameras import ControllerCameras
from mujoco_ros.controllers.runtime.observation_source import ObservationSource
from mujoco_ros.controllers.runtime.robot_model import find_robots, robot_model
from mujoco_ros.model.errors import unknown
from mujoco_ros.model.scene.parts import ScenePart
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.model_edits import gather, scatter

_LOG = logging.getLogger(__name__)


class PrivilegedAccess:
    """Reads and sets the gains of one robot, and poses of free bodies, between two steps."""

    def __init__(self, plant: Plant, index: int, joints: np.ndarray | None = None) -> None:
        """Access the robot with an index, but only the gains of `joints` (n,) bool, if given."""
        robot = plant.layout.robots[index]
        self._original: Gains | None = None  # before the first change by the controller
        self._commanded: Gains | None = None  # after the last change by the controller
        self._plant = plant
        self._part = plant.assembly.robots[index]
        self._joints, self._own = robot.joints.names, joints
        self._bases = dict(plant.layout.free_objects)
        for base in robot.bases:
            name = robot.name if len(robot.bases) == 1 else robot.frame(base.name)
            self._bases[name] = base

    @property
    def gains(self) -> Gains:
        """A copy of the robot's gains."""
        return self._plant.gains.gains_of(self._part)

    def set_gains(self, gains: Gains) -> None:
        """Set the robot's gains from the next step on; see `GainsSet` for errors."""
        check_gains(gains, self._joints)
        if self._original is None:
            self._original = self.gains
        self._set(gains)
        self._commanded = self.gains

    def restore_gains(self) -> bool:
        """Restore the gains from before the controller's changes; return whether any existed."""
        original, self._original = self._original, None
        if original is not None:
            self._set(original)
        return original is not None

    def reset_gains(self) -> None:
        """Restore the gains after a reset, unless the reset itself has changed the gains."""
        commanded, present = self._commanded, self.gains
        if commanded is not None and np.array_equal(self._of_own(commanded), self._of_own(present)):
            self.restore_gains()
        self._original = self._commanded = None

    def take_over(self, previous: "PrivilegedAccess") -> None:
        """Continue for the same robot in another model."""
        self._original, self._commanded = previous._original, previous._commanded

    def set_pose(self, name: str, pose: Pose) -> None:
        """Set the pose of a free body in ``world``, by robot, object or base, at zero velocity."""
        if name not in self._bases:
            raise LookupError(str(unknown("free body", name, self._bases)))
        qpos = np.concatenate([pose.position, pose.quat_wxyz])
        length = float(np.linalg.norm(pose.quat_wxyz))
        if qpos.shape != (7,) or not np.isfinite(qpos).all() or not length:
            raise ValueError(f"invalid pose for '{name}': {pose}")
        qpos[3:] /= length
        data, base = self._plant.data, self._bases[name]
        data.qpos[base.qpos : base.qpos + 7] = qpos
        data.qvel[base.dof : base.dof + 6] = 0.0
        # The solver starts cold, as after the service SetEntityState.
        model = self._plant.model
        tree = model.body_treeid[base.body]
        data.qacc_warmstart[model.dof_treeid == tree] = 0.0

    def _set(self, gains: Gains) -> None:
        if self._own is not None:
            kp, kd = np.where(self._own, (gains.kp, gains.kd), (self.gains.kp, self.gains.kd))
            gains = Gains(kp=kp, kd=kd)
        self._plant.gains.set(self._part, gains)

    def _of_own(self, gains: Gains) -> np.ndarray:
        values = np.array((gains.kp, gains.kd))
        return values if self._own is None else values[:, self._own]


_NOT_CLAMPED = Clamped()


class RobotBinding:
    """A robot of the simulated model, of which a controller commands all joints, or a group."""

    def __init__(
        self,
        simulation: Simulation,
        index: int,
        rendering: str,
        joints: Sequence[str] = (),
        controller: str = "",
    ) -> None:
        """Bind to the robot with an index; `controller` is its name, for messages."""
        plant = simulation.plant
        robot, control = plant.layout.robots[index], plant.controls[index]
        self.plant, self.index = plant, index
        self.part: ScenePart = plant.assembly.robots[index]
        self.robot, self._controller = robot.name, controller
        self.observations = ObservationSource(plant, index)
        names = robot.joints.names
        self.count = len(names)
        self._own = _group(joints, names, robot.name)
        self.joints = names if self._own is None else tuple(np.array(names)[self._own].tolist())
        self._outside = None if self._own is None else ~self._own  # until a warning  # (n,) bool
        self.access = PrivilegedAccess(plant, index, self._own)
        self.cameras = ControllerCameras(plant, index, simulation.seed, rendering)
        self.control: RobotControl = control
        self._qpos = robot.joints.qpos
        self._lower, self._upper = control.joints.lower, control.joints.upper
        self._unset_pattern, self._commanded = b"", np.empty(0, dtype=np.intp)
        # Added to references: NaN where a joint has no such command interface.
        self._mask = np.array(
            [
                [0.0 if interface in takes else np.nan for takes in control.joints.interfaces]
                for interface in INTERFACES
            ]
        )
        if self._own is not None:
            self._mask[:, ~self._own] = np.nan

    def command(self, values: np.ndarray, settings: StreamSettings) -> None:
        """Command position, velocity and effort of the next step; NaN is no change.  # (3, n)"""
        if self._outside is not None:
            self._warn(values, self._outside)
        values = values + self._mask
        q = values[0]
        np.maximum(q, self._lower, out=q)
        np.minimum(q, self._upper, out=q)
        unset = np.isnan(values)
        pattern = unset.tobytes()
        if pattern != self._unset_pattern:  # most ticks command the same joints as the last one
            self._unset_pattern = pattern
            (self._commanded,) = np.logical_not(unset.all(axis=0)).nonzero()
        joints = self._commanded
        if len(joints) < len(q):
            values = values[:, joints]
        command = JointCommand(
            joints=joints, values=values, clamped=_NOT_CLAMPED, controller=self._controller
        )
        self.control.command(
            CommandSource.CONTROLLER, command, float(self.plant.data.time), settings
        )

    def release(self) -> None:
        """Hold the joints at their references, or at their positions if that restores gains."""
        self.cameras.cancel()
        self.control.q[:] = self.plant.data.qpos[self._qpos]
        self.control.release(
            CommandSource.CONTROLLER, joints=self._own, measured=self.access.restore_gains()
        )

    def _warn(self, values: np.ndarray, outside: np.ndarray) -> None:
        """Warn once of references that have no effect."""
        ignored = outside & ~np.isnan(values).all(axis=0)
        if ignored.any():
            self._outside = None
            names = [self.control.joints.names[joint] for joint in np.flatnonzero(ignored)]
            _LOG.warning(
                "a controller of joints %s of robot '%s' has references for %s, which have no "
                "effect",
                *(", ".join(self.joints), self.robot, ", ".join(names)),
            )


def _group(joints: Sequence[str], names: tuple[str, ...], robot: str) -> np.ndarray | None:
    """Return which joints of a robot are in a group; None for all.  # (n,) bool"""
    if not joints:
        return None
    for joint in joints:
        if joint not in names:
            raise unknown(f"robot '{robot}': joint", joint, names)
    return np.isin(names, joints)


class RobotBindings:
    """The robots of a controller by their names in its table; a single one has an empty name."""

    def __init__(
        self,
        simulation: Simulation,
        table: Mapping[str, str],
        rendering: str,
        *,
        name: str = "",
        joints: Sequence[str] = (),
        controller: str = "",
    ) -> None:
        """Bind to the robots that `find_robots` returns for a table and a name."""
        self._simulation, self._table, self._name = simulation, table, name
        self._controller = controller
        self._rendering, self._joints = rendering, tuple(joints)
        self._copy: tuple[Plant, mujoco.MjModel] | None = None
        self._bind(find_robots(simulation.plant, table, name))

    def _bind(self, indices: Mapping[str, int]) -> None:
        self.each = {
            name: RobotBinding(
                self._simulation, index, self._rendering, self._joints, self._controller
            )
            for name, index in indices.items()
        }
        self._all = tuple(self.each.values())
        self.plant = self._simulation.plant
        self.robot = ", ".join(binding.robot for binding in self._all)
        ends = np.cumsum([0, *(binding.count for binding in self._all)]).tolist()
        self._columns = [slice(first, last) for first, last in pairwise(ends)]

    def follow(self) -> None:
        """Bind to the same robots in another model, by their parts or else by their names."""
        plant, parts = self._simulation.plant, [binding.part for binding in self._all]
        robots, previous = plant.assembly.robots, self.each
        if all(part in robots for part in parts):
            indices = (robots.index(part) for part in parts)
            self._bind(dict(zip(previous, indices, strict=True)))
        else:
            self._bind(find_robots(plant, self._table, self._name))
        for name, binding in self.each.items():
            binding.cameras.take_over(previous[name].cameras)
            binding.access.take_over(previous[name].access)

    @property
    def removed(self) -> list[str]:
        """Names of the robots that the simulated model does not have."""
        robots = self._simulation.plant.assembly.robots
        return [binding.part.name for binding in self._all if binding.part not in robots]

    def build(self, plant: Plant) -> None:
        """Copy the model that may be simulated next, in any thread."""
        self._copy = plant, copy(plant.model)

    def model(self) -> RobotModel:
        """Return the robot, or the robots, in a private copy of the simulated model."""
        plant, (copied, private) = self.plant, self._copy or (None, None)
        self._copy = None
        if copied is plant and private is not None:
            scatter(private, gather(plant.model))  # it may have been edited since
        else:
            private = copy(plant.model)
        models = {
            name: robot_model(plant, binding.index, private) for name, binding in self.each.items()
        }
        return RobotModel.of_several(models)

    def observe(self, time: float) -> Observation:
        """Return the observation of the sample at `time` [s]."""
        seen = {name: binding.observations.observe(time) for name, binding in self.each.items()}
        return Observation.of_several(seen)

    def command(self, values: np.ndarray, settings: StreamSettings) -> None:
        """Command position, velocity and effort of the next step; NaN is no change.  # (3, n)"""
        for binding, columns in zip(self._all, self._columns, strict=True):
            binding.command(values[:, columns], settings)

    def unfinished(
        self, time: float, awaited: Collection["Future[Any]"]
    ) -> Iterable["Future[Any]"]:
        """Yield what the tick at `time` [s] needs and that is not done: images, and `awaited`."""
        for future in awaited:
            if not any(binding.cameras.owns(future) for binding in self._all) and not future.done():
                yield future
        for binding in self._all:
            yield from binding.cameras.unfinished(time, awaited)
