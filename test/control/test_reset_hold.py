"""Joints held at the state of a reset against sources that do not notice it."""

import numpy as np
import pytest
from commanded_robot import CommandedRobot, points, some_joints

from mujoco_ros.control.events import (
    CommandHeld,
    CommandSource,
    GoalEnded,
    HoldEnded,
    JointsHeld,
    Outcome,
)
from mujoco_ros.control.gripper import GripperCommand
from mujoco_ros.control.settings import StreamSettings

NAMES = ("a", "b", "finger")
JOINTS = some_joints(NAMES, gripper="finger", continuous=["b"])
HOME = (0.1, -0.2, 0.05)
TOLERANCE = 1e-3
POSITION, VELOCITY = CommandSource.POSITION, CommandSource.VELOCITY
EFFORT, STREAM = CommandSource.EFFORT, CommandSource.JOINT_COMMANDS
FAR = {"a": 0.8, "b": -0.9}
PERIOD = 0.004


def robot(policy: str = "hold", **options) -> CommandedRobot:
    commanded = CommandedRobot(JOINTS, q=HOME, **options)
    set_policy(commanded, policy)
    return commanded


def set_policy(commanded: CommandedRobot, policy: str) -> None:
    settings = StreamSettings(reset_hold=policy, reset_hold_tolerance=TOLERANCE)
    commanded.control.configure(settings, commanded.control.trajectory.settings, None)


def reset(commanded: CommandedRobot, *, rewind: bool = True) -> None:
    """Reset the robot to its home at rest, and the time to zero."""
    commanded.step()
    commanded.references.values[:] = 0.0
    commanded.references.q[:] = HOME
    commanded.control.q[:], commanded.control.dq[:] = HOME, 0.0
    commanded.control.reset()
    if rewind:
        commanded.index = 0


def streamed(source: CommandSource = STREAM, fields: dict | None = None, **options):
    """Return a robot that was reset while a stream moved it, and the fields of the stream."""
    fields = fields or {"position": FAR}
    commanded = robot(**options)
    commanded.send(source, **fields)
    commanded.run(PERIOD)
    reset(commanded)
    return commanded, fields


@pytest.mark.parametrize("rewind", [True, False])
@pytest.mark.parametrize("source", [STREAM, POSITION])
def test_a_position_stream_that_continues_moves_nothing(source, rewind):
    commanded = robot()
    for step in range(20):
        commanded.send(source, position={"a": 0.1 + 0.02 * step, "b": -0.2})
        commanded.run(PERIOD)
    reset(commanded, rewind=rewind)
    for _ in range(500):
        commanded.send(source, position={"a": 0.5, "b": -0.2})
        assert (commanded.run(PERIOD)[:, 0] == HOME).all()
    assert commanded.control.owners() == {CommandSource.UNCLAIMED: NAMES}
    (held,) = commanded.events_of(JointsHeld)
    assert (held.source, held.joints) == (source, ("a", "b"))
    (problem,) = commanded.events_of(CommandHeld)
    assert "'a' is commanded to 0.5000 and is at 0.1000" in problem.message
    report = commanded.control.reset_hold.report()
    assert report == {source: (("a", "b"), 500, problem.message)}


def test_without_the_hold_it_jumps():
    commanded, fields = streamed(policy="off")
    commanded.send(**fields)
    assert commanded.step()[0, 0] == FAR["a"]


def test_a_command_near_the_state_ends_the_hold_for_good():
    commanded, fields = streamed()
    commanded.send(**fields)
    near = {"a": HOME[0] + 0.9 * TOLERANCE, "b": HOME[1] - 0.9 * TOLERANCE}
    commanded.send(position=near)
    references = commanded.step()
    assert references[0, :2].tolist() == list(near.values())
    (ended,) = commanded.events_of(HoldEnded)
    assert (ended.source, ended.joints) == (STREAM, ("a", "b"))
    commanded.run(PERIOD)
    commanded.send(**fields)
    assert (commanded.run(2 * PERIOD)[-1, 0, :2] == list(FAR.values())).all()
    assert not commanded.control.reset_hold.active


def test_all_held_joints_of_a_command_must_be_near():
    commanded, _ = streamed()
    commanded.send(position={"a": HOME[0], "b": HOME[1] + 1.1 * TOLERANCE})
    assert (commanded.step()[0] == HOME).all()
    commanded.send(position={"b": HOME[1]})  # alone it is near
    commanded.send(position={"b": 1.0})
    assert commanded.step()[0].tolist() == [HOME[0], 1.0, HOME[2]]
    commanded.send(position={"a": 1.0})
    assert commanded.step()[0, 0] == HOME[0]


