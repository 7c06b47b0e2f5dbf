"""Questions that the physics thread answers a part of, and the executor's thread the rest."""

import logging
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import Generic, TypeVar

from rclpy.node import Node

from mujoco_ros.bridge.rclpy_ext.service import Responder
from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.bridge.simulation_interfaces.rejection import RequestRejectedError, refuse
from mujoco_ros.sim.command_queue import CommandQueue, QueueFullError

_LOG = logging.getLogger(__name__)
T = TypeVar("T")
S = TypeVar("S")
N = TypeVar("N")


class StateQueries(Generic[N, S]):
    """Has the physics thread asked; what comes of it is told in the executor's thread.

    What those who tell refuse, or fail at, is answered: nothing reaches the executor, which cannot
    pass it on.
    """

    def __init__(
        self,
        node: Node,
        commands: CommandQueue,
        note: Callable[[], N],
        look: Callable[[N], S],
    ) -> None:
        """Ask questions.

        Args:
            node: Its executor tells.
            commands: The way into the physics thread.
            note: Notes the present state, in the physics thread.
            look: Makes of it what is to be known, in the executor's thread.
        """
        self._node = node
        self._commands = commands
        self._note, self._look = note, look
        self._waiting: list[tuple[Responder, Callable[[S], None]]] = []
        self._asking = False

    def submit(
        self, command: Callable[[], T], answer: Responder, tell: Callable[[T], None]
    ) -> None:
        """Have the physics thread run a command, and `tell`, which is to answer, its result."""
        try:
            future = self._commands.submit(command)
        except QueueFullError as error:
            answer.fail(f"busy: {error}")
            return
        future.add_done_callback(
            lambda done: later(self._node, _answer, answer, lambda: tell(done.result()))
        )

    def observe(self, answer: Responder, tell: Callable[[S], None]) -> None:
        """Have `tell`, which is to answer, be handed what is to be known of the present state.

        Questions that come while one is under way are asked together, after it.
        """
        self._waiting.append((answer, tell))
        if not self._asking:
            self._ask()

    def _ask(self) -> None:
        batch, self._waiting = self._waiting, []
        try:
            future = self._commands.submit(self._note)
        except QueueFullError as error:
            for answer, _ in batch:
                answer.fail(f"busy: {error}")
            return
        self._asking = True
        future.add_done_callback(lambda noted: later(self._node, self._tell, noted, batch))

    def _tell(self, noted: "Future[N]", batch: list[tuple[Responder, Callable[[S], None]]]) -> None:
        self._asking = False
        seen: list[S] = []

        def state() -> S:
            if not seen:
                seen.append(self._look(noted.result()))
            return seen[0]

        for answer, tell in batch:
            _answer(answer, partial(_pass_on, tell, state))
        if self._waiting:
            self._ask()


def _pass_on(tell: Callable[[S], None], state: Callable[[], S]) -> None:
    tell(state())


def _answer(answer: Responder, tell: Callable[[], None]) -> None:
    try:
        tell()
    except RequestRejectedError as refused:
        refuse(answer, refused)
    except CancelledError:
        answer.fail("the simulator is shutting down")
    except Exception as error:
        _LOG.exception("a question about entities has no answer")
        answer.fail(repr(error))
