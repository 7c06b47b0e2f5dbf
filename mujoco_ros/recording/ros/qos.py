"""Quality of service: what publishers offer, and what a recorder asks of them."""

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
"""What may wait in a subscription: a second of a topic of 1 kHz."""


def request(offers: Sequence[QoSProfile]) -> QoSProfile:
    """Return what fits all `offers`, and is as reliable and as late-joining as they allow.

    Without any offer it is what fits whatever may come.
    """
    reliable = all(offer.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
    latched = all(offer.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
    return QoSProfile(
        depth=_DEPTH,
        reliability=ReliabilityPolicy.RELIABLE
        if offers and reliable
        else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL
        if offers and latched
        else DurabilityPolicy.VOLATILE,
    )


def as_rosbag2(profile: QoSProfile) -> dict[str, Any]:
    """Return a profile as rosbag2 writes it since metadata version 9."""
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
    """Return profiles as rosbag2 puts them into the channels of an MCAP file."""
    return yaml.safe_dump(list(profiles), sort_keys=False)


def _policy(policy: Any) -> str:
    return str(policy.name).lower()


def _time(duration: Duration) -> dict[str, int]:
    seconds, nanoseconds = divmod(duration.nanoseconds, 1_000_000_000)
    return {"sec": seconds, "nsec": nanoseconds}
