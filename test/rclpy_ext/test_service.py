import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from types import SimpleNamespace
from typing import Any

import pytest
import rclpy
from controller_manager_msgs.srv import ReloadControllerLibraries, SwitchController
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import GetSimulationState
from simulators import Domain, Listener
from std_srvs.srv import Trigger
from threads import RecordingResponder

from mujoco_ros.cli.node_process import Executor
from mujoco_ros.rclpy_ext.service import (
    RequestRejectedError,
    Responder,
    Service,
    failure,
    flush_responses,
)
from mujoco_ros.sim.command_queue import CommandQueue

Handler = Callable[[Any, Responder], None]
# pytest replaces the filters of warnings, and so the one of `Service`
pytestmark = pytest.mark.filterwarnings(
    "error:failed to send response:RuntimeWarning:mujoco_ros.rclpy_ext.service"
)


@pytest.mark.parametrize(
    ("kind", "message"), [(SwitchController, "no"), (ReloadControllerLibraries, None)]
)
def test_a_failure_has_the_fields_of_its_type(kind: Any, message: str | None) -> None:
    response = failure(kind.Response(ok=True), "no")
    assert not response.ok
    assert getattr(response, "message", None) == message


class Server:
    """A node that serves one Trigger, spun by an executor in its own thread."""

    def __init__(self, domain: int, executor: Callable[..., Any]) -> None:
        self.context = Context()
        rclpy.init(context=self.context, domain_id=domain)
        self.node = Node("server", context=self.context)
        self.handler: Handler = lambda _request, responder: responder()
        self.service = Service(self.node, Trigger, "ask", lambda *args: self.handler(*args))
        self._executor = executor(context=self.context)
        self._executor.add_node(self.node)
        self._ending = False
        self.thread = threading.Thread(target=self._spin)
        self.thread.start()

    def _spin(self) -> None:
        while not self._ending:
            self._executor.spin_once(timeout_sec=0.05)

    def close(self) -> None:
        self._ending = True
        self.thread.join()
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


@pytest.fixture(params=[SingleThreadedExecutor, Executor], ids=["waits", "events"])
def server(request: pytest.FixtureRequest) -> Iterator[Server]:
    domain = Domain()
    server = Server(domain.id, request.param)
    yield server
    server.close()
    domain.close()


@pytest.fixture
def listener(server: Server) -> Iterator[Listener]:
    listener = Listener(server.context.get_domain_id())
    yield listener
    listener.close()


@pytest.fixture
def call(listener: Listener) -> Callable[[], Any]:
    client = listener.node.create_client(Trigger, "ask")
    assert listener.spin_until(client.service_is_ready)
    return lambda: client.call_async(Trigger.Request())


def respond(responder: Responder, message: str) -> None:
    responder.response.success, responder.response.message = True, message
    responder()


def test_a_handler_can_respond_at_once(
    server: Server, listener: Listener, call: Callable[[], Any]
) -> None:
    server.handler = lambda _request, responder: respond(responder, "at once")
    assert listener.result(call()).message == "at once"


def test_responses_can_be_sent_later_by_another_thread_in_another_order(
    server: Server, listener: Listener, call: Callable[[], Any]
) -> None:
    responders: list[Responder] = []
    server.handler = lambda _request, responder: responders.append(responder)
    first, second = call(), call()
    assert listener.spin_until(lambda: len(responders) == 2)
    threads = set()
    send = server.service._send_now

    def noted(*args: Any) -> None:
        threads.add(threading.get_ident())
        send(*args)

    server.service._send_now = noted  # type: ignore[method-assign]
    respond(responders[1], "second")
    assert listener.result(second).message == "second"
    assert not first.done()
    respond(responders[0], "first")
    assert listener.result(first).message == "first"
    assert threads == {server.thread.ident}, "sending is for the executor's thread"


def test_only_the_first_response_is_sent(
    server: Server, listener: Listener, call: Callable[[], Any]
) -> None:
    def twice(_request: Any, responder: Responder) -> None:
        respond(responder, "first")
        responder(Trigger.Response(success=True, message="second"))
        responder.fail("third")

    server.handler = twice
    assert listener.result(call()).message == "first"
    assert listener.result(call()).message == "first", "nothing was sent twice"


def test_a_handler_that_raises_responds_with_a_failure(
    server: Server, listener: Listener, call: Callable[[], Any]
) -> None:
    def fail(_request: Any, responder: Responder) -> None:
        responder.response.success = True
        raise RuntimeError("out of luck")

    server.handler = fail
    response = listener.result(call())
    assert not response.success
    assert "out of luck" in response.message
    server.handler = lambda _request, responder: respond(responder, "still there")
    assert listener.result(call()).message == "still there"


@pytest.mark.parametrize("response", ["no response at all", Trigger.Request()])
def test_a_response_that_cannot_be_serialized_is_replaced_by_a_failure(
    server: Server, listener: Listener, call: Callable[[], Any], response: Any
) -> None:
    server.handler = lambda _request, responder: responder(response)
    assert not listener.result(call()).success
    server.handler = lambda _request, responder: respond(responder, "still there")
    assert listener.result(call()).message == "still there"


def test_the_response_of_a_closed_service_is_dropped(
    server: Server, listener: Listener, call: Callable[[], Any]
) -> None:
    responders: list[Responder] = []
    server.handler = lambda _request, responder: responders.append(responder)
    call()
    assert listener.spin_until(lambda: bool(responders))
    server.service.destroy()
    respond(responders[0], "too late")
    listener.spin_for(0.2)
    assert server.thread.is_alive()


def running(commands: CommandQueue, then: Callable[[str], object] | None = None) -> Handler:
    return lambda _request, responder: responder.run(commands, lambda: "42", then)


