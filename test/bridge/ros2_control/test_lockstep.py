"""A robot with a parameter file in lockstep: its client responds to joint_states."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from controller_manager_msgs.srv import ConfigureController, LoadController
from geometry_msgs.msg import TwistStamped
from manager_client import Client
from nav_msgs.msg import Odometry
from rclpy.duration import Duration
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import ResetSimulation
from simulators import WAIT_LIMIT_S, Listener, SimulatorLauncher

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

RATE_HZ, PERIOD_NS, TICKS = 100, 10_000_000, 500  # ticks of each of two runs
VELOCITY_EVERY = 25  # ticks; the time-out of diff_drive_controller is 0.5 s
EPOCH = "epoch {:08}"
TYPES = {
    "joint_state_broadcaster": "joint_state_broadcaster/JointStateBroadcaster",
    "drive": "diff_drive_controller/DiffDriveController",
}


def _nanoseconds(state: JointState) -> int:
    return int(state.header.stamp.sec * 1_000_000_000 + state.header.stamp.nanosec)


class Stepper:
    """Responds to each tick of a rover, which drives."""

    def __init__(self, listener: Listener) -> None:
        self.listener, node = listener, listener.node
        self.ticks: list[JointState] = []
        self.subscription = node.create_subscription(
            JointState, "joint_states", self.ticks.append, 10
        )
        self.velocities = node.create_publisher(TwistStamped, "drive/cmd_vel", 1)
        self.answers = node.create_publisher(JointState, "joint_commands", 10)
        self.resets = node.create_client(ResetSimulation, "/mujoco/reset_simulation")
        for publisher in (self.velocities, self.answers):
            assert listener.spin_until(lambda it=publisher: it.get_subscription_count() > 0)
        assert listener.spin_until(self.resets.service_is_ready)

    def next_tick(self, known: Any = None) -> JointState:
        """Return the next tick whose header is not known."""
        while True:
            assert self.listener.spin_until(lambda: bool(self.ticks)), "the clock has stopped"
            tick = self.ticks.pop(0)
            if tick.header != known:
                return tick

    def run(self, tick: JointState, count: int) -> list[JointState]:
        """Respond to a number of ticks; return them."""
        found = [tick]
        while len(found) <= count:
            if len(found) % VELOCITY_EVERY == 1:
                velocity = TwistStamped(header=tick.header)
                velocity.twist.linear.x = 0.5
                self.velocities.publish(velocity)
                assert self.velocities.wait_for_all_acked(Duration(seconds=WAIT_LIMIT_S))
            self.answers.publish(JointState(header=tick.header))
            tick = self.next_tick(tick.header)
            found.append(tick)
        return found

    def reset(self, epoch: str) -> JointState:
        """Reset; return the first tick that is of another epoch."""
        self.listener.result(self.resets.call_async(ResetSimulation.Request()))
        while (tick := self.next_tick()).header.frame_id == epoch:
            pass
        return tick


def controllers_file(folder: Path, update_rate: int = RATE_HZ) -> Path:
    """Write the controllers of a rover."""
    robot = Simulation(load_scene("rover")).layout.robots[0]
    assert robot.drive is not None
    manager = {name: {"type": kind} for name, kind in TYPES.items()}
    nodes = {
        "controller_manager": {"update_rate": update_rate, **manager},
        "drive": dict(robot.drive.parameters),
    }
    path = folder / "controllers.json"
    path.write_text(json.dumps({k: {"ros__parameters": v} for k, v in nodes.items()}))
    return path


LOCKSTEP: dict[str, Any] = {
    "scene": "rover",
    "viewer": "none",
    "mode": "lockstep",
    "lockstep_sources": f"joint_commands@{RATE_HZ}",
    "real_time_factor": 0.0,
}


def test_a_rover_is_stepped_by_its_joint_states_also_across_resets(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    simulator = start.simulator(**LOCKSTEP, controllers_file=controllers_file(tmp_path))
    simulator.wait_for_log("controllers of")
    listener = start.listener(simulator)
    stepper = Stepper(listener)
    runs = []
    first = stepper.next_tick()  # the clock stands at it since before this client subscribed
    assert (_nanoseconds(first), first.header.frame_id) == (0, EPOCH.format(1))
    runs.append(stepper.run(first, TICKS))
    runs.append(stepper.run(stepper.reset(EPOCH.format(1)), TICKS))
    for epoch, run in enumerate(runs, start=1):
        assert {tick.header.frame_id for tick in run} == {EPOCH.format(epoch)}
        stamps = [_nanoseconds(tick) for tick in run]
        assert stamps == [PERIOD_NS * number for number in range(TICKS + 1)]
    positions = [[list(tick.position) for tick in run] for run in runs]
    assert positions[0] == positions[1], "each run after a reset has the same bits"
    assert abs(positions[0][-1][0]) > 10.0, "the wheels turn"
    assert "names no joints" not in simulator.log, "an empty command is an answer"


def test_a_broadcaster_at_another_rate_publishes_at_each_tick_alone(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    simulator = start.simulator(**LOCKSTEP, controllers_file=controllers_file(tmp_path, 40))
    stepper = Stepper(start.listener(simulator))
    run = stepper.run(stepper.next_tick(), 20)
    assert [_nanoseconds(tick) for tick in run] == [PERIOD_NS * number for number in range(21)]
    assert not stepper.ticks


def test_a_broadcaster_that_a_spawner_starts_publishes_the_tick_at_which_the_clock_stands(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    parameters = LOCKSTEP | {"start_controllers": "none"}
    simulator = start.simulator(**parameters, controllers_file=controllers_file(tmp_path))
    client = Client(simulator, start.listener(simulator))
    name, ticks = "joint_state_broadcaster", client.listener.record(JointState, "joint_states")
    assert client.call(LoadController, "load_controller", name=name).ok
    assert client.call(ConfigureController, "configure_controller", name=name).ok
    node = client.listener.node
    assert client.listener.spin_until(lambda: node.count_publishers("joint_states") > 0)
    client.listener.spin_for(1.5)  # new subscriptions receive a tick once, after 1 s
    assert client.switch([name]).ok
    assert client.listener.spin_until(lambda: len(ticks) > 0)
    assert (_nanoseconds(ticks.latest), ticks.latest.header.frame_id) == (0, EPOCH.format(1))


@pytest.mark.parametrize("has_file", [True, False])
def test_a_new_subscription_receives_what_was_published_at_the_tick(
    start: SimulatorLauncher, tmp_path: Path, has_file: bool
) -> None:
    file = {"controllers_file": controllers_file(tmp_path)} if has_file else {}
    simulator = start.simulator(**LOCKSTEP, **file)
    listener = start.listener(simulator)
    odometry = listener.record(Odometry, "drive/odom" if has_file else "odom")
    assert listener.spin_until(lambda: len(odometry) > 0)
    assert odometry.latest.header.stamp.sec == odometry.latest.header.stamp.nanosec == 0


@pytest.mark.parametrize("has_file", [True, False])
def test_the_velocity_of_a_rover_is_a_source(
    start: SimulatorLauncher, tmp_path: Path, has_file: bool
) -> None:
    prefix = "drive/" if has_file else ""
    parameters = LOCKSTEP | {"lockstep_sources": f"{prefix}cmd_vel@{RATE_HZ}"}
    if has_file:
        parameters["controllers_file"] = controllers_file(tmp_path)
    simulator = start.simulator(**parameters)
    listener = start.listener(simulator)
    ticks: list[Odometry] = []
    listener.node.create_subscription(Odometry, f"{prefix}odom", ticks.append, 10)
    velocities = listener.node.create_publisher(TwistStamped, f"{prefix}cmd_vel", 10)
    assert listener.spin_until(lambda: velocities.get_subscription_count() > 0)
    assert listener.spin_until(lambda: bool(ticks)), "the tick at which the clock stands"
    stamps = []
    for number in range(50):
        tick = ticks.pop(0)
        stamps.append(tick.header.stamp)
        velocity = TwistStamped(header=tick.header)
        velocity.twist.linear.x = math.nan if number == 25 else 0.5  # refused, but an answer
        velocities.publish(velocity)
        assert listener.spin_until(lambda: bool(ticks)), f"the clock has stopped: {number}"
    assert [1e-9 * stamp.nanosec for stamp in stamps] == pytest.approx(np.arange(50) / RATE_HZ)
    assert ticks[0].twist.twist.linear.x == pytest.approx(0.5, rel=0.1)
    assert "has a number that is not within" in simulator.log


def test_a_velocity_from_before_a_reset_answers_no_tick(
    start: SimulatorLauncher, tmp_path: Path
) -> None:
    parameters = LOCKSTEP | {"lockstep_sources": f"drive/cmd_vel@{RATE_HZ}"}
    simulator = start.simulator(**parameters, controllers_file=controllers_file(tmp_path))
    simulator.wait_for_log("controllers of")
    listener = start.listener(simulator)
    stepper = Stepper(listener)
    first = stepper.next_tick()
    again = stepper.reset(first.header.frame_id)
    assert again.header.stamp == first.header.stamp
    stepper.velocities.publish(TwistStamped(header=first.header))
    simulator.wait_for_log("answers a tick of epoch 00000001")
    stepper.velocities.publish(TwistStamped(header=again.header))
    assert _nanoseconds(stepper.next_tick(again.header)) == PERIOD_NS
