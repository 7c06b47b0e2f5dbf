"""Ticks of a controller at the stamps of a robot."""

import logging
from concurrent.futures import Future

import numpy as np
import pytest
from hosted import controller, in_turn

from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN
from mujoco_ros.control.joints import ControlledJoints
from mujoco_ros.control.modes import INTERFACES
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.ros.node.command_output import CommandOutput
from mujoco_ros.controllers.ros.node.pacing import WAITING, ControllerPacing
from mujoco_ros.controllers.runtime.supervisor import SupervisedController
from mujoco_ros.model.errors import UserInputError

NS = 1_000_000_000
RAMP = "{class: Ramp, duration: 10.0, speed: 1.0}"
JOINTS = ControlledJoints(
    names=("a", "b"),
    interfaces=(frozenset(INTERFACES), frozenset({"position"})),
    lower=np.array([-1.0, -1.0]),
    upper=np.array([1.0, 1.0]),
    continuous=np.zeros(2, dtype=bool),
)


class Robot:
    """Observations of a robot with two joints."""

    def __init__(self) -> None:
        self.stamp: int | None = None
        self.complete = True
        self.q = np.array([0.2, 0.3])
        self.wrong = ""
        self.forgot = 0

    def observe(self) -> Observation:
        if self.wrong:
            raise UserInputError(self.wrong)
        return Observation(
            time=self.stamp / NS, q=self.q.copy(), dq=np.zeros(2), effort=np.zeros(2)
        )

    def forget(self) -> None:
        self.forgot += 1


class Recorder(CommandOutput):
    """Records the commands."""

    def __init__(self) -> None:
        super().__init__(JOINTS)
        self.commands: list[np.ndarray] = []

    def _publish(self, values: np.ndarray, time: float) -> None:
        self.commands.append(values.copy())


class Bench:
    """A controller of that robot."""

    def __init__(self, row: str = RAMP, *, lockstep: bool = False, **provided) -> None:
        self.robot, self.output = Robot(), Recorder()
        self.missing: list[str] = []
        self.supervised = SupervisedController(controller(in_turn(row), **provided), lambda: 0.0)
        limits = np.full(2, np.inf)
        self.supervised.configure(
            RobotModel(
                name="two",
                joints=JOINTS.names,
                lower=-limits,
                upper=limits,
                velocity=limits,
                effort=limits,
                home=np.zeros(2),
                gripper=None,
                prefix="",
                model=None,
                qpos=np.arange(2),
                dof=np.arange(2),
            )
        )
        self.pacing = ControllerPacing(
            self.supervised,
            self.robot,
            self.output,
            lockstep=lockstep,
            timeout=0.5,
            missing=lambda: self.missing,
            observed=lambda _observation: None,
            began=lambda: None,
            stopped=lambda: None,
        )
        self.now = 100.0

    def receive(self, *times: float) -> None:
        """Receive joint states with these stamps [s]."""
        for time in times:
            self.robot.stamp = round(time * NS)
            self.now += 0.005
            self.pacing.receive(self.now)

    @property
    def positions(self) -> list[float]:
        """Position references of the first joint."""
        return [float(values[0, 0]) for values in self.output.commands]


def test_the_start_of_control_is_logged_once(caplog):
    caplog.set_level(logging.INFO)
    bench = Bench()
    bench.missing = ["imu"]
    bench.receive(1.0)
    assert "control starts" not in caplog.text
    bench.missing = []
    bench.receive(1.005, 1.01)
    assert caplog.text.count("control starts at 1.005 s with 200 Hz") == 1


def test_the_controller_starts_at_the_measured_positions_when_all_inputs_are_there():
    bench = Bench()
    bench.missing = ["imu/x"]
    bench.receive(1.0, 1.005)
    assert bench.supervised.state == WAITING
    assert bench.output.commands == []
    assert bench.pacing.report(bench.now).text == "waiting for imu/x"
    assert bench.pacing.report(bench.now).level == WARN
    bench.missing = []
    bench.pacing.poll(bench.now)
    assert bench.supervised.state == "S0"
    assert np.isnan(bench.output.commands[0]).all(), "no state has requested motion"
    bench.receive(1.010, 1.015)
    assert bench.positions[1:] == pytest.approx([0.205, 0.210])
    assert np.isnan(bench.output.commands[-1][:, 1]).all(), "no state has commanded this joint"
    assert np.isnan(bench.output.commands[-1][1:, 1]).all()
    assert bench.pacing.report(bench.now).level == OK


