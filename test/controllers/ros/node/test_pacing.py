"""A controller that ticks with a robot."""

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
    takes=(frozenset(INTERFACES), frozenset({"position"})),
    lower=np.array([-1.0, -1.0]),
    upper=np.array([1.0, 1.0]),
    continuous=np.zeros(2, dtype=bool),
)


class Robotics:
    """A robot of two joints, as far as a controller beside it can tell."""

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
    """A controller beside that robot."""

    def __init__(self, row: str = RAMP, *, lockstep: bool = False, **provided) -> None:
        self.robot, self.output = Robotics(), Recorder()
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
        )
        self.now = 100.0

    def say(self, *times: float) -> None:
        """Have the robot's joint states come, at these times of its own [s]."""
        for time in times:
            self.robot.stamp = round(time * NS)
            self.now += 0.005
            self.pacing.receive(self.now)

    @property
    def told(self) -> list[float]:
        """What the first joint was told, position only."""
        return [float(values[0, 0]) for values in self.output.commands]


def test_the_log_says_that_it_controls_once_it_does(caplog):
    caplog.set_level(logging.INFO)
    bench = Bench()
    bench.missing = ["imu"]
    bench.say(1.0)
    assert "control starts" not in caplog.text
    bench.missing = []
    bench.say(1.005, 1.01)
    assert caplog.text.count("control starts at 1.005 s with 200 Hz") == 1


def test_it_begins_where_the_robot_is_once_everything_was_heard():
    bench = Bench()
    bench.missing = ["imu/x"]
    bench.say(1.0, 1.005)
    assert bench.supervised.state == WAITING
    assert bench.output.commands == []
    assert bench.pacing.report(bench.now).text == "waiting for imu/x"
    assert bench.pacing.report(bench.now).level == WARN
    bench.missing = []
    bench.pacing.poll(bench.now)
    assert bench.supervised.state == "S0"
    assert np.isnan(bench.output.commands[0]).all(), "no state has requested motion"
    bench.say(1.010, 1.015)
    assert bench.told[1:] == pytest.approx([0.205, 0.210])
    assert np.isnan(bench.output.commands[-1][:, 1]).all(), "no state has commanded this joint"
    assert np.isnan(bench.output.commands[-1][1:, 1]).all()
    assert bench.pacing.report(bench.now).level == OK


def test_silence_makes_it_wait_and_the_robot_hold_and_a_pause_is_not_one():
    bench = Bench()
    bench.say(1.0, 1.005, 1.010)
    bench.pacing.poll(bench.now + 0.4)
    assert bench.supervised.state == "S0"
    bench.now += 1.0
    bench.pacing.poll(bench.now)
    assert bench.supervised.state == WAITING
    assert bench.told[-1] == pytest.approx(0.210)
    assert bench.output.commands[-1][1, 0] == 0.0
    bench.say(1.015)  # the simulator was paused: no time has passed for the robot
    assert bench.told[-1] == pytest.approx(0.215)
    bench.robot.q[:] = -0.5
    bench.say(3.0, 3.005)  # the robot went on without it
    assert bench.told[-1] == pytest.approx(-0.495)
    assert bench.robot.forgot == 1


def test_a_reset_begins_anew_even_after_an_error_and_lost_messages_do_not():
    bench = Bench("{class: Break, how: raise}")
    bench.say(5.0)
    assert bench.supervised.state == "error"
    assert bench.pacing.report(bench.now).level == ERROR
    bench.say(5.005, 7.0)
    assert bench.supervised.state == "error"
    assert np.isnan(bench.output.commands[-1]).all(), "a lockstep clock may wait for it"
    bench.supervised.machine.configure("S0", {"how": "raise"})
    bench.say(0.0)
    assert len(bench.supervised.error) > 0
    ticks = len(bench.output.commands)
    bench.pacing.restart("somebody asked")
    bench.say(0.005)
    assert len(bench.output.commands) == ticks + 1
    bench.pacing.end()
    bench.say(0.010)
    assert len(bench.output.commands) == ticks + 1


def test_joint_states_of_another_robot_stop_it():
    bench = Bench()
    bench.say(1.0, 1.005)
    bench.robot.wrong = "joint_states lack a"
    bench.say(1.010)
    assert bench.supervised.error == "joint_states lack a"
    assert bench.told[-1] == pytest.approx(0.205)


def test_in_lockstep_a_tick_waits_for_all_sensors_and_for_plans():
    answer: Future[float] = Future()
    bench = Bench("{class: Ask}", lockstep=True, answer=lambda: answer)
    bench.say(*(1.0 + 0.005 * i for i in range(5)))
    assert len(bench.output.commands) == 5
    bench.say(1.025)
    assert len(bench.output.commands) == 5, "the plan is not there yet"
    answer.set_result(0.1)
    bench.robot.complete = False
    bench.now += 0.4
    bench.pacing.poll(bench.now)
    assert len(bench.output.commands) == 5, "a sensor is not there yet"
    bench.robot.complete = True
    bench.pacing.receive(bench.now)
    assert bench.told[-1] == pytest.approx(0.3)
    bench.pacing.poll(bench.now + 0.3)
    assert bench.supervised.state == "S0", "the robot waited for the tick, and is not silent"
    bench.robot.complete = False
    bench.say(1.030)
    bench.pacing.poll(bench.now + 0.6)
    assert len(bench.output.commands) == 7, "what is lost on its way stops no clock for ever"


def test_a_clock_that_waits_between_two_ticks_is_complained_of(caplog):
    bench = Bench(lockstep=True)
    bench.say(1.0, 1.005, 1.008)
    bench.pacing.poll(bench.now + 1.0)
    assert "the clock is stopped at 1.008 s, which is not a tick at 200 Hz" in caplog.text


def test_a_clock_that_stands_before_all_was_heard_is_let_go_on():
    bench = Bench(lockstep=True)
    bench.missing = ["imu/x"]
    bench.say(1.0)
    for later in (0.1, 0.2, 0.8, 0.9):
        bench.pacing.poll(bench.now + later)
    assert len(bench.output.commands) == 1, "once"
    assert np.isnan(bench.output.commands[0]).all()
    assert bench.supervised.state == WAITING
    bench.missing = []
    bench.say(1.005)
    assert bench.supervised.state == "S0"
