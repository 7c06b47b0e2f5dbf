"""Invalid commands of all kinds are refused with the cause while the simulation keeps time."""

import math
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from command_clients import ARM, CommandClient, follow, point, seconds, trajectory
from control_msgs.msg import JointTrajectoryControllerState
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from simulators import DATA, ROOT, Listener, Recording, Simulator, SimulatorLauncher, first_line
from stepped_node import SteppedNode
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from mujoco_ros.control.events import Outcome

_NAN, _INF = float("nan"), float("inf")
_POINTS = 30_000

# --- In one process: any message ------------------------------------------------------------------

_NAMES = st.one_of(
    st.sampled_from(
        [*ARM, "left_finger_joint", "right_finger_joint", "elbow", "", "a\nb", "x" * 999]
    ),
)
_NUMBERS = st.one_of(
    st.floats(-4.0, 4.0),
    st.sampled_from([0.0, -0.0, _NAN, _INF, -_INF, 1e300, -1e9, 5e-324, 1e9]),
)


def _field(count: int) -> st.SearchStrategy[list[float]]:
    """Mostly of the right length, mostly of sensible numbers."""
    sensible = st.lists(st.floats(-3.0, 3.0), min_size=count, max_size=count)
    return st.one_of(st.just([]), sensible, sensible, st.lists(_NUMBERS, max_size=count + 1))


@st.composite
def _points(draw: st.DrawFn, count: int) -> JointTrajectoryPoint:
    made = JointTrajectoryPoint()
    made.time_from_start.sec = draw(st.sampled_from([0, 0, 0, 0, 1, -1, 2**31 - 1]))
    made.time_from_start.nanosec = draw(st.sampled_from([0, 10**7, 10**8, 5 * 10**8, 2**32 - 1]))
    for name in ("positions", "velocities", "accelerations", "effort"):
        if name == "positions" or draw(st.booleans()):
            setattr(made, name, draw(_field(count)))
    return made


@st.composite
def _trajectories(draw: st.DrawFn) -> JointTrajectory:
    names = draw(st.one_of(st.just(list(ARM)), st.lists(_NAMES, max_size=8)))
    made = JointTrajectory(joint_names=names)
    made.header.stamp.sec = draw(st.sampled_from([0, 0, 1, -1, 2**31 - 1]))
    made.points = draw(st.lists(_points(len(names)), max_size=4))
    return made


@st.composite
def _joint_commands(draw: st.DrawFn) -> JointState:
    names = draw(st.one_of(st.just(list(ARM)), st.lists(_NAMES, max_size=8)))
    fields = {name: draw(_field(len(names))) for name in ("position", "velocity", "effort")}
    return JointState(name=names, **fields)


def _in_order(stepped: SteppedNode) -> bool:
    """Return whether all references are sensible."""
    joints, references = stepped.control.joints, stepped.references
    within = (references[0] >= joints.lower - 1e-9) & (references[0] <= joints.upper + 1e-9)
    return bool(np.isfinite(references).all() and within.all())


_LIVE = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


@_LIVE
@given(_trajectories())
def test_a_trajectory_is_either_followed_or_refused(
    stepped: SteppedNode, message: JointTrajectory
) -> None:
    stepped.restart()
    before = stepped.references
    goal = follow(joints=())
    goal.trajectory = message
    sent = stepped.commander.send(goal)
    stepped.deliver(stepped.commander.publish_trajectory, message)
    counts, logged = stepped.refusals.counts, "\n".join(stepped.warnings)
    stepped.run(0.02)
    controller = "joint_trajectory_controller"
    if sent.accepted:
        assert not [kind for kind in counts if kind.startswith("refused")], logged
        assert _in_order(stepped)
        assert not message.points or sent.result().result.error_code == Outcome.INVALID_GOAL
    else:
        # For the same reason by both ways.
        assert counts[f"refused on {controller}/follow_joint_trajectory"] == 1
        assert counts[f"refused on {controller}/joint_trajectory"] == 1
        reason = logged.partition("goal rejected: ")[2].partition(f"\n{controller}/")[0]
        assert reason
        assert logged.endswith(f"{controller}/joint_trajectory: {reason}")
        np.testing.assert_array_equal(stepped.references, before)
    assert not [kind for kind in counts if kind.startswith("failed")]


