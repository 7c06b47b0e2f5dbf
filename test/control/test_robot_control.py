"""Command arbitration: owners of joints, preemption, timeouts and saved states."""

import itertools

import numpy as np
import pytest
from commanded_robot import CommandedRobot, points, some_joints

from mujoco_ros.control.events import (
    CommandError,
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


def robot(**options) -> CommandedRobot:
    return CommandedRobot(JOINTS, q=START, **options)


def command(commanded: CommandedRobot, source: CommandSource, joint: str) -> None:
    """Command a joint so that each of its references changes."""
    match source:
        case CommandSource.TRAJECTORY:
            moves = points([1.0], [[2.0]], [[0.0]], tau=[[4.0]])
            commanded.follow([joint], moves, goal="trajectory")
        case CommandSource.GRIPPER:
            commanded.control.command_gripper(
                GripperCommand(position=0.0, goal="grip"), commanded.time
            )
        case CommandSource.POSITION:
            commanded.send(source, position={joint: 0.5})
        case CommandSource.VELOCITY:
            commanded.send(source, velocity={joint: 1.5})
        case CommandSource.EFFORT:
            commanded.send(source, effort={joint: 2.5})
        case CommandSource.JOINT_COMMANDS:
            commanded.send(position={joint: 0.4}, velocity={joint: 0.3}, effort={joint: 0.2})


PAIRS = [
    (first, second, joint)
    for joint, sources in (
        ("a", (CommandSource.TRAJECTORY, *STREAMS)),
        ("finger", (CommandSource.GRIPPER, CommandSource.JOINT_COMMANDS)),
    )
    for first, second in itertools.permutations(sources, 2)
]


@pytest.mark.parametrize(
    ("preempted", "joint"),
    [
        (CommandSource.TRAJECTORY, "a"),
        (CommandSource.JOINT_COMMANDS, "a"),
        (CommandSource.GRIPPER, "finger"),
    ],
)
def test_a_preempted_source_reports_whether_its_command_was_complete(preempted, joint):
    for seconds, was_idle in ((0.3, False), (3.0, True)):
        commanded = robot()
        command(commanded, preempted, joint)
        for _ in range(10):
            commanded.run(0.1 * seconds)
            if preempted is CommandSource.GRIPPER:
                commanded.control.q[:] = commanded.references.q
        commanded.events.clear()
        commanded.send(CommandSource.POSITION, position={joint: 0.5})
        (taken,) = [event for event in commanded.events if isinstance(event, CommandPreempted)]
        assert taken.was_idle == was_idle


@pytest.mark.parametrize(("preempted", "new_owner", "joint"), PAIRS)
def test_the_newest_command_claims_a_joint_and_the_preempted_source_is_reported(
    preempted, new_owner, joint
):
    commanded = robot()
    i = NAMES.index(joint)
    command(commanded, preempted, joint)
    commanded.run(0.3)
    assert commanded.control.owners()[preempted] == (joint,)
    commanded.events.clear()
    before = commanded.references.values[:, i].copy()
    command(commanded, new_owner, joint)
    events = [event for event in commanded.events if not isinstance(event, GoalProgress)]
    assert events[0] == CommandPreempted(source=preempted, new_owner=new_owner, joints=(joint,))
    if preempted in STREAMS:
        assert len(events) == 1
    else:
        goal = "trajectory" if preempted is CommandSource.TRAJECTORY else "grip"
        (ended,) = events[1:]
        assert isinstance(ended, GoalEnded)
        assert (ended.goal, ended.outcome) == (goal, Outcome.INVALID_GOAL)
        assert ended.message == f"preempted by {new_owner} on joint '{joint}'"
    assert preempted not in commanded.control.owners()
    assert commanded.control.owners()[new_owner] == (joint,)
    after = commanded.step()[:, i]
    match new_owner:
        case CommandSource.TRAJECTORY:
            assert after == pytest.approx(before, abs=1e-12), "it continues from all references"
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
    assert commanded.control.owners() == {
        CommandSource.UNCLAIMED: tuple(name for name in NAMES if name != joint),
        new_owner: (joint,),
    }, "the preempted source does not return"


def test_a_stream_claims_only_the_joints_it_names():
    commanded = robot()
    command(commanded, CommandSource.POSITION, "a")
    commanded.send(CommandSource.EFFORT, effort={"b": 1.0})
    commanded.send(position={"finger": 0.0})
    assert commanded.events == []
    assert commanded.control.owners() == {
        CommandSource.POSITION: ("a",),
        CommandSource.EFFORT: ("b",),
        CommandSource.JOINT_COMMANDS: ("finger",),
    }
    row = commanded.step()
    assert row[0].tolist() == [0.5, -0.2, 0.0]
    assert row[2].tolist() == [0.0, 1.0, 0.0]


def test_each_of_several_preempted_sources_is_reported_with_its_joints():
    commanded = robot()
    command(commanded, CommandSource.POSITION, "a")
    command(commanded, CommandSource.VELOCITY, "b")
    commanded.send(position=dict.fromkeys(NAMES, 0.0))
    events = {event.source: event.joints for event in commanded.events_of(CommandPreempted)}
    assert events == {CommandSource.POSITION: ("a",), CommandSource.VELOCITY: ("b",)}


def test_a_continuing_stream_emits_no_event():
    commanded = robot()
    for _ in range(3):
        command(commanded, CommandSource.JOINT_COMMANDS, "a")
        commanded.run(0.01)
    assert commanded.events == []


def test_a_command_of_nan_claims_no_joint():
    commanded = robot()
    commanded.send(position={"a": np.nan})
    assert commanded.control.owners() == {CommandSource.UNCLAIMED: NAMES}
    assert not commanded.control.active


@pytest.mark.parametrize("source", [CommandSource.TRAJECTORY, *STREAMS])
def test_a_rejected_command_changes_nothing(source):
    commanded = robot(out_of_limits="refuse")
    command(commanded, source, "a")
    twin = robot()
    command(twin, source, "a")
    commanded.run(0.1)
    twin.run(0.1)
    for wrong in (
        lambda: commanded.send(position={"a": 0.0, "b": np.inf}),
        lambda: commanded.send(effort={"b": 1.0, "x": 1.0}),
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
    assert commanded.control.owners() == twin.control.owners()
    assert [type(e) for e in commanded.events] == [type(e) for e in twin.events]


def test_it_is_inactive_before_a_command_and_after_a_reset():
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
    assert commanded.control.owners() == {CommandSource.UNCLAIMED: NAMES}


def test_settings_reach_all_controllers():
    commanded = robot()
    stream, grip = StreamSettings(period=0.5), GripperSettings(max_velocity=1.0)
    wanted = commanded.control.trajectory.settings
    commanded.control.configure(stream, wanted, grip)
    assert commanded.control.stream is stream
    assert commanded.control.trajectory.settings is wanted
    assert commanded.control.gripper.settings is grip


# --- velocities


def test_a_commanded_velocity_is_integrated_to_positions_up_to_the_limits():
    joints = some_joints("ab", limits={"a": (-0.5, 0.5)})
    commanded = CommandedRobot(joints, q=[0.2, 0.2])
    commanded.send(CommandSource.VELOCITY, velocity={"a": 1.0, "b": 1.0})
    rows = commanded.run(1.0)[:, 0]
    moved = 0.2 + 1e-3 * np.arange(1, 1001)
    np.testing.assert_allclose(rows[:, 0], np.minimum(moved, 0.5), atol=1e-9)
    np.testing.assert_allclose(rows[:, 1], moved, atol=1e-9)
    commanded.send(CommandSource.VELOCITY, velocity={"a": -1.0, "b": 0.0})
    rows = commanded.run(0.1)[:, 0]
    assert rows[-1, 0] == pytest.approx(0.4)
    assert np.ptp(rows[:, 1]) == 0.0


def test_joints_without_position_interface_get_no_position_from_their_velocity():
    commanded = CommandedRobot(some_joints("ab", interfaces={"a": ["velocity"]}))
    commanded.send(CommandSource.VELOCITY, velocity={"a": 1.0, "b": 1.0})
    assert commanded.run(0.5)[-1, 0] == pytest.approx([0.0, 0.5])


# --- silence


def silenced(on_timeout: str, **fields: float) -> tuple[CommandedRobot, CommandSource]:
    """A robot whose stream to joint a stopped while the joint was away from its reference."""
    commanded = robot()
    commanded.control.stream = StreamSettings(timeout=0.1, on_timeout=on_timeout)
    commanded.measure = lambda time: np.array([[0.7 + time, 0.0, 0.0], [0.0, 0.0, 0.0]])
    for _ in range(5):
        commanded.send(**{what: {"a": value} for what, value in fields.items()})
        commanded.run(0.02)
    commanded.run(0.08)
    assert commanded.events_of(StreamStopped) == []
    return commanded, CommandSource.JOINT_COMMANDS


def test_a_stream_is_stopped_when_it_is_silent_for_longer_than_its_timeout():
    commanded, source = silenced("hold", position=0.5)
    commanded.run(0.003)
    assert commanded.events_of(StreamStopped) == [
        StreamStopped(source=source, joints=("a",), timeout=0.1, action="hold")
    ]
    assert commanded.control.owners() == {CommandSource.UNCLAIMED: NAMES}
    assert not commanded.control.active


@pytest.mark.parametrize("position", [0.5, 0.0])
def test_a_stopped_stream_of_positions_holds_the_last_one_with_its_effort(position):
    commanded, _ = silenced("hold", position=position, velocity=2.0, effort=3.0)
    assert commanded.run(0.5)[-1, :, 0].tolist() == [position, 0.0, 3.0]


@pytest.mark.parametrize("fields", [{"effort": 3.0}, {"velocity": 2.0, "effort": 3.0}])
def test_a_stopped_stream_without_positions_holds_the_measured_position(fields):
    commanded, _ = silenced("hold", **fields)
    row = commanded.run(0.5)[-1, :, 0]
    assert row[0] == pytest.approx(0.7 + 0.181, abs=0.002)
    assert row[1:].tolist() == [0.0, 0.0]


def test_a_damped_joint_has_no_position_error():
    commanded, _ = silenced("damp", position=0.5, velocity=2.0, effort=3.0)
    commanded.run(0.003)
    for _ in range(50):
        at = 0.7 + commanded.time
        assert commanded.step()[:, 0].tolist() == [at, 0.0, 0.0]
    assert commanded.events_of(StreamStopped)[0].action == "damp"


def test_a_reset_ends_the_damping():
    commanded, _ = silenced("damp", position=0.5)
    commanded.run(0.01)
    assert commanded.control.active
    commanded.control.reset()
    assert not commanded.control.active
    commanded.send(position={"b": 0.0})
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


def test_a_stopped_velocity_stream_stops_the_joint():
    commanded = robot()
    commanded.control.stream = StreamSettings(timeout=0.1)
    commanded.measure = lambda _: np.full((2, 3), 9.0)
    commanded.send(CommandSource.VELOCITY, velocity={"a": 1.0})
    rows = commanded.run(0.5)[:, :, 0]
    assert rows[-1, 0] == pytest.approx(0.1 + 0.101, abs=0.002)
    assert rows[-1, 1:].tolist() == [0.0, 0.0]


def test_without_a_timeout_the_silence_of_a_stream_is_unbounded():
    commanded = robot()
    commanded.send(CommandSource.VELOCITY, velocity={"a": 1.0})
    assert commanded.run(5.0)[-1, 1, 0] == 1.0
    assert commanded.events == []


def test_silence_is_counted_for_each_joint():
    commanded = robot()
    commanded.control.stream = StreamSettings(timeout=0.1)
    for k in range(20):
        commanded.send(position={"a": 0.0} if k > 2 else {"a": 0.0, "b": 0.0})
        commanded.run(0.02)
    assert [event.joints for event in commanded.events_of(StreamStopped)] == [("b",)]
    assert commanded.control.owners()[CommandSource.JOINT_COMMANDS] == ("a",)


@pytest.mark.parametrize("source", [CommandSource.TRAJECTORY, *STREAMS, CommandSource.GRIPPER])
def test_every_source_continues_in_other_arrays(source):
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
    commanded.control.command_gripper(
        GripperCommand(position=0.0, effort=3.0, goal="grip"), commanded.time
    )
    assert limits == [(2, 3.0)]


def test_a_removed_robot_ends_its_goals_with_the_reason():
    commanded = robot()
    command(commanded, CommandSource.TRAJECTORY, "a")
    command(commanded, CommandSource.GRIPPER, "finger")
    commanded.run(0.1)
    commanded.events.clear()
    commanded.control.end("it is gone")
    ended = {event.goal: event.message for event in commanded.events}
    assert ended == {"trajectory": "it is gone", "grip": "it is gone"}
    assert not commanded.control.active


# --- saved states


def run_twice(commanded: CommandedRobot, seconds: float) -> tuple[np.ndarray, np.ndarray]:
    """Run twice from the same saved state; return the references of both runs."""
    control, index = commanded.control, commanded.index
    state, references = control.save_state(), commanded.references.values.copy()
    first = commanded.run(seconds)
    control.reset()
    commanded.references.values[:], commanded.index = references, index
    control.restore_state(state)
    second = commanded.run(seconds)
    control.reset()
    commanded.references.values[:], commanded.index = references, index
    control.restore_state(state)
    return first, second


@pytest.mark.parametrize(("source", "joint"), [(first, joint) for first, _, joint in PAIRS[::4]])
def test_every_source_continues_from_a_saved_state_as_before(source, joint):
    commanded = robot()
    command(commanded, source, joint)
    commanded.run(0.1)
    command(commanded, source, joint)
    holders = commanded.control.owners()
    commanded.run(0.003)
    for _ in range(2):
        first, second = run_twice(commanded, 1.2)
        np.testing.assert_array_equal(first, second)
        assert commanded.control.owners() == holders


def test_successive_trajectories_continue_as_before():
    commanded = robot()
    commanded.follow(["a", "b"], points([0.4, 1.0], [[1.0, 2.0], [0.5, 1.0]]), goal="first")
    commanded.run(0.2)
    commanded.follow(["b"], points([0.5], [[-1.0]]), start=0.5, goal="second")
    commanded.follow(["a"], points([0.2], [[3.0]]), start=0.7, goal="third")
    for wait in (0.1, 0.3, 0.3):
        commanded.run(wait)
        first, second = run_twice(commanded, 1.0)
        np.testing.assert_array_equal(first, second)


def test_goals_are_not_part_of_a_saved_state():
    commanded = robot()
    commanded.follow(["a"], points([0.4], [[1.0]]), goal="goal")
    commanded.run(0.2)
    state = commanded.control.save_state()
    commanded.control.reset()
    assert len(commanded.events_of(GoalEnded)) == 1
    commanded.control.restore_state(state)
    commanded.run(1.0)
    assert len(commanded.events_of(GoalEnded)) == 1
    assert commanded.references.q[0] == 1.0


def test_a_damped_joint_is_damped_again():
    commanded = robot()
    commanded.control.stream = StreamSettings(timeout=0.05, on_timeout="damp")
    commanded.send(position={"a": 0.5})
    commanded.run(0.2)
    commanded.measure = lambda time: np.array([[time, 0.0, 0.0], [0.0, 0.0, 0.0]])
    first, second = run_twice(commanded, 0.1)
    np.testing.assert_array_equal(first, second)
    assert np.ptp(first[:, 0, 0]) > 0.05


@pytest.mark.parametrize(("measured", "q"), [(False, (0.5, -0.7, 0.05)), (True, (0.6, -0.7, 0.9))])
def test_a_released_stream_leaves_its_joints_at_their_references(measured, q):
    commanded = robot()
    control = commanded.control
    commanded.send(
        CommandSource.CONTROLLER, position={"a": 0.5}, velocity={"a": 0.3}, effort={"a": 0.2}
    )
    commanded.send(CommandSource.CONTROLLER, effort={"b": 1.0})
    commanded.run(0.3)
    control.q[:] = 0.6, -0.7, 0.9
    control.release(CommandSource.CONTROLLER, measured=measured)
    assert control.owners() == {CommandSource.UNCLAIMED: NAMES}
    assert not control.active
    # One that was only pushed has no other place than where it is; under other gains, none has.
    assert commanded.references.q.tolist() == list(q)
    assert not commanded.references.dq.any()
    assert commanded.references.tau.tolist() == [0.0 if measured else 0.2, 0.0, 0.0]
