"""The clock waits for those who command, and for nobody else."""

import logging
from typing import Any

import pytest

from mujoco_ros.model.scene.assembly import assemble_part
from mujoco_ros.model.scene.parts import part_from_text
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.lockstep import Lockstep, LockstepConfig, SourceConfig

TIMESTEP = 0.001
PENDULUM = """
<mujoco><option timestep="0.001"/><worldbody>
  <body><joint/><geom size="0.1" pos="1 0 0"/></body>
</worldbody></mujoco>
"""
JOINTS = SourceConfig(topic="joint_commands", robot="arm", rate=200.0)
FINGERS = SourceConfig(topic="hand/position_controller/commands", robot="hand", rate=100.0)


class Bench:
    """A clock that stands where the lockstep holds it, and what acted on which step."""

    def __init__(self, *sources: SourceConfig, start: int = 0, **options: Any) -> None:
        self.simulation = Simulation(assemble_part(part_from_text(PENDULUM, name="it")))
        self.simulation.set_time(start * TIMESTEP)
        self.lockstep = Lockstep(self.simulation)
        self.lockstep.configure(LockstepConfig(sources=sources, **options))
        self.acted: list[tuple[str, int]] = []
        self.wall = 100.0

    def step(self) -> frozenset[str]:
        """Do a step, and return for whom its sample is a tick."""
        assert self.simulation.step()
        return self.lockstep.begin()

    def steps(self, count: int) -> list[frozenset[str]]:
        return [self.step() for _ in range(count)]

    def ask(self, after: float = 0.0) -> float:
        self.wall += after
        return self.lockstep.wait(self.wall)

    def send(self, topic: str = "joint_commands", at: int | None = None, name: str = "a") -> str:
        """Send a command stamped with a step; without one, without a stamp."""
        stamp = 0 if at is None else round(at * TIMESTEP * 1e9)
        return self.lockstep.take(
            topic, stamp, lambda time: self.acted.append((name, round(time / TIMESTEP)))
        )

    @property
    def status(self) -> Any:
        return self.lockstep.status["joint_commands"]


def test_without_sources_nothing_is_a_tick_and_commands_act_at_once() -> None:
    bench = Bench()
    assert bench.steps(10) == [frozenset()] * 10
    assert bench.ask() == 0.0
    assert bench.send() == ""
    assert bench.acted == [("a", 10)]


def test_a_tick_is_every_nth_step_and_holds_the_clock() -> None:
    bench = Bench(JOINTS)
    assert bench.step() == {"arm"}
    assert bench.ask() > 0.0
    bench.send()
    assert bench.ask() == 0.0
    assert bench.steps(4) == [frozenset()] * 4
    assert bench.ask() == 0.0
    assert bench.step() == {"arm"}
    assert bench.ask() > 0.0


def test_an_answer_acts_from_the_step_after_its_tick() -> None:
    bench = Bench(JOINTS, start=5)
    bench.step()
    assert bench.send(at=5) == ""
    assert bench.acted == [("a", 6)]


def test_the_clock_waits_for_every_source_of_the_tick() -> None:
    bench = Bench(JOINTS, FINGERS)
    assert bench.step() == {"arm", "hand"}
    assert bench.lockstep.awaited == ("joint_commands", FINGERS.topic)
    bench.send()
    assert bench.ask() > 0.0
    bench.send(FINGERS.topic)
    assert bench.ask() == 0.0
    ticks = bench.steps(5)
    assert ticks == [frozenset()] * 4 + [{"arm"}]
    bench.send(at=5)
    assert bench.ask() == 0.0, "the fingers' next tick is at 10"


def test_others_command_at_any_time() -> None:
    bench = Bench(JOINTS)
    bench.step()
    bench.send("position_controller/commands", name="other")
    assert bench.acted == [("other", 1)]
    assert bench.ask() > 0.0


def test_a_stamp_before_the_tick_but_after_the_one_before_answers_it() -> None:
    bench = Bench(JOINTS)
    bench.steps(1)
    bench.send()
    bench.steps(5)
    assert bench.send(at=3) == "", "who takes the stamp from /clock may be behind"
    assert bench.acted[-1] == ("a", 6)


def test_a_command_that_comes_early_acts_at_its_tick() -> None:
    bench = Bench(JOINTS)
    bench.step()
    bench.send()
    bench.steps(3)
    assert bench.send(at=3, name="early") == ""
    assert ("early", 4) not in bench.acted
    bench.steps(2)
    assert bench.acted[-1] == ("early", 6)
    assert bench.ask() == 0.0


