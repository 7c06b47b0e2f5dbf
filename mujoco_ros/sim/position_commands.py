"""Position commands in force, whichever source they are from."""

from collections.abc import Mapping

import numpy as np

from mujoco_ros.control.modes import POSITION
from mujoco_ros.sim.plant import Plant


class PositionCommands:
    """The position commands of all robots: of joints, then of tendons of grippers.

    Attributes:
        values: Position that each drive follows [rad or m]; NaN if it follows a velocity or an
            effort alone: by its actuators, its commands or a stiffness kp of 0.  # (n + grippers,)
        addresses: Addresses of what takes commands by name, for each robot.
    """

    def __init__(self, plant: Plant) -> None:
        """Use the references of a plant."""
        count = len(plant.joints.names)
        self._plant, self._count = plant, count
        self._parts = list(zip(plant.controls, plant.layout.columns, strict=True))
        lacks = [POSITION not in has for it in plant.controls for has in it.joints.interfaces]
        self._lacks_positions = np.array(lacks, dtype=bool)
        self._missing, self._loose, self._servos = np.zeros((3, count), dtype=bool)
        self._servos[plant.drives.servo_joints] = True
        self._on_tendons = [it for it in plant.controls if it.joints.tendon is not None]
        self.values = np.full(count + len(self._on_tendons), np.nan)
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
        missing, loose, values = self._missing, self._loose, self.values[: self._count]
        for control, part in self._parts:
            own, cartesian = missing[part], control.cartesian
            control.streams.find_unpositioned(own)
            if cartesian is not None and cartesian.busy and cartesian.settings.mode == "impedance":
                own[cartesian.joints] = True
        missing |= self._lacks_positions
        np.equal(self._plant.drives.kp, 0.0, out=loose)
        loose &= self._servos
        missing |= loose
        np.copyto(values, self._plant.references.q)
        np.copyto(values, np.nan, where=missing)
        for address, control in enumerate(self._on_tendons, self._count):
            assert control.gripper is not None
            self.values[address] = control.gripper.drive.reference()
