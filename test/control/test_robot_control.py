"""Who commands which joint, and what happens when somebody else does, or nobody any more."""

import itertools

import numpy as np
import pytest
from commanded import Commanded, points, some_joints

from mujoco_ros.control.errors import CommandError
from mujoco_ros.control.events import (
    CommandPreempted,
    CommandSource,
    GoalEnded,
    GoalProgress,
    Outcome,
    StreamStopped,
)
from mujoco_ros.control.gripper import GripperCommand
from mujoco_ros.control.joint_command import joint_command
from mujoco_ros.control.settings import GripperSettings, StreamSettings
from mujoco_ros.control.trajectory.trajectory import trajectory

NAMES = ("a", "b", "finger")
JOINTS = some_joints(NAMES, gripper="finger")
START = (0.1, -0.2, 0.05)
STREAMS = (
    CommandSource.JOINT_COMMANDS,
    CommandSource.POSITION,
    CommandSource.VELOCITY,
    CommandSource.EFFORT,
)


def robot(**options) -> Commanded:
    return Commanded(JOINTS, q=START, **options)


def command(commanded: Commanded, source: CommandSource, joint: str) -> None:
    """Have a joint do something that leaves its mark on each of its references."""
    match source:
        case CommandSource.TRAJECTORY:
            moves = points([1.0], [[2.0]], [[0.0]], tau=[[4.0]])
            commanded.follow([joint], moves, goal="trajectory")
        case CommandSource.GRIPPER:
            commanded.control.grip(GripperCommand(position=0.0), "grip", commanded.time)
        case CommandSource.POSITION:
            commanded.tell(source, position={joint: 0.5})
        case CommandSource.VELOCITY:
            commanded.tell(source, velocity={joint: 1.5})
        case CommandSource.EFFORT:
            commanded.tell(source, effort={joint: 2.5})
        case CommandSource.JOINT_COMMANDS:
            commanded.tell(position={joint: 0.4}, velocity={joint: 0.3}, effort={joint: 0.2})


PAIRS = [
    (first, second, joint)
    for joint, sources in (
        ("a", (CommandSource.TRAJECTORY, *STREAMS)),
        ("finger", (CommandSource.GRIPPER, CommandSource.JOINT_COMMANDS)),
    )
    for first, second in itertools.permutations(sources, 2)
]


@pytest.mark.parametrize(
    ("loser", "joint"),
    [
        (CommandSource.TRAJECTORY, "a"),
        (CommandSource.JOINT_COMMANDS, "a"),
        (CommandSource.GRIPPER, "finger"),
    ],
)
def test_whoever_was_done_with_a_joint_is_told_apart_from_one_who_loses_it(loser, joint):
    for seconds, was_done in ((0.3, False), (3.0, True)):
        commanded = robot()
        command(commanded, loser, joint)
        for _ in range(10):
            commanded.run(0.1 * seconds)
            if loser is CommandSource.GRIPPER:
                commanded.control.q[:] = commanded.references.q
        commanded.events.clear()
        commanded.tell(CommandSource.POSITION, position={joint: 0.5})
        (taken,) = [event for event in commanded.events if isinstance(event, CommandPreempted)]
        assert taken.was_done == was_done


