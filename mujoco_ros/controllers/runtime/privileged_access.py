"""What a controller may do to a simulation beside telling its joints: gains, and poses."""

import numpy as np

from mujoco_ros.control.gains import LARGEST_GAIN, Gains
from mujoco_ros.controllers.interface.observation import Pose
from mujoco_ros.model.errors import unknown
from mujoco_ros.sim.plant import Plant


class PrivilegedAccess:
    """Reads and changes the gains of a robot, and puts things somewhere, between two steps."""

    def __init__(self, plant: Plant, index: int) -> None:
        """Serve the controller of the robot with an index."""
        robot = plant.layout.robots[index]
        self._found: Gains | None = None  # before the controller changed any, if it has
        self._told: Gains | None = None  # by the controller, last
        self._plant = plant
        self._part = plant.assembly.robots[index]
        self._joints = robot.joints.names
        self._bases = dict(plant.layout.free_objects)
        if robot.bases:
            self._bases[robot.name] = robot.bases[0]

    @property
    def gains(self) -> Gains:
        """A copy of the robot's gains."""
        return self._plant.gains.of(self._part)

    def set_gains(self, gains: Gains) -> None:
        """Change the robot's gains from the next step on.

        Raises:
            ValueError: They are not as many as joints, or one is negative, no number, or absurd.
        """
        for name, values in (("kp", gains.kp), ("kd", gains.kd)):
            if np.shape(values) != (len(self._joints),):
                raise ValueError(f"{name} has the shape {np.shape(values)}, not one per joint")
            wrong = ~((values >= 0) & (values <= LARGEST_GAIN))  # NaN is wrong, too
            if wrong.any():
                joint = int(np.argmax(wrong))
                raise ValueError(
                    f"{name} of joint '{self._joints[joint]}' is {values[joint]:g}; it must be "
                    f"from 0 to {LARGEST_GAIN:g}"
                )
        if self._found is None:
            self._found = self.gains
        self._write(gains)
        self._told = self.gains

    def restore_gains(self) -> bool:
        """Set the gains back to those that the controller found; return whether it changed any."""
        found, self._found = self._found, None
        if found is not None:
            self._write(found)
        return found is not None

    def forget_gains(self) -> None:
        """Restore the gains after a reset, unless that has set others than the controller did."""
        told, present = self._told, self.gains
        if told is not None and np.array_equal((told.kp, told.kd), (present.kp, present.kd)):
            self.restore_gains()
        self._found = self._told = None

    def take_over(self, other: "PrivilegedAccess") -> None:
        """Go on where another one, of the same robot in a model that is gone, was."""
        self._found, self._told = other._found, other._told

    def put(self, name: str, pose: Pose) -> None:
        """Put the robot's base, or a free object, somewhere, at rest.

        Args:
            name: Name of the robot, or TF frame of the object.
            pose: In ``world``.

        Raises:
            LookupError: There is no such thing, or it cannot be moved.
            ValueError: The pose is none.
        """
        if name not in self._bases:
            raise LookupError(str(unknown("free body", name, self._bases)))
        placed = np.concatenate([pose.position, pose.quat_wxyz])
        length = float(np.linalg.norm(pose.quat_wxyz))
        if placed.shape != (7,) or not np.isfinite(placed).all() or not length:
            raise ValueError(f"'{name}' cannot be put at {pose}: that is no pose")
        placed[3:] /= length
        data, base = self._plant.data, self._bases[name]
        data.qpos[base.qpos : base.qpos + 7] = placed
        data.qvel[base.dof : base.dof + 6] = 0.0

    def _write(self, gains: Gains) -> None:
        self._plant.gains.set(self._part, gains)