@_LIVE
@given(_joint_commands())
def test_a_joint_command_is_either_applied_or_refused(
    stepped: SteppedNode, message: JointState
) -> None:
    stepped.restart()
    before = stepped.references
    publisher = stepped.commander._publisher(JointState, "joint_commands")
    publisher.publish(message)
    stepped.commander.publish_joints(["marker"], position=[0.0])  # refused in any case
    assert stepped.listener.spin_until(lambda: "'marker' not found" in "".join(stepped.warnings))
    stepped.run(0.02)
    if stepped.refusals.counts["refused on joint_commands"] > 1:
        np.testing.assert_array_equal(stepped.references, before)
    else:
        assert _in_order(stepped)
        values = np.array([*message.position, *message.velocity, *message.effort])
        assert np.isfinite(values[~np.isnan(values)]).all()
    assert not [kind for kind in stepped.refusals.counts if kind.startswith("failed")]


# --- A running simulator --------------------------------------------------------------------------


class Fuzzed:
    """A humanoid, and the messages of its references."""

    def __init__(self, simulator: Simulator, listener: Listener) -> None:
        self.simulator = simulator
        self.listener = listener
        self.commander = CommandClient(listener)
        self._states: Recording = listener.record(
            JointTrajectoryControllerState,
            "/joint_trajectory_controller/controller_state",
            qos=QoSProfile(depth=1),
        )
        self.names = list(self.state().joint_names)

    def state(self) -> JointTrajectoryControllerState:
        """Wait for the next controller state, and return it; one may have waited here for long."""
        self._states.raw.clear()
        assert self.listener.spin_until(lambda: len(self._states) > 1)
        return self._states.latest

    def references(self) -> list[list[float]]:
        reference = self.state().reference
        return [list(reference.positions), list(reference.velocities), list(reference.effort)]

    def still(self) -> JointTrajectoryPoint:
        """Return a point that is where the references are."""
        return point(1.0, self.references()[0], [0.0] * len(self.names))

    def assert_unharmed(self) -> None:
        assert self.simulator.process.poll() is None
        assert "Traceback" not in self.simulator.log
        assert "failed on" not in self.simulator.log


@pytest.fixture(scope="module")
def fuzzed(start_shared: SimulatorLauncher) -> Fuzzed:
    simulator = start_shared.simulator(scene="humanoid", real_time_factor=0.3)
    simulator.wait_until_running()
    return Fuzzed(simulator, start_shared.listener(simulator))


def _set(part: str, value: Any, index: int = 1) -> Callable[[JointTrajectory], None]:
    return lambda message: setattr(message.points[index], part, value)


def _rename(names: Callable[[list[str]], list[str]]) -> Callable[[JointTrajectory], None]:
    def change(message: JointTrajectory) -> None:
        message.joint_names = names(list(message.joint_names))

    return change


def _with(value: float, joint: int) -> list[float]:
    values = [0.0] * 33
    values[joint] = value
    return values


def _backwards(message: JointTrajectory) -> None:
    message.points.reverse()


def _before_the_start(message: JointTrajectory) -> None:
    message.points[0].time_from_start.sec = -3


