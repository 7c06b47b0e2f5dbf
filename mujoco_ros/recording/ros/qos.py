"""QoS profiles of recorded topics, as offered."""

from collections.abc import Sequence
from typing import Any

import yaml
from rclpy.duration import Duration
from rclpy.qos import (
    DurabilityPolicy,
    HistoryPolicy,
    LivelinessPolicy,
    QoSProfile,
    ReliabilityPolicy,
)


def as_rosbag2(profile: QoSProfile) -> dict[str, Any]:
    """Return a profile in the format of rosbag2 since metadata version 9."""
    return {
        "history": _policy(HistoryPolicy(profile.history)),
        "depth": profile.depth,
        "reliability": _policy(ReliabilityPolicy(profile.reliability)),
        "durability": _policy(DurabilityPolicy(profile.durability)),
        "deadline": _time(profile.deadline),
        "lifespan": _time(profile.lifespan),
        "liveliness": _policy(LivelinessPolicy(profile.liveliness)),
        "liveliness_lease_duration": _time(profile.liveliness_lease_duration),
        "avoid_ros_namespace_conventions": profile.avoid_ros_namespace_conventions,
    }


def as_text(profiles: Sequence[dict[str, Any]]) -> str:
    """Return profiles in the format of an MCAP channel's metadata."""
    return yaml.safe_dump(list(profiles), sort_keys=False)


def _policy(policy: Any) -> str:
    return str(policy.name).lower()


def _time(duration: Duration) -> dict[str, int]:
    seconds, nanoseconds = divmod(duration.nanoseconds, 1_000_000_000)
    return {"sec": seconds, "nsec": nanoseconds}