def test_missing_joint_states_pause_the_controller_and_a_gap_restarts_it():
    bench = Bench()
    bench.receive(1.0, 1.005, 1.010)
    bench.pacing.poll(bench.now + 0.4)
    assert bench.supervised.state == "S0"
    bench.now += 1.0
    bench.pacing.poll(bench.now)
    assert bench.supervised.state == WAITING
    assert bench.positions[-1] == pytest.approx(0.210)
    assert bench.output.commands[-1][1, 0] == 0.0
    bench.receive(1.015)  # the simulator was paused: the robot's time has not changed
    assert bench.positions[-1] == pytest.approx(0.215)
    bench.robot.q[:] = -0.5
    bench.receive(3.0, 3.005)  # the robot was not paused
    assert bench.positions[-1] == pytest.approx(-0.495)
    assert bench.robot.forgot == 1


def test_a_reset_restarts_after_an_error_and_lost_messages_do_not():
    bench = Bench("{class: Break, how: raise}")
    bench.receive(5.0)
    assert bench.supervised.state == "error"
    assert bench.pacing.report(bench.now).level == ERROR
    bench.receive(5.005, 7.0)
    assert bench.supervised.state == "error"
    assert np.isnan(bench.output.commands[-1]).all(), "a lockstep clock may wait for it"
    bench.supervised.machine.configure("S0", {"how": "raise"})
    bench.receive(0.0)
    assert len(bench.supervised.error) > 0
    ticks = len(bench.output.commands)
    bench.pacing.restart("reset requested")
    bench.receive(0.005)
    assert len(bench.output.commands) == ticks + 1
    bench.pacing.end()
    bench.receive(0.010)
    assert len(bench.output.commands) == ticks + 1


def test_joint_states_of_another_robot_stop_the_controller():
    bench = Bench()
    bench.receive(1.0, 1.005)
    bench.robot.wrong = "joint_states lack a"
    bench.receive(1.010)
    assert bench.supervised.error == "joint_states lack a"
    assert bench.positions[-1] == pytest.approx(0.205)


def test_in_lockstep_a_tick_waits_for_all_sensors_and_for_plans():
    answer: Future[float] = Future()
    bench = Bench("{class: Ask}", lockstep=True, answer=lambda: answer)
    bench.receive(*(1.0 + 0.005 * i for i in range(5)))
    assert len(bench.output.commands) == 5
    bench.receive(1.025)
    assert len(bench.output.commands) == 5, "the plan is not ready"
    answer.set_result(0.1)
    bench.robot.complete = False
    bench.now += 0.4
    bench.pacing.poll(bench.now)
    assert len(bench.output.commands) == 5, "a sensor message is missing"
    bench.robot.complete = True
    bench.pacing.receive(bench.now)
    assert bench.positions[-1] == pytest.approx(0.3)
    bench.pacing.poll(bench.now + 0.3)
    assert bench.supervised.state == "S0", "the robot waited for the tick"
    bench.robot.complete = False
    bench.receive(1.030)
    bench.pacing.poll(bench.now + 0.6)
    assert len(bench.output.commands) == 7, "a lost message does not stop the clock for ever"


def test_a_clock_that_stops_between_two_ticks_is_logged(caplog):
    bench = Bench(lockstep=True)
    bench.receive(1.0, 1.005, 1.008)
    bench.pacing.poll(bench.now + 1.0)
    assert "the clock is stopped at 1.008 s, which is not a tick at 200 Hz" in caplog.text


def test_a_stopped_clock_without_all_inputs_is_acknowledged_once():
    bench = Bench(lockstep=True)
    bench.missing = ["imu/x"]
    bench.receive(1.0)
    for later in (0.1, 0.2, 0.8, 0.9):
        bench.pacing.poll(bench.now + later)
    assert len(bench.output.commands) == 1, "once"
    assert np.isnan(bench.output.commands[0]).all()
    assert bench.supervised.state == WAITING
    bench.missing = []
    bench.receive(1.005)
    assert bench.supervised.state == "S0"
