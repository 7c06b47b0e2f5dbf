"""What can be set of each robot: its PD gains, and how it treats what it is told."""

from dataclasses import fields
from typing import Any, get_args

from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.control.gains import LARGEST_GAIN
from mujoco_ros.control.modes import INTERFACES
from mujoco_ros.control.settings import (
    GripperSettings,
    Interpolation,
    OnTimeout,
    OutOfLimits,
    StreamSettings,
    TrajectorySettings,
)

_TRAJECTORY = "joint_trajectory_controller."
_GRIPPER = "gripper_controller."
_LONGEST_S = 3600.0
_WIDEST = 1000.0


def _defaults(settings: type) -> dict[str, Any]:
    return {field.name: field.default for field in fields(settings)}


_OF_STREAMS, _OF_TRAJECTORIES, _OF_GRIPPERS = (
    _defaults(kind) for kind in (StreamSettings, TrajectorySettings, GripperSettings)
)

# Templates: a name has <joint>, and a unit two forms, that of a hinge and that of a slide.
GAINS = (
    ParameterSpec(
        name="gains.<joint>.kp",
        default=0.0,
        description="Stiffness of the PD law [Nm/rad or N/m]",
        low=0.0,
        high=LARGEST_GAIN,
    ),
    ParameterSpec(
        name="gains.<joint>.kd",
        default=0.0,
        description="Damping of the PD law [Nms/rad or Ns/m]",
        low=0.0,
        high=LARGEST_GAIN,
    ),
)
GAINS_FILE = ParameterSpec(
    name="gains_file",
    default="",
    description="File that all PD gains are taken from when this is set, and by a reset: YAML, or "
    "lines of 'kp kd' in joint order; empty is as the scene has them",
)
STREAM = {
    "interpolation": ParameterSpec(
        name="interpolation",
        default=_OF_STREAMS["interpolation"],
        description="Whether references go linearly from one streamed command to the next, or step",
        choices=get_args(Interpolation),
    ),
    "period": ParameterSpec(
        name="command_period",
        default=_OF_STREAMS["period"],
        description="Simulated time in which references go from one streamed command to the next "
        "[s]; 0 takes the measured time between commands",
        low=0.0,
        high=10.0,
    ),
    "timeout": ParameterSpec(
        name="command_timeout",
        default=_OF_STREAMS["timeout"],
        description="Simulated time without a command after which a stream counts as stopped [s]; "
        "0 is never",
        low=0.0,
        high=_LONGEST_S,
    ),
    "on_timeout": ParameterSpec(
        name="on_command_timeout",
        default=_OF_STREAMS["on_timeout"],
        description="What the joints of a stopped stream do: hold their position, or get damped",
        choices=get_args(OnTimeout),
    ),
    "out_of_limits": ParameterSpec(
        name="joint_limits",
        default=_OF_STREAMS["out_of_limits"],
        description="What happens to commanded positions beyond a joint's limits",
        choices=get_args(OutOfLimits),
    ),
}
"""Field of StreamSettings to its parameter."""
FORWARD = {
    interface: ParameterSpec(
        name=f"{interface}_controller.joints",
        default=(),
        description=f"Joints that take {interface} commands, in the order of "
        f"{interface}_controller/commands",
        fixed=True,
    )
    for interface in INTERFACES
}
TRAJECTORY_JOINTS = ParameterSpec(
    name=f"{_TRAJECTORY}joints",
    default=(),
    description="Joints that trajectories may name",
    fixed=True,
)
TRAJECTORY = {
    "allow_partial_joints_goal": ParameterSpec(
        name=f"{_TRAJECTORY}allow_partial_joints_goal",
        default=_OF_TRAJECTORIES["allow_partial_joints_goal"],
        description="Whether a trajectory may leave joints out",
    ),
    "allow_nonzero_velocity_at_trajectory_end": ParameterSpec(
        name=f"{_TRAJECTORY}allow_nonzero_velocity_at_trajectory_end",
        default=_OF_TRAJECTORIES["allow_nonzero_velocity_at_trajectory_end"],
        description="Whether a trajectory may end in motion",
    ),
    "action_monitor_rate": ParameterSpec(
        name=f"{_TRAJECTORY}action_monitor_rate",
        default=_OF_TRAJECTORIES["action_monitor_rate"],
        description="Rate of action feedback in simulated time [Hz]",
        low=0.1,
        high=_WIDEST,
    ),
    "goal_time": ParameterSpec(
        name=f"{_TRAJECTORY}constraints.goal_time",
        default=_OF_TRAJECTORIES["goal_time"],
        description="Simulated time after the end of a trajectory in which its goal must be reached"
        " [s]; 0 is unbounded",
        low=0.0,
        high=_LONGEST_S,
    ),
    "stopped_velocity_tolerance": ParameterSpec(
        name=f"{_TRAJECTORY}constraints.stopped_velocity_tolerance",
        default=_OF_TRAJECTORIES["stopped_velocity_tolerance"],
        description="Largest velocity error at the goal [rad/s or m/s]; 0 is any",
        low=0.0,
        high=_WIDEST,
    ),
}
"""Field of TrajectorySettings to its parameter."""
TOLERANCES = {
    "trajectory": ParameterSpec(
        name=f"{_TRAJECTORY}constraints.<joint>.trajectory",
        default=0.0,
        description="Largest position error on the way [rad or m]; 0 is any",
        low=0.0,
        high=_WIDEST,
    ),
    "goal": ParameterSpec(
        name=f"{_TRAJECTORY}constraints.<joint>.goal",
        default=0.0,
        description="Largest position error at the goal [rad or m]; 0 is any",
        low=0.0,
        high=_WIDEST,
    ),
}
"""Field of TrajectorySettings to its parameter for each joint."""
GRIPPER_JOINT = ParameterSpec(
    name=f"{_GRIPPER}joint", default="", description="Joint of the gripper", fixed=True
)
GRIPPER = {
    "goal_tolerance": ParameterSpec(
        name=f"{_GRIPPER}goal_tolerance",
        default=_OF_GRIPPERS["goal_tolerance"],
        description="Position error at which the goal counts as reached [rad or m]",
        low=0.0,
        high=_WIDEST,
    ),
    "stall_velocity_threshold": ParameterSpec(
        name=f"{_GRIPPER}stall_velocity_threshold",
        default=_OF_GRIPPERS["stall_velocity_threshold"],
        description="Speed below which the gripper stands still [rad/s or m/s]",
        low=0.0,
        high=_WIDEST,
    ),
    "stall_timeout": ParameterSpec(
        name=f"{_GRIPPER}stall_timeout",
        default=_OF_GRIPPERS["stall_timeout"],
        description="Simulated time of standing still that makes a stall [s]",
        low=0.0,
        high=_LONGEST_S,
    ),
    "allow_stalling": ParameterSpec(
        name=f"{_GRIPPER}allow_stalling",
        default=_OF_GRIPPERS["allow_stalling"],
        description="Whether a stall is a success, as when an object is gripped",
    ),
    "max_velocity": ParameterSpec(
        name=f"{_GRIPPER}max_velocity",
        default=_OF_GRIPPERS["max_velocity"],
        description="Speed of the reference where a command gives none [rad/s or m/s]; 0 is any",
        low=0.0,
        high=_WIDEST,
    ),
    "max_effort": ParameterSpec(
        name=f"{_GRIPPER}max_effort",
        default=_OF_GRIPPERS["max_effort"],
        description="Effort limit where a command gives none [Nm or N]; 0 is the actuator's own",
        low=0.0,
        high=1e6,
    ),
}
"""Field of GripperSettings to its parameter."""
