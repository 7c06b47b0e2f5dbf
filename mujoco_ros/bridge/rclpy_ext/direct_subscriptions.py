"""Subscriptions whose messages another thread takes than that of the executor."""

from collections.abc import Callable, Iterable
from functools import partial

from rclpy.impl.implementation_singleton import rclpy_implementation as _rclpy
from rclpy.node import Node
from rclpy.subscription import Subscription

from mujoco_ros.bridge.rclpy_ext.tasks import guarded
from mujoco_ros.sim.command_queue import CommandQueue, QueueFullError

_MOST = 64
"""Messages of a subscription that are taken at a time."""

Handle = Callable[[bytes], object]


class DirectSubscriptions:
    """Lets the physics thread wait for commands, and take them, without the executor's thread.

    A message to a callback of the executor wakes two threads: the executor's, which runs the
    callback and queues the command, and the physics thread. While the clock waits for the commands,
    the second of them can wait for the message itself.

    All methods are for the executor's thread, except those that `CommandQueue` calls.
    """

    def __init__(self, node: Node, commands: CommandQueue) -> None:
        """Take no messages.

        Args:
            node: The node of all subscriptions.
            commands: The queue of the physics thread.
        """
        self._node, self._commands = node, commands
        self._known: dict[Subscription, tuple[str, Handle]] = {}
        self._topics: frozenset[str] = frozenset()
        self._served: set[Subscription] = set()
        # Of the physics thread:
        self._open: list[tuple[Subscription, Handle]] = []
        self._guard = _rclpy.GuardCondition(node.context.handle)
        self._wait_set = self._new_wait_set()

    def add(self, topic: str, subscription: Subscription, handle: Handle) -> None:
        """Add a subscription of serialized messages.

        Args:
            topic: Its name for `serve`.
            subscription: The subscription.
            handle: Called in the physics thread with each message that it takes.
        """
        self._known[subscription] = topic, guarded(handle)
        self._arrange()

    def remove(self, subscription: Subscription) -> None:
        """Return a subscription to the executor, before it is destroyed."""
        if self._known.pop(subscription, None) is not None:
            self._arrange()

    def serve(self, topics: Iterable[str]) -> None:
        """Have the physics thread take the messages of these topics only."""
        self._topics = frozenset(topics)
        self._arrange()

    def take(self) -> None:
        """Handle the messages that are there; for the physics thread."""
        for subscription, handle in self._open:
            take = subscription.handle.take_message
            for _ in range(_MOST):
                taken = take(subscription.msg_type, True)
                if taken is None:
                    break
                handle(taken[0])

    def wait(self, timeout_s: float) -> None:
        """Wait until there are messages, or `wake` is called; for the physics thread."""
        wait_set = self._wait_set
        wait_set.clear_entities()
        for subscription, _ in self._open:
            wait_set.add_subscription(subscription.handle)
        wait_set.add_guard_condition(self._guard)
        wait_set.wait(int(1e9 * timeout_s))

    def wake(self) -> None:
        """Make `wait` return; for any thread."""
        self._guard.trigger_guard_condition()

    def _arrange(self) -> None:
        """Hand over the subscriptions whose topic is served, and take back the others."""
        wanted = {it for it, (topic, _) in self._known.items() if topic in self._topics}
        for subscription in wanted - self._served:
            # The executor takes the messages of the subscriptions that its node lists.
            self._node._subscriptions.remove(subscription)
            self._command(partial(self._begin, subscription, self._known[subscription][1]))
        for subscription in self._served - wanted:
            self._node._subscriptions.append(subscription)
            self._command(partial(self._end, subscription))
        if wanted != self._served:
            self._served = wanted
            self._node._wake_executor()

    def _command(self, command: Callable[[], None]) -> None:
        """Have the physics thread run a command, or run it if that thread has ended."""
        try:
            self._commands.submit(command, urgent=True)
        except QueueFullError:
            command()

    def _begin(self, subscription: Subscription, handle: Handle) -> None:
        # Held, it is not destroyed by the executor's thread.
        subscription.handle.__enter__()
        self._open.append((subscription, handle))
        self._renew()

    def _end(self, subscription: Subscription) -> None:
        self._open = [entry for entry in self._open if entry[0] is not subscription]
        self._renew()
        subscription.handle.__exit__(None, None, None)

    def _renew(self) -> None:
        self._wait_set = self._new_wait_set()
        self._commands.inlet = self if self._open else None

    def _new_wait_set(self) -> "_rclpy.WaitSet":
        return _rclpy.WaitSet(len(self._open), 1, 0, 0, 0, 0, self._node.context.handle)