def test_a_full_turn_away_is_not_near_for_a_stream():
    commanded, _ = streamed()
    commanded.send(position={"b": HOME[1] + 2 * np.pi})
    assert (commanded.step()[0] == HOME).all()


def test_the_measured_position_is_near_also_after_the_joint_sagged():
    commanded, _ = streamed()
    commanded.measure = lambda _time: np.array([[0.09, -0.2, 0.05], [0.0, 0.0, 0.0]])
    commanded.step()
    commanded.send(position=FAR)
    commanded.measure = lambda _time: np.array([[0.08, -0.2, 0.05], [0.0, 0.0, 0.0]])
    commanded.step()
    commanded.send(position={"a": 0.095, "b": -0.2})  # as measured a while ago
    assert commanded.step()[0].tolist() == [0.095, -0.2, 0.05]


@pytest.mark.parametrize(("velocity", "moves"), [(0.3, False), (-0.009, True), (0.0, True)])
@pytest.mark.parametrize("source", [STREAM, VELOCITY])
def test_a_velocity_stream_must_stop_first(source, velocity, moves):
    commanded, fields = streamed(source, {"velocity": {"a": 0.5}})
    commanded.send(source, velocity={"a": velocity})
    commanded.step()
    assert commanded.references.dq[0] == (velocity if moves else 0.0)
    commanded.send(source, **fields)
    commanded.step()
    assert commanded.references.dq[0] == (0.5 if moves else 0.0)


def test_the_position_decides_where_a_command_has_both():
    commanded, _ = streamed(fields={"position": FAR, "velocity": {"a": 0.5, "b": 0.0}})
    commanded.send(position=FAR, velocity={"a": 0.0, "b": 0.0}, effort={"a": 3.0, "b": 0.0})
    assert not commanded.step()[1:].any(), "nothing of the command acts"
    at_home = {"a": HOME[0], "b": HOME[1]}
    commanded.send(position=at_home, velocity={"a": 0.5, "b": 0.0}, effort={"a": 3.0, "b": 0.0})
    references = commanded.step()
    assert (references[1, 0], references[2, 0]) == (0.5, 3.0)


@pytest.mark.parametrize("source", [STREAM, EFFORT])
def test_efforts_alone_are_not_held(source):
    commanded, fields = streamed(source, {"effort": {"a": 2.0}})
    commanded.send(source, **fields)
    assert commanded.step()[2, 0] == 2.0


def test_a_source_that_was_silent_before_the_reset_is_not_held():
    commanded = robot()
    commanded.send(position=FAR)
    commanded.run(0.6)
    commanded.control.update(commanded.time)  # as at every step of a simulation
    reset(commanded)
    commanded.send(position=FAR)
    assert commanded.step()[0, 0] == FAR["a"]


def test_another_source_moves_held_joints():
    commanded, fields = streamed()
    commanded.send(POSITION, position={"a": 0.3})
    commanded.send(**fields)
    assert commanded.step()[0].tolist() == [0.3, HOME[1], HOME[2]]
    assert commanded.control.owners()[POSITION] == ("a",)


def test_the_gripper_and_hosted_controllers_are_not_held():
    commanded = robot()
    command = CommandSource.CONTROLLER
    commanded.send(command, position={"a": 0.5})
    commanded.control.command_gripper(GripperCommand(position=0.0, goal="grip"), commanded.time)
    commanded.run(PERIOD)
    reset(commanded)
    commanded.send(command, position={"a": 0.5})
    assert commanded.step()[0, 0] == 0.5
    assert not commanded.events_of(JointsHeld)


def test_the_hold_outlasts_further_resets_and_a_reset_of_the_time():
    commanded, fields = streamed()
    reset(commanded)
    commanded.send(**fields)
    assert (commanded.step()[0] == HOME).all()
    other = robot()
    other.send(**fields)
    other.run(PERIOD)
    other.control.hold_all()  # a reset of the time
    other.index = 0
    reset(other)
    other.send(**fields)
    assert (other.step()[0] == HOME).all()


def test_switching_it_off_releases_the_joints():
    commanded, fields = streamed()
    set_policy(commanded, "off")
    assert not commanded.control.reset_hold.active
    commanded.send(**fields)
    assert commanded.step()[0, 0] == FAR["a"]


def test_a_source_can_be_released_alone():
    commanded = robot()
    for source in (STREAM, POSITION):
        commanded.send(source, position=FAR)
    commanded.run(PERIOD)
    reset(commanded)
    commanded.control.reset_hold.release(STREAM)
    commanded.send(POSITION, position=FAR)
    assert (commanded.step()[0] == HOME).all()
    commanded.send(position=FAR)
    assert commanded.step()[0, 0] == FAR["a"]