@pytest.mark.parametrize(("loser", "taker", "joint"), PAIRS)
def test_the_newest_command_takes_a_joint_and_the_loser_is_told(loser, taker, joint):
    commanded = robot()
    i = NAMES.index(joint)
    command(commanded, loser, joint)
    commanded.run(0.3)
    assert commanded.control.holders()[loser] == (joint,)
    commanded.events.clear()
    before = commanded.references.values[:, i].copy()
    command(commanded, taker, joint)
    told = [event for event in commanded.events if not isinstance(event, GoalProgress)]
    assert told[0] == CommandPreempted(loser=loser, taker=taker, joints=(joint,))
    if loser in STREAMS:
        assert len(told) == 1
    else:
        goal = "trajectory" if loser is CommandSource.TRAJECTORY else "grip"
        (ended,) = told[1:]
        assert isinstance(ended, GoalEnded)
        assert (ended.goal, ended.outcome) == (goal, Outcome.INVALID_GOAL)
        assert ended.message == f"{taker} took over joint '{joint}'"
    assert loser not in commanded.control.holders()
    assert commanded.control.holders()[taker] == (joint,)
    after = commanded.step()[:, i]
    match taker:
        case CommandSource.TRAJECTORY:
            assert after == pytest.approx(before, abs=1e-12), "it goes on from all of it"
        case CommandSource.GRIPPER:
            assert after.tolist() == pytest.approx([before[0] - 1e-4, 0.0, 0.0])
        case CommandSource.POSITION:
            assert after.tolist() == [0.5, 0.0, 0.0]
        case CommandSource.VELOCITY:
            assert after.tolist() == pytest.approx([before[0] + 1.5e-3, 1.5, 0.0])
        case CommandSource.EFFORT:
            assert after.tolist() == [before[0], 0.0, 2.5]
        case CommandSource.JOINT_COMMANDS:
            assert after.tolist() == [0.4, 0.3, 0.2]
    rest = np.delete(commanded.references.values, i, axis=1)
    np.testing.assert_array_equal(rest, [np.delete(START, i), [0, 0], [0, 0]])
    commanded.run(0.3)
    assert commanded.control.holders() == {
        CommandSource.NOBODY: tuple(name for name in NAMES if name != joint),
        taker: (joint,),
    }, "the loser does not come back by itself"


def test_a_stream_takes_only_the_joints_it_names():
    commanded = robot()
    command(commanded, CommandSource.POSITION, "a")
    commanded.tell(CommandSource.EFFORT, effort={"b": 1.0})
    commanded.tell(position={"finger": 0.0})
    assert commanded.events == []
    assert commanded.control.holders() == {
        CommandSource.POSITION: ("a",),
        CommandSource.EFFORT: ("b",),
        CommandSource.JOINT_COMMANDS: ("finger",),
    }
    row = commanded.step()
    assert row[0].tolist() == [0.5, -0.2, 0.0]
    assert row[2].tolist() == [0.0, 1.0, 0.0]


def test_joints_taken_from_several_are_told_to_each():
    commanded = robot()
    command(commanded, CommandSource.POSITION, "a")
    command(commanded, CommandSource.VELOCITY, "b")
    commanded.tell(position=dict.fromkeys(NAMES, 0.0))
    told = {event.loser: event.joints for event in commanded.heard(CommandPreempted)}
    assert told == {CommandSource.POSITION: ("a",), CommandSource.VELOCITY: ("b",)}


def test_a_stream_that_goes_on_tells_nothing():
    commanded = robot()
    for _ in range(3):
        command(commanded, CommandSource.JOINT_COMMANDS, "a")
        commanded.run(0.01)
    assert commanded.events == []


def test_a_command_that_says_nothing_takes_nothing():
    commanded = robot()
    commanded.tell(position={"a": np.nan})
    assert commanded.control.holders() == {CommandSource.NOBODY: NAMES}
    assert not commanded.control.active


@pytest.mark.parametrize("source", [CommandSource.TRAJECTORY, *STREAMS])
def test_whatever_is_refused_leaves_everything_as_it_was(source):
    commanded = robot(out_of_limits="refuse")
    command(commanded, source, "a")
    twin = robot()
    command(twin, source, "a")
    commanded.run(0.1)
    twin.run(0.1)
    for wrong in (
        lambda: commanded.tell(position={"a": 0.0, "b": np.inf}),
        lambda: commanded.tell(effort={"b": 1.0, "x": 1.0}),
        lambda: joint_command(JOINTS, "clamp", ["a", "b"], ([0.0], [], [])),
        lambda: commanded.follow("bx", points([1.0], [[0.0, 0.0]])),
        lambda: commanded.follow("b", points([1.0, 0.5], [[0.0], [0.0]])),
        lambda: commanded.follow("b", points([1.0], [[1e300]])),
        lambda: trajectory(
            JOINTS, commanded.control.trajectory.settings, "clamp", [], None, points([1.0], [[0.0]])
        ),
    ):
        with pytest.raises(CommandError):
            wrong()
    np.testing.assert_array_equal(commanded.run(0.5), twin.run(0.5))
    assert commanded.control.holders() == twin.control.holders()
    assert [type(e) for e in commanded.events] == [type(e) for e in twin.events]


