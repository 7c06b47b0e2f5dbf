"""Requests whose response depends on the current state of the simulation."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import cache, partial
from typing import Generic, TypeVar

from rclpy.node import Node

from mujoco_ros.control.errors import QueueFullError
from mujoco_ros.rclpy_ext.service import Responder
from mujoco_ros.rclpy_ext.tasks import later
from mujoco_ros.sim.command_queue import CommandQueue

C = TypeVar("C")
S = TypeVar("S")
_Request = tuple[Responder, Callable[[S], object], bool]


class StateQueries(Generic[C, S]):
    """Captures the state in the physics thread, and responds in the executor's thread.

    Requests that arrive while a state is captured share the next one.
    """

    def __init__(
        self,
        node: Node,
        commands: CommandQueue,
        capture: Callable[[], C],
        evaluate: Callable[[C], S],
    ) -> None:
        """Create the list of requests.

        Args:
            node: Its executor responds.
            commands: Queue of the physics thread.
            capture: Copies the current state, in the physics thread.
            evaluate: Computes the argument of `fill` from it, in the executor's thread.
        """
        self._node, self._commands = node, commands
        self._capture, self._evaluate = capture, evaluate
        self._waiting: list[_Request[S]] = []
        self._capturing = False

    def observe(
        self, responder: Responder, fill: Callable[[S], object], *, finish: bool = True
    ) -> None:
        """Fill in the response from the current state, and send it.

        Args:
            responder: Sends it; also a failure, if `fill` raises.
            fill: Called in the executor's thread with the evaluated state.
            finish: Whether to send the response after `fill`; otherwise `fill` sends it.
        """
        self._waiting.append((responder, fill, finish))
        if not self._capturing:
            self._submit()

    def _submit(self) -> None:
        batch, self._waiting = self._waiting, []
        try:
            future = self._commands.submit(self._capture)
        except QueueFullError as error:
            for responder, *_ in batch:
                responder.fail(f"busy: {error}")
            return
        self._capturing = True
        future.add_done_callback(lambda captured: later(self._node, self._respond, captured, batch))

    def _respond(self, captured: "Future[C]", batch: list[_Request[S]]) -> None:
        self._capturing = False
        state = cache(lambda: self._evaluate(captured.result()))
        for responder, fill, finish in batch:
            call = partial(_call, fill, state)
            if finish:
                responder.complete(call)
            else:
                responder.attempt(call)
        if self._waiting:
            self._submit()


def _call(fill: Callable[[S], object], state: Callable[[], S]) -> None:
    fill(state())
