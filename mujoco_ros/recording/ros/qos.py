"""QoS profiles of recorded topics: those offered, and that of the subscription."""

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

_DEPTH = 1000
"""Queue length of a subscription: one second of a topic at 1 kHz."""


def subscription_qos(offers: Sequence[QoSProfile]) -> QoSProfile:
    """Return the most reliable and durable profile that is compatible with all `offers`.

    Without an offer, one that is compatible with any publisher.
    """
    reliable = all(offer.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
    durable = all(offer.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
    return QoSProfile(
        depth=_DEPTH,
        reliability=ReliabilityPolicy.RELIABLE
        if offers and reliable
        else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL
        if offers and durable
        else DurabilityPolicy.VOLATILE,
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
