"""Parameters of each robot: PD gains, and settings of its controllers."""

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

# Templates: names contain <joint>, and units two forms, for hinge and slide joints.
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
    description="File from which all PD gains are read when this is set, and by a reset: YAML, or "
    "lines of 'kp kd' in joint order; empty for the gains of the scene",
)
STREAM = {
    "interpolation": ParameterSpec(
        name="interpolation",
        default=_OF_STREAMS["interpolation"],
        description="Whether references between streamed commands are interpolated, or held",
        choices=get_args(Interpolation),
    ),
    "period": ParameterSpec(
        name="command_period",
        default=_OF_STREAMS["period"],
        description="Simulated time in which references move from one streamed command to the "
        "next [s]; 0 uses the measured time between commands",
        low=0.0,
        high=10.0,
    ),
    "timeout": ParameterSpec(
        name="command_timeout",
        default=_OF_STREAMS["timeout"],
        description="Simulated time without a command after which a stream counts as stopped [s]; "
        "0 for never",
        low=0.0,
        high=_LONGEST_S,
    ),
    "on_timeout": ParameterSpec(
        name="on_command_timeout",
        default=_OF_STREAMS["on_timeout"],
        description="What the joints of a stopped stream do: hold their position, or be damped",
        choices=get_args(OnTimeout),
    ),
    "out_of_limits": ParameterSpec(
        name="joint_limits",
        default=_OF_STREAMS["out_of_limits"],
        description="What happens to commanded positions beyond the limits of a joint",
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
        description="Whether a trajectory may omit joints",
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
        description="Largest position error on the path [rad or m]; 0 is any",
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
        description="Speed below which the gripper counts as stopped [rad/s or m/s]",
        low=0.0,
        high=_WIDEST,
    ),
    "stall_timeout": ParameterSpec(
        name=f"{_GRIPPER}stall_timeout",
        default=_OF_GRIPPERS["stall_timeout"],
        description="Simulated time below the speed threshold that makes a stall [s]",
        low=0.0,
        high=_LONGEST_S,
    ),
    "allow_stalling": ParameterSpec(
        name=f"{_GRIPPER}allow_stalling",
        default=_OF_GRIPPERS["allow_stalling"],
        description="Whether a stall is a success, as when an object is grasped",
    ),
    "max_velocity": ParameterSpec(
        name=f"{_GRIPPER}max_velocity",
        default=_OF_GRIPPERS["max_velocity"],
        description="Speed of the reference where a command has none [rad/s or m/s]; 0 is any",
        low=0.0,
        high=_WIDEST,
    ),
    "max_effort": ParameterSpec(
        name=f"{_GRIPPER}max_effort",
        default=_OF_GRIPPERS["max_effort"],
        description="Effort limit where a command has none [Nm or N]; 0 is the actuator's limit",
        low=0.0,
        high=1e6,
    ),
}
"""Field of GripperSettings to its parameter."""