def test_a_response_is_sent_after_the_physics_thread_runs_the_command(
    server: Server, listener: Listener, call: Callable[[], Any]
) -> None:
    commands = CommandQueue()
    server.handler = running(commands)
    future = call()
    listener.spin_for(0.2)
    assert not future.done()
    assert listener.spin_until(lambda: bool(commands._waiting))
    commands.drain()
    assert listener.result(future).success


def test_the_result_of_a_command_can_be_part_of_the_response(
    server: Server, listener: Listener, call: Callable[[], Any]
) -> None:
    commands = CommandQueue()
    server.handler = lambda _request, responder: responder.run(
        commands, lambda: "42", responder.succeed
    )
    future = call()
    assert listener.spin_until(lambda: bool(commands._waiting))
    commands.drain()
    assert listener.result(future).message == "42"


def test_a_full_queue_responds_with_busy(
    server: Server, listener: Listener, call: Callable[[], Any]
) -> None:
    server.handler = running(CommandQueue(limit=0))
    response = listener.result(call())
    assert not response.success
    assert response.message.startswith("busy: ")


def test_the_response_to_a_command_that_fails_has_the_reason(
    server: Server, listener: Listener, call: Callable[[], Any]
) -> None:
    def complain(_result: str) -> None:
        raise ValueError("wrong")

    commands = CommandQueue()
    server.handler = running(commands, complain)
    future = call()
    assert listener.spin_until(lambda: bool(commands._waiting))
    commands.drain()
    assert listener.result(future).message == "wrong"


def test_commands_that_never_run_get_a_response_at_shutdown(
    server: Server, listener: Listener, call: Callable[[], Any]
) -> None:
    commands = CommandQueue()
    server.handler = running(commands)
    future = call()
    assert listener.spin_until(lambda: bool(commands._waiting))
    commands.close()
    assert listener.result(future).message == "the simulator is shutting down"


def test_the_response_to_a_rejected_request_has_its_code_and_the_filled_fields() -> None:
    responder = RecordingResponder(GetSimulationState.Response())

    def reject() -> None:
        responder.response.state.state = 3
        raise RequestRejectedError("not now", Result.RESULT_INCORRECT_STATE)

    responder.attempt(reject)
    assert responder.result == (Result.RESULT_INCORRECT_STATE, "not now")
    assert responder.sent.state.state == 3


def test_a_response_to_a_client_that_is_not_discovered_is_sent_again(
    server: Server, listener: Listener, call: Callable[[], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mujoco_ros.rclpy_ext.service._PAUSES_S", (0.05, 0.05, 0.05))
    send, attempts = server.service._send, []

    def undiscovered(*args: Any) -> None:
        attempts.append(args)
        if len(attempts) < 4:
            raise SystemError from RuntimeWarning("failed to send response (timeout)")
        send(*args)

    server.service._send = undiscovered
    server.handler = lambda _request, responder: respond(responder, "at last")
    assert listener.result(call()).message == "at last"
    assert len(attempts) == 4
    assert server.service._unsent == 0


def test_responses_that_a_client_cannot_receive_are_dropped_while_others_are_served(
    server: Server,
    listener: Listener,
    call: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr("mujoco_ros.rclpy_ext.service._PAUSES_S", (0.05, 0.05))
    monkeypatch.setattr("mujoco_ros.rclpy_ext.service._MOST_UNSENT", 3)
    requests: list[Any] = []

    def handle(request: Any, responder: Responder) -> None:
        requests.append(request)
        respond(responder, "served")

    server.handler = handle
    # The service's requests match, and its responses, which are not kept, do not.
    qos = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    incompatible = listener.node.create_client(Trigger, "ask", qos_profile=qos)
    futures = [incompatible.call_async(Trigger.Request()) for _ in range(5)]
    assert listener.spin_until(lambda: len(requests) == 5)
    assert listener.result(call()).message == "served"
    assert listener.spin_until(lambda: caplog.text.count("is not discovered") == 5)
    assert listener.result(call()).message == "served"
    assert server.service._unsent == 0
    assert not any(future.done() for future in futures)


def test_without_an_executor_responses_are_sent_at_once(listener: Listener) -> None:
    node = Node("alone", context=listener.node.context)
    service = Service(node, GetSimulationState, "state", lambda _request, responder: responder())
    sent: list[Any] = []
    service._send = lambda response, header: sent.append((response, header))
    responder = Responder(service, GetSimulationState.Response())
    responder.address("header")
    responder.fail("no")
    (response, header) = sent[0]
    assert header == "header"
    assert response.result.result == Result.RESULT_OPERATION_FAILED
    assert response.result.error_message == "no"
    node.destroy_node()


def test_a_response_that_races_with_its_address_is_sent_once(listener: Listener) -> None:
    node = Node("alone", context=listener.node.context)
    service = Service(node, Trigger, "state", lambda _request, responder: responder())
    sent: list[Any] = []
    service._send = lambda response, header: sent.append((response, header))
    for _ in range(200):
        responder = Responder(service, Trigger.Response())
        future: Future[None] = Future()
        commands: Any = SimpleNamespace(submit=lambda _command, future=future: future)
        responder.run(commands, lambda: None)
        thread = threading.Thread(target=future.set_result, args=(None,))
        thread.start()
        responder.address("header")
        thread.join()
    assert len(sent) == 200
    node.destroy_node()


def test_the_process_waits_after_a_response_and_not_later(monkeypatch):
    slept: list[float] = []
    monkeypatch.setattr(time, "sleep", slept.append)
    monkeypatch.setattr(time, "monotonic", lambda: 100.0)
    for sent_at in (99.9, 50.0, -float("inf")):
        monkeypatch.setattr(Service, "sent_at", sent_at)
        flush_responses()
    assert slept == pytest.approx([0.15, 0.0, 0.0])
