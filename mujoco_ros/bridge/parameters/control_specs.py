"""Parameters of each robot: PD gains, and settings of its controllers."""

from dataclasses import fields
from typing import Any, get_args, get_type_hints

from mujoco_ros.control.cartesian.settings import CartesianSettings
from mujoco_ros.control.gains import LARGEST_GAIN
from mujoco_ros.control.modes import INTERFACES
from mujoco_ros.control.settings import GripperSettings, StreamSettings, TrajectorySettings
from mujoco_ros.wire.parameter_spec import ParameterSpec

_TRAJECTORY = "joint_trajectory_controller."
_GRIPPER = "gripper_controller."


def _specs(settings: type, prefix: str = "") -> dict[str, ParameterSpec]:
    """Return the parameter of each field of a settings class."""
    kinds, specs = get_type_hints(settings), {}
    for each in fields(settings):
        metadata = dict(each.metadata)
        name = prefix + (metadata.pop("parameter") or each.name)
        default: Any = 0.0 if "<joint>" in name else each.default
        choices = get_args(kinds[each.name]) if isinstance(default, str) else ()
        specs[each.name] = ParameterSpec(name, default, choices=choices, **metadata)
    return specs


# Templates: names contain <joint>, and units two forms, for hinge and slide joints.
GAINS = tuple(
    ParameterSpec(f"gains.<joint>.{name}", 0.0, description, low=0.0, high=LARGEST_GAIN)
    for name, description in (
        ("kp", "Stiffness of the PD law [Nm/rad or N/m]"),
        ("kd", "Damping of the PD law [Nms/rad or Ns/m]"),
    )
)
GAINS_FILE = ParameterSpec(
    "gains_file",
    "",
    "File from which all PD gains are read when this is set, and by a reset: YAML, or lines of 'kp "
    "kd' in joint order; empty for the gains of the scene",
)
STREAM = _specs(StreamSettings)
"""Field of StreamSettings to its parameter."""
FORWARD = {
    interface: ParameterSpec(
        f"{interface}_controller.joints",
        (),
        f"Joints that take {interface} commands, in the order of {interface}_controller/commands",
        fixed=True,
    )
    for interface in INTERFACES
}
TRAJECTORY_JOINTS = ParameterSpec(
    f"{_TRAJECTORY}joints", (), "Joints that trajectories may name", fixed=True
)
_OF_TRAJECTORIES = _specs(TrajectorySettings, _TRAJECTORY)
TRAJECTORY = {name: it for name, it in _OF_TRAJECTORIES.items() if "<joint>" not in it.name}
"""Field of TrajectorySettings to its parameter."""
TOLERANCES = {name: it for name, it in _OF_TRAJECTORIES.items() if "<joint>" in it.name}
"""Field of TrajectorySettings to its parameter for each joint."""
GRIPPER_JOINT = ParameterSpec(f"{_GRIPPER}joint", "", "Joint or tendon of the gripper", fixed=True)
GRIPPER = _specs(GripperSettings, _GRIPPER)
"""Field of GripperSettings to its parameter."""
CARTESIAN = _specs(CartesianSettings, "cartesian_controller.")
"""Field of CartesianSettings to its parameter."""
# The tolerance is that of ros2_controllers, and the speed closes common fingers in a second.
ANGULAR_GRIPPER = {f"{_GRIPPER}goal_tolerance": 0.01, f"{_GRIPPER}max_velocity": 1.0}
"""Defaults of a gripper whose position is an angle [rad, rad/s], by name of the parameter."""
