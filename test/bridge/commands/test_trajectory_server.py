"""The trajectory action and topic: motions, results and warnings."""

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from action_msgs.msg import GoalStatus, GoalStatusArray
from command_clients import ARM, SentGoal, duration, follow, point, seconds, trajectory
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTolerance, SpeedScalingFactor
from rclpy.qos import DurabilityPolicy, QoSProfile
from scipy.interpolate import CubicSpline
from simulators import Recording
from stepped_node import SteppedNode
from trajectory_msgs.msg import JointTrajectory

from mujoco_ros.bridge.commands.trajectory_server import TrajectoryServer
from mujoco_ros.control.events import CommandSource, Outcome
from mujoco_ros.control.joint_command import JointCommand
from mujoco_ros.control.joints import Clamped

_STEP = 0.001
_STATUS = "/joint_trajectory_controller/follow_joint_trajectory/_action/status"
_STILL = [0.0] * 6


@pytest.fixture
def home(stepped: SteppedNode) -> np.ndarray:
    """Where the arm's references are at the start.  # (6,)"""
    return stepped.references[0, :6]


def _position(stepped: SteppedNode) -> np.ndarray:
    return stepped.references[0, :6]


def _velocity(stepped: SteppedNode) -> np.ndarray:
    return stepped.references[1, :6]


def _ended(sent: SentGoal, stepped: SteppedNode | None = None) -> tuple[int, str]:
    """Run until a goal ends; return its error code and message."""
    answer = sent.result() if stepped is None else stepped.finish(sent)
    aborted = GoalStatus.STATUS_ABORTED
    assert (answer.status == aborted) == (answer.result.error_code != 0)
    return answer.result.error_code, answer.result.error_string


def _polynomial(
    degree: int, conditions: list[tuple[int, float, float]]
) -> np.polynomial.Polynomial:
    """Return the polynomial that has, for each (derivative, time, value), that value there."""
    rows, values = [], []
    for derivative, time, value in conditions:
        basis = [np.polynomial.Polynomial.basis(k).deriv(derivative) for k in range(degree + 1)]
        rows.append([power(time) for power in basis])
        values.append(value)
    return np.polynomial.Polynomial(np.linalg.solve(rows, values))


def test_a_goal_is_accepted_followed_and_reached(stepped: SteppedNode, home: np.ndarray) -> None:
    statuses = stepped.listener.record(
        GoalStatusArray,
        _STATUS,
        qos=QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL),
    )
    sent = stepped.commander.follow(point(0.5, home + 0.2, _STILL), point(1.0, home - 0.1, _STILL))
    assert sent.accepted
    begin = stepped.time
    stepped.run(0.999)
    assert not sent.ended
    assert _ended(sent, stepped) == (0, "goal reached")
    np.testing.assert_array_equal(_position(stepped), home - 0.1)
    np.testing.assert_array_equal(_velocity(stepped), 0.0)
    reached = np.array(stepped.joint_states()[-1].position[:6])
    np.testing.assert_allclose(reached, home - 0.1, atol=5e-3)
    assert begin + 1.0 < stepped.time < begin + 1.2
    assert sent.handle is not None
    key = bytes(sent.handle.goal_id.uuid)

    def reported() -> list[int]:
        return [
            status.status
            for message in statuses.messages
            for status in message.status_list
            if bytes(status.goal_info.goal_id.uuid) == key
        ]

    assert stepped.listener.spin_until(lambda: GoalStatus.STATUS_SUCCEEDED in reported())
    stepped.listener.forget_subscriptions()
    assert list(dict.fromkeys(reported())) == [
        GoalStatus.STATUS_ACCEPTED,
        GoalStatus.STATUS_EXECUTING,
        GoalStatus.STATUS_SUCCEEDED,
    ]
    assert stepped.warnings == []


