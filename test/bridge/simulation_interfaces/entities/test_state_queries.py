"""Responses from the current state, captured in the physics thread."""

from simulation_interfaces.msg import Result
from simulation_interfaces.srv import GetEntityState
from threads import RecordingResponder, Threads

from mujoco_ros.bridge.simulation_interfaces.entities.registry import StateQueries
from mujoco_ros.rclpy_ext.service import RequestRejectedError
from mujoco_ros.sim.command_queue import CommandQueue

OK = (Result.RESULT_OK, "")


class Desk:
    """Queries of a state that is the number of the capture, and both threads."""

    def __init__(self, limit: int = 100) -> None:
        self.threads = Threads(CommandQueue(limit))
        self.captures = self.evaluations = 0
        self.queries = StateQueries(
            self.threads.node, self.threads.commands, self._capture, self._evaluate
        )
        self.filled: list[tuple[str, int]] = []

    def _capture(self) -> int:
        self.captures += 1
        return self.captures

    def _evaluate(self, captured: int) -> int:
        self.evaluations += 1
        return captured

    def observe(self, name: str, *, finish: bool = True) -> RecordingResponder:
        responder = responder_of()
        self.queries.observe(
            responder, lambda state: self.filled.append((name, state)), finish=finish
        )
        return responder

    def run_threads(self, times: int = 1) -> None:
        for _ in range(times):
            self.threads.physics()
            self.threads.executor()


def responder_of() -> RecordingResponder:
    return RecordingResponder(GetEntityState.Response())


def test_the_thread_of_the_executor_fills_a_response():
    desk = Desk()
    responder = desk.observe("a")
    desk.threads.physics()
    assert responder.sent is None
    desk.threads.executor()
    assert responder.result == OK
    assert desk.filled == [("a", 1)]


def test_a_response_that_is_not_finished_is_not_sent():
    desk = Desk()
    responder = desk.observe("a", finish=False)
    desk.run_threads()
    assert desk.filled == [("a", 1)]
    assert responder.sent is None


def test_requests_that_arrive_during_a_capture_share_the_next_state():
    desk = Desk()
    desk.observe("a")
    desk.threads.physics()
    for name in "bcd":
        desk.observe(name)
    for _ in range(2):
        desk.threads.executor()
        desk.threads.physics()
    desk.threads.executor()
    assert desk.filled == [("a", 1), ("b", 2), ("c", 2), ("d", 2)]
    assert (desk.captures, desk.evaluations) == (2, 2)


def test_a_request_that_is_rejected_or_fails_does_not_affect_the_others():
    def reject(_state: int) -> None:
        raise RequestRejectedError("not this one")

    def fail(_state: int) -> None:
        raise KeyError("x")

    desk, rejected, failed = Desk(), responder_of(), responder_of()
    desk.observe("a")
    desk.queries.observe(rejected, reject)
    desk.queries.observe(failed, fail)
    good = desk.observe("b")
    desk.run_threads(2)
    assert good.result == OK
    assert rejected.result == (Result.RESULT_OPERATION_FAILED, "not this one")
    assert failed.result == (Result.RESULT_OPERATION_FAILED, "KeyError('x')")


def test_a_full_queue_is_reported_at_once():
    desk = Desk(limit=1)
    desk.threads.commands.submit(lambda: None)
    code, message = desk.observe("a").result
    assert code == Result.RESULT_OPERATION_FAILED
    assert message.startswith("busy: 1 commands are waiting")
    desk.threads.physics()
    desk.observe("b")
    desk.run_threads()
    assert desk.filled == [("b", 1)]


def test_the_end_of_the_physics_thread_is_reported():
    desk = Desk()
    responder = desk.observe("a")
    desk.threads.commands.close()
    desk.threads.executor()
    assert responder.result == (
        Result.RESULT_OPERATION_FAILED,
        "the simulator is shutting down",
    )