def test_only_joints_whose_position_was_set_are_held():
    commanded = robot()
    for step in range(5):
        commanded.send(position={"a": 0.1 + 0.01 * step, "b": -0.2 - 0.01 * step})
        commanded.run(PERIOD)
    commanded.control.hold_at(np.array([1]), np.array([0.7]), commanded.time, "set")
    commanded.send(position={"a": 0.15, "b": -0.25})
    assert commanded.step()[0].tolist() == [0.15, 0.7, HOME[2]]


def test_the_state_of_the_hold_is_saved():
    commanded, fields = streamed()
    commanded.send(**fields)
    saved, references = commanded.control.save_state(), commanded.references.values.copy()
    commanded.send(position={"a": HOME[0], "b": HOME[1]})
    commanded.send(**fields)
    commanded.step()
    reset(commanded)
    commanded.control.restore_state(saved)
    commanded.references.values[:] = references
    commanded.send(**fields)
    assert (commanded.step()[0] == HOME).all()


def test_a_stream_continues_after_a_load_of_a_state_that_was_saved_while_it_ran():
    commanded = robot()

    def stream(steps: int) -> np.ndarray:
        rows = []
        for _ in range(steps):
            commanded.send(position={"a": HOME[0] + np.sin(commanded.time)})
            rows.append(commanded.run(PERIOD))
        return np.concatenate(rows)

    stream(50)
    saved, index = commanded.control.save_state(), commanded.index
    references = commanded.references.values.copy()
    first = stream(100)
    assert abs(commanded.references.q[0] - references[0, 0]) > 100 * TOLERANCE

    def load() -> None:
        commanded.control.reset()
        commanded.control.restore_state(saved)
        commanded.references.values[:], commanded.index = references, index
        commanded.control.q[:] = references[0]

    load()
    np.testing.assert_array_equal(stream(100), first)
    load()
    commanded.send(position={"a": first[-1, 0, 0]})  # another stream, which did not notice
    assert (commanded.run(PERIOD)[:, 0, 0] == references[0, 0]).all()


def chunk(commanded: CommandedRobot, q: float, *, goal: object = None, ahead: float = 0.02) -> None:
    """Send a short trajectory of joint a, as a policy or a teleoperation does."""
    commanded.follow(["a"], points([ahead, ahead + 0.02], [[q], [q + 0.01]]), goal=goal)


@pytest.mark.parametrize("goal", [None, "goal"])
def test_a_client_that_continues_to_send_short_trajectories_moves_nothing(goal):
    commanded = robot()
    for step in range(10):
        chunk(commanded, 0.1 + 0.05 * step, goal=goal)
        commanded.run(0.02)
    reset(commanded)
    commanded.events.clear()
    for step in range(10):
        chunk(commanded, 0.6 + 0.05 * step, goal=goal)
        assert (commanded.run(0.02)[:, 0] == HOME).all()
    if goal:
        ends = commanded.events_of(GoalEnded)
        assert [end.outcome for end in ends] == [Outcome.INVALID_GOAL] * 10
        assert "'a' is commanded to 0.6000" in ends[0].message
    chunk(commanded, HOME[0])
    assert commanded.run(0.05)[-1, 0, 0] == HOME[0] + 0.01
    chunk(commanded, 0.6)
    assert commanded.run(0.05)[-1, 0, 0] > 0.6, "the hold has ended"


@pytest.mark.parametrize(
    ("times", "q"),
    [
        ([2.0], [[0.9]]),  # leads there from the reference
        ([0.0, 0.1, 0.2], [[HOME[0]], [0.15], [0.3]]),  # starts at the state
        ([0.0, 2.0], [[0.9], [0.5]]),  # the waypoint at time 0 is skipped
    ],
)
def test_a_new_trajectory_is_executed(times, q):
    commanded = robot()
    chunk(commanded, 0.5)
    commanded.run(0.02)
    reset(commanded)
    commanded.follow(["a"], points(times, q), goal="new")
    moved = commanded.run(times[-1] + 0.01)
    assert moved[-1, 0, 0] == q[-1][0]
    assert np.abs(np.diff(moved[:, 0, 0])).max() < 0.01
    assert commanded.events_of(GoalEnded)[-1].outcome is Outcome.SUCCESSFUL


def test_a_full_turn_away_is_near_for_a_trajectory():
    commanded = robot()
    for _ in range(2):
        commanded.follow(["b"], points([0.02], [[HOME[1] + 2 * np.pi]]))
        commanded.run(0.03)
        assert commanded.references.q[1] == pytest.approx(HOME[1])
        reset(commanded)
    assert not commanded.events_of(CommandHeld)