@pytest.fixture
def recorded_feedback(stepped: SteppedNode) -> Iterator[Recording]:
    """All feedback; rclpy's client keeps ten messages, and drops them at the end of the goal."""
    first = stepped.listener.recordings
    (served,) = stepped.controllers._served.values()
    (publisher,) = [s.goals._feedbacks for s in served.servers if isinstance(s, TrajectoryServer)]
    before = publisher.get_subscription_count()
    message = FollowJointTrajectory.Impl.FeedbackMessage
    recorded_feedback = stepped.listener.record(message, publisher.topic_name, reliable=True)
    assert stepped.listener.spin_until(lambda: publisher.get_subscription_count() > before)
    yield recorded_feedback
    stepped.listener.forget_subscriptions(first)


def test_feedback_has_desired_and_actual_positions_at_20_hz(
    stepped: SteppedNode, home: np.ndarray, recorded_feedback: Recording
) -> None:
    stepped.run(0.123)
    stepped.sent["joint_states"].clear()
    begin = stepped.time
    sent = stepped.commander.follow(point(0.4, home + 0.3, _STILL), point(0.8, home, _STILL))
    stepped.run(0.81)
    sent.result()
    assert stepped.listener.spin_until(lambda: len(recorded_feedback) >= 17)
    feedbacks = [message.feedback for message in recorded_feedback.messages]
    times = [seconds(feedback.header.stamp) for feedback in feedbacks]
    np.testing.assert_allclose(times, begin + 0.05 * np.arange(17), atol=1e-9)
    states = {seconds(state.header.stamp): state for state in stepped.joint_states()}
    there = _polynomial(3, [(0, 0, 0), (1, 0, 0), (0, 0.4, 0.3), (1, 0.4, 0)])
    back = _polynomial(3, [(0, 0, 0.3), (1, 0, 0), (0, 0.4, 0), (1, 0.4, 0)])
    for feedback, time in zip(feedbacks, times, strict=True):
        assert tuple(feedback.joint_names) == ARM
        since = time - begin
        for part in (feedback.desired, feedback.actual, feedback.error):
            assert seconds(part.time_from_start) == pytest.approx(since, abs=1e-9)
        curve, at = (there, since) if since < 0.4 else (back, since - 0.4)
        for derivative, row in enumerate(("positions", "velocities", "accelerations")):
            wanted = curve.deriv(derivative)(at) if derivative else home + curve(at)
            got = getattr(feedback.desired, row)
            if not (derivative == 2 and since > 0.79):  # at its end it is at rest
                np.testing.assert_allclose(got, np.broadcast_to(wanted, 6), atol=1e-9)
        state = states[time]
        assert feedback.actual.positions == state.position[:6]
        assert feedback.actual.velocities == state.velocity[:6]
        for row in ("positions", "velocities"):
            error = np.subtract(getattr(feedback.desired, row), getattr(feedback.actual, row))
            np.testing.assert_allclose(getattr(feedback.error, row), error, atol=1e-15)
    if hasattr(feedbacks[0], "index"):  # since Kilted
        # Of the waypoint it heads for, that of the last one at the end.
        indices = [feedback.index for feedback in feedbacks]
        assert indices[:8] == [0] * 8
        assert indices[9:16] == [1] * 7


