"""Commands of actuators as arrays of controls."""

from collections.abc import Mapping, Sequence

import numpy as np
from control_msgs.msg import DynamicJointState

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.sim.perturbation.actuator_controls import Control

CTRL = "ctrl"
"""Name of the interface that sets the control of an actuator."""
_LARGEST = 1e9
"""The engine zeroes all controls when one is beyond 1e10."""


def array_values(controls: tuple[Control, ...], data: Sequence[float]) -> np.ndarray:
    """Return the controls of an array for the actuators of `controls`; NaN leaves one unchanged.

    Controls of the gripper's actuators are no part of the array, and NaN in the result.

    Raises:
        UserInputError: It has too few or too many values, or an invalid one.
    """
    rows = [row for row, control in enumerate(controls) if not control.of_gripper]
    names = [controls[row].name for row in rows]
    if len(data) != len(names):
        raise UserInputError(
            f"{len(data)} values, but there are {len(names)} actuators: {', '.join(names)}"
        )
    values = np.full(len(controls), np.nan)
    for row, name, value in zip(rows, names, data, strict=True):
        _check(name, value)
        values[row] = value
    return values


def named_values(
    controls: tuple[Control, ...], message: DynamicJointState, joints: Mapping[str, str]
) -> np.ndarray:
    """Return the controls of a message that names actuators; NaN for all others.

    Args:
        controls: The actuators.
        message: Names of actuators, each with a value of the interface ``ctrl``.
        joints: Joint of each actuator of the robot that follows the references of a joint.

    Raises:
        UserInputError: A name is unknown or repeated, or a value is missing or invalid.
    """
    names = list(message.joint_names)
    if not names:
        raise UserInputError("the command names no actuators")
    if len(message.interface_values) != len(names):
        raise UserInputError(
            f"{len(names)} joint_names, but {len(message.interface_values)} interface_values; give "
            "one for each"
        )
    index = {control.name: row for row, control in enumerate(controls)}
    values = np.full(len(controls), np.nan)
    for name, given in zip(names, message.interface_values, strict=True):
        if name not in index:
            if joint := joints.get(name):
                raise UserInputError(
                    f"actuator '{name}' follows joint '{joint}', which joint_commands commands; "
                    f"actuators here are: {', '.join(index)}"
                )
            raise unknown("actuator", name, index)
        if names.count(name) > 1:
            raise UserInputError(f"actuator '{name}' is named twice")
        interfaces, numbers = list(given.interface_names), list(given.values)
        if interfaces != [CTRL] or len(numbers) != 1:
            listing = ", ".join(f"'{interface}'" for interface in interfaces) or "none"
            raise UserInputError(
                f"actuator '{name}' takes 1 value of the interface '{CTRL}', got {len(numbers)} "
                f"values of {listing}"
            )
        _check(name, numbers[0])
        values[index[name]] = numbers[0]
    return values


def _check(name: str, value: float) -> None:
    if abs(value) > _LARGEST:
        raise UserInputError(f"{value:g} for actuator '{name}' is beyond {_LARGEST:g}")
