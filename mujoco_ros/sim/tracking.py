"""Position commands in force, tracking errors, and accelerations of the references."""

from collections.abc import Mapping

import numpy as np

from mujoco_ros.control.joints import POSITION
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.stepping.compiled_topics import Updates


class PositionCommands:
    """The position commands of all robots: of joints, then of tendons of grippers."""

    def __init__(self, plant: Plant) -> None:
        count = len(plant.joints.names)
        self._plant, self._count = plant, count
        self._parts = list(zip(plant.controls, plant.layout.columns, strict=True))
        lacks = [POSITION not in has for joints in plant.controlled for has in joints.interfaces]
        self._lacks_positions = np.array(lacks, dtype=bool)
        self._missing, self._loose, self._servos = np.zeros((3, count), dtype=bool)
        self._servos[plant.drives.servo_joints] = True
        self._on_tendons = [one for one in plant.controls if one.joints.tendon is not None]
        self._mask = np.zeros(count)  # NaN where a joint follows no position, else zero
        # Position that each drive follows [rad or m]; NaN if it follows a velocity or an effort
        # alone: by its actuators, its commands or a stiffness kp of 0 (n + grippers,)
        self.values = np.full(count + len(self._on_tendons), np.nan)
        # Addresses of what takes commands by name, for each robot
        self.addresses: list[Mapping[str, int]] = []
        for control, part in self._parts:
            joints = control.joints
            own = {
                name: part.start + index
                for index, (name, has) in enumerate(
                    zip(joints.names, joints.interfaces, strict=True)
                )
                if has
            }
            if control in self._on_tendons:
                name = joints.gripper_name
                unique = f"{name}_tendon" if name in joints.names else name
                own[unique] = count + self._on_tendons.index(control)
            self.addresses.append(own)

    def update(self) -> None:
        """Compute them at the current sample."""
        self.prepare()
        np.add(self._plant.references.q, self._mask, out=self.values[: self._count])

    def compile(self, updates: Updates) -> None:
        """Add what `update` does after `prepare`."""
        updates.add(self._plant.references.q, self._mask, self.values[: self._count])

    def prepare(self, _time: float = 0.0) -> None:
        """Find the joints that follow no position, and the commands of grippers on tendons."""
        missing, loose = self._missing, self._loose
        for control, part in self._parts:
            own, cartesian = missing[part], control.cartesian
            control.streams.find_unpositioned(own)
            if cartesian is not None and cartesian.busy and cartesian.settings.mode == "impedance":
                own[cartesian.joints] = True
        missing |= self._lacks_positions
        np.equal(self._plant.drives.kp, 0.0, out=loose)
        loose &= self._servos
        missing |= loose
        self._mask.fill(-0.0)  # which changes no number
        np.copyto(self._mask, np.nan, where=missing)
        for address, control in enumerate(self._on_tendons, self._count):
            assert control.gripper is not None
            self.values[address] = control.gripper.servo.reference()


class Tracking:
    """Tracking of the references at the current sample."""

    def __init__(self, plant: Plant) -> None:
        self._joints, self._sample = plant.joints, plant.sample
        count = len(plant.joints.names)
        # Position and velocity of the reference minus the measured ones (2, n)
        self.error = np.zeros((2, count))
        self.acceleration = np.zeros(count)  # acceleration of the reference (n,)
        # Time since the trajectory of each robot started [s]; 0 without one (r,)
        self.elapsed = np.zeros(len(plant.controls))
        # Speed of the trajectories of each robot, as a factor (r,)
        self.speed_scaling = np.ones(len(plant.controls))
        self._measured = np.zeros((2, count))
        self._parts = list(zip(plant.controls, plant.layout.columns, strict=True))

    def update(self, time: float) -> None:
        """Compute them all at the time of the sample [s]."""
        self.prepare(time)
        joints, sample, measured = self._joints, self._sample, self._measured
        sample.measured_qpos.take(joints.qpos, out=measured[0], mode="clip")
        sample.measured_qvel.take(joints.dof, out=measured[1], mode="clip")
        for control, part in self._parts:
            desired = control.references.values[:2]
            self.error[:, part] = control.joints.error(desired, measured[:, part])

    def prepare(self, time: float) -> None:
        """Compute what follows from the trajectories at a time [s]."""
        for index, (control, part) in enumerate(self._parts):
            self.acceleration[part] = control.trajectory.accelerations(time)
            self.elapsed[index] = control.trajectory.elapsed(time)
            self.speed_scaling[index] = control.trajectory.speed_scaling

    def compile(self, updates: Updates) -> None:
        """Add what `update` does after `prepare`."""
        joints, sample, error = self._joints, self._sample, self.error
        for control, part in self._parts:
            desired, continuous = control.references.values, control.joints.continuous
            for own, joint in enumerate(range(part.start, part.stop)):
                for row, measured, addresses in (
                    (0, sample.measured_qpos, joints.qpos),
                    (1, sample.measured_qvel, joints.dof),
                ):
                    address = addresses[joint]
                    updates.subtract(
                        desired[row, own : own + 1],
                        measured[address : address + 1],
                        error[row, joint : joint + 1],
                        angles=not row and bool(continuous[own]),
                    )
