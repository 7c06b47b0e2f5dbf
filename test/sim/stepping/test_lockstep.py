"""The clock waits for the command sources of a tick."""

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
MANAGER = SourceConfig(topic="joint_commands", robot="arm", rate=200.0, manager=True)
FINGERS = SourceConfig(topic="hand/position_controller/commands", robot="hand", rate=100.0)


class LockstepRun:
    """A clock that the lockstep stops, and the commands with the steps of their effect."""

    def __init__(self, *sources: SourceConfig, start: int = 0, **options: Any) -> None:
        self.simulation = Simulation(assemble_part(part_from_text(PENDULUM, name="it")))
        self.simulation.set_time(start * TIMESTEP)
        self.lockstep = Lockstep(self.simulation)
        self.lockstep.configure(LockstepConfig(sources=sources, **options))
        self.applied: list[tuple[str, int]] = []
        self.wall = 100.0

    def step(self) -> frozenset[str]:
        """Do a step, and return the sources for which its sample is a tick."""
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
            topic, stamp, lambda time: self.applied.append((name, round(time / TIMESTEP)))
        )

    def component(self, name: str) -> None:
        """Send a command of a component of a manager, stamped with the present time."""
        stamp = round(self.simulation.time * 1e9)
        self.lockstep.take("joint_commands", stamp, lambda _time: None, (name,))

    @property
    def status(self) -> Any:
        return self.lockstep.status["joint_commands"]


def test_without_sources_there_is_no_tick_and_commands_take_effect_at_once() -> None:
    run = LockstepRun()
    assert run.steps(10) == [frozenset()] * 10
    assert run.ask() == 0.0
    assert run.send() == ""
    assert run.applied == [("a", 10)]


def test_every_nth_step_is_a_tick_and_stops_the_clock() -> None:
    run = LockstepRun(JOINTS)
    assert run.step() == {"arm"}
    assert run.ask() > 0.0
    run.send()
    assert run.ask() == 0.0
    assert run.steps(4) == [frozenset()] * 4
    assert run.ask() == 0.0
    assert run.step() == {"arm"}
    assert run.ask() > 0.0


def test_a_command_takes_effect_with_the_step_after_its_tick() -> None:
    run = LockstepRun(JOINTS, start=5)
    run.step()
    assert run.send(at=5) == ""
    assert run.applied == [("a", 6)]


def test_the_clock_waits_for_every_source_of_the_tick() -> None:
    run = LockstepRun(JOINTS, FINGERS)
    assert run.step() == {"arm", "hand"}
    assert run.lockstep.awaited == ("joint_commands", FINGERS.topic)
    run.send()
    assert run.ask() > 0.0
    run.send(FINGERS.topic)
    assert run.ask() == 0.0
    ticks = run.steps(5)
    assert ticks == [frozenset()] * 4 + [{"arm"}]
    run.send(at=5)
    assert run.ask() == 0.0, "the fingers' next tick is at 10"


def test_other_sources_can_command_at_any_time() -> None:
    run = LockstepRun(JOINTS)
    run.step()
    run.send("position_controller/commands", name="other")
    assert run.applied == [("other", 1)]
    assert run.ask() > 0.0


def test_a_stamp_between_the_previous_tick_and_this_one_belongs_to_this_one() -> None:
    run = LockstepRun(JOINTS)
    run.steps(1)
    run.send()
    run.steps(5)
    assert run.send(at=3) == "", "who takes the stamp from /clock may be behind"
    assert run.applied[-1] == ("a", 6)


def test_an_early_command_takes_effect_at_its_tick() -> None:
    run = LockstepRun(JOINTS)
    run.step()
    run.send()
    run.steps(3)
    assert run.send(at=3, name="early") == ""
    assert ("early", 4) not in run.applied
    run.steps(2)
    assert run.applied[-1] == ("early", 6)
    assert run.ask() == 0.0