def test_controller_state_is_consistent_with_joint_states(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    stepped.deliver(
        stepped.commander.publish_trajectory,
        trajectory(point(0.2, home + 0.1, _STILL, _STILL, [1, 2, 3, 4, 5, 6])),
    )
    stepped.run(0.3)
    states, joint_states = stepped.states(), stepped.joint_states()
    assert len(states) == len(joint_states) == 300
    for state, joints in zip(states, joint_states, strict=True):
        assert state.header.stamp == joints.header.stamp
        assert tuple(state.joint_names) == ARM
        assert state.speed_scaling_factor == 1.0
        reference, feedback, error, output = (
            state.reference,
            state.feedback,
            state.error,
            state.output,
        )
        assert feedback.positions == joints.position[:6]
        assert feedback.velocities == joints.velocity[:6]
        assert feedback.effort == joints.effort[:6]
        for row in ("positions", "velocities"):
            np.testing.assert_array_equal(
                getattr(error, row), np.subtract(getattr(reference, row), getattr(feedback, row))
            )
        for row in ("positions", "velocities", "effort"):
            assert getattr(output, row) == getattr(reference, row)
        for part in (feedback, error, output):
            assert part.time_from_start == reference.time_from_start
    efforts = np.array([state.reference.effort for state in states])
    np.testing.assert_allclose(efforts[100], np.array([1, 2, 3, 4, 5, 6]) / 2, atol=1e-9)
    np.testing.assert_array_equal(efforts[-1], [1, 2, 3, 4, 5, 6])
    elapsed = [seconds(state.reference.time_from_start) for state in states]
    np.testing.assert_allclose(elapsed[:200], np.arange(200) * _STEP, atol=1e-9)
    assert elapsed[-1] == 0.0  # no trajectory is active any more


def test_a_subset_of_the_joints_moves_and_the_others_stay(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    joints = (ARM[4], ARM[1])
    sent = stepped.commander.follow(point(0.2, [-1.0, -1.5], [0, 0]), joints=joints)
    stepped.run(0.21)
    assert _ended(sent, stepped) == (0, "goal reached")
    expected = home.copy()
    expected[[4, 1]] = -1.0, -1.5
    np.testing.assert_array_equal(_position(stepped), expected)


def test_a_trajectory_with_a_stamp_waits_for_it(stepped: SteppedNode, home: np.ndarray) -> None:
    start = stepped.time + 0.25
    sent = stepped.commander.follow(point(0.1, home + 0.1, _STILL), start=start)
    stepped.run(0.25)
    np.testing.assert_array_equal(_position(stepped), home)
    assert not sent.ended
    assert sent.feedback == []
    stepped.run(0.002)
    assert (_position(stepped) > home).all()
    stepped.run(0.1)
    assert _ended(sent, stepped) == (0, "goal reached")
    states = stepped.states()
    moved = [state.reference.positions != states[0].reference.positions for state in states]
    first = states[moved.index(True)]
    assert seconds(first.header.stamp) == pytest.approx(start + _STEP)  # at the stamp it stood


def test_a_trajectory_that_ends_in_the_past_is_refused(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    stepped.run(1.0)
    sent = stepped.commander.follow(point(0.4, home + 1.0), start=stepped.time - 0.5)
    assert not sent.accepted
    late = "the trajectory ends in the past: at 0.900 s, and it is 0.999 s"
    assert stepped.warnings == [
        f"joint_trajectory_controller/follow_joint_trajectory: goal rejected: {late}"
    ]
    stepped.deliver(
        stepped.commander.publish_trajectory, trajectory(point(0.4, home + 1.0), start=0.5)
    )
    assert stepped.warnings[1:] == [f"joint_trajectory_controller/joint_trajectory: {late}"]
    stepped.run(0.1)
    np.testing.assert_array_equal(_position(stepped), home)


def test_a_goal_that_ends_before_its_start_is_aborted_as_too_old(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    sent = stepped.commander.follow(point(0.1, home + 1.0), start=0.5)
    assert sent.accepted
    stepped.deliver(
        stepped.commander.publish_trajectory, trajectory(point(0.1, home + 1.0), start=0.5)
    )
    stepped.simulation.data.time = 0.7
    stepped.step()
    stepped.pass_on()
    late = "the trajectory ends in the past: at 0.600 s, and it is 0.700 s"
    assert _ended(sent) == (Outcome.OLD_HEADER_TIMESTAMP, late)
    assert stepped.warnings == [f"joint_trajectory_controller: {late}"]
    np.testing.assert_array_equal(_position(stepped), home)


def _chunk(home: np.ndarray, times: np.ndarray, start: float = 0.0) -> Any:
    """Return the message of a chunk of positions along a sine of all joints."""
    rows = home + 0.1 * np.sin(3.0 * (start + times))[:, None]
    return trajectory(*(point(t, q) for t, q in zip(times, rows, strict=True)), start=start)


def test_positions_on_the_topic_become_smooth_and_goals_do_not(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    stepped.configure(positions_upsampling=True)
    times = 0.02 * np.arange(1, 51)
    begin = stepped.time + _STEP
    stepped.deliver(stepped.commander.publish_trajectory, _chunk(home, times, begin))
    stepped.run(0.5)
    curve = CubicSpline(begin + times, home[0] + 0.1 * np.sin(3.0 * (begin + times)))
    for _ in range(200):
        time = float(stepped.simulation.data.time)
        stepped.step()
        assert _position(stepped)[0] == pytest.approx(float(curve(time)), abs=1e-9)
        assert _velocity(stepped)[0] == pytest.approx(float(curve(time, 1)), abs=1e-7)
    sent = stepped.commander.follow(point(0.1, home), point(0.2, home + 0.1))
    assert sent.accepted
    stepped.run(0.15)
    assert _velocity(stepped) == pytest.approx(1.0), "the slope of the line"


def test_the_speed_of_trajectories_is_scaled_by_topic(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    topic = "joint_trajectory_controller/speed_scaling_input"
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    publisher = stepped.listener.node.create_publisher(SpeedScalingFactor, topic, latched)
    assert stepped.listener.spin_until(lambda: publisher.get_subscription_count() > 0)
    sent = stepped.commander.follow(point(0.5, home + 0.5), point(1.0, home + 1.0))
    assert sent.accepted
    stepped.run(0.2)
    before = _position(stepped).copy()
    stepped.deliver(publisher.publish, SpeedScalingFactor(factor=0.25))
    stepped.run(0.4)
    np.testing.assert_allclose(_position(stepped), before + 0.25 * 0.4)
    np.testing.assert_allclose(_velocity(stepped), 0.25)
    assert stepped.states()[-1].speed_scaling_factor == 0.25
    stepped.deliver(publisher.publish, SpeedScalingFactor(factor=-1.0))
    message = "speed scaling factor -1; it must be 0, or from 1e-06 to 1000"
    assert stepped.warnings == [f"{topic}: {message}"]
    stepped.listener.node.destroy_publisher(publisher)


def test_an_empty_trajectory_means_hold(stepped: SteppedNode, home: np.ndarray) -> None:
    moving = stepped.commander.follow(point(1.0, home + 1.0, _STILL))
    stepped.run(0.5)
    hold = stepped.commander.follow(joints=())
    assert hold.accepted
    stepped.step()
    stepped.pass_on()
    assert _ended(hold) == (0, "holding position")
    code, message = _ended(moving)
    assert code == Outcome.INVALID_GOAL
    assert message == "preempted by an empty trajectory, which means hold"
    held = _position(stepped)
    assert (held > home + 0.4).all()
    np.testing.assert_array_equal(_velocity(stepped), 0.0)
    stepped.run(0.2)
    np.testing.assert_array_equal(_position(stepped), held)


def test_a_canceled_goal_holds_the_arm_at_its_references(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    sent = stepped.commander.follow(point(1.0, home + 1.0, _STILL))
    stepped.run(0.5)
    before = _position(stepped)
    assert len(sent.cancel().goals_canceling) == 1
    stepped.step()
    stepped.pass_on()
    answer = sent.result()
    assert answer.status == GoalStatus.STATUS_CANCELED
    assert answer.result.error_string == "canceled: holding position"
    np.testing.assert_array_equal(_position(stepped), before)
    np.testing.assert_array_equal(_velocity(stepped), 0.0)
    stepped.run(0.1)
    np.testing.assert_array_equal(_position(stepped), before)


def test_a_newer_goal_preempts_the_older_one_without_a_jump(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    first = stepped.commander.follow(point(1.0, home + 1.0, _STILL))
    stepped.run(0.5)
    second = stepped.commander.follow(point(0.5, home, _STILL))
    stepped.run(0.51)
    assert _ended(first) == (Outcome.INVALID_GOAL, "preempted by a new trajectory")
    assert _ended(second, stepped) == (0, "goal reached")
    positions = np.array([state.reference.positions for state in stepped.states()])
    velocities = np.array([state.reference.velocities for state in stepped.states()])
    assert np.abs(np.diff(velocities, axis=0)).max() < 0.05
    np.testing.assert_allclose(
        np.diff(positions, axis=0), (velocities[1:] + velocities[:-1]) / 2 * _STEP, atol=1e-5
    )
    np.testing.assert_array_equal(positions[-1], home)


def test_the_trajectory_of_a_goal_is_published_and_an_empty_one_at_its_end(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    (publisher,) = [
        server._goal_path
        for served in stepped.controllers._served.values()
        for server in served.servers
        if isinstance(server, TrajectoryServer)
    ]
    recording = stepped.listener.record(
        JointTrajectory, "/joint_trajectory_controller/goal_trajectory", reliable=True
    )
    assert stepped.listener.spin_until(lambda: publisher.get_subscription_count() > 0)
    goal = point(0.5, home + 0.1), point(1.0, home + 0.2, _STILL)
    stepped.commander.follow(*goal)
    assert stepped.listener.spin_until(lambda: len(recording) == 1)
    (received,) = recording.messages
    assert received.joint_names == list(ARM)
    assert seconds(received.header.stamp) == pytest.approx(stepped.time)
    assert received.points == list(goal)
    stepped.run(0.2)
    second = stepped.commander.follow(point(0.3, home, _STILL))
    assert stepped.listener.spin_until(lambda: len(recording) == 2)
    stepped.run(0.1)  # in which the first goal ends
    assert stepped.finish(second).status == GoalStatus.STATUS_SUCCEEDED
    assert stepped.listener.spin_until(lambda: len(recording) == 3)
    stepped.listener.forget_subscriptions()
    assert [len(message.points) for message in recording.messages] == [2, 1, 0]


def test_a_trajectory_on_the_topic_ends_the_goal(stepped: SteppedNode, home: np.ndarray) -> None:
    sent = stepped.commander.follow(point(1.0, home + 1.0, _STILL))
    stepped.run(0.5)
    stepped.deliver(stepped.commander.publish_trajectory, trajectory(point(0.3, home, _STILL)))
    stepped.run(0.31)
    assert _ended(sent) == (Outcome.INVALID_GOAL, "preempted by a new trajectory")
    np.testing.assert_array_equal(_position(stepped), home)


@pytest.mark.parametrize(
    ("source", "publish"),
    [
        ("joint_commands", lambda b, _: b.commander.publish_joints(ARM[:1], position=[0.1])),
        ("joint_commands", lambda b, _: b.commander.publish_joints(ARM[:1], effort=[0.0])),
        ("position_controller", lambda b, q: b.commander.publish_forward("position", q)),
        ("velocity_controller", lambda b, _: b.commander.publish_forward("velocity", _STILL)),
        ("effort_controller", lambda b, _: b.commander.publish_forward("effort", _STILL)),
    ],
)
def test_a_stream_that_claims_a_joint_aborts_the_goal_with_its_topic_as_reason(
    stepped: SteppedNode,
    home: np.ndarray,
    source: str,
    publish: Callable[[SteppedNode, np.ndarray], None],
) -> None:
    sent = stepped.commander.follow(point(1.0, home + 1.0, _STILL))
    stepped.run(0.2)
    stepped.deliver(publish, stepped, home)
    stepped.step(2)
    stepped.pass_on()
    assert _ended(sent) == (
        Outcome.INVALID_GOAL,
        f"preempted by {source} on joint 'shoulder_pan_joint'",
    )
    assert len(stepped.warnings) == 1
    assert stepped.warnings[0].startswith(f"joint_trajectory_controller: {source} took over should")
    assert source in stepped.control.owners()


def test_a_controller_that_takes_or_loses_joints_is_named(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    values = np.full((3, 2), np.nan)
    values[0] = home[:2]
    command = JointCommand(joints=np.arange(2), values=values, clamped=Clamped(), controller="wave")
    for _ in range(2):
        stepped.commander.follow(point(1.0, home + 0.1, _STILL))
        stepped.run(0.1)
        stepped.control.command(CommandSource.CONTROLLER, command, stepped.time)
        stepped.step(2)
    stepped.pass_on()
    joints = "shoulder_pan_joint, shoulder_lift_joint"
    assert stepped.warnings == [
        f"joint_trajectory_controller: controller 'wave' took over {joints}",
        f"controller 'wave': joint_trajectory_controller took over {joints}",
    ]


def test_a_goal_preempts_a_stream_and_that_is_logged(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    stepped.deliver(stepped.commander.publish_joints, ARM, position=home + 0.1)
    stepped.run(0.01)
    sent = stepped.commander.follow(point(0.1, home[:2], [0, 0]), joints=ARM[:2])
    stepped.run(0.11)
    assert _ended(sent, stepped) == (0, "goal reached")
    assert stepped.warnings == [
        "joint_commands: joint_trajectory_controller took over "
        "shoulder_pan_joint, shoulder_lift_joint"
    ]
    assert {source: len(joints) for source, joints in stepped.control.owners().items()} == {
        "unclaimed": 2,
        "joint_trajectory_controller": 2,
        "joint_commands": 4,
    }


def test_a_path_tolerance_that_is_violated_aborts_the_goal_and_stops_where_the_arm_is(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    stepped.run(0.5)
    sent = stepped.commander.follow(
        point(0.5, home + 1.0, _STILL),
        path_tolerance=[JointTolerance(name=ARM[0], position=0.001)],
    )
    stepped.run(0.5)
    code, message = _ended(sent)
    assert code == Outcome.PATH_TOLERANCE_VIOLATED
    start = "path tolerance violated: position of joint 'shoulder_pan_joint' is off by "
    assert message.startswith(start)
    assert message.endswith(", allowed is 0.001")
    states = stepped.states()[500:]
    # Where it measured itself to be when that happened, it stays.
    held = states[-1].reference.positions
    when = next(i for i, state in enumerate(states) if state.reference.positions == held)
    assert states[when].feedback.positions == held
    curve = _polynomial(3, [(0, 0, 0), (1, 0, 0), (0, 0.5, 1.0), (1, 0.5, 0)])
    wanted = home[0] + curve(when * _STEP)
    off = float(message.removeprefix(start).partition(",")[0])
    assert off == pytest.approx(wanted - held[0], rel=1e-3)
    assert max(abs(state.error.positions[0]) for state in states[:when]) <= 0.001
    np.testing.assert_array_equal(_velocity(stepped), 0.0)


def test_path_tolerances_of_the_settings_apply_to_the_topic_too(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    tolerances = np.zeros(8)
    tolerances[2] = 0.002
    stepped.configure(trajectory=tolerances)
    stepped.deliver(
        stepped.commander.publish_trajectory, trajectory(point(0.3, home + 1.0, _STILL))
    )
    stepped.run(0.4)
    (warning,) = stepped.warnings
    assert warning.startswith(
        "joint_trajectory_controller: path tolerance violated: position of joint 'elbow_joint' is "
        "off by 0.002"
    )
    assert warning.endswith("; holding the position")
    assert (_position(stepped) < home + 1.0).all()


def test_a_goal_that_is_not_reached_in_its_time_is_aborted_with_the_joint(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    # Without gravity compensation the arm sags by a few mrad, most of all the elbow.
    sent = stepped.commander.follow(
        point(0.2, home, _STILL),
        goal_tolerance=[
            JointTolerance(name=name, position=0.001) for name in ("wrist_1_joint", "elbow_joint")
        ],
        goal_time_tolerance=duration(0.3),
    )
    stepped.run(0.499)
    assert not sent.ended
    stepped.run(0.005)
    code, message = _ended(sent)
    assert code == Outcome.GOAL_TOLERANCE_VIOLATED
    assert message.startswith(
        "goal not reached within the goal_time_tolerance of 0.3 s: position of joint "
        "'elbow_joint' is off by 0.00"
    )


def test_a_goal_must_end_at_rest_unless_a_setting_allows_otherwise(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    stepped.configure(stopped_velocity_tolerance=0.02)
    fast = point(0.1, home + 0.2, _STILL)
    sent = stepped.commander.follow(fast, goal_time_tolerance=duration(0.001))
    careless = [JointTolerance(name=name, velocity=-1.0, position=-1.0) for name in ARM]
    stepped.run(0.11)
    code, message = _ended(sent)
    assert code == Outcome.GOAL_TOLERANCE_VIOLATED
    assert ": velocity of joint '" in message
    sent = stepped.commander.follow(
        point(0.1, home, _STILL), goal_tolerance=careless, goal_time_tolerance=duration(0.001)
    )
    stepped.run(0.11)
    code, message = _ended(sent, stepped)
    assert code == 0
    assert re.fullmatch(
        r"trajectory completed; position of joint '\w+' is off by \S+, and no goal tolerance "
        "is set",
        message,
    ), "the warning explains the missing tolerance"


def test_a_goal_for_a_paused_simulation_waits(stepped: SteppedNode, home: np.ndarray) -> None:
    stepped.run(0.1)
    stepped.simulation.paused = True
    time = stepped.time
    sent = stepped.commander.follow(point(0.2, home + 0.1, _STILL))
    assert sent.accepted
    stepped.step(100)
    stepped.listener.spin_for(0.2)
    assert not sent.ended
    assert sent.status in (GoalStatus.STATUS_UNKNOWN, GoalStatus.STATUS_ACCEPTED)
    assert stepped.time == time
    stepped.simulation.paused = False
    stepped.run(0.21)
    assert _ended(sent, stepped) == (0, "goal reached")
    np.testing.assert_array_equal(_position(stepped), home + 0.1)


def test_goals_from_before_a_reset_are_aborted(stepped: SteppedNode, home: np.ndarray) -> None:
    stepped.run(0.1)
    sent = stepped.commander.follow(point(0.5, home + 0.1, _STILL))
    stepped.run(0.2)
    stepped.diverge()
    stepped.pass_on()
    assert _ended(sent) == (Outcome.INVALID_GOAL, "the simulation was reset")
    np.testing.assert_array_equal(_position(stepped), home)
    stepped.run(0.5)
    np.testing.assert_array_equal(_position(stepped), home)
    assert stepped.resets == 1


def test_a_goal_for_a_simulation_paused_on_divergence_waits(
    stepped: SteppedNode, home: np.ndarray, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stepped.simulation, "on_divergence", "pause")
    before = stepped.commander.follow(point(0.5, home + 0.1, _STILL))
    stepped.run(0.1)
    stepped.diverge()
    assert stepped.simulation.paused
    during = stepped.commander.follow(point(0.5, home + 0.2, _STILL))
    stepped.step(10)
    stepped.pass_on()
    assert _ended(before) == (Outcome.INVALID_GOAL, "preempted by a new trajectory")
    assert not during.ended
    stepped.simulation.reset()
    stepped.pass_on()
    assert _ended(during) == (Outcome.INVALID_GOAL, "the simulation was reset")


def test_positions_beyond_the_limits_are_clamped_and_reported(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    beyond = home.copy()
    beyond[2] = 4.0
    sent = stepped.commander.follow(point(0.5, beyond, _STILL))
    stepped.run(0.51)
    assert _ended(sent, stepped)[0] == 0
    assert _position(stepped)[2] == pytest.approx(np.pi)
    assert stepped.warnings == [
        "joint_trajectory_controller/follow_joint_trajectory: "
        "position 4 of joint 'elbow_joint' was clamped to its limits [-3.14159, 3.14159]"
    ]
    stepped.configure(out_of_limits="refuse")
    assert not stepped.commander.follow(point(0.5, beyond, _STILL)).accepted
    assert stepped.warnings[1] == (
        "joint_trajectory_controller/follow_joint_trajectory: goal rejected: position 4 of joint "
        "'elbow_joint' is outside its limits [-3.14159, 3.14159]"
    )


def _points(home: np.ndarray) -> list[Any]:
    return [point(0.5, home + 0.5, _STILL), point(1.0, home, _STILL)]


def _changed(**changes: Any) -> Callable[[Any, np.ndarray], None]:
    """Return a function that sets fields of the trajectory's second point."""

    def change(message: Any, _home: np.ndarray) -> None:
        for name, value in changes.items():
            setattr(message.points[1], name, value)

    return change


def _named(*names: str) -> Callable[[Any, np.ndarray], None]:
    def change(message: Any, _home: np.ndarray) -> None:
        message.joint_names = list(names)

    return change


_NAN, _INF = float("nan"), float("inf")
_WRONG: dict[str, tuple[Callable[[Any, np.ndarray], None], str]] = {
    "NaN": (
        _changed(positions=[0, 0, _NAN, 0, 0, 0]),
        "positions of joint 'elbow_joint' is nan; it must be a finite number",
    ),
    "unknown": (_named(*ARM[:5], "wrist_4_joint"), "joint 'wrist_4_joint' not found (did you mean"),
    "too few names": (_named(*ARM[:5]), "point 0 has 6 positions for 5 joints"),
    "too long": (_changed(positions=[0.0] * 7), "point 1 has 7 positions for 6 joints"),
    "moving end": (
        _changed(velocities=[0, 0, 0, 0, 0.3, 0]),
        "joint 'wrist_2_joint' has velocity 0.3 at the last point; it must be 0 unless",
    ),
}


@pytest.mark.parametrize("case", _WRONG)
def test_an_invalid_trajectory_is_refused_with_the_cause_and_changes_nothing(
    stepped: SteppedNode, home: np.ndarray, case: str
) -> None:
    change, reason = _WRONG[case]
    running = stepped.commander.follow(point(0.3, home + 0.1, _STILL))
    stepped.run(0.1)
    goal = follow(*_points(home))
    change(goal.trajectory, home)
    assert not stepped.commander.send(goal).accepted
    message = trajectory(*_points(home))
    change(message, home)
    stepped.deliver(stepped.commander.publish_trajectory, message)
    by_action, by_topic = stepped.warnings
    start = "joint_trajectory_controller/"
    assert by_action.startswith(f"{start}follow_joint_trajectory: goal rejected: ")
    assert by_topic.startswith(f"{start}joint_trajectory: ")
    assert reason in by_action
    assert reason in by_topic
    stepped.run(0.201)
    assert _ended(running, stepped) == (0, "goal reached")
    np.testing.assert_array_equal(_position(stepped), home + 0.1)


def test_an_invalid_tolerance_is_refused_with_the_cause(
    stepped: SteppedNode, home: np.ndarray
) -> None:
    tolerance = [JointTolerance(name="elbow_joint", position=-0.1)]
    sent = stepped.commander.follow(point(0.3, home), path_tolerance=tolerance)
    assert not sent.accepted
    assert stepped.warnings[0].endswith(
        "goal rejected: path_tolerance of joint 'elbow_joint': position is -0.1; it must be "
        "positive and at most 1e+06, 0 (default) or -1 (none)"
    )


def test_every_goal_of_a_burst_ends(stepped: SteppedNode, home: np.ndarray) -> None:
    sent = []
    for i in range(40):
        sent.append(stepped.commander.follow(point(0.1, home + 0.001 * i, _STILL)))
        stepped.step(i % 3)
    stepped.finish(sent[-1])
    codes = [_ended(goal)[0] for goal in sent]
    assert codes == [*[int(Outcome.INVALID_GOAL)] * 39, 0]
    np.testing.assert_array_equal(_position(stepped), home + 0.039)
