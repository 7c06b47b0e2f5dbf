"""Action goals and their ends in every order of events."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from action_msgs.srv import CancelGoal
from builtin_interfaces.msg import Time
from command_clients import CommandClient, SentGoal, follow, point
from control_msgs.action import FollowJointTrajectory
from rclpy.action import get_action_names_and_types, get_action_server_names_and_types_by_node
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from simulators import Listener
from unique_identifier_msgs.msg import UUID

from mujoco_ros.control.events import GoalEnded, GoalProgress, Outcome
from mujoco_ros.rclpy_ext import goal_server
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rclpy_ext.goal_server import Goal, GoalServer

_ACTION = "joint_trajectory_controller/follow_joint_trajectory"
ACCEPTED, EXECUTING = GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING
SUCCEEDED, CANCELED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED
ABORTED = GoalStatus.STATUS_ABORTED


class Served:
    """A server whose handlers are those of the test, and a client of it."""

    accepts = True
    count = 0

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.node = Node("server", context=listener.node.context)
        listener.add(self.node)
        self.goals: list[Goal] = []
        self.canceled: list[Goal] = []
        self.on_accept: Callable[[Goal], None] = lambda _goal: None
        self.on_cancel: Callable[[Goal], None] = self.canceled.append
        self.server = GoalServer(Endpoints(self.node), FollowJointTrajectory, _ACTION, self)
        self.commander = CommandClient(listener)
        self._statuses = listener.record(
            GoalStatusArray,
            f"/{_ACTION}/_action/status",
            qos=QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL),
        )

    def check(self, message: FollowJointTrajectory.Goal) -> FollowJointTrajectory.Goal | None:
        return message if self.accepts else None

    def accept(self, goal: Goal, _message: object) -> None:
        self.goals.append(goal)
        self.on_accept(goal)

    def cancel(self, goal: Goal) -> None:
        self.on_cancel(goal)

    def result(self, event: GoalEnded) -> FollowJointTrajectory.Result:
        return FollowJointTrajectory.Result(error_string=event.message)

    def feedback(self, event: GoalProgress) -> FollowJointTrajectory.Feedback:
        return FollowJointTrajectory.Feedback(joint_names=[f"{event.index}"])

    def send(self) -> tuple[SentGoal, Goal]:
        sent = self.commander.send(follow(point(1.0, [0.0]), joints=["a"]))
        return sent, self.goals[-1]

    def statuses(self, sent: SentGoal, last: int) -> list[int]:
        """Wait for a goal's `last` status and return all it had."""
        assert sent.handle is not None
        key = bytes(sent.handle.goal_id.uuid)

        def found() -> list[int]:
            all_of_it = [
                status.status
                for message in self._statuses.messages
                for status in message.status_list
                if bytes(status.goal_info.goal_id.uuid) == key
            ]
            return [s for i, s in enumerate(all_of_it) if i == 0 or s != all_of_it[i - 1]]

        assert self.listener.spin_until(lambda: last in found())
        return found()


@pytest.fixture
def served(listener: Listener) -> Iterator[Served]:
    served = Served(listener)
    yield served
    served.commander.close()
    listener.forget_subscriptions()
    served.server.destroy()
    served.node.destroy_node()


def _ended(goal: Goal, outcome: Outcome, message: str = "why") -> GoalEnded:
    return GoalEnded(goal=goal, outcome=outcome, message=message)


def _progress(goal: Goal, index: int) -> GoalProgress:
    nothing = np.zeros((3, 1))
    return GoalProgress(
        goal=goal, time=0.0, since_start=0.0, index=index, desired=nothing, actual=nothing[:2]
    )


def test_a_goal_is_accepted_executed_and_ended(served: Served) -> None:
    sent, goal = served.send()
    assert sent.accepted
    assert served.statuses(sent, ACCEPTED) == [ACCEPTED]
    goal.set_executing()
    assert served.statuses(sent, EXECUTING) == [ACCEPTED, EXECUTING]
    goal.set_executing()  # a second call has no effect
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    answer = sent.result()
    assert (answer.status, answer.result.error_string) == (SUCCEEDED, "why")
    assert served.statuses(sent, SUCCEEDED) == [ACCEPTED, EXECUTING, SUCCEEDED]


def test_one_rule_remaps_all_of_an_action(served: Served, listener: Listener) -> None:
    rules = ["--ros-args", "-r", f"{_ACTION}:=arm_controller/follow"]
    node = Node("remapped", context=listener.node.context, cli_args=rules, namespace="/left")
    server = GoalServer(Endpoints(node), FollowJointTrajectory, _ACTION, served)
    try:
        found = get_action_server_names_and_types_by_node(node, "remapped", "/left")
        assert [name for name, _ in found] == ["/left/arm_controller/follow"]
    finally:
        server.destroy()
        node.destroy_node()


