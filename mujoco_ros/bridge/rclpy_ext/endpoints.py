"""Publishers and subscriptions that can be closed at any time, with checks of their peers."""

import contextlib
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.clock import Clock, ClockType
from rclpy.duration import Infinite
from rclpy.event_handler import PublisherEventCallbacks, SubscriptionEventCallbacks
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.publisher import Publisher
from rclpy.qos import LivelinessPolicy, QoSCompatibility, QoSProfile, qos_check_compatible
from rclpy.subscription import Subscription
from rclpy.topic_endpoint_info import TopicEndpointInfo

from mujoco_ros.bridge.rclpy_ext.tasks import guarded

_POLL_S = 0.05
_UNKNOWN = "_NODE_NAME_UNKNOWN_"
"""The name of a node that was discovered only in part."""


class _Opened(ABC):
    """A publisher or subscription, and its peers.

    Attributes:
        warned: Peers that a warning was logged about.
    """

    def __init__(self, kind: Any, qos: QoSProfile) -> None:
        self.warned: set[tuple[int, ...]] = set()
        package, folder, *_ = kind.__module__.split(".")
        self._kind = f"{package}/{folder}/{kind.__name__}"
        self._qos = _complete(qos)

    @abstractmethod
    def poll(self) -> None:
        """Report changes."""

    @abstractmethod
    def peers(self, node: Node) -> list[TopicEndpointInfo]:
        """Return all peers, if there are more than are matched."""

    @abstractmethod
    def problem(self, peer: TopicEndpointInfo) -> str:
        """Return why a peer is not matched; empty if it is, or will be."""

    @abstractmethod
    def destroy(self, node: Node) -> None:
        """Close it."""


class _Publisher(_Opened):
    def __init__(
        self,
        publisher: Publisher,
        kind: Any,
        qos: QoSProfile,
        on_count: Callable[[int], None] | None,
    ) -> None:
        super().__init__(kind, qos)
        self._publisher = publisher
        self._on_count = on_count
        self._count = 0

    def poll(self) -> None:
        if self._on_count is not None:
            count = self._publisher.get_subscription_count()
            if count != self._count:
                self._count = count
                self._on_count(count)

    def peers(self, node: Node) -> list[TopicEndpointInfo]:
        topic = self._publisher.topic_name
        if node.count_subscribers(topic) <= self._publisher.get_subscription_count():
            return []
        return list(node.get_subscriptions_info_by_topic(topic))

    def problem(self, peer: TopicEndpointInfo) -> str:
        topic = self._publisher.topic_name
        if peer.topic_type != self._kind:
            subscribes = f"{_owner(peer)} subscribes to '{topic}' as {peer.topic_type}"
            return f"{subscribes}, but it is {self._kind}"
        reason = _incompatibility(self._qos, peer.qos_profile)
        return reason and f"{_owner(peer)} requests an incompatible QoS of '{topic}': {reason}"

    def destroy(self, node: Node) -> None:
        node.destroy_publisher(self._publisher)


class _Subscription(_Opened):
    def __init__(self, subscription: Subscription, kind: Any, qos: QoSProfile) -> None:
        super().__init__(kind, qos)
        self._subscription = subscription

    def poll(self) -> None:
        pass  # the number of publishers is not reported

    def peers(self, node: Node) -> list[TopicEndpointInfo]:
        topic = self._subscription.topic_name
        if node.count_publishers(topic) <= self._subscription.get_publisher_count():
            return []
        return list(node.get_publishers_info_by_topic(topic))

    def problem(self, peer: TopicEndpointInfo) -> str:
        topic = self._subscription.topic_name
        if peer.topic_type != self._kind:
            wrong = f"{_owner(peer)} publishes '{topic}' as {peer.topic_type}"
            return f"{wrong}, but it must be {self._kind}"
        reason = _incompatibility(peer.qos_profile, self._qos)
        return reason and f"messages of {_owner(peer)} on '{topic}' are not received: {reason}"

    def destroy(self, node: Node) -> None:
        node.destroy_subscription(self._subscription)


class Endpoints:
    """Opens publishers and subscriptions without handlers of QoS events, and closes them.

    With rclpy's EventsExecutor, destroying a publisher or subscription whose handlers have a
    pending event ends the process. So matched subscriptions are polled instead, by default 20 times
    a second, and peers with an incompatible type or QoS are searched for, one topic at a time.
    Everything here belongs to the executor's thread.

    Attributes:
        node: The node they belong to.
    """

    def __init__(self, node: Node, poll_s: float = _POLL_S) -> None:
        """Open and close endpoints of `node`, and poll their peers with a period of `poll_s`."""
        self.node = node
        self._open: dict[int, _Opened] = {}
        self._unseen: list[int] = []
        self._later: list[tuple[float, Callable[[], object]]] = []
        # Not the node's clock: under use_sim_time it would stop with the simulation.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(poll_s, guarded(self.poll), clock=steady)

    def publisher(
        self,
        kind: Any,
        topic: str,
        qos: QoSProfile,
        on_count: Callable[[int], None] | None = None,
    ) -> Publisher:
        """Open a publisher.

        Args:
            kind: Type of the messages.
            topic: Name of the topic.
            qos: Quality of service.
            on_count: Called with the number of matched subscriptions soon after it has changed
                from 0.
        """
        events = PublisherEventCallbacks(use_default_callbacks=False)
        publisher = self.node.create_publisher(kind, topic, qos, event_callbacks=events)
        self._open[id(publisher)] = _Publisher(publisher, kind, qos, on_count)
        return publisher

    def subscription(
        self,
        kind: Any,
        topic: str,
        callback: Callable[[Any], None],
        qos: QoSProfile,
        *,
        raw: bool = False,
    ) -> Subscription:
        """Open a subscription; arguments as those of rclpy."""
        events = SubscriptionEventCallbacks(use_default_callbacks=False)
        subscription = self.node.create_subscription(
            kind,
            topic,
            guarded(callback),
            qos,
            # A group remembers whatever was in it.
            callback_group=MutuallyExclusiveCallbackGroup(),
            event_callbacks=events,
            raw=raw,
        )
        self._open[id(subscription)] = _Subscription(subscription, kind, qos)
        return subscription

    def close(self, endpoint: Publisher | Subscription) -> None:
        """Destroy an endpoint that was opened here, unless it is closed already."""
        if (opened := self._open.pop(id(endpoint), None)) is not None:
            opened.destroy(self.node)

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
        # What is raised here would end the process: rclpy's EventsExecutor cannot pass it on.
        for endpoint in list(self._open.values()):
            with contextlib.suppress(rclpy_implementation.RCLError, InvalidHandle):
                endpoint.poll()
        if not self._unseen:
            self._unseen = list(self._open)
        while self._unseen:
            found = self._open.get(self._unseen.pop())
            if found is not None:
                with contextlib.suppress(rclpy_implementation.RCLError, InvalidHandle):
                    self._compare(found)
                return

    def _compare(self, endpoint: _Opened) -> None:
        """Warn, once about each, of peers that are incompatible with an endpoint."""
        peers = {tuple(peer.endpoint_gid): peer for peer in endpoint.peers(self.node)}
        endpoint.warned &= peers.keys()
        for gid in peers.keys() - endpoint.warned:
            known = peers[gid].node_name != _UNKNOWN
            if known and (problem := endpoint.problem(peers[gid])):
                endpoint.warned.add(gid)
                self.node.get_logger().warning(problem)


def _owner(peer: TopicEndpointInfo) -> str:
    return f"node '{peer.node_name}'"


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
    return ", ".join(part.removeprefix("ERROR: ") for part in str(reason).split(";") if part)
