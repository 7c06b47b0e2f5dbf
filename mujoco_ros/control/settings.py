"""Settings of the command sources; all of them may change at run time."""

from dataclasses import MISSING, dataclass, field
from importlib import import_module
from typing import Any, Literal

import numpy as np

Interpolation = Literal["linear", "hold"]
OnTimeout = Literal["hold", "damp"]
InterpolationMethod = Literal["splines", "none"]
OutOfLimits = Literal["clamp", "refuse"]
ResetPolicy = Literal["hold", "reactivate", "off"]
_LONGEST_S = 3600.0
_WIDEST = 1000.0
SPEED_SCALING = 1e-6, _WIDEST
"""Range of the speed of trajectories as a factor; 0 stops them."""


def setting(
    description: str,
    default: Any = MISSING,
    *,
    low: float = 0.0,
    high: float | None = None,
    least: float = 0.0,
    parameter: str = "",
) -> Any:
    """Return a field that users set by a parameter, by default of the same name.

    A number needs a largest value; `least` is the smallest one but for 0.
    """
    bounds = {"low": low, "high": high, "least": least} if high is not None else {}
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
    reset_hold: ResetPolicy = setting(
        "What keeps a source that runs through a reset from moving joints back: they are held "
        "until it commands a position near the new state, or also the controllers of the robot's "
        "controller_manager are activated again, or nothing",
        "hold",
    )
    reset_hold_tolerance: float = setting(
        "Distance from the state of a held joint that is near [rad or m]", 0.001, high=_WIDEST
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class TrajectorySettings:
    """Settings of the joint trajectory controller, named as in ros2_controllers.

    `trajectory`, `goal` and `max_deceleration_on_cancel` have an element for each joint.  # (n,)
    """

    allow_partial_joints_goal: bool = setting("Whether a trajectory may omit joints", True)
    allow_nonzero_velocity_at_trajectory_end: bool = setting(
        "Whether a trajectory may end in motion", False
    )
    interpolate_from_desired_state: bool = setting(
        "Whether a trajectory of joints at rest starts at their references, instead of their "
        "measured state; a trajectory of joints that still follow another one always does",
        True,
    )
    set_last_command_interface_value_as_state_on_activation: bool = setting(
        "Whether joints that this controller takes from another source keep their references, "
        "instead of their measured positions",
        True,
    )
    interpolation_method: InterpolationMethod = setting(
        "Whether references follow splines, or always have the values of the next waypoint",
        "splines",
    )
    positions_upsampling: bool = setting(
        "Whether trajectories of positions only, by topic, become smooth curves that continue the "
        "present motion",
        False,
        parameter="positions_upsampling.enable",
    )
    policy_frequency: float = setting(
        "Rate of the points of trajectories of positions only that have no times [Hz]; 0 rejects "
        "them",
        0.0,
        high=1e4,
        parameter="positions_upsampling.policy_frequency",
    )
    blend_time: float = setting(
        "Simulated time in which references join a new smooth curve [s], at least until its next "
        "waypoint",
        0.1,
        high=60.0,
        parameter="positions_upsampling.blend_time",
    )
    initial_scaling_factor: float = setting(
        "Speed of trajectories, as a factor, until speed_scaling_input sets another one, and after "
        "a reset",
        1.0,
        least=SPEED_SCALING[0],
        high=SPEED_SCALING[1],
        parameter="speed_scaling.initial_scaling_factor",
    )
    cmd_timeout: float = setting(
        "Simulated time after the end of a trajectory without another one after which joints stop, "
        "with a warning [s]; ignored unless greater than constraints.goal_time; 0 for never",
        0.0,
        high=_LONGEST_S,
    )
    decelerate_on_cancel: bool = setting(
        "Whether joints decelerate by their max_deceleration_on_cancel when a goal is canceled or "
        "violates its tolerances; if the deceleration of a moving joint is 0, all stop at once",
        False,
        parameter="constraints.decelerate_on_cancel",
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
    max_deceleration_on_cancel: np.ndarray = setting(
        "Deceleration after a cancel or a violated tolerance [rad/s² or m/s²]; 0 is none",
        (),
        high=1e6,
        least=1e-6,
        parameter="constraints.<joint>.max_deceleration_on_cancel",
    )

    def __post_init__(self) -> None:
        """Complete the settings of joints that are not given; load what upsampling needs."""
        if not len(self.max_deceleration_on_cancel):
            object.__setattr__(self, "max_deceleration_on_cancel", np.zeros(len(self.goal)))
        if self.positions_upsampling:
            import_module("scipy.interpolate")  # for which the first message would wait


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
