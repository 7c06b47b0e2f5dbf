"""Limits of a monitored motion."""

from dataclasses import dataclass

from mujoco_ros.controllers.library.config_checks import check_not_negative, check_positive


@dataclass(frozen=True, kw_only=True, slots=True)
class MonitoredMotion:
    """Limits of a motion.

    Attributes:
        tracking: Largest tracking error of a joint [rad].
        push: Largest part of a joint's effort limit that the commands do not explain.
        force: Largest force at the wrist beyond hand and payload [N].
        ringing: Largest RMS speed of a finger that holds an object [m/s].
        oscillation: Time for which a finger must move faster to be called oscillating [s].
        drift: Largest displacement of the object, in the hand or before the grasp [m].
        saturated: Longest time with saturated effort of a joint [s].
        latency: Largest latency of commands [s]. With latency a robot lags behind its references,
            and its efforts follow earlier commands.
        pose_latency: Largest latency of object poses [s].
        stale: Largest age of the object's pose [s], and time for which it may remain exactly the
            same in a hand that moves.
    """

    tracking: float = 0.05
    push: float = 0.3
    force: float = 40.0
    ringing: float = 0.02
    oscillation: float = 0.2
    drift: float = 0.01
    saturated: float = 0.05
    latency: float = 0.03
    pose_latency: float = 0.12
    stale: float = 0.3

    def __post_init__(self) -> None:
        check_positive(self, "tracking", "push", "force", "ringing", "drift", "saturated", "stale")
        check_not_negative(self, "latency", "pose_latency", "oscillation")