def test_an_early_command_that_fails_does_not_end_the_physics(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench(JOINTS)
    bench.step()
    bench.send()
    bench.step()
    bench.lockstep.take("joint_commands", 1_000_000, lambda _time: 1 / 0)
    bench.steps(4)
    assert "ZeroDivisionError" in caplog.text
    assert bench.ask() == 0.0


def test_a_second_command_for_a_tick_is_dropped_and_counted() -> None:
    bench = Bench(JOINTS, start=5)
    bench.step()
    bench.send(at=5)
    assert "already has one" in bench.send(at=5, name="second")
    assert "already has one" in bench.send(name="third")
    assert bench.acted == [("a", 6)]
    assert bench.status.surplus == 2


@pytest.mark.parametrize(
    ("at", "complaint"),
    [
        (5, "stamped 0.005000 s, before the tick of 0.010000 s"),
        (16, "stamped 0.016000 s, ahead of the tick of 0.010000 s"),
        (1_700_000_000_000, "ahead of the tick"),
    ],
)
def test_a_command_for_another_tick_is_dropped_with_the_reason(at: int, complaint: str) -> None:
    bench = Bench(JOINTS, start=10)
    bench.step()
    assert complaint in bench.send(at=at)
    assert bench.acted == []
    assert bench.ask() > 0.0
    assert bench.status.surplus == 1


def test_before_the_first_tick_there_is_nothing_to_answer() -> None:
    bench = Bench(JOINTS, start=1)
    bench.step()
    assert "no tick" in bench.send()
    assert "no tick" in bench.send(at=1)
    assert bench.acted == []


def test_silence_is_told_once_and_the_clock_stands_if_so_asked(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench(JOINTS, timeout_s=0.2, policy="wait")
    bench.step()
    assert bench.ask() > 0.0
    for _ in range(50):
        assert bench.ask(0.05) > 0.0
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "no command on 'joint_commands' within 0.2 s for the tick of 0.000000 s" in caplog.text
    assert "the clock is stopped" in caplog.text
    assert bench.status.silent
    caplog.set_level(logging.INFO)
    bench.send()
    assert "'joint_commands' answers again" in caplog.text
    assert bench.ask() == 0.0
    assert (bench.status.missed, bench.status.late) == (0, 0)


def test_after_the_timeout_the_clock_goes_on_if_so_asked_and_that_is_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    bench = Bench(JOINTS, timeout_s=0.12, policy="proceed")
    for _ in range(3):
        bench.step()
        waits = [bench.ask(), bench.ask(0.05), bench.ask(0.05)]
        assert waits == pytest.approx([0.05, 0.05, 0.02])
        assert bench.ask(0.05) == 0.0
        bench.steps(4)
    assert bench.status.missed == 3
    assert len(caplog.records) == 1
    assert "proceeding without it" in caplog.text


def test_an_answer_after_the_timeout_still_acts_and_counts_as_late() -> None:
    bench = Bench(JOINTS, timeout_s=0.05, policy="proceed")
    bench.step()
    bench.ask()
    assert bench.ask(0.06) == 0.0
    bench.steps(2)
    assert bench.send() == ""
    assert bench.acted == [("a", 3)]
    assert (bench.status.missed, bench.status.late) == (1, 1)


def test_who_missed_a_tick_is_not_waited_for_at_those_of_others() -> None:
    bench = Bench(JOINTS, FINGERS, timeout_s=0.05, policy="proceed")
    bench.step()
    bench.send()
    bench.ask()
    assert bench.ask(0.06) == 0.0
    bench.steps(5)
    assert bench.lockstep.awaited == ("joint_commands",)


def test_a_pause_is_not_silence() -> None:
    bench = Bench(JOINTS, timeout_s=1.0, policy="proceed")
    bench.step()
    bench.ask()
    assert bench.ask(3600.0) > 0.0


def test_it_waits_from_a_tick_until_the_command() -> None:
    bench = Bench(JOINTS)
    assert not bench.lockstep.waiting
    bench.step()
    for _ in range(3):
        bench.ask(0.05)
        assert bench.lockstep.waiting
    bench.send()
    assert not bench.lockstep.waiting


def test_after_a_reset_nobody_is_waited_for_until_the_next_tick() -> None:
    bench = Bench(JOINTS)
    bench.steps(1)
    bench.simulation.set_time(0.003)
    bench.lockstep.forget()
    assert bench.ask() == 0.0
    assert "no tick" in bench.send()
    assert bench.steps(3) == [frozenset(), frozenset(), {"arm"}]
    assert bench.ask() > 0.0


def test_ticks_follow_the_timestep() -> None:
    bench = Bench(JOINTS)
    bench.step()
    bench.send()
    bench.simulation.set_time(0.0025)
    bench.simulation.set_timestep(0.0025)
    assert bench.steps(2) == [frozenset(), {"arm"}]


def test_ticks_keep_their_distance_when_the_timestep_changes_between_two_steps() -> None:
    bench = Bench(FINGERS)
    bench.steps(33)
    bench.simulation.set_timestep(0.002)
    times = []
    for _ in range(25):
        if bench.step():
            times.append(bench.simulation.time)
    assert times == pytest.approx([0.041, 0.051, 0.061, 0.071, 0.081])


def test_leaving_lockstep_lets_the_clock_go() -> None:
    bench = Bench(JOINTS)
    bench.step()
    assert bench.ask() > 0.0
    bench.lockstep.configure(LockstepConfig())
    assert bench.ask() == 0.0
    assert bench.lockstep.robots == frozenset()


def test_sources_that_stay_keep_their_counts_and_their_tick() -> None:
    bench = Bench(JOINTS)
    bench.step()
    bench.lockstep.configure(LockstepConfig(sources=(JOINTS, FINGERS), timeout_s=2.0))
    assert bench.ask() > 0.0
    assert bench.status.ticks == 1
    bench.send()
    assert bench.ask() == 0.0
