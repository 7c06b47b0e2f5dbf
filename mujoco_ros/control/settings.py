"""Settings of the command sources; all of them may change at run time."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

Interpolation = Literal["linear", "hold"]
OnTimeout = Literal["hold", "damp"]
OutOfLimits = Literal["clamp", "refuse"]


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamSettings:
    """Settings of streamed joint commands; times are simulated [s].

    Attributes:
        interpolation: Whether references ramp linearly from command to command, or step.
        period: Duration of a ramp; 0 uses the measured period of the commands.
        timeout: Silence after which a stream counts as stopped; 0 disables it.
        on_timeout: Whether joints of a stopped stream hold their position or are only damped.
        out_of_limits: Handling of positions beyond a joint's limits.
    """

    interpolation: Interpolation = "linear"
    period: float = 0.0
    timeout: float = 0.0
    on_timeout: OnTimeout = "hold"
    out_of_limits: OutOfLimits = "clamp"


@dataclass(frozen=True, kw_only=True, slots=True)
class TrajectorySettings:
    """Settings of the joint trajectory controller, named as in ros2_controllers.

    Attributes:
        allow_partial_joints_goal: Whether a trajectory may leave joints out.
        allow_nonzero_velocity_at_trajectory_end: Whether a trajectory may end in motion.
        goal_time: Time after the end in which the goal must be reached [s]; 0 is unbounded.
        stopped_velocity_tolerance: Largest velocity error at the goal [rad/s or m/s]; 0 is any.
        trajectory: Path tolerance of each joint's position [rad or m]; 0 is any.  # (n,)
        goal: Goal tolerance of each joint's position [rad or m]; 0 is any.  # (n,)
        action_monitor_rate: Rate of action feedback in simulated time [Hz].
    """

    trajectory: np.ndarray
    goal: np.ndarray
    allow_partial_joints_goal: bool = True
    allow_nonzero_velocity_at_trajectory_end: bool = False
    goal_time: float = 0.0
    stopped_velocity_tolerance: float = 0.01
    action_monitor_rate: float = 20.0


@dataclass(frozen=True, kw_only=True, slots=True)
class GripperSettings:
    """Settings of the gripper, named as in ros2_controllers' parallel_gripper_controller.

    Attributes:
        goal_tolerance: Position error at which the goal counts as reached [m or rad].
        stall_velocity_threshold: Mean speed below which the gripper counts as stalled [m/s or
            rad/s].
        stall_timeout: Simulated time below that speed until a stall is reported [s].
        allow_stalling: Whether a stall is a success, as for a gripped object.
        max_velocity: Speed of the reference if a command has none [m/s or rad/s]; 0 is any.
        max_effort: Effort limit if a command has none [N or Nm]; 0 is the actuator's own.
    """

    goal_tolerance: float = 0.0005
    stall_velocity_threshold: float = 0.001
    stall_timeout: float = 1.0
    allow_stalling: bool = False
    max_velocity: float = 0.1
    max_effort: float = 0.0