def test_an_early_command_that_fails_does_not_end_the_physics(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run = LockstepRun(JOINTS)
    run.step()
    run.send()
    run.step()
    run.lockstep.take("joint_commands", 1_000_000, lambda _time: 1 / 0)
    run.steps(4)
    assert "ZeroDivisionError" in caplog.text
    assert run.ask() == 0.0


def test_a_second_command_for_a_tick_is_dropped_and_counted() -> None:
    run = LockstepRun(JOINTS, start=5)
    run.step()
    run.send(at=5)
    assert "already has one" in run.send(at=5, name="second")
    assert "already has one" in run.send(name="third")
    assert run.applied == [("a", 6)]
    assert run.status.surplus == 2


@pytest.mark.parametrize(
    ("at", "reason"),
    [
        (5, "stamped 0.005000 s, before the tick of 0.010000 s"),
        (16, "stamped 0.016000 s, ahead of the tick of 0.010000 s"),
        (1_700_000_000_000, "ahead of the tick"),
    ],
)
def test_a_command_for_another_tick_is_dropped_with_the_reason(at: int, reason: str) -> None:
    run = LockstepRun(JOINTS, start=10)
    run.step()
    assert reason in run.send(at=at)
    assert run.applied == []
    assert run.ask() > 0.0
    assert run.status.surplus == 1


def test_a_command_before_the_first_tick_belongs_to_no_tick() -> None:
    run = LockstepRun(JOINTS, start=1)
    run.step()
    assert "no tick" in run.send()
    assert "no tick" in run.send(at=1)
    assert run.applied == []


def test_a_silent_source_is_reported_once_and_the_clock_stops_if_configured(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run = LockstepRun(JOINTS, timeout_s=0.2, policy="wait")
    run.step()
    assert run.ask() > 0.0
    for _ in range(50):
        assert run.ask(0.05) > 0.0
    (record,) = caplog.records
    assert record.levelno == logging.WARNING
    assert "no command on 'joint_commands' within 0.2 s for the tick of 0.000000 s" in caplog.text
    assert "the clock is stopped" in caplog.text
    assert run.status.silent
    caplog.set_level(logging.INFO)
    run.send()
    assert "'joint_commands' answers again" in caplog.text
    assert run.ask() == 0.0
    assert (run.status.missed, run.status.late) == (0, 0)


def test_after_the_timeout_the_clock_continues_if_configured_and_misses_are_counted(
    caplog: pytest.LogCaptureFixture,
) -> None:
    run = LockstepRun(JOINTS, timeout_s=0.12, policy="proceed")
    for _ in range(3):
        run.step()
        waits = [run.ask(), run.ask(0.05), run.ask(0.05)]
        assert waits == pytest.approx([0.05, 0.05, 0.02])
        assert run.ask(0.05) == 0.0
        run.steps(4)
    assert run.status.missed == 3
    assert len(caplog.records) == 1
    assert "proceeding without it" in caplog.text


def test_a_command_after_the_timeout_takes_effect_and_counts_as_late() -> None:
    run = LockstepRun(JOINTS, timeout_s=0.05, policy="proceed")
    run.step()
    run.ask()
    assert run.ask(0.06) == 0.0
    run.steps(2)
    assert run.send() == ""
    assert run.applied == [("a", 3)]
    assert (run.status.missed, run.status.late) == (1, 1)


def test_ticks_of_other_sources_do_not_wait_for_a_source_that_missed_one() -> None:
    run = LockstepRun(JOINTS, FINGERS, timeout_s=0.05, policy="proceed")
    run.step()
    run.send()
    run.ask()
    assert run.ask(0.06) == 0.0
    run.steps(5)
    assert run.lockstep.awaited == ("joint_commands",)


def test_a_pause_does_not_count_as_silence() -> None:
    run = LockstepRun(JOINTS, timeout_s=1.0, policy="proceed")
    run.step()
    run.ask()
    assert run.ask(3600.0) > 0.0


def test_it_waits_from_a_tick_until_the_command() -> None:
    run = LockstepRun(JOINTS)
    assert not run.lockstep.waiting
    run.step()
    for _ in range(3):
        run.ask(0.05)
        assert run.lockstep.waiting
    run.send()
    assert not run.lockstep.waiting


def test_after_a_reset_no_source_is_awaited_until_the_next_tick() -> None:
    run = LockstepRun(JOINTS)
    run.steps(1)
    run.simulation.set_time(0.003)
    run.lockstep.forget()
    assert run.ask() == 0.0
    assert "no tick" in run.send()
    assert run.steps(3) == [frozenset(), frozenset(), {"arm"}]
    assert run.ask() > 0.0


def test_ticks_follow_the_timestep() -> None:
    run = LockstepRun(JOINTS)
    run.step()
    run.send()
    run.simulation.set_time(0.0025)
    run.simulation.set_timestep(0.0025)
    assert run.steps(2) == [frozenset(), {"arm"}]


def test_ticks_keep_their_period_when_the_timestep_changes_between_two_steps() -> None:
    run = LockstepRun(FINGERS)
    run.steps(33)
    run.simulation.set_timestep(0.002)
    times = []
    for _ in range(25):
        if run.step():
            times.append(run.simulation.time)
    assert times == pytest.approx([0.041, 0.051, 0.061, 0.071, 0.081])


def test_no_tick_is_skipped_when_the_timestep_changes_in_a_pause_between_two_ticks() -> None:
    run = LockstepRun(JOINTS)
    run.step()
    run.send()
    run.step()
    assert run.lockstep.idle_steps() == 3
    run.simulation.set_timestep(0.002)  # now every second step is a tick
    assert run.lockstep.idle_steps() == 0
    assert run.step() == frozenset()
    assert run.lockstep.idle_steps() == 0
    assert run.step() == {"arm"}


def test_leaving_lockstep_releases_the_clock() -> None:
    run = LockstepRun(JOINTS)
    run.step()
    assert run.ask() > 0.0
    run.lockstep.configure(LockstepConfig())
    assert run.ask() == 0.0
    assert run.lockstep.robots == frozenset()


def test_remaining_sources_keep_their_counts_and_their_tick() -> None:
    run = LockstepRun(JOINTS)
    run.step()
    run.lockstep.configure(LockstepConfig(sources=(JOINTS, FINGERS), timeout_s=2.0))
    assert run.ask() > 0.0
    assert run.status.ticks == 1
    run.send()
    assert run.ask() == 0.0


def with_manager() -> LockstepRun:
    """Return a run whose clock waits for a manager with two components, at a tick."""
    run = LockstepRun(MANAGER, timeout_s=60.0)
    run.component("arm")
    run.step()
    run.component("arm")
    run.component("hand")
    while run.ask(after=0.05):
        pass
    run.steps(5)
    assert run.lockstep.waiting
    return run


def nudges(run: LockstepRun, seconds: float) -> list[tuple[float, int]]:
    """Return the changes of the clock in a silence, with the wall time after its beginning."""
    found = []
    begin = run.wall
    while run.wall < begin + seconds:
        run.ask(after=0.05)
        if change := run.lockstep.take_nudge():
            found.append((run.wall - begin, change))
    return found


def test_the_clock_is_set_back_and_forth_until_a_silent_manager_wakes() -> None:
    run = with_manager()
    found = nudges(run, 15.0)
    assert [change for _, change in found] == [-1, 1] * (len(found) // 2)
    assert len(found) >= 16, "again and again"
    assert run.lockstep.set_back == len(found) // 2
    assert found[0][0] > 0.25
    gaps = [b - a for (a, _), (b, _) in zip(found[::2], found[1::2], strict=True)]
    assert max(gaps) < 0.11, "a loop that is merely slow may read the changed time"


def test_the_clock_is_left_alone_once_a_component_has_published() -> None:
    run = with_manager()
    run.component("arm")
    assert run.lockstep.waiting
    assert nudges(run, 3.0) == []
    assert run.lockstep.set_back == 0


def test_a_clock_that_was_set_back_is_set_forth_also_if_a_component_publishes() -> None:
    run = with_manager()
    found: list[tuple[float, int]] = []
    while not found:
        found = nudges(run, 0.05)
    assert [change for _, change in found] == [-1]
    run.component("arm")
    assert [change for _, change in nudges(run, 3.0)] == [1]


def test_commands_wait_for_the_next_tick_and_for_no_step_in_between() -> None:
    run = LockstepRun(JOINTS)
    held = run.simulation.commands
    run.step()
    assert not held.held
    run.send()
    steps = [run.step() and held.held for _ in range(4)]
    assert held.held, steps
    run.step()
    assert not held.held
    run.lockstep.configure(LockstepConfig())
    run.step()
    assert not held.held, "without sources nothing waits"


def test_commands_do_not_wait_for_ticks_that_are_far_apart_or_for_a_manager_that_is_absent() -> (
    None
):
    rare = SourceConfig(topic="joint_commands", robot="arm", rate=0.1)
    for source in (rare, MANAGER):
        run = LockstepRun(source)
        run.steps(2)
        assert not run.simulation.commands.held


def test_answers_of_a_tick_act_in_the_order_of_the_sources() -> None:
    for first, second in ((0, 1), (1, 0)):
        run = LockstepRun(JOINTS, FINGERS)
        run.step()
        sent = [("joint_commands", "joints"), (FINGERS.topic, "fingers")]
        for index in (first, second):
            topic, name = sent[index]
            assert run.applied == []
            run.send(topic, name=name)
        assert run.applied == [("joints", 1), ("fingers", 1)]


def test_answers_act_after_all_that_arrived_before_them() -> None:
    run, settled = LockstepRun(JOINTS), [False]
    run.lockstep.settled = lambda: settled[0]
    run.step()
    run.send(name="answer")
    assert run.ask() > 0.0
    run.send("external_wrench", name="push")
    settled[0] = True
    assert run.ask() == 0.0
    assert run.applied == [("push", 1), ("answer", 1)]


def test_a_command_stamped_with_a_later_tick_waits_for_it() -> None:
    run = LockstepRun(JOINTS)
    run.step()
    assert run.send("external_wrench", at=10, name="push") == ""
    for tick in (5, 10):
        assert run.applied == [("a", 1 + 5 * i) for i in range(tick // 5 - 1)]
        run.send()
        run.steps(5)
        run.simulation.commands.drain()
    assert run.applied[-1] == ("push", 11)
    run.send("external_wrench", at=20, name="void")
    run.lockstep.forget()
    run.steps(20)
    run.simulation.commands.drain()
    assert ("void", 21) not in run.applied


def test_no_command_for_a_later_tick_is_lost_when_lockstep_ends() -> None:
    run = LockstepRun(JOINTS)
    run.step()
    for at, name in ((20, "second"), (10, "first")):
        assert run.send("external_wrench", at=at, name=name) == ""
    run.lockstep.configure(LockstepConfig())
    run.simulation.commands.drain()
    assert run.applied == [("second", 1), ("first", 1)], "in their order of arrival"


def test_a_command_for_a_later_tick_is_dropped_with_the_reason_if_too_many_wait() -> None:
    run = LockstepRun(JOINTS)
    run.step()
    reasons = [run.send("external_wrench", at=10) for _ in range(1025)]
    assert reasons == [""] * 1024 + ["dropped: 1024 commands wait for later ticks"]


def test_a_command_whose_tick_is_over_acts_and_is_counted(caplog: pytest.LogCaptureFixture) -> None:
    run = LockstepRun(JOINTS)
    run.step()
    run.send()
    run.steps(5)
    run.send()
    run.steps(5)
    run.send("external_wrench", at=10, name="in time")
    assert run.lockstep.late == 0
    run.send("external_wrench", at=5, name="late")
    run.send("external_wrench", at=5, name="late")
    assert run.applied[-1] == ("late", 11)
    assert run.lockstep.late == 2
    assert caplog.text.count("as its tick is over") == 1


def test_the_first_tick_after_a_reset_comes_again_until_it_is_answered() -> None:
    run = LockstepRun(JOINTS)
    repeats = []
    for _ in range(2):
        run.lockstep.forget()
        run.simulation.set_time(0.0)
        run.step()
        repeats.append(
            [run.ask(0.05) and run.lockstep.take_repeat() for _ in range(300)].count(True)
        )
        run.send()
        run.steps(5)
    assert repeats == [3, 3], "after 1 s, and at growing distances"
    assert not any(run.ask(0.05) and run.lockstep.take_repeat() for _ in range(300))
