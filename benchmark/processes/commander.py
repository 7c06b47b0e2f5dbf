"""Process that commands the simulator: ``python -m benchmark.processes.commander``.

It runs a scenario and saves its records. Times are CLOCK_MONOTONIC, common to all processes.
"""

import argparse
import gc
import itertools
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic_ns
from typing import Any

import numpy as np
import rclpy
from builtin_interfaces.msg import Duration
from control_msgs.action import FollowJointTrajectory
from control_msgs.msg import JointTrajectoryControllerState
from rcl_interfaces.msg import Parameter, ParameterType, ParameterValue
from rcl_interfaces.srv import GetParameters, ListParameters, SetParametersAtomically
from rclpy.action import ActionClient
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message
from rclpy.task import Future
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from benchmark.processes.arm_motion import JOINTS, PATH, ArmModel, Motion, motion
from benchmark.processes.numbered_commands import SOURCES, Source
from mujoco_ros.wire.conversions import split

Records = dict[str, Any]

STREAM_HZ = 200.0
_TIMEOUT_S = 120.0  # of a busy machine
_DEEP = 5000
_AMPLITUDE_RAD, _FREQUENCY_HZ, _POINT_PERIOD_S = 0.01, 1.0, 0.05
_GAINS_HZ = 10.0
PACES = {
    "gravity_gentle": (0.1, False),
    "gravity_lab": (0.3, False),  # the lab's whole cycle with grasps takes 8.2 s
    "gravity_fast": (1.0, False),
    "dynamics_fast": (1.0, True),
}
"""Fraction of the largest acceleration, and whether all dynamics are fed forward."""
_SETTLE_S = 0.2
STATES_HZ = 200.0
"""Rate of controller_state: an error lasts a tenth of a second, and a client receives all."""
_REST_S = np.array([0.0, 2.0])  # the arm settles within 0.14 s (kd/kp)


class Commander:
    """A node with blocking calls."""

    def __init__(self) -> None:
        self.node = Node("benchmark_commander", start_parameter_services=False)
        self.begun = monotonic_ns()
        """Begin of the scenario, after its preparations."""

    def wait(self, future: Future, timeout_s: float = _TIMEOUT_S) -> Any:
        """Return the result of a future."""
        rclpy.spin_until_future_complete(self.node, future, timeout_sec=timeout_s)
        if not future.done():
            raise TimeoutError(f"no response within {timeout_s:g} s")
        return future.result()

    def until(self, condition: Callable[[], object]) -> None:
        """Spin until a condition is met."""
        deadline = time.monotonic() + _TIMEOUT_S
        while not condition():
            if time.monotonic() > deadline:
                raise TimeoutError(f"the condition was not met within {_TIMEOUT_S:g} s")
            rclpy.spin_once(self.node, timeout_sec=0.05)

    def client(self, kind: Any, name: str) -> Callable[[Any], Any]:
        """Return a function that calls a service of the simulator."""
        client = self.node.create_client(kind, f"mujoco/{name}")
        if not client.wait_for_service(_TIMEOUT_S):
            raise TimeoutError(f"no service {name}")
        return lambda request: self.wait(client.call_async(request))

    def joint_states(self) -> JointState:
        """Return the present joint states."""
        received: list[JointState] = []
        subscription = self.node.create_subscription(JointState, "joint_states", received.append, 1)
        self.until(lambda: received)
        self.node.destroy_subscription(subscription)
        return received[0]

    def trajectory_sender(self) -> Callable[[JointTrajectory], None]:
        """Return a function that sends a trajectory and waits for its end."""
        client = ActionClient(
            self.node, FollowJointTrajectory, "joint_trajectory_controller/follow_joint_trajectory"
        )
        if not client.wait_for_server(_TIMEOUT_S):
            raise TimeoutError("no follow_joint_trajectory")

        def follow(trajectory: JointTrajectory) -> None:
            goal = FollowJointTrajectory.Goal(trajectory=trajectory)
            handle = self.wait(client.send_goal_async(goal, feedback_callback=lambda _: None))
            if not handle.accepted:
                raise RuntimeError("the simulator rejected the trajectory")
            result = self.wait(handle.get_result_async(), 60.0).result
            if result.error_code:
                raise RuntimeError(f"the trajectory failed: {result.error_string}")

        return follow


