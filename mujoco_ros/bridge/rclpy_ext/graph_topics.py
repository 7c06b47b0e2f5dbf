"""Classes and QoS for subscriptions to topics that are found on the graph."""

from collections.abc import Sequence
from importlib import import_module

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy

_FEEDBACK = "_FeedbackMessage"


def message_class(kind: str) -> type | None:
    """Return the class of a message type, as ``std_msgs/msg/String``; None if not installed."""
    package, _, rest = kind.partition("/")
    folder, _, name = rest.partition("/")
    try:
        module = import_module(f"{package}.{folder}")
        if name.endswith(_FEEDBACK):
            found = getattr(module, name.removesuffix(_FEEDBACK)).Impl.FeedbackMessage
        else:
            found = getattr(module, name)
    except (ImportError, AttributeError):
        return None
    return found if isinstance(found, type) else None


def subscription_qos(offers: Sequence[QoSProfile], depth: int) -> QoSProfile:
    """Return the most reliable and durable profile that is compatible with all `offers`.

    Without an offer, one that is compatible with any publisher.
    """
    reliable = all(offer.reliability == ReliabilityPolicy.RELIABLE for offer in offers)
    durable = all(offer.durability == DurabilityPolicy.TRANSIENT_LOCAL for offer in offers)
    return QoSProfile(
        depth=depth,
        reliability=ReliabilityPolicy.RELIABLE
        if offers and reliable
        else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL
        if offers and durable
        else DurabilityPolicy.VOLATILE,
    )
