"""Commands of several robots, killed clients, resets and reproducible motions."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from command_clients import ARM, CommandClient, duration, point, seconds, trajectory
from control_msgs.msg import JointTolerance, JointTrajectoryControllerState
from sensor_msgs.msg import JointState
from simulators import (
    ROOT,
    Listener,
    Recording,
    Simulator,
    SimulatorLauncher,
    first_line,
    steps_of,
)
from stepped_node import SteppedNode

from mujoco_ros.bridge.commands.trajectory_server import to_trajectory
from mujoco_ros.control.events import Outcome, SimulationReset
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

_STILL = [0.0] * 6
_LEFT, _RIGHT = "left_arm", "right_arm"


@pytest.fixture(scope="module")
def stepped_zoo() -> Iterator[SteppedNode]:
    """The zoo, stepped by tests."""
    zoo = SteppedNode("zoo")
    yield zoo
    zoo.close()


@pytest.fixture
def zoo_of_two_arms(
    stepped_zoo: SteppedNode,
) -> tuple[SteppedNode, dict[str, CommandClient], dict[str, np.ndarray]]:
    """The zoo in its initial state, clients of its arms, and the references of their joints."""
    stepped_zoo.restart()
    robots = [robot.name for robot in stepped_zoo.simulation.layout.robots]
    controls = dict(zip(robots, stepped_zoo.simulation.controls, strict=True))
    arms = (_LEFT, _RIGHT)
    return (
        stepped_zoo,
        {arm: CommandClient(stepped_zoo.listener, arm) for arm in arms},
        {arm: controls[arm].references.q for arm in arms},
    )


def test_two_robots_execute_goals_simultaneously(zoo_of_two_arms: Any) -> None:
    stepped, commanders, references = zoo_of_two_arms
    home = {arm: references[arm][:6].copy() for arm in commanders}
    left = commanders[_LEFT].follow(point(0.4, home[_LEFT] + 0.1, _STILL))
    right = commanders[_RIGHT].follow(point(0.2, home[_RIGHT] - 0.1, _STILL))
    stepped.run(0.1)
    commanders[_RIGHT].publish_trajectory(trajectory())  # hold
    stepped.deliver(commanders[_RIGHT].publish_joints, ["left_finger_joint"], position=[0.01])
    assert stepped.finish(left).result.error_code == 0
    answer = right.result().result
    assert answer.error_string == "preempted by an empty trajectory, which means hold"
    np.testing.assert_array_equal(references[_LEFT][:6], home[_LEFT] + 0.1)
    assert (references[_RIGHT][:6] < home[_RIGHT] - 0.03).all()
    assert (references[_RIGHT][:6] > home[_RIGHT] - 0.07).all()
    assert references[_LEFT][6] == 0.03
    assert references[_RIGHT][6] == 0.01
    assert all(tuple(feedback.joint_names) == ARM for feedback in left.feedback)


def test_warnings_about_commands_name_the_robot(zoo_of_two_arms: Any) -> None:
    stepped, commanders, references = zoo_of_two_arms
    stepped.deliver(commanders[_LEFT].publish_joints, ["elbow"], position=[0.0])
    assert not commanders[_RIGHT].follow(point(0.1, [0.0]), joints=["elbow"]).accepted
    assert not commanders[_RIGHT].grip(float("nan")).accepted
    by_name, by_goal, by_grip = stepped.warnings
    assert by_name.startswith("left_arm/joint_commands: joint 'elbow' not found")
    assert by_goal.startswith(
        "right_arm/joint_trajectory_controller/follow_joint_trajectory: goal rejected: "
        "joint 'elbow'"
    )
    assert by_grip.startswith("right_arm/gripper_controller/gripper_cmd: goal rejected: position")
    stepped.warnings.clear()
    for arm, commander in commanders.items():
        stepped.deliver(commander.publish_joints, ARM[:1], position=references[arm][:1])
        stepped.deliver(commander.publish_forward, "position", references[arm][:6])
    stepped.step(2)
    stepped.pass_on()
    assert sorted(stepped.warnings) == [
        f"{arm}/joint_commands: position_controller took over {ARM[0]}" for arm in (_LEFT, _RIGHT)
    ]
    assert (
        stepped.refusals.counts["joints lost to position_controller on right_arm/joint_commands"]
        == 1
    )


def test_a_delayed_client_gets_only_the_latest_feedback(stepped: SteppedNode) -> None:
    sent = stepped.commander.follow(point(1.0, stepped.references[0, :6], _STILL))
    stepped.step(430)
    stepped.pass_on()
    assert stepped.listener.spin_until(lambda: len(sent.feedback) > 0)
    stepped.listener.spin_for(0.1)
    (feedback,) = sent.feedback
    assert seconds(feedback.header.stamp) == 0.4
    assert stepped.finish(sent).result.error_code == 0


def test_an_error_in_the_handling_of_an_event_is_reported_and_loses_no_other_event(
    stepped: SteppedNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_event: SimulationReset) -> None:
        raise ZeroDivisionError("a mistake")

    sent = stepped.commander.follow(point(1.0, stepped.references[0, :6], _STILL))
    stepped.run(0.1)
    monkeypatch.setattr(stepped, "_count_reset", fail)
    stepped.diverge()
    stepped.pass_on()
    assert sent.result().result.error_string == "the simulation was reset"
    assert stepped.warnings == ["control: ZeroDivisionError('a mistake')"]
    assert stepped.refusals.counts == {"failed on control": 1}


def test_a_reset_is_notified_once_and_no_event_before_the_start_is(stepped: SteppedNode) -> None:
    fresh = SteppedNode("arm")
    try:
        fresh.deliver(fresh.commander.publish_joints, ARM[:1], position=[0.1])
        fresh.deliver(fresh.commander.publish_forward, "position", [0.1] * 6)
        fresh.run(0.01)
        fresh.pass_on()
        assert len(fresh.warnings) == 1
        assert fresh.resets == 0
        fresh.diverge()
        fresh.pass_on()
        assert fresh.resets == 1
    finally:
        fresh.close()


_MOVES = ((0.15, 0.5), (0.4, -0.3), (0.5, 0.2), (0.8, 0.0))


def _replayed(message: Any, steps: set[int]) -> dict[int, bytes]:
    """Return the expected joint_states at some steps of a trajectory."""
    simulation = Simulation(load_scene("arm"))
    (control,), (robot,) = simulation.controls, simulation.layout.robots
    checked = to_trajectory(message, control.joints, control.trajectory.settings, "clamp")
    assert checked is not None
    control.follow(checked, 0.0)
    qpos, dof, sample = robot.joints.qpos, robot.joints.dof, simulation.sample
    found = {}
    for step in range(max(steps) + 1):
        assert simulation.step()
        if step in steps:
            parts = (sample.qpos[qpos], sample.qvel[dof], sample.qfrc_actuator[dof])
            found[step] = b"".join(part.tobytes() for part in parts)
    return found


def _states(recording: Recording) -> dict[int, bytes]:
    """Return the numbers of joint_states by step."""
    messages = recording.messages
    return {
        step: b"".join(part.tobytes() for part in (m.position, m.velocity, m.effort))
        for m, step in zip(messages, steps_of(messages), strict=True)
    }


def _last_step(recording: Recording) -> int:
    return steps_of(Recording(recording.kind, recording.raw[-1:]).messages)[0]


_BEGIN, _LENGTH = 0.5, _MOVES[-1][0]
_RECEIVED = {1.0: 300, 5.0: 20, 0.0: 2}
"""Least number of states during the motion, by real-time factor; at 0 a listener loses most."""


def _follow(start: SimulatorLauncher, factor: float, points: list[Any]) -> dict[int, bytes]:
    """Return the states that a listener receives of a simulator that follows a trajectory."""
    # Slowly at first, so that it has its goal before it begins.
    rates = {"publish_rate__joint_states": 1000.0, "publish_rate__controller_state": 0.0}
    simulator = start.simulator(scene="arm", real_time_factor=0.02, **rates)
    listener = start.listener(simulator)
    recording = listener.record(JointState, "/joint_states", reliable=True)
    goal = CommandClient(listener).follow(*points, start=_BEGIN)
    assert goal.accepted
    assert listener.spin_until(lambda: len(recording) > 0)
    assert max(steps_of(recording.messages)) < 1000 * _BEGIN
    assert listener.set_parameters({"real_time_factor": factor})[0].successful
    assert goal.result().result.error_code == 0
    # On a busy machine the result overtakes the states, which the listener takes one by one.
    assert listener.spin_until(lambda: _last_step(recording) > 1000 * (_BEGIN + _LENGTH))
    listener.forget_subscriptions()
    simulator.stop()
    return _states(recording)


@pytest.mark.parametrize("factor", _RECEIVED)
def test_a_trajectory_gives_bitwise_equal_joint_paths_at_any_real_time_factor(
    start: SimulatorLauncher, factor: float
) -> None:
    home = Simulation(load_scene("arm")).references.q[:6]
    points = [point(time, home + offset, _STILL) for time, offset in _MOVES]
    moving: set[int] = set()
    for _ in range(3):  # only the received states count, and a busy machine loses many
        path = _follow(start, factor, points)
        expected = _replayed(trajectory(*points, start=_BEGIN), set(path))
        wrong = [step for step, state in path.items() if state != expected[step]]
        assert not wrong, f"at steps {wrong[:5]}"
        moving |= {step for step in path if 0 <= step - 1000 * _BEGIN <= 1000 * _LENGTH}
        if len(moving) > _RECEIVED[factor]:
            break
    assert len(moving) > _RECEIVED[factor]


@pytest.fixture(scope="module")
def arm(start_shared: SimulatorLauncher) -> tuple[Simulator, Listener]:
    """The shipped arm, running at twice real time."""
    simulator = start_shared.simulator(scene="arm", real_time_factor=2.0)
    return simulator, start_shared.listener(simulator)


def _reference(listener: Listener) -> np.ndarray:
    """Return the latest position references of the arm."""
    topic = "/joint_trajectory_controller/controller_state"
    states = listener.record(JointTrajectoryControllerState, topic, reliable=True)
    assert listener.spin_until(lambda: len(states) > 0)
    listener.forget_subscriptions()
    return np.array(states.latest.reference.positions)


def _dying_client(simulator: Simulator, seconds: float) -> "subprocess.Popen[str]":
    support = ROOT / "test" / "support" / "ros"
    environment = simulator.environment | {"PYTHONPATH": f"{ROOT}:{support}"}
    return subprocess.Popen(
        [sys.executable, support / "killed_client.py", f"{seconds}"],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_trajectory_continues_after_its_client_dies(
    arm: tuple[Simulator, Listener],
) -> None:
    simulator, listener = arm
    before = _reference(listener)
    client = _dying_client(simulator, 8.0)
    assert client.stdout is not None
    assert first_line(client.stdout) == "moving\n"
    client.kill()
    client.wait()
    assert (_reference(listener) < before + 0.099).any()
    assert listener.spin_until(lambda: bool((_reference(listener) == before + 0.1).all()))
    # The simulator is as ready as before for the next one.
    sent = CommandClient(listener).follow(point(0.2, before, _STILL))
    assert sent.result().result.error_code == 0
    assert not [line for line in simulator.warnings() if "gone away" not in line]


def test_goals_end_with_the_correct_result_in_a_threaded_simulation(
    arm: tuple[Simulator, Listener],
) -> None:
    _, listener = arm
    commander, home = CommandClient(listener), _reference(listener)
    preempted = commander.follow(point(20.0, home + 1.0, _STILL))
    assert listener.spin_until(lambda: len(preempted.feedback) > 3)
    canceled = commander.follow(point(20.0, home - 1.0, _STILL))
    answer = preempted.result().result
    assert answer.error_code == Outcome.INVALID_GOAL
    assert answer.error_string == "preempted by a new trajectory"
    canceled.cancel()
    assert canceled.result().result.error_string == "canceled: holding position"
    violated = commander.follow(
        point(0.2, home + 1.0, _STILL), path_tolerance=[JointTolerance(name=ARM[0], position=0.001)]
    )
    assert violated.result().result.error_code == Outcome.PATH_TOLERANCE_VIOLATED
    missed = commander.follow(
        point(0.5, home, _STILL),
        goal_tolerance=[JointTolerance(name=name, position=1e-6) for name in ARM],
        goal_time_tolerance=duration(0.2),
    )
    assert missed.result().result.error_code == Outcome.GOAL_TOLERANCE_VIOLATED
    taken = commander.follow(point(20.0, home + 1.0, _STILL))
    commander.publish_joints(ARM[1:2], position=home[1:2])
    answer = taken.result().result
    assert answer.error_string == "preempted by joint_commands on joint 'shoulder_lift_joint'"
    back = commander.follow(point(0.5, home, _STILL))
    assert back.result().result.error_string == "goal reached"
    np.testing.assert_array_equal(_reference(listener), home)


def test_a_simulator_ends_cleanly_during_a_goal(arm: tuple[Simulator, Listener]) -> None:
    simulator, listener = arm
    sent = CommandClient(listener).follow(point(60.0, _reference(listener), _STILL))
    assert listener.spin_until(lambda: len(sent.feedback) > 1)
    before = time.monotonic()
    assert simulator.stop(signal.SIGINT) == 0
    assert time.monotonic() - before < 2.0
    assert sent.result().result.error_string == "the simulator ended"
    assert "Traceback" not in simulator.log
    simulator.wait_until_gone()
