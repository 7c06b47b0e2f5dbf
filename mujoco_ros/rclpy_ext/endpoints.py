"""Publishers and subscriptions that can be closed at any time, with checks of their peers."""

import contextlib
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.duration import Infinite
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import LivelinessPolicy, QoSCompatibility, QoSProfile, qos_check_compatible
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.rclpy_ext.executor import create_wall_timer, guarded

_POLL_S = 0.05
_NAMELESS_S = 5.0  # a problem with a peer waits so long for the name of its node
UNKNOWN = "_NODE_NAME_UNKNOWN_"
"""Name of a node that is not completely discovered."""


@dataclass(eq=False)
class _Opened:
    """A publisher or subscription, and its peers."""

    endpoint: Publisher | Subscription
    topic: str  # its full name
    kind: str  # type of the messages, as peers report it
    qos: QoSProfile
    on_count: Callable[[int], None] | None = None
    # Called when another peer has matched, also if one has left at the same time
    on_join: Callable[[], object] | None = None
    count: int = 0  # matched peers, as last reported to `on_count`
    matches: Any = None  # counts the peers of a publisher since it was opened; no executor has it
    # When a problem with each peer is logged at the latest; infinite if it has been logged
    due: dict[tuple[int, ...], float] = field(default_factory=dict)

    def poll(self) -> None:
        """Call `on_count` if the number of matched peers has changed, and `on_join`."""
        if self.on_count is None:
            return
        endpoint, before = self.endpoint, self.count
        change = None if self.matches is None else self.matches.take_event()
        if change is not None and not (change.total_count_change or change.current_count_change):
            return
        publishes = isinstance(endpoint, Publisher)
        count = endpoint.get_subscription_count() if publishes else endpoint.get_publisher_count()
        if count != before:
            self.count = count
            self.on_count(count)
        has_joined = count > before if change is None else change.total_count_change > 0
        if has_joined and self.on_join is not None:
            self.on_join()

    def peers(self, node: Node) -> list[TopicEndpointInfo]:
        """Return all peers if some of them are not matched, else none."""
        endpoint, topic = self.endpoint, self.endpoint.topic_name
        handle = node.handle
        with handle:  # the methods of the node check the name each time
            if isinstance(endpoint, Publisher):
                if handle.get_count_subscribers(topic) > endpoint.get_subscription_count():
                    return list(node.get_subscriptions_info_by_topic(topic))
            elif handle.get_count_publishers(topic) > endpoint.get_publisher_count():
                return list(node.get_publishers_info_by_topic(topic))
        return []

    def problem(self, peer: TopicEndpointInfo) -> str:
        """Return why a peer is not matched; empty if it is, or will be."""
        publishes, topic = isinstance(self.endpoint, Publisher), self.endpoint.topic_name
        name = "a node" if peer.node_name == UNKNOWN else f"node '{peer.node_name}'"
        kind = peer.topic_type
        if kind != self.kind and publishes:
            return f"{name} subscribes to '{topic}' as {kind}, but it is {self.kind}"
        if kind != self.kind:
            return f"{name} publishes '{topic}' as {kind}, but it must be {self.kind}"
        pair = (self.qos, peer.qos_profile) if publishes else (peer.qos_profile, self.qos)
        reason = _incompatibility(*pair)
        if reason and publishes:
            return f"{name} requests an incompatible QoS of '{topic}': {reason}"
        return reason and f"messages of {name} on '{topic}' are not received: {reason}"


