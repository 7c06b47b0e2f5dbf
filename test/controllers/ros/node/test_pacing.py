"""Ticks of a controller at the stamps of a robot."""

import logging
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import Future

import numpy as np
import pytest
from sample_states import controller, in_turn

from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN
from mujoco_ros.control.joints import INTERFACES, ControlledJoints
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
        self.forgot = self.renewed = self.count = 0
        self.topics = ("joint_states", "imu/x")

    @property
    def time(self) -> float:
        return self.stamp / NS

    @property
    def incomplete(self) -> tuple[str, ...]:
        return () if self.complete else ("imu/x",)

    def renew(self, topics: Collection[str]) -> None:
        self.renewed += 1
        assert "imu/x" in topics

    def end(self, topics: Collection[str]) -> None:
        assert set(topics) == {"imu/x"}
        self.complete = True

    def observe(self) -> Observation:
        if self.wrong:
            raise UserInputError(self.wrong)
        return Observation(
            time=self.stamp / NS, q=self.q.copy(), dq=np.zeros(2), effort=np.zeros(2)
        )

    def forget(self) -> None:
        self.forgot += 1


class Requests:
    """What the controller has requested beside commands."""

    def __init__(self) -> None:
        self.settled = True
        self.restarts = 0
        self.delivered: list[float] = []

    def deliver(self, time: float, _awaited: Sequence[object]) -> None:
        self.delivered.append(time)

    def restart(self) -> None:
        self.restarts += 1


class Recorder(CommandOutput):
    """Records the commands."""

    def __init__(self) -> None:
        super().__init__(JOINTS)
        self.commands: list[np.ndarray] = []
        self.frames: list[str] = []

    def _publish(self, values: np.ndarray, time: float) -> None:
        self.commands.append(values.copy())
        self.frames.append(self._header(time).frame_id)


class PacedController:
    """A controller of that robot."""

    def __init__(self, row: str = RAMP, *, lockstep: bool = False, **provided) -> None:
        self.robot, self.output, self.requests = Robot(), Recorder(), Requests()
        self.missing: list[str] = []
        self.observed: Callable[[], object] = lambda: None
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
            observed=lambda _observation: self.observed(),
            requests=self.requests,
            stopped=lambda: None,
            clock=lambda: self.wall_time,
        )
        self.now = 100.0
        self.wall_time = 0.0

    def spend_50_ms(self) -> None:
        self.wall_time += 0.05

    def receive(self, *times: float) -> None:
        """Receive joint states with these stamps [s]."""
        for time in times:
            self.robot.stamp = round(time * NS)
            self.robot.count += 1
            self.now += 0.005
            self.pacing.receive(self.now)

    @property
    def positions(self) -> list[float]:
        """Position references of the first joint."""
        return [float(values[0, 0]) for values in self.output.commands]


def test_the_start_of_control_is_logged_once(caplog):
    caplog.set_level(logging.INFO)
    paced = PacedController()
    paced.missing = ["imu"]
    paced.receive(1.0)
    assert "control starts" not in caplog.text
    paced.missing = []
    paced.receive(1.005, 1.01)
    assert caplog.text.count("control starts at 1.005 s with 200 Hz") == 1


def test_the_controller_starts_at_the_measured_positions_when_all_inputs_are_there():
    paced = PacedController()
    paced.missing = ["imu/x"]
    paced.receive(1.0, 1.005)
    assert paced.supervised.state == WAITING
    assert paced.output.commands == []
    assert paced.pacing.report(paced.now).text == "waiting for imu/x"
    assert paced.pacing.report(paced.now).level == WARN
    paced.missing = []
    paced.pacing.poll(paced.now)
    assert paced.supervised.state == "S0"
    assert np.isnan(paced.output.commands[0]).all(), "no state has requested motion"
    paced.receive(1.010, 1.015)
    assert paced.positions[1:] == pytest.approx([0.205, 0.210])
    assert np.isnan(paced.output.commands[-1][:, 1]).all(), "no state has commanded this joint"
    assert np.isnan(paced.output.commands[-1][1:, 1]).all()
    assert paced.pacing.report(paced.now).level == OK