def test_a_refused_goal_is_not_executed(served: Served) -> None:
    served.accepts = False
    sent = served.commander.send(follow(point(1.0, [0.0]), joints=["a"]))
    assert not sent.accepted
    assert served.goals == []


def test_a_goal_runs_until_its_handler_ends_it(served: Served) -> None:
    sent, goal = served.send()
    goal.set_executing()
    served.listener.spin_for(0.3)
    assert not sent.ended
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    assert sent.result().status == SUCCEEDED


def test_feedback_reaches_the_client_until_the_goal_ends(served: Served) -> None:
    sent, goal = served.send()
    goal.set_executing()
    for index in range(3):
        goal.publish_feedback(_progress(goal, index))
        assert served.listener.spin_until(lambda: len(sent.feedback) == index + 1)  # noqa: B023
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    goal.publish_feedback(_progress(goal, 99))
    sent.result()
    served.listener.spin_for(0.1)
    assert [feedback.joint_names for feedback in sent.feedback] == [["0"], ["1"], ["2"]]


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Outcome.SUCCESSFUL, SUCCEEDED),
        (Outcome.INVALID_GOAL, ABORTED),
        (Outcome.PATH_TOLERANCE_VIOLATED, ABORTED),
        (Outcome.GOAL_TOLERANCE_VIOLATED, ABORTED),
        (Outcome.CANCELED, ABORTED),  # by someone else than the client
    ],
)
def test_a_goal_can_end_before_its_execution_starts(
    served: Served, outcome: Outcome, status: int
) -> None:
    sent, goal = served.send()
    goal.end(_ended(goal, outcome))
    assert sent.result().status == status
    assert served.statuses(sent, status) == [ACCEPTED, status]


def test_a_goal_can_end_while_it_is_accepted(served: Served) -> None:
    served.on_accept = lambda goal: goal.end(_ended(goal, Outcome.INVALID_GOAL, "no room"))
    sent, _ = served.send()
    answer = sent.result()
    assert (answer.status, answer.result.error_string) == (ABORTED, "no room")


def test_only_the_first_result_of_a_goal_counts(served: Served) -> None:
    sent, goal = served.send()
    goal.set_executing()
    goal.end(_ended(goal, Outcome.SUCCESSFUL, "first"))
    goal.end(_ended(goal, Outcome.INVALID_GOAL, "second"))
    goal.set_executing()
    answer = sent.result()
    assert (answer.status, answer.result.error_string) == (SUCCEEDED, "first")


@pytest.mark.parametrize("begun", [False, True])
def test_a_goal_is_canceled_when_its_handler_ends_it(served: Served, begun: bool) -> None:
    sent, goal = served.send()
    if begun:
        goal.set_executing()
    assert len(sent.cancel().goals_canceling) == 1
    assert served.canceled == [goal]
    served.listener.spin_for(0.1)
    assert not sent.ended
    goal.end(_ended(goal, Outcome.CANCELED))
    assert sent.result().status == CANCELED


@pytest.mark.parametrize(
    ("outcome", "status"), [(Outcome.SUCCESSFUL, SUCCEEDED), (Outcome.INVALID_GOAL, ABORTED)]
)
def test_a_goal_that_ends_before_its_cancel_is_handled_keeps_its_result(
    served: Served, outcome: Outcome, status: int
) -> None:
    sent, goal = served.send()
    goal.set_executing()
    sent.cancel()
    goal.end(_ended(goal, outcome))
    assert sent.result().status == status


def test_an_ended_goal_cannot_be_canceled(served: Served) -> None:
    sent, goal = served.send()
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    assert sent.result().status == SUCCEEDED
    assert sent.cancel().goals_canceling == []
    assert served.canceled == []


def test_goals_end_independently_of_each_other(served: Served) -> None:
    (first, one), (second, two), (third, three) = (served.send() for _ in range(3))
    two.set_executing()
    two.end(_ended(two, Outcome.SUCCESSFUL, "two"))
    assert second.result().result.error_string == "two"
    assert not first.ended
    assert not third.ended
    third.cancel()
    assert served.canceled == [three]
    three.end(_ended(three, Outcome.CANCELED, "three"))
    one.end(_ended(one, Outcome.INVALID_GOAL, "one"))
    assert third.result().status == CANCELED
    assert first.result().result.error_string == "one"


def test_a_result_can_be_requested_after_the_end(served: Served) -> None:
    sent, goal = served.send()
    goal.end(_ended(goal, Outcome.SUCCESSFUL, "long ago"))
    served.listener.spin_for(0.2)
    assert sent.handle is not None
    late = served.listener.result(sent.handle.get_result_async())
    assert (late.status, late.result.error_string) == (SUCCEEDED, "long ago")


