"""Settings of the command sources; all of them may change at run time."""

from dataclasses import MISSING, dataclass, field
from typing import Any, Literal

import numpy as np

Interpolation = Literal["linear", "hold"]
OnTimeout = Literal["hold", "damp"]
OutOfLimits = Literal["clamp", "refuse"]
_LONGEST_S = 3600.0
_WIDEST = 1000.0


def setting(
    description: str,
    default: Any = MISSING,
    *,
    low: float = 0.0,
    high: float | None = None,
    parameter: str = "",
) -> Any:
    """Return a field that users set by a parameter.

    Args:
        description: Description of the parameter, with the unit.
        default: The default value.
        low: Smallest value, if there is a largest one.
        high: Largest value; None if it is no number.
        parameter: Name of the parameter, if it is not that of the field.
    """
    bounds = {"low": low, "high": high} if high is not None else {}
    metadata = {"description": description, "parameter": parameter, **bounds}
    return field(default=default, metadata=metadata)


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamSettings:
    """Settings of streamed joint commands."""

    interpolation: Interpolation = setting(
        "Whether references between streamed commands are interpolated, or held", "linear"
    )
    period: float = setting(
        "Simulated time in which references move from one streamed command to the next [s]; 0 uses "
        "the measured time between commands",
        0.0,
        high=10.0,
        parameter="command_period",
    )
    timeout: float = setting(
        "Simulated time without a command after which a stream counts as stopped [s]; 0 for never",
        0.0,
        high=_LONGEST_S,
        parameter="command_timeout",
    )
    on_timeout: OnTimeout = setting(
        "Behaviour of joints whose stream stopped: they hold their position, or are damped",
        "hold",
        parameter="on_command_timeout",
    )
    out_of_limits: OutOfLimits = setting(
        "Handling of commanded positions beyond the limits of a joint",
        "clamp",
        parameter="joint_limits",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class TrajectorySettings:
    """Settings of the joint trajectory controller, named as in ros2_controllers.

    `trajectory` and `goal` have an element for each joint.  # (n,)
    """

    allow_partial_joints_goal: bool = setting("Whether a trajectory may omit joints", True)
    allow_nonzero_velocity_at_trajectory_end: bool = setting(
        "Whether a trajectory may end in motion", False
    )
    action_monitor_rate: float = setting(
        "Rate of action feedback in simulated time [Hz]", 20.0, low=0.1, high=_WIDEST
    )
    goal_time: float = setting(
        "Simulated time after the end of a trajectory in which its goal must be reached [s]; 0 is "
        "unbounded",
        0.0,
        high=_LONGEST_S,
        parameter="constraints.goal_time",
    )
    stopped_velocity_tolerance: float = setting(
        "Largest velocity error at the goal [rad/s or m/s]; 0 is any",
        0.01,
        high=_WIDEST,
        parameter="constraints.stopped_velocity_tolerance",
    )
    trajectory: np.ndarray = setting(
        "Largest position error on the path [rad or m]; 0 is any",
        high=_WIDEST,
        parameter="constraints.<joint>.trajectory",
    )
    goal: np.ndarray = setting(
        "Largest position error at the goal [rad or m]; 0 is any",
        high=_WIDEST,
        parameter="constraints.<joint>.goal",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class GripperSettings:
    """Settings of the gripper, named as in ros2_controllers' parallel_gripper_controller."""

    goal_tolerance: float = setting(
        "Position error at which the goal counts as reached [rad or m]", 0.0005, high=_WIDEST
    )
    stall_velocity_threshold: float = setting(
        "Speed below which the gripper counts as stopped [rad/s or m/s]", 0.001, high=_WIDEST
    )
    stall_timeout: float = setting(
        "Simulated time below the speed threshold that makes a stall [s]", 1.0, high=_LONGEST_S
    )
    allow_stalling: bool = setting(
        "Whether a stall is a success, as when an object is grasped", False
    )
    max_velocity: float = setting(
        "Speed of the reference where a command has none [rad/s or m/s]; 0 is any",
        0.1,
        high=_WIDEST,
    )
    max_effort: float = setting(
        "Effort limit where a command has none [Nm or N]; 0 is the actuator's limit",
        0.0,
        high=1e6,
    )
