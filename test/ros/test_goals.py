"""Action goals end when they are told to, in every order in which that may come."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from commanders import Commander, Sent, follow, point
from control_msgs.action import FollowJointTrajectory
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile
from simulators import Domain, Listener

from mujoco_ros.control.events import GoalEnded, Outcome, Progress
from mujoco_ros.ros.goals import Goal, GoalServer

_ACTION = "joint_trajectory_controller/follow_joint_trajectory"
ACCEPTED, EXECUTING = GoalStatus.STATUS_ACCEPTED, GoalStatus.STATUS_EXECUTING
SUCCEEDED, CANCELED = GoalStatus.STATUS_SUCCEEDED, GoalStatus.STATUS_CANCELED
ABORTED = GoalStatus.STATUS_ABORTED


class Served:
    """A server of which the test decides everything, and a client of it."""

    accepts = True

    def __init__(self, listener: Listener) -> None:
        self.listener = listener
        self.node = Node("server", context=listener.node.context)
        listener.add(self.node)
        self.goals: list[Goal] = []
        self.canceled: list[Goal] = []
        self.on_accept: Callable[[Goal], None] = lambda _goal: None
        self.on_cancel: Callable[[Goal], None] = self.canceled.append
        self.server = GoalServer(
            self.node,
            FollowJointTrajectory,
            _ACTION,
            check=lambda _message: self.accepts,
            accept=self._accept,
            cancel=lambda goal: self.on_cancel(goal),
            result=lambda event: FollowJointTrajectory.Result(error_string=event.message),
            feedback=lambda event: FollowJointTrajectory.Feedback(joint_names=[f"{event.index}"]),
        )
        self.commander = Commander(listener)
        self._statuses = listener.record(
            GoalStatusArray,
            f"/{_ACTION}/_action/status",
            qos=QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL),
        )

    def _accept(self, goal: Goal) -> None:
        self.goals.append(goal)
        self.on_accept(goal)

    def send(self) -> tuple[Sent, Goal]:
        sent = self.commander.send(follow(point(1.0, [0.0]), joints=["a"]))
        return sent, self.goals[-1]

    def statuses(self, sent: Sent, last: int) -> list[int]:
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


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    domain = Domain()
    listener = Listener(domain.id)
    yield listener
    listener.close()
    domain.close()


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


def _progress(goal: Goal, index: int) -> Progress:
    nothing = np.zeros((3, 1))
    return Progress(
        goal=goal, time=0.0, since_start=0.0, index=index, desired=nothing, actual=nothing[:2]
    )


def test_a_goal_is_accepted_then_executing_then_over(served: Served) -> None:
    sent, goal = served.send()
    assert sent.accepted
    assert served.statuses(sent, ACCEPTED) == [ACCEPTED]
    goal.begin()
    assert served.statuses(sent, EXECUTING) == [ACCEPTED, EXECUTING]
    goal.begin()  # once more changes nothing
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    answer = sent.result()
    assert (answer.status, answer.result.error_string) == (SUCCEEDED, "why")
    assert served.statuses(sent, SUCCEEDED) == [ACCEPTED, EXECUTING, SUCCEEDED]


def test_a_goal_that_is_refused_is_not_pursued(served: Served) -> None:
    served.accepts = False
    sent = served.commander.send(follow(point(1.0, [0.0]), joints=["a"]))
    assert not sent.accepted
    assert served.goals == []


def test_nothing_ends_a_goal_but_the_word_of_it(served: Served) -> None:
    sent, goal = served.send()
    goal.begin()
    served.listener.spin_for(0.3)
    assert not sent.ended
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    assert sent.result().status == SUCCEEDED


def test_feedback_reaches_the_client_until_the_goal_is_over(served: Served) -> None:
    sent, goal = served.send()
    goal.begin()
    for index in range(3):
        goal.tell(_progress(goal, index))
        assert served.listener.spin_until(lambda: len(sent.feedback) == index + 1)  # noqa: B023
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    goal.tell(_progress(goal, 99))
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
def test_a_goal_may_end_before_it_began(served: Served, outcome: Outcome, status: int) -> None:
    sent, goal = served.send()
    goal.end(_ended(goal, outcome))
    assert sent.result().status == status
    assert served.statuses(sent, status) == [ACCEPTED, EXECUTING, status]


def test_a_goal_may_end_while_it_is_being_accepted(served: Served) -> None:
    served.on_accept = lambda goal: goal.end(_ended(goal, Outcome.INVALID_GOAL, "no room"))
    sent, _ = served.send()
    answer = sent.result()
    assert (answer.status, answer.result.error_string) == (ABORTED, "no room")


def test_the_first_end_counts(served: Served) -> None:
    sent, goal = served.send()
    goal.begin()
    goal.end(_ended(goal, Outcome.SUCCESSFUL, "first"))
    goal.end(_ended(goal, Outcome.INVALID_GOAL, "second"))
    goal.begin()
    answer = sent.result()
    assert (answer.status, answer.result.error_string) == (SUCCEEDED, "first")


@pytest.mark.parametrize("begun", [False, True])
def test_a_goal_is_canceled_when_its_pursuit_ends(served: Served, begun: bool) -> None:
    sent, goal = served.send()
    if begun:
        goal.begin()
    assert len(sent.cancel().goals_canceling) == 1
    assert served.canceled == [goal]
    served.listener.spin_for(0.1)
    assert not sent.ended
    goal.end(_ended(goal, Outcome.CANCELED))
    assert sent.result().status == CANCELED


@pytest.mark.parametrize(
    ("outcome", "status"), [(Outcome.SUCCESSFUL, SUCCEEDED), (Outcome.INVALID_GOAL, ABORTED)]
)
def test_a_goal_that_ends_otherwise_before_its_cancel_is_heard_ends_so(
    served: Served, outcome: Outcome, status: int
) -> None:
    sent, goal = served.send()
    goal.begin()
    sent.cancel()
    goal.end(_ended(goal, outcome))
    assert sent.result().status == status


def test_a_goal_that_is_over_cannot_be_canceled(served: Served) -> None:
    sent, goal = served.send()
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    assert sent.result().status == SUCCEEDED
    assert sent.cancel().goals_canceling == []
    assert served.canceled == []


def test_goals_end_independently_of_each_other(served: Served) -> None:
    (first, one), (second, two), (third, three) = (served.send() for _ in range(3))
    two.begin()
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


def test_a_result_can_be_asked_for_after_the_end(served: Served) -> None:
    sent, goal = served.send()
    goal.end(_ended(goal, Outcome.SUCCESSFUL, "long ago"))
    served.listener.spin_for(0.2)
    assert sent.handle is not None
    late = served.listener.result(sent.handle.get_result_async())
    assert (late.status, late.result.error_string) == (SUCCEEDED, "long ago")


def test_all_goals_can_be_given_up_at_once(served: Served) -> None:
    (begun, goal), (waiting, _), (over, last) = (served.send() for _ in range(3))
    goal.begin()
    last.end(_ended(last, Outcome.SUCCESSFUL))
    served.server.give_up_all("the simulator ended")
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
    assert record.getMessage() == f"{_ACTION}: a goal was refused"
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
    assert [record.getMessage() for record in caplog.records] == [f"{_ACTION}: a goal was given up"]


def test_an_error_while_a_goal_is_canceled_lets_it_go_on(
    served: Served, caplog: pytest.LogCaptureFixture
) -> None:
    served.on_cancel = _fail
    sent, goal = served.send()
    goal.begin()
    assert sent.cancel().goals_canceling == []
    assert [record.getMessage() for record in caplog.records] == [
        f"{_ACTION}: a goal cannot be canceled"
    ]
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    assert sent.result().status == SUCCEEDED


@pytest.mark.parametrize("when", ["from the start", "later"])
def test_a_middleware_that_takes_no_status_keeps_no_client_from_its_result(
    served: Served, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    def refuse(_server: object) -> None:
        raise rclpy_implementation.RCLError("cannot publish data")

    def break_down() -> None:  # as Fast DDS does for a while when another client was killed
        monkeypatch.setattr(type(served.server._handle), "publish_status", refuse)

    if when == "from the start":
        break_down()
    sent, goal = served.send()
    assert sent.accepted
    break_down()
    goal.begin()
    goal.tell(_progress(goal, 1))
    goal.end(_ended(goal, Outcome.SUCCESSFUL))
    assert sent.result().status == SUCCEEDED
    canceled, goal = served.send()
    canceled.cancel()
    goal.end(_ended(goal, Outcome.CANCELED))
    assert canceled.result().status == CANCELED
    assert served.server._pursued == {}


def test_goals_that_are_over_are_forgotten(served: Served) -> None:
    for _ in range(5):
        sent, goal = served.send()
        goal.end(_ended(goal, Outcome.SUCCESSFUL))
        sent.result()
    assert served.server._pursued == {}
