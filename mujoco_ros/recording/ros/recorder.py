"""Taking messages off topics and putting them into a bag."""

import logging
import time
from bisect import bisect_right
from collections.abc import Callable
from importlib import import_module
from operator import itemgetter
from typing import Any

from rclpy.event_handler import SubscriptionEventCallbacks
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.topic_endpoint_info import TopicEndpointInfo

from mujoco_ros.recording.definitions import definition
from mujoco_ros.recording.metadata import RecordedTopic
from mujoco_ros.recording.ros.bag import Bag
from mujoco_ros.recording.ros.qos import as_rosbag2, request
from mujoco_ros.recording.ros.sim_clock import SimClock
from mujoco_ros.recording.selection import Selection

_LOG = logging.getLogger(__name__)
_FEEDBACK = "_FeedbackMessage"
_SEQUENCES = 1 << 32
_MARGIN_NS = 2_000_000
"""For so long a message may be on its way from where it gets its time to where it is taken."""
_EVER = 1 << 63


# When it was received and sent [ns], its number, its topic, and the bytes.
_Arrived = tuple[int, int, int, RecordedTopic, bytes]
_RECEIVED: Callable[[_Arrived], int] = itemgetter(0)


class Recorder:
    """Records topics, those that come later as well.

    Nothing is spun: what has arrived is taken from every subscription in turn, with the time at
    which the middleware received it. That costs a fraction of a callback for each message.
    """

    def __init__(
        self, node: Node, bag: Bag, selection: Selection, clock: SimClock | None = None
    ) -> None:
        """Begin without a topic; `look` finds them.

        Args:
            node: Needs no executor.
            bag: Where messages go.
            selection: Which topics.
            clock: Gives messages simulated time; None for the system's.
        """
        self._node, self._bag, self._selection, self._clock = node, bag, selection, clock
        self._inputs: dict[str, _Input] = {}
        self._refused: set[str] = set()
        self._arrived: list[_Arrived] = []

    @property
    def topics(self) -> int:
        """How many topics are recorded."""
        return len(self._inputs)

    def look(self) -> None:
        """Find topics that are new, and what the publishers of the others offer."""
        for name, kinds in self._node.get_topic_names_and_types():
            if name in self._refused or not self._selection.takes(name):
                continue
            offers = self._node.get_publishers_info_by_topic(name)
            known = self._inputs.get(name)
            if known is None:
                self._add(name, kinds, offers)
            elif known.adapt(offers):
                known.take(self._arrived)
                known.reopen()

    def take(self) -> None:
        """Put what has arrived into the bag, in the order in which it was received."""
        # What is received meanwhile waits: another topic's message might have come before it.
        self._write(until=time.time_ns() - _MARGIN_NS)

    def close(self) -> None:
        """Take what is left and end the subscriptions."""
        self._write(until=_EVER)
        for known in self._inputs.values():
            known.close()

    def _write(self, until: int) -> None:
        for known in self._inputs.values():
            known.take(self._arrived)
        if self._clock is not None:
            self._clock.take()
        arrived, bag, clock = self._arrived, self._bag, self._clock
        arrived.sort(key=_RECEIVED)
        count = bisect_right(arrived, until, key=_RECEIVED)
        for received, sent, sequence, topic, data in arrived[:count]:
            if clock is None:
                bag.write(topic, received, sent, sequence, data)
            else:
                simulated = clock.at(received)
                bag.write(topic, simulated, simulated, sequence, data)
        del arrived[:count]

    def _add(self, name: str, kinds: list[str], offers: list[TopicEndpointInfo]) -> None:
        kind = kinds[0]
        message = message_class(kind)
        if len(kinds) > 1:
            self._refuse(name, f"it has several types: {', '.join(kinds)}")
        elif message is None:
            self._refuse(name, f"the package of its type {kind} is not installed")
        else:
            try:
                known = _Input(self._node, name, kind, message, offers)
            except Exception as error:  # rclpy has no narrower type
                self._refuse(name, f"{type(error).__name__}: {error}")
                return
            self._bag.add(known.topic, definition(kind))
            self._inputs[name] = known
            _LOG.info("recording '%s' (%s)", name, kind)

    def _refuse(self, name: str, reason: str) -> None:
        self._refused.add(name)
        _LOG.warning("'%s' is not recorded: %s", name, reason)


class _Input:
    """A topic that is recorded: its subscription, and its place in the bag."""

    def __init__(
        self, node: Node, name: str, kind: str, message: type, offers: list[TopicEndpointInfo]
    ) -> None:
        self._node, self._message = node, message
        self.topic = RecordedTopic(name=name, kind=kind, type_hash="", qos=[])
        self._request = request([])
        self._newest = self._repeated_until = 0
        self.adapt(offers)
        self._subscription = self._open()

    def adapt(self, offers: list[TopicEndpointInfo]) -> bool:
        """Follow what publishers offer; return whether the subscription has to be opened anew."""
        for offer in offers:
            profile = as_rosbag2(offer.qos_profile)
            if profile not in self.topic.qos:
                self.topic.qos.append(profile)
            # rclpy before Jazzy knows no hashes.
            type_hash = str(getattr(offer, "topic_type_hash", ""))
            self.topic.type_hash = self.topic.type_hash or type_hash
        if not offers:
            return False
        wanted = request([offer.qos_profile for offer in offers])
        changed = not _same(wanted, self._request)
        self._request = wanted
        return changed

    def take(self, arrived: list[_Arrived]) -> None:
        """Add what has arrived to a list."""
        take, kind, topic = self._subscription.handle.take_message, self._message, self.topic
        while (taken := take(kind, True)) is not None:
            data, info = taken
            # What a middleware leaves out is zero or None.
            received = info["received_timestamp"] or time.time_ns()
            sent = info["source_timestamp"] or received
            if sent <= self._repeated_until:
                continue
            if sent > self._newest:
                self._newest = sent
            number = (info["publication_sequence_number"] or 0) % _SEQUENCES
            arrived.append((received, sent, number, topic, data))

    def reopen(self) -> None:
        """Subscribe as the publishers now offer."""
        self.close()
        # Latched messages are sent once more to the new subscription.
        self._repeated_until = self._newest
        self._subscription = self._open()

    def close(self) -> None:
        """End the subscription."""
        self._node.destroy_subscription(self._subscription)

    def _open(self) -> Any:
        return self._node.create_subscription(
            self._message,
            self.topic.name,
            lambda _message: None,
            self._request,
            raw=True,
            event_callbacks=SubscriptionEventCallbacks(use_default_callbacks=False),
        )


def message_class(kind: str) -> type | None:
    """Return the class of a message type such as ``std_msgs/msg/String``; None if there is none."""
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


def _same(one: QoSProfile, other: QoSProfile) -> bool:
    return bool(one.reliability == other.reliability and one.durability == other.durability)