_NONSENSE: dict[str, tuple[Callable[[JointTrajectory], None], str]] = {
    "NaN": (_set("positions", _with(_NAN, 3)), "positions of joint 'neck_yaw' is nan"),
    "inf": (_set("velocities", _with(_INF, 1)), "velocities of joint 'waist_pitch' is inf"),
    "-inf": (_set("effort", _with(-_INF, 32)), "effort of joint 'right_ankle_roll' is -inf"),
    "unknown": (_rename(lambda n: [*n[:32], "tail"]), "joint 'tail' not found"),
    "duplicate": (_rename(lambda n: [*n[:32], n[0]]), "joint 'waist_yaw' is named twice"),
    "missing": (_rename(lambda n: n[:32]), "point 0 has 33 positions for 32 joints"),
    "nameless": (_rename(lambda _: []), "point 0 has 33 positions for 0 joints"),
    "unordered": (
        _backwards,
        "times must rise from point to point: point 0 is at 2 s and point 1 at 1 s",
    ),
    "negative": (_before_the_start, "time_from_start of point 0 is negative: -3 s"),
    "too long": (_set("positions", [0.0] * 34), "point 1 has 34 positions for 33 joints"),
    "too short": (_set("accelerations", [0.0]), "point 1 has 1 accelerations for 33 joints"),
    "empty": (_set("positions", []), "point 1 has no positions"),
}


@pytest.mark.parametrize("case", _NONSENSE)
def test_invalid_commands_are_refused_by_topic_and_action_while_a_goal_continues(
    fuzzed: Fuzzed, case: str
) -> None:
    change, error_text = _NONSENSE[case]
    where = fuzzed.still()
    running = fuzzed.commander.follow(where, joints=fuzzed.names)
    before = fuzzed.references()
    message = trajectory(fuzzed.still(), point(2.0, [0.0] * 33, [0.0] * 33), joints=fuzzed.names)
    change(message)
    goal = follow(joints=())
    goal.trajectory = message
    assert not fuzzed.commander.send(goal).accepted
    fuzzed.simulator.wait_for_log(f"goal rejected: {error_text}")
    fuzzed.commander.publish_trajectory(message)
    fuzzed.simulator.wait_for_log(f"joint_trajectory_controller/joint_trajectory: {error_text}")
    assert fuzzed.references() == before
    assert not running.ended
    fuzzed.assert_unharmed()


def test_invalid_streamed_commands_are_refused(fuzzed: Fuzzed) -> None:
    before, commander, names = fuzzed.references(), fuzzed.commander, fuzzed.names
    commander.publish_joints(names, position=_with(_INF, 5))
    commander.publish_joints(["tail"], effort=[1.0])
    commander.publish_joints([names[0], names[0]], effort=[1.0, 1.0])
    commander.publish_joints(names, velocity=[0.0])
    commander.publish_forward("position", [0.0] * 3)
    commander.publish_forward("effort", _with(_NAN, 7))
    commander.publish_forward("velocity", [])
    for error_text in (
        "joint_commands: position of joint 'left_shoulder_pitch' is inf",
        "joint_commands: joint 'tail' not found",
        "joint_commands: joint 'waist_yaw' is named twice",
        "joint_commands: velocity has 1 value for 33 joints",
        "position_controller/commands: 3 values for 33 joints",
        "effort_controller/commands: effort of joint 'left_shoulder_yaw' is nan",
        "velocity_controller/commands: 0 values for 33 joints",
    ):
        fuzzed.simulator.wait_for_log(error_text)
    assert fuzzed.references() == before
    fuzzed.assert_unharmed()


def test_every_goal_of_a_burst_ends(fuzzed: Fuzzed) -> None:
    where = fuzzed.still()
    storm = [fuzzed.commander.follow(where, joints=fuzzed.names) for _ in range(10)]
    codes = [goal.result().result.error_code for goal in storm[:-1]]
    assert codes == [int(Outcome.INVALID_GOAL)] * 9
    last = fuzzed.commander.follow(joints=())
    assert last.result().result.error_code == 0
    assert storm[-1].result().result.error_code == Outcome.INVALID_GOAL
    fuzzed.assert_unharmed()