class Endpoints:
    """Opens publishers and subscriptions without handlers of QoS events, and closes them.

    With rclpy's EventsExecutor, destroying a publisher or subscription whose handlers have a
    pending event ends the process. So matched subscriptions are polled instead, by default 20 times
    a second, and peers with an incompatible type or QoS are searched for, one topic at a time.
    Everything here belongs to the executor's thread.
    """

    def __init__(
        self, node: Node, poll_s: float = _POLL_S, *, refuse_two_types: bool = False
    ) -> None:
        """Open and close endpoints of `node`, and poll their peers with a period of `poll_s`.

        A topic with another type than an open one of that name can be refused.
        """
        self.node = node  # the node they belong to
        self._refuses = refuse_two_types
        self._open: dict[int, _Opened] = {}
        self._unseen: list[int] = []
        self._later: list[tuple[float, Callable[[], object]]] = []
        self._timer = create_wall_timer(node, poll_s, self.poll)

    def publisher(
        self,
        kind: Any,
        topic: str,
        qos: QoSProfile,
        on_count: Callable[[int], None] | None = None,
        on_join: Callable[[], object] | None = None,
    ) -> Publisher:
        """Open a publisher.

        `on_count` is called with the number of matched subscriptions soon after it has changed from
        0, and `on_join` after it when one has matched, also if another has left.

        Raises:
            UserInputError: The topic is refused, as of `subscription`.
        """
        self._check_type(kind, topic)
        events = PublisherEventCallbacks(use_default_callbacks=False)
        publisher = self.node.create_publisher(kind, topic, qos, event_callbacks=events)
        opened = _Opened(
            *(publisher, publisher.topic_name, _name(kind), _complete(qos)), on_count, on_join
        )
        if on_count is not None:
            matched = rclpy_implementation.rcl_publisher_event_type_t.RCL_PUBLISHER_MATCHED
            opened.matches = _event(publisher, matched)
        self._open[id(publisher)] = opened
        return publisher

    def subscription(
        self,
        kind: Any,
        topic: str,
        callback: Callable[[Any], None] | None,
        qos: QoSProfile,
        *,
        raw: bool = False,
        on_count: Callable[[int], None] | None = None,
    ) -> Subscription:
        """Open a subscription; `raw` messages are serialized.

        Without a callback, the caller takes the messages from the handle: the executor then spends
        no time on them. `on_count` is called with the number of matched publishers soon after it
        has changed from 0. Raises as `publisher`.
        """
        self._check_type(kind, topic)
        events = SubscriptionEventCallbacks(use_default_callbacks=False)
        subscription = self.node.create_subscription(
            kind,
            topic,
            guarded(callback or (lambda _message: None)),
            qos,
            # A callback group keeps a reference to everything that was ever in it.
            callback_group=MutuallyExclusiveCallbackGroup(),
            event_callbacks=events,
            raw=raw,
        )
        if callback is None:
            # The executor takes the messages of the subscriptions that its node lists.
            self.node._subscriptions.remove(subscription)
        self._open[id(subscription)] = _Opened(
            *(subscription, subscription.topic_name, _name(kind), _complete(qos)), on_count
        )
        return subscription

    @property
    def published(self) -> list[str]:
        """Sorted names of the published topics, without the hidden topics of actions."""
        found = {it.topic for it in self._open.values() if isinstance(it.endpoint, Publisher)}
        return sorted(name for name in found if "/_" not in name)

    def _check_type(self, kind: Any, topic: str) -> None:
        """Reject a topic that is open with another type: DDS would pass no message."""
        if not self._refuses:
            return
        name = _name(kind)
        try:
            full = self.node.resolve_topic_name(topic)
        except rclpy_implementation.RCLError:
            return  # what creates the endpoint has a better message
        for opened in self._open.values():
            if opened.topic == full and opened.kind != name:
                raise UserInputError(
                    f"the topic '{full}' would be {name}, and it is {opened.kind} already; give "
                    "one of the two another name"
                )

    def close(self, endpoint: Publisher | Subscription) -> None:
        """Destroy an endpoint that was opened here, unless it is closed already."""
        opened = self._open.pop(id(endpoint), None)
        if opened is None:
            return
        if opened.matches is not None:  # it keeps the publisher in use
            opened.matches.destroy_when_not_in_use()
        if isinstance(endpoint, Publisher):
            self.node.destroy_publisher(endpoint)
        else:
            if endpoint not in self.node._subscriptions:
                self.node._subscriptions.append(endpoint)  # it destroys no others
            self.node.destroy_subscription(endpoint)

    def later(self, seconds: float, call: Callable[[], object]) -> None:
        """Call a function in the executor's thread after `seconds` of wall time."""
        self._later.append((time.monotonic() + seconds, call))

    def poll(self) -> None:
        """Poll the peers, and call what is due; called by a timer."""
        now = time.monotonic()
        due = [entry for entry in self._later if entry[0] <= now]
        for entry in due:
            self._later.remove(entry)
            entry[1]()
        # With rclpy's EventsExecutor an exception would end the process.
        suppressed = contextlib.suppress(rclpy_implementation.RCLError, InvalidHandle)
        for endpoint in [opened for opened in self._open.values() if opened.on_count is not None]:
            with suppressed:
                endpoint.poll()
        if not self._unseen:
            self._unseen = list(self._open)
        while self._unseen:
            found = self._open.get(self._unseen.pop())
            if found is not None:
                with suppressed:
                    self._compare(found)
                return

    def _compare(self, endpoint: _Opened) -> None:
        """Log a warning for each peer that is incompatible with an endpoint, once."""
        now = time.monotonic()
        peers = {tuple(peer.endpoint_gid): peer for peer in endpoint.peers(self.node)}
        endpoint.due = {gid: endpoint.due.get(gid, now + _NAMELESS_S) for gid in peers}
        for gid, peer in peers.items():
            is_due = now >= endpoint.due[gid] or peer.node_name != UNKNOWN
            if is_due and endpoint.due[gid] < math.inf and (problem := endpoint.problem(peer)):
                endpoint.due[gid] = math.inf
                self.node.get_logger().warning(problem)