def follow(commander: Commander, seconds: float) -> Records:
    """Move the arm as in a pick and place; record the position errors of its joints [rad].

    Motions that take longer than `seconds` are left out.
    """
    states: list[bytes] = []
    commander.node.create_subscription(
        JointTrajectoryControllerState,
        "joint_trajectory_controller/controller_state",
        states.append,
        QoSProfile(depth=_DEEP),
        raw=True,
    )
    send = commander.trajectory_sender()
    arm = ArmModel()
    rest = Motion(times=_REST_S, q=PATH[[0, 0]], dq=np.zeros((2, 6)), ddq=np.zeros((2, 6)))
    records: Records = {}
    for name, (share, dynamics) in PACES.items():
        moves = motion(PATH, share)
        if moves.times[-1] > seconds:
            continue
        send(_trajectory(rest, arm, dynamics=False))
        states.clear()
        send(_trajectory(moves, arm, dynamics=dynamics))
        errors = [
            deserialize_message(state, JointTrajectoryControllerState).error.positions
            for state in states
        ]
        if not errors:
            raise RuntimeError(f"no state arrived in the {moves.times[-1]:g} s of {name}")
        records[name], records[f"{name}_s"] = np.array(errors), moves.times[-1]
    return records


def numbered(source: Source, commander: Commander, seconds: float) -> Records:
    """Send numbered commands at the rate of their source; note when each command left."""
    states = commander.joint_states()
    connected, send, start = source.opened(commander.node, source.topic, states, source.unit)
    commander.until(connected)
    send(0)
    time.sleep(_SETTLE_S)
    count = round(seconds * source.rate_hz)
    sent = np.zeros(count, dtype=np.int64)
    commander.begun, begin = monotonic_ns(), time.monotonic()
    for number in range(1, count + 1):
        _sleep_until(begin + number / source.rate_hz)
        sent[number - 1] = monotonic_ns()
        send(number)
        if source.spins:
            rclpy.spin_once(commander.node, timeout_sec=0)
    time.sleep(0.1)
    return {"sent": sent, "start": np.array(start)}


def alternate(commander: Commander, seconds: float) -> Records:
    """Alternate: a second of trajectory, idle, stream, idle."""
    send = commander.trajectory_sender()
    publisher = commander.node.create_publisher(JointState, "joint_commands", 10)
    states = commander.joint_states()
    commander.until(publisher.get_subscription_count)
    names, q = list(states.name), np.array(states.position)
    trajectory = _oscillating_trajectory(names, q)
    message = JointState(name=names)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        send(trajectory)
        time.sleep(1.0)
        begin = time.monotonic()
        for number in range(int(STREAM_HZ)):
            _sleep_until(begin + number / STREAM_HZ)
            position, velocity, _ = _oscillation(q, number / STREAM_HZ)
            message.position, message.velocity = position.tolist(), velocity.tolist()
            message.effort = [0.0] * len(names)
            publisher.publish(message)
        message.position, message.velocity = q.tolist(), [0.0] * len(names)
        publisher.publish(message)
        time.sleep(1.0)
    return {}


def gains(commander: Commander, seconds: float) -> Records:
    """Change all gains at once, repeatedly; record the duration of each change."""
    listed = commander.client(ListParameters, "list_parameters")(
        ListParameters.Request(prefixes=["gains"], depth=0)
    )
    names = list(listed.result.names)
    answer = commander.client(GetParameters, "get_parameters")(GetParameters.Request(names=names))
    values = np.array([value.double_value for value in answer.values])
    change = commander.client(SetParametersAtomically, "set_parameters_atomically")
    requests = itertools.cycle([_setting(names, values * scale) for scale in (1.01, 1.0)])
    took = []
    commander.begun, begin = monotonic_ns(), time.monotonic()
    for number in range(2 * round(seconds * _GAINS_HZ / 2)):
        _sleep_until(begin + number / _GAINS_HZ)
        begun = monotonic_ns()
        result = change(next(requests)).result
        took.append(monotonic_ns() - begun)
        if not result.successful:
            raise RuntimeError(f"the simulator rejected the gains: {result.reason}")
    return {"took": np.array(took), "parameters": np.array(len(names))}


