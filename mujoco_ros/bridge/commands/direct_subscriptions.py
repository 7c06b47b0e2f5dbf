"""Subscriptions and services whose messages the physics thread takes itself."""

import time
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.service import Service
from rclpy.subscription import Subscription
from rclpy.timer import Timer

from mujoco_ros.control.events import QueueFullError
from mujoco_ros.rclpy_ext.executor import create_wall_timer, guarded, later
from mujoco_ros.sim.command_queue import CommandQueue

_MOST = 64  # messages of a subscription that are taken at a time
_PEERS_S = 0.5  # wall time between two searches for peers
_REQUESTS_S = 0.02  # wall time after which a clock that does not wait checks for requests
_READING = ("get_", "list_", "describe_")
"""Prefixes of services that change nothing, and stay with the executor."""

Handle = Callable[[bytes], object]


class DirectSubscriptions:
    """Lets the physics thread wait for commands, and take them, without the executor's thread.

    A message to a callback of the executor wakes two threads: the executor's, which runs the
    callback and queues the command, and the physics thread. While the clock waits for the commands,
    the second of them can wait for the message itself.

    Meanwhile the physics thread also takes what comes for all other subscriptions and services that
    have a peer, and passes it to their callbacks in the executor's thread. So it has noted, when a
    command arrives, what has arrived before it and is not handled yet: see `settled`.

    All methods are for the executor's thread, except the methods that `CommandQueue` calls.
    """

    def __init__(self, node: Node, commands: CommandQueue) -> None:
        self._node, self._commands = node, commands
        self._known: dict[Subscription, tuple[str, Handle]] = {}
        self._topics: frozenset[str] = frozenset()
        self._served: set[Subscription] = set()
        self._passed: set[Subscription | Service] = set()  # to the executor, by the physics thread
        self._timer: Timer | None = None
        # Of the physics thread: what it takes, itself where there is a handle
        self._held: dict[Subscription | Service, Handle | None] = {}
        self._open: list[tuple[Subscription, Handle]] = []
        self._subscriptions: list[Subscription] = []  # of those that are passed
        self._services: list[Service] = []
        # What they call, in the order of arrival:
        self._calls: deque[tuple[Subscription | Service, Callable[[], object]]] = deque()
        self._unhandled = 0  # calls that were passed to the executor; both threads count
        self._handled = 0
        self._ready: frozenset[int] = frozenset()  # of `_open`, when `wait` checked last
        self._checked = False  # whether it has checked after all that was taken had arrived
        self._checked_at = 0.0
        self._guard = _rclpy.GuardCondition(node.context.handle)
        self._wait_set = self._new_wait_set()

    def add(self, topic: str, subscription: Subscription, handle: Handle) -> None:
        """Add a subscription of serialized messages, by its topic for `serve`.

        `handle` is called in the physics thread with each message that it takes.
        """
        self._known[subscription] = topic, guarded(handle)
        self._arrange()

    def remove(self, subscription: Subscription) -> None:
        """Return a subscription to the executor, before it is destroyed."""
        if self._known.pop(subscription, None) is not None:
            self._arrange()

    def serve(self, topics: Iterable[str]) -> None:
        """Have the physics thread take the messages of these topics itself."""
        self._topics = frozenset(topics)
        self._arrange()
        if self._timer is None and self._topics:
            self._timer = create_wall_timer(self._node, _PEERS_S, self.find_peers)

    def find_peers(self) -> None:
        """Find which other subscriptions and services have a peer; called by a timer, too."""
        if not (self._served or self._passed):
            return
        wanted: set[Subscription | Service] = set()
        if self._served:
            held = [entity for entity in self._passed if _exists(entity)]
            wanted = {
                endpoint
                for endpoint in (*self._node.subscriptions, *self._node.services, *held)
                if self._has_peer(endpoint)
            }
        for entity in wanted - self._passed:
            self._entities(entity).remove(entity)
            self._command(partial(self._begin, entity))
        for entity in self._passed - wanted:
            if _exists(entity):
                self._entities(entity).append(entity)
            self._command(partial(self._end, entity))
        if wanted != self._passed:
            self._passed = wanted
            self._node._wake_executor()

    @property
    def settled(self) -> bool:
        """Whether the executor has handled all that arrived before the last `take`.

        For the physics thread.
        """
        if not self._checked and (self._subscriptions or self._services):
            self.wait(0.0)
        self._pass()
        return self._unhandled == self._handled

    def take(self) -> None:
        """Handle the messages that are there; for the physics thread."""
        ready, self._ready = self._ready, frozenset()
        self._checked = bool(ready)
        for subscription, handle in self._open:
            take = subscription.handle.take_message
            for count in range(_MOST):
                taken = take(subscription.msg_type, True)
                if taken is None:
                    break
                self._checked &= not count and subscription.handle.pointer in ready
                handle(taken[0])
        if self._services and time.perf_counter() - self._checked_at > _REQUESTS_S:
            self.wait(0.0)
        self.collect()
        self._pass()

    def collect(self) -> None:
        """Keep the messages of others until the next `take`; for the physics thread."""
        for subscription in self._subscriptions:
            take = subscription.handle.take_message
            while (taken := take(subscription.msg_type, subscription.raw)) is not None:
                self._calls.append((subscription, partial(subscription.callback, taken[0])))

    def wait(self, timeout_s: float) -> None:
        """Wait until there are messages, or `wake` is called; for the physics thread."""
        wait_set = self._wait_set
        wait_set.clear_entities()
        for subscription, _ in self._open:
            wait_set.add_subscription(subscription.handle)
        for subscription in self._subscriptions:
            wait_set.add_subscription(subscription.handle)
        for service in self._services:
            wait_set.add_service(service.handle)
        wait_set.add_guard_condition(self._guard)
        wait_set.wait(int(1e9 * timeout_s))
        if self._subscriptions or self._services:
            self._ready = frozenset(wait_set.get_ready_entities("subscription"))
            requested = wait_set.get_ready_entities("service")
            self.collect()
            for service in self._services if requested else ():
                self._take_requests(service)
            self._checked, self._checked_at = True, time.perf_counter()

    def wake(self) -> None:
        """Make `wait` return; for any thread."""
        self._guard.trigger_guard_condition()

    def _take_requests(self, service: Service) -> None:
        kind = service.srv_type
        while True:
            request, header = service.handle.service_take_request(kind.Request)
            if header is None:
                return

            def respond(request: Any = request, header: Any = header) -> None:
                service.send_response(service.callback(request, kind.Response()), header)

            self._calls.append((service, respond))

    def _pass(self) -> None:
        """Have the executor handle what was collected."""
        while self._calls:
            entity, call = self._calls.popleft()
            self._unhandled += 1
            if not later(self._node, self._handle, entity, call):
                self._handle(entity, call)

    def _handle(self, entity: Subscription | Service, call: Callable[[], object]) -> None:
        """Call a callback, unless its entity was destroyed; in the executor's thread."""
        try:
            if _exists(entity):
                call()
        finally:
            self._handled += 1
            self._commands.wake()

    def _has_peer(self, entity: Subscription | Service) -> bool:
        if isinstance(entity, Subscription):
            plain = entity._callback_type is Subscription.CallbackType.MessageOnly
            return plain and entity not in self._served and bool(entity.get_publisher_count())
        name = entity.service_name
        reads = name.rpartition("/")[2].startswith(_READING)
        return not reads and bool(self._node.count_clients(name))

    def _entities(self, entity: Subscription | Service) -> list[Any]:
        """Return the list of the node that the executor takes messages for."""
        node: Any = self._node
        found: list[Any] = (
            node._subscriptions if isinstance(entity, Subscription) else node._services
        )
        return found

    def _arrange(self) -> None:
        """Hand over the subscriptions whose topic is served, and take back the others."""
        wanted = {key for key, (topic, _) in self._known.items() if topic in self._topics}
        for subscription in wanted - self._served:
            if subscription in self._passed:
                self._passed.remove(subscription)
                self._command(partial(self._end, subscription))
            else:
                # The executor takes the messages of the subscriptions that its node lists.
                self._node._subscriptions.remove(subscription)
            self._command(partial(self._begin, subscription, self._known[subscription][1]))
        for subscription in self._served - wanted:
            self._node._subscriptions.append(subscription)
            self._command(partial(self._end, subscription))
        if wanted != self._served:
            self._served = wanted
            self._node._wake_executor()
        self.find_peers()

    def _command(self, command: Callable[[], None]) -> None:
        """Have the physics thread run a command, or run it if that thread has ended."""
        try:
            self._commands.submit(command, urgent=True)
        except QueueFullError:
            command()

    def _begin(self, entity: Subscription | Service, handle: Handle | None = None) -> None:
        """Take the messages of an entity, for `handle` or for the executor."""
        try:
            entity.handle.__enter__()  # held, it is not destroyed by the executor's thread
        except InvalidHandle:  # destroyed meanwhile
            return
        self._held[entity] = handle
        self._renew()

    def _end(self, entity: Subscription | Service) -> None:
        if entity in self._held:
            del self._held[entity]
            self._renew()
            entity.handle.__exit__(None, None, None)

    def _renew(self) -> None:
        """Sort the held entities, and wait for them."""
        self._open, self._subscriptions, self._services = [], [], []
        for entity, handle in self._held.items():
            if not isinstance(entity, Subscription):
                self._services.append(entity)
            elif handle is None:
                self._subscriptions.append(entity)
            else:
                self._open.append((entity, handle))
        self._wait_set = self._new_wait_set()
        self._commands.inlet = self if self._held else None

    def _new_wait_set(self) -> "_rclpy.WaitSet":
        subscriptions = len(self._open) + len(self._subscriptions)
        sizes = subscriptions, 1, 0, 0, len(self._services), 0
        return _rclpy.WaitSet(*sizes, self._node.context.handle)


def _exists(entity: Subscription | Service) -> bool:
    try:
        with entity.handle:
            return True
    except InvalidHandle:
        return False