def test_clients_that_are_killed_during_a_goal_have_no_side_effects(fuzzed: Fuzzed) -> None:
    support = ROOT / "test" / "support" / "ros"
    client = subprocess.Popen(
        [sys.executable, support / "killed_client.py", "20"],
        env=fuzzed.simulator.environment | {"PYTHONPATH": f"{ROOT}:{support}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert client.stdout is not None
    assert first_line(client.stdout) == "moving\n"
    client.kill()
    client.wait()
    sent = fuzzed.commander.follow(joints=())
    assert sent.result().result.error_string == "holding position"
    fuzzed.assert_unharmed()


def _many(fuzzed: Fuzzed) -> JointTrajectory:
    """Return a trajectory of 30 000 points, all of them where the references are."""
    where = fuzzed.references()[0]
    points = [JointTrajectoryPoint(positions=where) for _ in range(_POINTS)]
    for i, made in enumerate(points):
        made.time_from_start.sec, hundredths = divmod(i + 1, 100)
        made.time_from_start.nanosec = 10_000_000 * hundredths
    return JointTrajectory(joint_names=fuzzed.names, points=points)


@pytest.fixture(scope="module")
def many(fuzzed: Fuzzed) -> JointTrajectory:
    return _many(fuzzed)


def test_tens_of_thousands_of_points_on_the_topic_are_followed(
    fuzzed: Fuzzed, many: JointTrajectory
) -> None:
    assert seconds(fuzzed.state().reference.time_from_start) == 0.0
    fuzzed.commander.publish_trajectory(many)
    assert fuzzed.listener.spin_until(
        lambda: seconds(fuzzed.state().reference.time_from_start) > 0.1
    )
    assert fuzzed.references()[0] == list(many.points[0].positions)
    fuzzed.commander.publish_trajectory(trajectory(joints=()))
    assert fuzzed.listener.spin_until(
        lambda: seconds(fuzzed.state().reference.time_from_start) == 0.0
    )
    fuzzed.assert_unharmed()


def test_tens_of_thousands_of_points_in_a_goal_are_followed_until_it_is_canceled(
    fuzzed: Fuzzed, many: JointTrajectory
) -> None:
    goal = follow(joints=())
    goal.trajectory = many
    sent = fuzzed.commander.send(goal)
    assert sent.accepted
    assert fuzzed.listener.spin_until(lambda: len(sent.feedback) > 5)
    sent.cancel()
    assert sent.result().result.error_string == "canceled: holding position"
    fuzzed.assert_unharmed()


def test_one_invalid_number_in_tens_of_thousands_of_points_is_detected(
    fuzzed: Fuzzed, many: JointTrajectory
) -> None:
    before = fuzzed.references()
    right = many.points[-1].positions
    many.points[-1].positions = _with(_NAN, 20)
    goal = follow(joints=())
    goal.trajectory = many
    assert not fuzzed.commander.send(goal).accepted
    many.points[-1].positions = right
    fuzzed.simulator.wait_for_log("goal rejected: positions of joint 'right_gripper' is nan")
    assert fuzzed.references() == before
    fuzzed.assert_unharmed()


def test_commands_during_resets_end_with_the_correct_result(start: SimulatorLauncher) -> None:
    # It diverges after every 0.215 s of simulated time.
    simulator = start.simulator(scene=DATA / "runaway.xml", real_time_factor=5.0)
    listener = start.listener(simulator)
    commander, ended = CommandClient(listener), []
    known = {
        (int(Outcome.INVALID_GOAL), "the simulation was reset"),
        (int(Outcome.INVALID_GOAL), "preempted by joint_commands on joint 'away'"),
    }
    for i in range(300):
        goal = commander.follow(point(1.0, [0.0], [0.0]), joints=["away"])
        assert goal.accepted
        if i % 3 == 0:
            commander.publish_joints(["away"], position=[0.01 * math.sin(i)])
        answer = goal.result().result
        ended.append((answer.error_code, answer.error_string))
        if i >= 30 and set(ended) >= known:  # on a loaded machine, resets come before commands
            break
    assert set(ended) == known
    assert ended.count((int(Outcome.INVALID_GOAL), "the simulation was reset")) >= 20
    assert "Traceback" not in simulator.log
    assert simulator.stop() == 0
