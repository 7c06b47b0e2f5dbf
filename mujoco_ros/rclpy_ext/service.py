"""A service that may send its response later, from any thread."""

import logging
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from functools import partial
from math import inf
from typing import Any, ClassVar, Protocol, TypeVar

from rclpy.callback_groups import MutuallyExclusiveCallbackGroup
from rclpy.exceptions import InvalidHandle
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.service import Service as RclpyService

from mujoco_ros.control.events import QueueFullError
from mujoco_ros.model.errors import shortened
from mujoco_ros.rclpy_ext.executor import later

_LOG = logging.getLogger(__name__)
_QOS = QoSProfile(depth=1000)  # with the usual depth of 10, a burst loses requests and responses
_FLUSH_S = 0.25  # time in which a client receives a response on a busy machine [s]
_PAUSES_S = (0.2, 1.0, 5.0)
"""Pauses before the response to a client that is not discovered yet is sent again [s].

They are few: the middleware waits 100 ms in each attempt, in which rclpy holds the GIL.
"""
_MOST_UNSENT = 10  # number of responses of a service that wait for such a pause
T = TypeVar("T")

# rclpy only warns that a response was not sent; raised as an error, it has another attempt follow.
# The module limits this to the responses sent here: in others, an error would end the process.
warnings.filterwarnings("error", r"failed to send response \(timeout\)", RuntimeWarning, __name__)


class RequestRejectedError(Exception):
    """A request is rejected."""

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(shortened(message))
        self.code = code  # a result code of the service's type; None for a failed operation


class Commands(Protocol):
    """A queue of commands of another thread."""

    def submit(self, command: Callable[[], T], /) -> "Future[T]":
        """Queue a command; the future receives its result or exception."""


class Responder:
    """Sends the response to one request; only the first call counts."""

    def __init__(self, service: "Service", response: Any) -> None:
        self.response = response  # the response, to be filled in
        self._service = service
        self._lock = threading.Lock()
        self._ready: Any = None
        self._header: Any = None
        self._sent = False

    def __call__(self, response: Any = None) -> None:
        """Send `response`, or else the filled-in one; from any thread."""
        with self._lock:
            if self._ready is not None:
                return
            self._ready = self.response if response is None else response
        self._send_when_complete()

    def succeed(self, message: str = "") -> None:
        """Send the filled-in response as a success; from any thread."""
        self(_completed(self.response, message, succeeded=True))

    def fail(self, message: str) -> None:
        """Send a failure without anything that was filled in; from any thread."""
        self(failure(type(self.response)(), message))

    def reject(self, error: RequestRejectedError) -> None:
        """Send the filled-in response as a failure; from any thread."""
        self(failure(self.response, str(error), error.code))

    def attempt(
        self,
        call: Callable[[], object],
        expected: type[Exception] | tuple[type[Exception], ...] = (),
    ) -> None:
        """Call a function; send a failure if it raises, and log all but `expected` exceptions."""
        try:
            call()
        except RequestRejectedError as error:
            self.reject(error)
        except QueueFullError as error:
            self.fail(f"busy: {error}")
        except CancelledError:
            self.fail("the simulator is shutting down")
        except expected as error:
            self.fail(str(error) or repr(error))
        except Exception as error:
            _LOG.exception("%s: a request failed", self._service.name)
            self.fail(repr(error))

    def complete(self, fill: Callable[[], object]) -> None:
        """Fill in the response and send a success, or a failure if `fill` raises.

        A text that `fill` returns is the message.
        """

        def filled() -> None:
            message = fill()
            self.succeed(message if isinstance(message, str) else "")

        self.attempt(filled)

    def run(
        self,
        commands: Commands,
        command: Callable[[], T],
        then: Callable[[T], object] | None = None,
    ) -> None:
        """Run a command in another thread; send a failure if it raises.

        There, `then` gets the result, to send the response; without it, a success is sent.
        """

        def respond(future: "Future[T]") -> None:
            result = future.result()
            self.succeed() if then is None else then(result)

        def submit() -> None:
            commands.submit(command).add_done_callback(
                lambda future: self.attempt(partial(respond, future), expected=Exception)
            )

        self.attempt(submit)

    def address(self, header: Any) -> None:
        """Set the header of the request, once rclpy has provided it."""
        self._header = header
        self._send_when_complete()

    def _send_when_complete(self) -> None:
        with self._lock:
            if self._sent or self._header is None or self._ready is None:
                return
            self._sent = True
        self._service.send(self._ready, self._header)