Scenario = Callable[[Commander, float], Records]
SCENARIOS: dict[str, Scenario] = {
    **{scenario.__name__: scenario for scenario in (follow, alternate, gains)},
    **{name: partial(numbered, source) for name, source in SOURCES.items()},
}


def _sleep_until(when: float) -> None:
    time.sleep(max(0.0, when - time.monotonic()))


def _setting(names: list[str], values: np.ndarray) -> SetParametersAtomically.Request:
    kind = ParameterType.PARAMETER_DOUBLE
    return SetParametersAtomically.Request(
        parameters=[
            Parameter(name=name, value=ParameterValue(type=kind, double_value=value))
            for name, value in zip(names, values.tolist(), strict=True)
        ]
    )


def _duration(seconds: float) -> Duration:
    sec, nanosec = split(seconds)
    return Duration(sec=sec, nanosec=nanosec)


def _trajectory(moves: Motion, arm: ArmModel, *, dynamics: bool) -> JointTrajectory:
    """Return a motion of the arm as a message, with gravity or all dynamics fed forward."""
    message = JointTrajectory(joint_names=list(JOINTS))
    still = np.zeros(len(JOINTS))
    for at, q, dq, ddq in zip(moves.times, moves.q, moves.dq, moves.ddq, strict=True):
        torques = arm.torques(q, dq, ddq) if dynamics else arm.torques(q, still, still)
        point = JointTrajectoryPoint(
            positions=q.tolist(), velocities=dq.tolist(), accelerations=ddq.tolist()
        )
        point.effort = torques.tolist()
        point.time_from_start = _duration(at)
        message.points.append(point)
    return message


def _oscillation(q: np.ndarray, at: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return positions, velocities and accelerations of a slow oscillation around `q`."""
    turn = 2 * np.pi * _FREQUENCY_HZ
    one = np.ones(len(q))
    return (
        q + 0.5 * _AMPLITUDE_RAD * (1 - np.cos(turn * at)),
        0.5 * _AMPLITUDE_RAD * turn * np.sin(turn * at) * one,
        0.5 * _AMPLITUDE_RAD * turn**2 * np.cos(turn * at) * one,
    )


def _oscillating_trajectory(names: list[str], q: np.ndarray) -> JointTrajectory:
    """Return one second of the oscillation as a message with quintic segments."""
    message = JointTrajectory(joint_names=names)
    for at in np.arange(1, round(1 / _FREQUENCY_HZ / _POINT_PERIOD_S) + 1) * _POINT_PERIOD_S:
        positions, velocities, accelerations = (row.tolist() for row in _oscillation(q, float(at)))
        point = JointTrajectoryPoint(
            positions=positions, velocities=velocities, accelerations=accelerations
        )
        point.time_from_start = _duration(float(at))
        message.points.append(point)
    message.points[-1].velocities = [0.0] * len(names)
    return message


def main() -> int:
    """Run a scenario."""
    parser = argparse.ArgumentParser(prog="benchmark.processes.commander", description=__doc__)
    parser.add_argument("scenario", choices=SCENARIOS)
    parser.add_argument("file", type=Path, help="file of the records (.npz)")
    parser.add_argument("seconds", type=float, help="duration")
    options = parser.parse_args()
    rclpy.init()
    commander = Commander()
    gc.freeze()
    gc.disable()  # its pauses would appear as latency
    records = SCENARIOS[options.scenario](commander, options.seconds)
    records["between"] = np.array([commander.begun, monotonic_ns()])
    commander.node.destroy_node()
    rclpy.shutdown()
    np.savez(options.file, **records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