def losses(subscription: Subscription) -> Any:
    """Return an event that counts messages lost on the way; None if the middleware has none."""
    kind = rclpy_implementation.rcl_subscription_event_type_t.RCL_SUBSCRIPTION_MESSAGE_LOST
    return _event(subscription, kind)


def _event(endpoint: Publisher | Subscription, kind: Any) -> Any:
    """Return an event that no executor has; None if the middleware has none."""
    with endpoint.handle, contextlib.suppress(rclpy_implementation.UnsupportedEventTypeError):
        return rclpy_implementation.EventHandle(endpoint.handle, kind)
    return None


def _name(kind: Any) -> str:
    package, folder, *_ = kind.__module__.split(".")
    return f"{package}/{folder}/{kind.__name__}"


def _complete(qos: QoSProfile) -> QoSProfile:
    """Return a QoS as the middleware reports it, with the policies it chose."""
    return QoSProfile(
        depth=qos.depth,
        reliability=qos.reliability,
        durability=qos.durability,
        lifespan=Infinite,
        deadline=Infinite,
        liveliness=LivelinessPolicy.AUTOMATIC,
        liveliness_lease_duration=Infinite,
    )


def _incompatibility(offered: QoSProfile, requested: QoSProfile) -> str:
    """Return why the QoS of a publisher and of a subscription are incompatible; empty if not."""
    compatibility, reason = qos_check_compatible(offered, requested)
    if compatibility != QoSCompatibility.ERROR:
        return ""
    return ", ".join(text.removeprefix("ERROR: ") for text in str(reason).split(";") if text)


_PERIOD_S = 1.0


class DuplicateNodes:
    """Logs each node with the same name or topic once; checks every second, in the executor."""

    def __init__(
        self, node: Node, topic: str = "", concerns: Callable[[str], bool] = lambda _name: True
    ) -> None:
        """Start the timer; only `node` should publish the topic, if one is given.

        `concerns` returns whether another publisher is a problem, by its node's full name.
        """
        self._node, self._topic, self._concerns = node, topic, concerns
        self._logged: set[str] = set()
        self._timer = create_wall_timer(node, _PERIOD_S, self.check)

    def check(self) -> None:
        """Log the problems that are new since the last call."""
        with contextlib.suppress(rclpy_implementation.RCLError, InvalidHandle):
            problems = set(self._problems())
            for problem in sorted(problems - self._logged):
                self._node.get_logger().warning(problem)
            self._logged = problems

    def _problems(self) -> list[str]:
        node, own, problems = self._node, self._node.get_fully_qualified_name(), []
        parts = node.get_name(), node.get_namespace()
        if node.get_node_names_and_namespaces().count(parts) > 1:
            # A killed node is discovered until its DDS lease expires.
            problems.append(
                f"another node '{own}' is in this ROS domain, unless it was killed just now: end "
                "one of the two, or give one another ROS_DOMAIN_ID"
            )
        infos = node.get_publishers_info_by_topic(self._topic) if self._topic else ()
        others = {
            f"{info.node_namespace.rstrip('/')}/{info.node_name}"
            for info in infos
            if info.node_name != UNKNOWN
        }
        return problems + [
            f"node '{name}' publishes '{self._topic}', too: end one of the two"
            for name in others - {own}
            if self._concerns(name)
        ]


K = TypeVar("K")
V = TypeVar("V")
W = TypeVar("W")


def synchronize(
    opened: dict[K, V],
    wanted: Mapping[K, W],
    open_new: Callable[[K, W], V],
    close: Callable[[V], object],
) -> None:
    """Close the entries of `opened` that are not `wanted`, and open the missing ones."""
    for key in opened.keys() - wanted.keys():
        close(opened.pop(key))
    for key, description in wanted.items():
        if key not in opened:
            opened[key] = open_new(key, description)