class Service:
    """Serves a service with a handler that may return before the response is known.

    rclpy sends what a callback returns at once; its EventsExecutor takes no coroutines, and must
    not wait for the physics thread. Here the callback returns a `Responder`, which sends the
    response when it is called.
    """

    sent_at: ClassVar[float] = -inf  # monotonic time of the last response of all services [s]

    def __init__(
        self, node: Node, kind: Any, name: str, handler: Callable[[Any, Responder], None]
    ) -> None:
        """Serve a service; the handler gets a request and its responder, in the executor's thread.

        It must not block. An exception is sent to the client as a failure.
        """
        self.name = name
        self._node = node
        self._kind = kind
        self._handler = handler
        self._service: RclpyService = node.create_service(
            kind,
            name,
            self._handle,
            qos_profile=_QOS,
            # A callback group keeps a reference to everything that was ever in it.
            callback_group=MutuallyExclusiveCallbackGroup(),
        )
        self._send = partial(_send, self._service)
        self._unsent = 0
        self._service.send_response = Responder.address
        self._thread = 0

    def destroy(self) -> None:
        """Stop serving; pending requests get no response."""
        services = self._node._services
        if self._service not in services:  # the physics thread takes its requests
            services.append(self._service)  # it destroys no others
        self._node.destroy_service(self._service)

    def send(self, response: Any, header: Any) -> None:
        """Send a response in the executor's thread."""
        # Sending may wait for a client that is gone: never in the physics thread.
        if threading.get_ident() == self._thread or not later(
            self._node, self._send_now, response, header
        ):
            self._send_now(response, header)

    def _handle(self, request: Any, response: Any) -> Responder:
        self._thread = threading.get_ident()
        responder = Responder(self, response)
        responder.attempt(lambda: self._handler(request, responder))
        return responder

    def _send_now(self, response: Any, header: Any, attempt: int = 0) -> None:
        Service.sent_at = time.monotonic()
        try:
            self._send(response, header)
        except InvalidHandle:
            _LOG.debug("%s: no longer served", self.name)
        except rclpy_implementation.RCLError as error:
            _LOG.warning("%s: a response was lost: %s", self.name, error)
        except Exception as error:  # rclpy's EventsExecutor cannot pass it on
            # A warning that is an error becomes the cause of a SystemError in rclpy's bindings.
            if not isinstance(error.__cause__ or error, RuntimeWarning):
                _LOG.exception("%s: a response could not be sent", self.name)
                response = failure(self._kind.Response(), repr(error))
            self._send_again(response, header, attempt)

    def _send_again(self, response: Any, header: Any, attempt: int) -> None:
        """Send a response later, when the middleware has discovered all parts of its client."""
        if attempt == len(_PAUSES_S) or self._unsent == _MOST_UNSENT:
            _LOG.warning("%s: a response was lost: its client is not discovered", self.name)
            return
        self._unsent += 1

        def send() -> None:
            self._unsent -= 1
            self._send_now(response, header, attempt + 1)

        timer = threading.Timer(_PAUSES_S[attempt], later, (self._node, send))
        timer.daemon = True
        timer.start()


def _send(service: RclpyService, response: Any, header: Any) -> None:
    """Send a response as `RclpyService.send_response` does; warnings belong to this module."""
    if not isinstance(response, service.srv_type.Response):
        raise TypeError(f"{type(response).__name__} is no response of '{service.srv_name}'")
    with service.handle:
        service.handle.service_send_response(response, getattr(header, "request_id", header))


def flush_responses() -> None:
    """Wait until clients have received the last responses, before the process ends.

    A response that a client has not received from shared memory is lost with the process, and the
    middleware reports no delivery of responses.
    """
    time.sleep(max(0.0, Service.sent_at + _FLUSH_S - time.monotonic()))


def failure(response: Any, message: str, code: int | None = None) -> Any:
    """Fill in a failure in `response`, as its type defines it, and return it."""
    return _completed(response, shortened(message), code)


def _completed(
    response: Any, message: str, code: int | None = None, *, succeeded: bool = False
) -> Any:
    result: Any = getattr(response, "result", None)
    if hasattr(response, "success"):  # std_srvs
        response.success, response.message = succeeded, message
    elif hasattr(response, "ok"):  # controller_manager_msgs
        response.ok = succeeded
        if hasattr(response, "message"):
            response.message = message
    elif hasattr(result, "successful"):  # rcl_interfaces
        result.successful, result.reason = succeeded, message
    elif hasattr(result, "error_message"):  # simulation_interfaces
        failed = type(result).RESULT_OPERATION_FAILED if code is None else code
        result.result = type(result).RESULT_OK if succeeded else failed
        result.error_message = message
    return response