def test_missing_joint_states_pause_the_controller_and_a_gap_restarts_it():
    paced = PacedController()
    paced.receive(1.0, 1.005, 1.010)
    paced.pacing.poll(paced.now + 0.4)
    assert paced.supervised.state == "S0"
    paced.now += 1.0
    paced.pacing.poll(paced.now)
    assert paced.supervised.state == WAITING
    assert paced.positions[-1] == pytest.approx(0.210)
    assert paced.output.commands[-1][1, 0] == 0.0
    paced.receive(1.015)  # the simulator was paused: the robot's time has not changed
    assert paced.positions[-1] == pytest.approx(0.215)
    paced.robot.q[:] = -0.5
    paced.receive(3.0, 3.005)  # the robot was not paused
    assert paced.positions[-1] == pytest.approx(-0.495)
    assert paced.robot.forgot == 1


def test_a_slow_tick_is_named_in_the_log_and_on_diagnostics(caplog):
    paced = PacedController()
    paced.receive(1.0, 1.005)
    paced.observed = paced.spend_50_ms
    paced.receive(1.010)
    paced.observed = lambda: None
    slow = paced.pacing.report(paced.now)
    assert paced.pacing.lost_s == pytest.approx(0.045)
    assert slow.level == WARN
    assert slow.text.startswith("1 slow ticks in state 'S0', of up to 50 ms")
    assert slow.values["controller"] == "test"
    assert slow.values["real time lost by ticks [s]"] == "0.045"
    assert "controller 'test': 1 slow ticks in state 'S0', of up to 50 ms" in caplog.text
    assert paced.pacing.report(paced.now).level == OK
    paced.observed = paced.spend_50_ms
    paced.receive(1.015, 1.5)  # and 0.5 s without a message
    both = paced.pacing.report(paced.now).text
    assert "slow ticks in state 'S0'" in both
    assert both.endswith("periods without a message")


def test_messages_that_do_not_fit_the_period_are_logged_once(caplog):
    caplog.set_level(logging.INFO)
    even, uneven = PacedController(), PacedController()
    even.receive(*(0.001 * number for number in range(2000)))
    assert "joint_states come" not in caplog.text
    uneven.receive(*(0.002 * number for number in range(1000)))
    message = "joint_states come every 2 ms: the time between ticks differs from 5 ms by 1 ms"
    assert caplog.text.count(message) == 1
    values = uneven.pacing.report(uneven.now).values
    assert values["unevenness of ticks [ms]"] == "1.00"


def test_the_first_command_after_each_start_is_marked():
    paced = PacedController()
    paced.receive(1.0, 1.005, 1.010, 0.0, 0.005)
    assert paced.output.frames == ["restart", "", "", "restart", ""]
    paced.pacing.restart("simulation reset")
    paced.receive(0.010, 0.015)
    assert paced.output.frames[5:] == ["restart", ""]


def test_a_reset_restarts_after_an_error_and_lost_messages_do_not():
    paced = PacedController("{class: Break, how: raise}")
    paced.receive(5.0)
    assert paced.supervised.state == "error"
    assert paced.pacing.report(paced.now).level == ERROR
    paced.receive(5.005, 7.0)
    assert paced.supervised.state == "error"
    assert np.isnan(paced.output.commands[-1]).all(), "a lockstep clock may wait for it"
    paced.supervised.machine.configure("S0", {"how": "raise"})
    paced.receive(0.0)
    assert len(paced.supervised.error) > 0
    ticks = len(paced.output.commands)
    paced.pacing.restart("reset requested")
    paced.receive(0.005)
    assert len(paced.output.commands) == ticks + 1
    paced.pacing.end()
    paced.receive(0.010)
    assert len(paced.output.commands) == ticks + 1


def test_joint_states_of_another_robot_stop_the_controller():
    paced = PacedController()
    paced.receive(1.0, 1.005)
    paced.robot.wrong = "joint_states lack a"
    paced.receive(1.010)
    assert paced.supervised.error == "joint_states lack a"
    assert paced.positions[-1] == pytest.approx(0.205)


def test_in_lockstep_a_tick_waits_for_all_sensors_and_for_plans(caplog):
    answer: Future[float] = Future()
    paced = PacedController("{class: Ask}", lockstep=True, answer=lambda: answer)
    paced.receive(*(1.0 + 0.005 * i for i in range(5)))
    assert len(paced.output.commands) == 5
    paced.receive(1.025)
    assert len(paced.output.commands) == 5, "the plan is not ready"
    answer.set_result(0.1)  # as an image, which is delivered at its tick
    paced.robot.complete = False
    paced.now += 0.4
    paced.pacing.poll(paced.now)
    assert len(paced.output.commands) == 5, "a sensor message is missing"
    paced.robot.complete = True
    paced.pacing.receive(paced.now)
    assert paced.positions[-1] == pytest.approx(0.3)
    paced.pacing.poll(paced.now + 0.3)
    assert paced.supervised.state == "S0", "the robot waited for the tick"
    paced.robot.complete = False
    paced.receive(1.030)
    paced.pacing.poll(paced.now + 0.6)
    assert paced.robot.renewed > 0
    assert len(paced.output.commands) == 6, "a new subscription gets the message"
    paced.pacing.poll(paced.now + 5.1)
    assert len(paced.output.commands) == 7, "a lost message does not stop the clock for ever"
    assert "the tick of 1.03 s runs without imu/x, which the robot does not send" in caplog.text