def test_nothing_is_to_be_done_before_a_command_nor_after_a_reset():
    commanded = robot()
    assert not commanded.control.active
    for source, joint in (
        (CommandSource.POSITION, "a"),
        (CommandSource.VELOCITY, "b"),
        (CommandSource.GRIPPER, "finger"),
    ):
        command(commanded, source, joint)
        assert commanded.control.active
    commanded.run(0.1)
    commanded.control.reset()
    assert not commanded.control.active
    assert commanded.control.holders() == {CommandSource.NOBODY: NAMES}


def test_settings_reach_everything_they_are_for():
    commanded = robot()
    stream, grip = StreamSettings(period=0.5), GripperSettings(max_velocity=1.0)
    wanted = commanded.control.trajectory.settings
    commanded.control.configure(stream, wanted, grip)
    assert commanded.control.stream is stream
    assert commanded.control.trajectory.settings is wanted
    assert commanded.control.gripper.settings is grip


# --- velocities


def test_positions_move_along_with_a_commanded_velocity_and_stop_at_the_limits():
    joints = some_joints("ab", limits={"a": (-0.5, 0.5)})
    commanded = Commanded(joints, q=[0.2, 0.2])
    commanded.tell(CommandSource.VELOCITY, velocity={"a": 1.0, "b": 1.0})
    rows = commanded.run(1.0)[:, 0]
    moved = 0.2 + 1e-3 * np.arange(1, 1001)
    np.testing.assert_allclose(rows[:, 0], np.minimum(moved, 0.5), atol=1e-9)
    np.testing.assert_allclose(rows[:, 1], moved, atol=1e-9)
    commanded.tell(CommandSource.VELOCITY, velocity={"a": -1.0, "b": 0.0})
    rows = commanded.run(0.1)[:, 0]
    assert rows[-1, 0] == pytest.approx(0.4)
    assert np.ptp(rows[:, 1]) == 0.0


def test_joints_that_take_no_positions_get_none_from_their_velocity():
    commanded = Commanded(some_joints("ab", takes={"a": ["velocity"]}))
    commanded.tell(CommandSource.VELOCITY, velocity={"a": 1.0, "b": 1.0})
    assert commanded.run(0.5)[-1, 0] == pytest.approx([0.0, 0.5])


# --- silence


