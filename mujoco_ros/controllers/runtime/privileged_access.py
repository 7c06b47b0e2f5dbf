"""Gains and poses that a controller sets directly in the simulation."""

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.controllers.interface.host import check_gains
from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.model.errors import unknown
from mujoco_ros.sim.plant import Plant


class PrivilegedAccess:
    """Reads and sets the gains of one robot, and poses of free bodies, between two steps."""

    def __init__(self, plant: Plant, index: int, joints: np.ndarray | None = None) -> None:
        """Access the robot with an index; only gains of `joints` (n,) bool are set, by default all.

        Those of other joints belong to other controllers.
        """
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
        return self._plant.gains.of(self._part)

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
        """Set a pose in ``world`` at zero velocity, by name.

        That is the name of the robot, or the frame of one of its several bases or of an object.

        Raises:
            LookupError: The body does not exist or is not free.
            ValueError: The pose is invalid.
        """
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
