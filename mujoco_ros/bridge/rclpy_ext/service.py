"""Services whose answer may come later, from any thread."""

import logging
import threading
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.service import Service as RclpyService

from mujoco_ros.bridge.rclpy_ext.tasks import later
from mujoco_ros.sim.command_queue import CommandQueue, QueueFullError

_LOG = logging.getLogger(__name__)
_QOS = QoSProfile(depth=1000)
"""With the usual depth of 10, requests would get lost in a burst, and responses with them."""
T = TypeVar("T")


class Responder:
    """The way back to one client; the first response it is called with counts, later ones do not.

    Attributes:
        response: An empty response, to be filled in.
    """

    def __init__(self, service: "Service", response: Any) -> None:
        """Answer a request of `service`."""
        self.response = response
        self._service = service
        self._lock = threading.Lock()
        self._ready: Any = None
        self._header: Any = None
        self._sent = False

    def __call__(self, response: Any = None) -> None:
        """Answer, from any thread, with `response` or else with the one at hand."""
        with self._lock:
            if self._ready is not None:
                return
            self._ready = self.response if response is None else response
        self._send_when_complete()

    def fail(self, message: str) -> None:
        """Answer, from any thread, that it did not succeed."""
        self(failure(type(self.response)(), message))

    def when_done(
        self, future: "Future[T]", tell: Callable[[T], object], *, finish: bool = True
    ) -> None:
        """Answer once `future` is done: after `tell` was handed its result, or else what it raised.

        Both run in the thread that completes the future.

        Args:
            future: What to wait for.
            tell: Fills in the response.
            finish: Whether that is all; otherwise only a failure is answered here.
        """

        def done(future: "Future[T]") -> None:
            try:
                tell(future.result())
            except CancelledError:
                self.fail("the simulator is shutting down")
            except Exception as error:
                self.fail(str(error) or repr(error))
            else:
                if finish:
                    self()

        future.add_done_callback(done)

    def ask(
        self, commands: CommandQueue, question: Callable[[], T], tell: Callable[[T], None]
    ) -> None:
        """Have the physics thread run `question`, hand its result to `tell`, and answer."""
        self._submit(commands, question, tell, finish=True)

    def order(
        self,
        commands: CommandQueue,
        command: Callable[[], object],
        then: Callable[[], object] = lambda: None,
    ) -> None:
        """Have the physics thread run `command` and `then`; unless one fails, they answer."""
        self._submit(commands, command, lambda _result: then(), finish=False)

    def _submit(
        self,
        commands: CommandQueue,
        command: Callable[[], T],
        tell: Callable[[T], object],
        *,
        finish: bool,
    ) -> None:
        try:
            future = commands.submit(command)
        except QueueFullError as error:
            self.fail(f"busy: {error}")
            return
        self.when_done(future, tell, finish=finish)

    def address(self, header: Any) -> None:
        """Note where the response goes."""
        self._header = header
        self._send_when_complete()

    def _send_when_complete(self) -> None:
        with self._lock:
            if self._sent or self._header is None or self._ready is None:
                return
            self._sent = True
        self._service.send(self._ready, self._header)


class Service:
    """Serves a type by a handler that need not know the response when it returns.

    rclpy sends what a callback returns at once; its EventsExecutor takes no coroutines, and must
    not wait for the physics thread. Here the callback returns a `Responder`, which sends the
    response when it is called.
    """

    def __init__(
        self, node: Node, kind: Any, name: str, handler: Callable[[Any, Responder], None]
    ) -> None:
        """Serve.

        Args:
            node: The node.
            kind: Type of the service.
            name: Its name.
            handler: Handed a request and the answer to it, in the executor's thread; must not
                block. What it raises is told to the client.
        """
        self.name = name
        self._node = node
        self._kind = kind
        self._handler = handler
        self._service: RclpyService = node.create_service(
            kind,
            name,
            self._called,
            qos_profile=_QOS,
            # A group remembers whatever was in it.
            callback_group=MutuallyExclusiveCallbackGroup(),
        )
        self._send = self._service.send_response
        self._service.send_response = lambda answer, header: answer.address(header)
        self._thread = 0

    def destroy(self) -> None:
        """Serve no more; what is still to be answered stays unanswered."""
        self._node.destroy_service(self._service)

    def send(self, response: Any, header: Any) -> None:
        """Send a response; where another thread has it, the executor's thread does."""
        # Sending may wait for a client that has gone, which is not for the physics thread.
        if threading.get_ident() == self._thread or not later(
            self._node, self._send_now, response, header
        ):
            self._send_now(response, header)

    def _called(self, request: Any, response: Any) -> Responder:
        self._thread = threading.get_ident()
        answer = Responder(self, response)
        try:
            self._handler(request, answer)
        except Exception as error:  # rclpy's EventsExecutor cannot pass it on
            _LOG.exception("%s: a request failed", self.name)
            answer.fail(repr(error))
        return answer

    def _send_now(self, response: Any, header: Any) -> None:
        try:
            self._send(response, header)
        except InvalidHandle:
            _LOG.debug("%s: is served no more", self.name)
        except rclpy_implementation.RCLError as error:
            _LOG.warning("%s: a response is lost: %s", self.name, error)
        except Exception as error:  # rclpy's EventsExecutor cannot pass it on
            _LOG.exception("%s: a response cannot be sent", self.name)
            self._send(failure(self._kind.Response(), repr(error)), header)


def failure(response: Any, message: str) -> Any:
    """Return `response`, which says in the way of its type that something failed, and what."""
    if hasattr(response, "success"):  # std_srvs
        response.success, response.message = False, message
    elif hasattr(response, "result"):  # simulation_interfaces
        response.result.result = type(response.result).RESULT_OPERATION_FAILED
        response.result.error_message = message
    return response