def silenced(on_timeout: str, **fields: float) -> tuple[Commanded, CommandSource]:
    """A robot whose stream to joint a fell silent while the joint was elsewhere than told."""
    commanded = robot()
    commanded.control.stream = StreamSettings(timeout=0.1, on_timeout=on_timeout)
    commanded.measure = lambda time: np.array([[0.7 + time, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for _ in range(5):
        commanded.tell(**{what: {"a": value} for what, value in fields.items()})
        commanded.run(0.02)
    commanded.run(0.08)
    assert commanded.heard(StreamStopped) == []
    return commanded, CommandSource.JOINT_COMMANDS


def test_a_stream_is_stopped_when_it_is_silent_for_longer_than_it_may():
    commanded, source = silenced("hold", position=0.5)
    commanded.run(0.003)
    assert commanded.heard(StreamStopped) == [
        StreamStopped(source=source, joints=("a",), timeout=0.1, action="hold")
    ]
    assert commanded.control.holders() == {CommandSource.NOBODY: NAMES}
    assert not commanded.control.active


@pytest.mark.parametrize("position", [0.5, 0.0])
def test_a_stopped_stream_of_positions_holds_the_last_one_with_its_effort(position):
    commanded, _ = silenced("hold", position=position, velocity=2.0, effort=3.0)
    assert commanded.run(0.5)[-1, :, 0].tolist() == [position, 0.0, 3.0]


@pytest.mark.parametrize("fields", [{"effort": 3.0}, {"velocity": 2.0, "effort": 3.0}])
def test_a_stopped_stream_that_said_no_position_holds_where_the_joint_is(fields):
    commanded, _ = silenced("hold", **fields)
    row = commanded.run(0.5)[-1, :, 0]
    assert row[0] == pytest.approx(0.7 + 0.181, abs=0.002)
    assert row[1:].tolist() == [0.0, 0.0]


def test_a_damped_joint_is_pulled_nowhere():
    commanded, _ = silenced("damp", position=0.5, velocity=2.0, effort=3.0)
    commanded.run(0.003)
    for _ in range(50):
        at = 0.7 + commanded.time
        assert commanded.step()[:, 0].tolist() == [at, 0.0, 0.0]
    assert commanded.heard(StreamStopped)[0].action == "damp"


def test_a_reset_ends_the_damping():
    commanded, _ = silenced("damp", position=0.5)
    commanded.run(0.01)
    assert commanded.control.active
    commanded.control.reset()
    assert not commanded.control.active
    commanded.tell(position={"b": 0.0})
    before = commanded.references.q[0]
    assert commanded.step()[0, 0] == before


@pytest.mark.parametrize(
    "source", [CommandSource.JOINT_COMMANDS, CommandSource.TRAJECTORY, CommandSource.EFFORT]
)
def test_a_damped_joint_can_be_commanded_again(source):
    commanded, _ = silenced("damp", position=0.5)
    commanded.run(0.01)
    twin = robot()
    twin.references.assign(commanded.references)
    twin.index = commanded.index
    twin.measure = commanded.measure
    for each in (commanded, twin):
        command(each, source, "a")
    np.testing.assert_array_equal(commanded.run(0.05), twin.run(0.05))


def test_a_stopped_velocity_stops_the_joint_on_its_way():
    commanded = robot()
    commanded.control.stream = StreamSettings(timeout=0.1)
    commanded.measure = lambda _: np.full((2, 3), 9.0)
    commanded.tell(CommandSource.VELOCITY, velocity={"a": 1.0})
    rows = commanded.run(0.5)[:, :, 0]
    assert rows[-1, 0] == pytest.approx(0.1 + 0.101, abs=0.002)
    assert rows[-1, 1:].tolist() == [0.0, 0.0]


def test_without_a_timeout_a_stream_may_be_silent_for_ever():
    commanded = robot()
    commanded.tell(CommandSource.VELOCITY, velocity={"a": 1.0})
    assert commanded.run(5.0)[-1, 1, 0] == 1.0
    assert commanded.events == []


def test_silence_is_counted_for_each_joint():
    commanded = robot()
    commanded.control.stream = StreamSettings(timeout=0.1)
    for k in range(20):
        commanded.tell(position={"a": 0.0} if k > 2 else {"a": 0.0, "b": 0.0})
        commanded.run(0.02)
    assert [event.joints for event in commanded.heard(StreamStopped)] == [("b",)]
    assert commanded.control.holders()[CommandSource.JOINT_COMMANDS] == ("a",)


@pytest.mark.parametrize("source", [CommandSource.TRAJECTORY, *STREAMS, CommandSource.GRIPPER])
def test_whoever_commands_goes_on_in_other_arrays(source):
    joint = "finger" if source is CommandSource.GRIPPER else "a"
    commanded, moved = robot(), robot()
    for one in (commanded, moved):
        command(one, source, joint)
        one.run(0.3)
    values = np.zeros((3, 5))
    values[:, 1:4] = moved.control.references.values
    moved.control.bind(values[:, 1:4], moved.control.timestep, lambda _joint, _effort: None)
    for one in (commanded, moved):
        one.run(0.4)
    assert values[:, 1:4].tolist() == commanded.control.references.values.tolist()


def test_efforts_are_limited_where_the_joints_are_now():
    commanded, limits = robot(), []
    commanded.control.bind(
        commanded.control.references.values,
        commanded.control.timestep,
        lambda joint, effort: limits.append((joint, effort)),
    )
    commanded.control.grip(GripperCommand(position=0.0, effort=3.0), "grip", commanded.time)
    assert limits == [(2, 3.0)]


def test_a_robot_that_goes_ends_its_goals_with_the_reason():
    commanded = robot()
    command(commanded, CommandSource.TRAJECTORY, "a")
    command(commanded, CommandSource.GRIPPER, "finger")
    commanded.run(0.1)
    commanded.events.clear()
    commanded.control.reset("it is gone")
    ended = {event.goal: event.message for event in commanded.events}
    assert ended == {"trajectory": "it is gone", "grip": "it is gone"}
    assert not commanded.control.active


# --- going back to what was under way


def again(commanded: Commanded, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Run, go back to where that began, and run once more; return the references of both runs."""
    control, index = commanded.control, commanded.index
    memory, references = control.memory(), commanded.references.values.copy()
    first = commanded.run(seconds)
    control.reset()
    commanded.references.values[:], commanded.index = references, index
    control.recall(memory)
    second = commanded.run(seconds)
    control.reset()
    commanded.references.values[:], commanded.index = references, index
    control.recall(memory)
    return first, second


@pytest.mark.parametrize(("source", "joint"), [(first, joint) for first, _, joint in PAIRS[::4]])
def test_whoever_moves_a_joint_goes_on_from_a_memory_as_before(source, joint):
    commanded = robot()
    command(commanded, source, joint)
    commanded.run(0.1)
    command(commanded, source, joint)
    holders = commanded.control.holders()
    commanded.run(0.003)
    for _ in range(2):
        first, second = again(commanded, 1.2)
        np.testing.assert_array_equal(first, second)
        assert commanded.control.holders() == holders


def test_trajectories_that_follow_each_other_go_on_as_before():
    commanded = robot()
    commanded.follow(["a", "b"], points([0.4, 1.0], [[1.0, 2.0], [0.5, 1.0]]), goal="first")
    commanded.run(0.2)
    commanded.follow(["b"], points([0.5], [[-1.0]]), start=0.5, goal="second")
    commanded.follow(["a"], points([0.2], [[3.0]]), start=0.7, goal="third")
    for wait in (0.1, 0.3, 0.3):
        commanded.run(wait)
        first, second = again(commanded, 1.0)
        np.testing.assert_array_equal(first, second)


def test_goals_are_not_part_of_a_memory():
    commanded = robot()
    commanded.follow(["a"], points([0.4], [[1.0]]), goal="goal")
    commanded.run(0.2)
    memory = commanded.control.memory()
    commanded.control.reset()
    assert len(commanded.heard(GoalEnded)) == 1
    commanded.control.recall(memory)
    commanded.run(1.0)
    assert len(commanded.heard(GoalEnded)) == 1
    assert commanded.references.q[0] == 1.0


def test_a_damped_joint_is_damped_again():
    commanded = robot()
    commanded.control.stream = StreamSettings(timeout=0.05, on_timeout="damp")
    commanded.tell(position={"a": 0.5})
    commanded.run(0.2)
    commanded.measure = lambda time: np.array([[time, 0.0, 0.0], [0.0, 0.0, 0.0]])
    first, second = again(commanded, 0.1)
    np.testing.assert_array_equal(first, second)
    assert np.ptp(first[:, 0, 0]) > 0.05


@pytest.mark.parametrize(("measured", "q"), [(False, (0.5, -0.7, 0.05)), (True, (0.6, -0.7, 0.9))])
def test_a_stream_that_is_dropped_leaves_its_joints_where_they_are_told_to_be(measured, q):
    commanded = robot()
    control = commanded.control
    commanded.tell(
        CommandSource.CONTROLLER, position={"a": 0.5}, velocity={"a": 0.3}, effort={"a": 0.2}
    )
    commanded.tell(CommandSource.CONTROLLER, effort={"b": 1.0})
    commanded.run(0.3)
    control.q[:] = 0.6, -0.7, 0.9
    control.drop(CommandSource.CONTROLLER, measured=measured)
    assert control.holders() == {CommandSource.NOBODY: NAMES}
    assert not control.active
    # One that was only pushed has no other place than where it is; under other gains, none has.
    assert commanded.references.q.tolist() == list(q)
    assert not commanded.references.dq.any()
    assert commanded.references.tau.tolist() == [0.0 if measured else 0.2, 0.0, 0.0]