def test_closing_the_server_aborts_all_goals(served: Served) -> None:
    (begun, goal), (waiting, _), (over, last) = (served.send() for _ in range(3))
    goal.set_executing()
    last.end(_ended(last, Outcome.SUCCESSFUL))
    served.server.close("the simulator ended")
    for sent in (begun, waiting):
        answer = sent.result()
        assert (answer.status, answer.result.error_string) == (ABORTED, "the simulator ended")
    assert over.result().status == SUCCEEDED


def _fail(*_arguments: object) -> None:
    raise ZeroDivisionError("a mistake")


def test_an_error_while_a_goal_is_checked_refuses_it(
    served: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(Served, "accepts", property(_fail))
    sent = served.commander.send(follow(point(1.0, [0.0]), joints=["a"]))
    assert not sent.accepted
    (record,) = caplog.records
    assert record.getMessage() == f"{_ACTION}: a goal was rejected"
    assert record.exc_info is not None
    monkeypatch.undo()
    assert served.send()[0].accepted


def test_an_error_while_a_goal_is_accepted_ends_it(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    served.on_accept = _fail
    sent, _ = served.send()
    answer = sent.result()
    assert (answer.status, answer.result.error_string) == (
        ABORTED,
        "ZeroDivisionError('a mistake')",
    )
    assert [record.getMessage() for record in caplog.records] == [f"{_ACTION}: a goal was aborted"]


def test_a_goal_continues_after_an_error_in_its_cancellation(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    served.on_cancel = _fail
    sent, goal = served.send()
    goal.set_executing()
    assert sent.cancel().goals_canceling == []
    assert [record.getMessage() for record in caplog.records] == [
        f"{_ACTION}: a goal could not be canceled"
    ]
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    assert sent.result().status == SUCCEEDED


@pytest.mark.parametrize("when", ["from the start", "later"])
def test_a_result_is_sent_even_if_the_middleware_rejects_the_status(
    served: Served, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    def refuse(_message: object) -> None:
        raise rclpy_implementation.RCLError("cannot publish data")

    def break_down() -> None:  # as Fast DDS does for a while when another client was killed
        monkeypatch.setattr(served.server._statuses, "publish", refuse)

    if when == "from the start":
        break_down()
    sent, goal = served.send()
    assert sent.accepted
    break_down()
    goal.set_executing()
    goal.publish_feedback(_progress(goal, 1))
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    assert sent.result().status == SUCCEEDED
    canceled, goal = served.send()
    canceled.cancel()
    goal.end(_ended(goal, Outcome.CANCELED))
    assert canceled.result().status == CANCELED
    assert served.server._active == {}


def test_ended_goals_are_removed(served: Served) -> None:
    for _ in range(5):
        sent, goal = served.send()
        goal.end(_ended(goal, Outcome.SUCCESSFUL))
        sent.result()
    assert served.server._active == {}


# --- requests that rclpy's client does not send


@pytest.fixture
def cancel(served: Served) -> Iterator[Callable[..., CancelGoal.Response]]:
    """Cancel goals by a request."""
    client = served.listener.node.create_client(CancelGoal, f"/{_ACTION}/_action/cancel_goal")
    assert served.listener.spin_until(client.service_is_ready)

    def ask(goal: Goal | None = None, until: Time | None = None) -> CancelGoal.Response:
        request = CancelGoal.Request()
        if goal is not None:
            request.goal_info.goal_id = goal.id
        if until is not None:
            request.goal_info.stamp = until
        return served.listener.result(client.call_async(request))

    yield ask
    served.listener.node.destroy_client(client)


def _ids(response: CancelGoal.Response) -> set[bytes]:
    return {bytes(info.goal_id.uuid) for info in response.goals_canceling}


def test_a_cancel_without_a_goal_or_a_time_cancels_all_goals(
    served: Served, cancel: Callable[..., CancelGoal.Response]
) -> None:
    goals = [served.send()[1] for _ in range(3)]
    goals[0].end(_ended(goals[0], Outcome.SUCCESSFUL))
    response = cancel()
    assert response.return_code == CancelGoal.Response.ERROR_NONE
    assert _ids(response) == {goal.key for goal in goals[1:]}
    assert served.canceled == goals[1:]


def test_a_cancel_applies_to_goals_accepted_until_its_time_and_to_its_goal(
    served: Served, cancel: Callable[..., CancelGoal.Response]
) -> None:
    goals = [served.send()[1] for _ in range(4)]
    assert _ids(cancel(until=goals[1].stamp)) == {goals[0].key, goals[1].key}
    assert _ids(cancel(goals[3], until=goals[0].stamp)) == {goals[0].key, goals[3].key}
    assert served.canceled == [goals[0], goals[1], goals[3]]  # each once


def test_a_cancel_distinguishes_ended_and_unknown_goals(
    served: Served, cancel: Callable[..., CancelGoal.Response]
) -> None:
    _, goal = served.send()
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    assert cancel(goal).return_code == CancelGoal.Response.ERROR_GOAL_TERMINATED
    stranger = Goal(served.server, UUID(uuid=np.arange(16, dtype=np.uint8)), Time())
    assert cancel(stranger).return_code == CancelGoal.Response.ERROR_UNKNOWN_GOAL_ID


def test_an_impossible_cancel_is_rejected(
    served: Served, cancel: Callable[..., CancelGoal.Response]
) -> None:
    _, goal = served.send()
    served.on_cancel = _fail
    response = cancel(goal)
    assert response.return_code == CancelGoal.Response.ERROR_REJECTED
    assert _ids(response) == set()


def _result_of(served: Served, identifier: UUID) -> int:
    """Request the result of a goal, and return its status."""
    kind = FollowJointTrajectory.Impl.GetResultService
    client = served.listener.node.create_client(kind, f"/{_ACTION}/_action/get_result")
    assert served.listener.spin_until(client.service_is_ready)
    answer = served.listener.result(client.call_async(kind.Request(goal_id=identifier)))
    served.listener.node.destroy_client(client)
    return int(answer.status)


def test_the_result_of_an_unknown_goal_has_an_unknown_status(served: Served) -> None:
    unknown = UUID(uuid=np.arange(16, dtype=np.uint8))
    assert _result_of(served, unknown) == GoalStatus.STATUS_UNKNOWN


def test_a_result_expires(served: Served) -> None:
    _, goal = served.send()
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    assert _result_of(served, goal.id) == SUCCEEDED
    goal.ended_at -= 899.0
    assert _result_of(served, goal.id) == SUCCEEDED
    goal.ended_at -= 2.0
    assert _result_of(served, goal.id) == GoalStatus.STATUS_UNKNOWN


def test_an_identifier_cannot_be_used_twice(served: Served) -> None:
    _, goal = served.send()
    kind = FollowJointTrajectory.Impl.SendGoalService
    client = served.listener.node.create_client(kind, f"/{_ACTION}/_action/send_goal")
    assert served.listener.spin_until(client.service_is_ready)
    again = kind.Request(goal_id=goal.id, goal=follow(point(1.0, [0.0]), joints=["a"]))
    assert not served.listener.result(client.call_async(again)).accepted
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    assert not served.listener.result(client.call_async(again)).accepted
    assert served.goals == [goal]
    served.listener.node.destroy_client(client)


def test_the_status_of_many_goals_is_one_message_without_the_oldest_ended_ones(
    served: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(goal_server, "_MOST_RESULTS", 200)
    for _ in range(300):
        served.server.finish(*_new(served))
    before = len(served._statuses)
    _, goal = served.send()
    for _ in range(20):
        goal.change(EXECUTING)
    assert served.listener.spin_until(lambda: len(served._statuses) > before)
    served.listener.spin_for(0.2)
    assert len(served._statuses) - before <= 3
    assert len(served._statuses.latest.status_list) <= 100
    assert len(served.server._ended) == 200


def _new(served: Served) -> tuple[Goal, GoalEnded]:
    """Return a goal without a waiting client, and the function that ends it."""
    served.count += 1
    identifier = UUID(uuid=np.frombuffer(served.count.to_bytes(16, "little"), dtype=np.uint8))
    goal = Goal(served.server, identifier, Time())
    return goal, _ended(goal, Outcome.SUCCESSFUL)


def test_a_closed_server_ends_its_goals_and_accepts_no_more(served: Served) -> None:
    sent, _ = served.send()
    served.server.close("the robot is gone")
    answer = sent.result()
    assert (answer.status, answer.result.error_string) == (ABORTED, "the robot is gone")
    assert not served.commander.send(follow(point(1.0, [0.0]), joints=["a"])).accepted


def test_closing_waits_until_clients_have_their_results(served: Served) -> None:
    sent, goal = served.send()
    known = served.statuses(sent, ACCEPTED)
    assert served.listener.spin_until(lambda: len(goal.waiting) == 1)
    served.server.close("the process ends")
    served.server.flush()
    # No message is sent from now on: the status is kept here for the check.
    served.server.destroy()
    assert served.statuses(sent, ABORTED) == [*known, ABORTED]
    assert sent.result().result.error_string == "the process ends"


def test_the_action_is_listed_by_the_action_graph(served: Served) -> None:
    found = dict(get_action_names_and_types(served.listener.node))
    assert found[f"/{_ACTION}"] == ["control_msgs/action/FollowJointTrajectory"]
    servers = dict(get_action_server_names_and_types_by_node(served.listener.node, "server", "/"))
    assert f"/{_ACTION}" in servers