def test_a_clock_that_stops_between_two_ticks_is_logged(caplog):
    paced = PacedController(lockstep=True)
    paced.receive(1.0, 1.005, 1.008)
    paced.pacing.poll(paced.now + 1.0)
    assert "the clock is stopped at 1.008 s, which is not a tick at 200 Hz" in caplog.text


def test_a_stopped_clock_waits_for_all_inputs_at_the_start():
    paced = PacedController(lockstep=True)
    paced.missing, paced.robot.complete = ["imu/x"], False
    paced.receive(0.0)
    for later in (0.1, 0.5, 0.8, 0.9, 20.0):
        paced.pacing.poll(paced.now + later)
    assert paced.output.commands == [], "the first tick is that of a hosted controller"
    assert paced.robot.renewed == 2
    assert paced.supervised.state == WAITING
    paced.missing, paced.robot.complete = [], True
    paced.pacing.receive(paced.now + 20.1)
    assert paced.supervised.state == "S0"
    assert len(paced.output.commands) == 1


def test_in_lockstep_commands_wait_until_gains_poses_and_images_are_settled():
    paced = PacedController(lockstep=True)
    paced.receive(1.0, 1.005)
    assert paced.requests.restarts == 1
    paced.requests.settled = False
    paced.receive(1.010)
    assert len(paced.output.commands) == 2, "gains of the last tick are not read yet"
    paced.requests.settled = True
    paced.pacing.receive(paced.now)
    assert len(paced.output.commands) == 3
    assert paced.requests.delivered[-1] == 1.010
    # A state requests something in this tick.
    paced.observed = lambda: setattr(paced.requests, "settled", False)
    paced.receive(1.015)
    assert len(paced.output.commands) == 3
    paced.pacing.poll(paced.now + 1.0)
    assert paced.supervised.state == "S0"
    paced.requests.settled = True
    paced.pacing.receive(paced.now)
    assert paced.positions[-1] == pytest.approx(0.2 + 0.015)


def test_a_stopped_clock_needs_no_standstill():
    paced = PacedController(lockstep=True)
    paced.receive(1.0, 1.005)
    paced.pacing.poll(paced.now + 1.0)
    assert paced.supervised.state == WAITING
    assert len(paced.output.commands) == 2
    paced.receive(1.010)
    assert paced.positions[-1] == pytest.approx(0.21)


@pytest.mark.parametrize(("first", "rewinds"), [(0.0, True), (1.0, False)])
def test_in_lockstep_the_first_tick_after_a_reset_restarts_the_controller(first, rewinds):
    paced = PacedController(lockstep=True)
    paced.receive(0.990, 0.995)
    paced.pacing.follow_reset(round(first * NS), rewinds=rewinds)
    paced.pacing.receive(paced.now)
    paced.receive(0.995)
    assert len(paced.output.commands) == 2, "the tick is from before the reset"
    paced.receive(first)
    assert np.isnan(paced.output.commands[2]).all(), "the first tick"
    paced.receive(first + 0.005)
    assert paced.positions[-1] == pytest.approx(0.205)


def test_a_reset_at_the_first_tick_starts_it_again():
    paced = PacedController(lockstep=True)
    paced.receive(0.0)
    paced.pacing.follow_reset(0, rewinds=True)
    paced.pacing.poll(paced.now)
    paced.pacing.receive(paced.now)
    assert len(paced.output.commands) == 1, "the message is from before the reset"
    paced.pacing.poll(paced.now + 1.0)
    assert paced.robot.renewed == 1, "or the middleware has delivered both in another order"
    paced.receive(0.0)
    assert len(paced.output.commands) == 2


def test_without_lockstep_a_reset_that_rewinds_restarts_once():
    paced = PacedController()
    paced.receive(1.0, 1.005)
    paced.pacing.follow_reset(0, rewinds=True)
    paced.receive(1.010)
    assert paced.positions[-1] == pytest.approx(0.21)
    paced.pacing.follow_reset(NS, rewinds=False)
    paced.receive(1.015)
    assert np.isnan(paced.output.commands[-1]).all()
