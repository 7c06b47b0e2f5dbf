"""Quality of service of topics, also of topics that are found on the graph."""

from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy, qos_profile_sensor_data

RELIABLE = QoSProfile(depth=10)  # what ros2_control's publishers and subscribers use
SENSOR = qos_profile_sensor_data
LATCHED = QoSProfile(
    depth=1, reliability=ReliabilityPolicy.RELIABLE, durability=DurabilityPolicy.TRANSIENT_LOCAL
)
TF = QoSProfile(depth=100)  # as tf2_ros' DynamicBroadcasterQoS
DEEP = QoSProfile(depth=100)
"""For recorders, which need every message and may be late on a busy machine."""


_FEEDBACK = "_FeedbackMessage"
_FOLDERS = ("msg", "srv", "action")  # modules of a package of interfaces


def message_class(kind: str) -> type | None:
    """Return the class of a message type, as ``std_msgs/msg/String``; None if not installed.

    Other nodes and bags choose the name, so no module is imported that has no interfaces.
    """
    package, _, rest = kind.partition("/")
    folder, _, name = rest.partition("/")
    if not _has_interfaces(package, folder):
        return None
    try:
        module = import_module(f"{package}.{folder}")
        if name.endswith(_FEEDBACK):
            found = getattr(module, name.removesuffix(_FEEDBACK)).Impl.FeedbackMessage
        else:
            found = getattr(module, name)
    except (ImportError, AttributeError):
        return None
    return found if isinstance(found, type) else None


def _has_interfaces(package: str, folder: str) -> bool:
    """Whether a package, which is not imported, has a module of interfaces."""
    if folder not in _FOLDERS or not package.isidentifier():
        return False
    try:
        spec = find_spec(package)
    except (ImportError, ValueError):
        return False
    locations = (spec and spec.submodule_search_locations) or ()
    return any(Path(location, folder, "__init__.py").is_file() for location in locations)


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
