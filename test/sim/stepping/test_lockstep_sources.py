"""A controller_manager in lockstep: its components' commands are counted."""

import logging
from collections.abc import Sequence

import pytest

from mujoco_ros.sim.stepping.lockstep_sources import ManagerSource, SourceConfig, whole_steps

TIMESTEP = 0.001
NS = 1_000_000
ARM, HAND = ("shoulder", "elbow"), ("finger",)


class Rig:
    """A source that is driven by the test: steps of 1 ms, wall time, commands."""

    def __init__(self, rate: float = 250.0) -> None:
        config = SourceConfig(topic="joint_commands", robot="arm", rate=rate, manager=True)
        self.source = ManagerSource(config)
        self.source.measure(TIMESTEP)
        self.now = 0
        self.wall = 50.0
        self.acted: list[tuple[Sequence[str], int]] = []

    def tick(self) -> bool:
        """Return whether the present step is a tick."""
        if not self.source.is_due(self.now, self.now * TIMESTEP):
            return False
        self.source.start_tick(self.now, self.now * TIMESTEP)
        return True

    def advance(self) -> int:
        """Step to the next tick; return it."""
        while True:
            assert not self.source.awaited
            self.now += 1
            if self.tick():
                return self.now

    def send(self, *components: Sequence[str], stamp: int | None = None) -> None:
        at = (self.now if stamp is None else stamp) * NS
        for component in components:
            name = tuple(component)
            reason = self.source.take(
                at, name, lambda _t, c=name: self.acted.append((c, self.now)), self.now * TIMESTEP
            )
            assert reason == ""

    def settle(self, seconds: float = 0.3) -> None:
        for _ in range(round(seconds / 0.05) + 1):
            self.source.settle(self.wall)
            self.wall += 0.05

    def join(self, *components: Sequence[str]) -> None:
        """Start a manager with some components, which answers the tick at which the clock stops."""
        components = components or (ARM, HAND)
        self.send(*components)
        self.advance()
        self.send(*components)
        self.settle()
        self.acted.clear()


@pytest.fixture
def rig() -> Rig:
    return Rig()


@pytest.fixture
def joined(rig: Rig) -> Rig:
    rig.join()
    return rig


def test_the_clock_does_not_wait_for_a_manager_before_its_first_command(rig: Rig) -> None:
    assert [rig.advance() for _ in range(5)] == [4, 8, 12, 16, 20]
    assert rig.source.status.ticks == 0


def test_the_clock_stands_until_the_manager_sleeps_at_a_tick(rig: Rig) -> None:
    rig.send(ARM, HAND, stamp=0)
    rig.advance()
    for _ in range(5):
        rig.send(ARM, HAND)  # whatever was under way
        rig.source.settle(rig.wall)
        rig.wall += 0.08
        assert rig.source.awaited
        assert not rig.source.expected, "not yet counted"
    rig.settle()
    assert not rig.source.awaited
    first = rig.now
    assert rig.advance() == first + 4
    assert rig.source.expected


def test_joining_continues_until_a_command_is_stamped_with_the_tick(rig: Rig) -> None:
    rig.send(ARM, HAND, stamp=0)
    rig.advance()
    rig.send(ARM, HAND, stamp=0)  # the loop sleeps until later
    rig.settle()
    second = rig.advance()
    assert rig.source.awaited
    rig.send(ARM, stamp=0)
    rig.send(HAND)
    rig.settle()
    assert rig.advance() == second + 4
    assert rig.source.expected
    rig.send(ARM)
    assert rig.source.awaited, "both are components"
    rig.send(HAND)
    assert not rig.source.awaited


def test_all_components_together_answer_a_tick(joined: Rig) -> None:
    for _ in range(3):
        tick = joined.advance()
        joined.send(HAND)
        assert joined.source.awaited
        joined.send(ARM)
        assert not joined.source.awaited
        assert joined.acted[-2:] == [(HAND, tick), (ARM, tick)]
    assert (joined.source.status.ticks, joined.source.status.missed) == (3, 0)
    assert (joined.source.status.late, joined.source.status.surplus) == (0, 0)


def test_an_old_stamp_of_a_component_whose_clock_lags_answers_the_tick(joined: Rig) -> None:
    tick = joined.advance()
    joined.send(ARM)
    joined.send(HAND, stamp=tick - 4)
    assert not joined.source.awaited


def test_commands_that_stay_one_tick_behind_join_again(joined: Rig) -> None:
    for _ in range(101):
        assert not joined.source.awaited
        tick = joined.advance()
        joined.send(ARM, HAND, stamp=tick - 4)
    assert joined.source.awaited
    assert not joined.source.expected
    joined.send(ARM, HAND)
    joined.settle()
    tick = joined.advance()
    joined.send(ARM, HAND)
    assert not joined.source.awaited


def test_one_current_stamp_shows_that_the_count_is_right(joined: Rig) -> None:
    for _ in range(300):
        tick = joined.advance()
        joined.send(ARM, stamp=tick - 4)
        joined.send(HAND)
        assert not joined.source.awaited


def test_two_commands_of_a_component_in_a_tick_join_again(joined: Rig) -> None:
    tick = joined.advance()
    joined.send(ARM, stamp=tick - 4)  # of the cycle before
    joined.send(ARM)
    assert joined.source.status.surplus == 1
    assert joined.acted[-1] == (ARM, tick), "it acts: it is the newest"
    joined.send(HAND)
    assert joined.source.awaited
    joined.settle()
    assert joined.advance() == tick + 4
    joined.send(ARM, HAND)
    assert not joined.source.awaited


def test_a_component_that_is_activated_later_is_waited_for(rig: Rig) -> None:
    rig.join(ARM)
    rig.advance()
    rig.send(ARM)
    assert not rig.source.awaited
    rig.send(HAND)
    tick = rig.advance()
    rig.send(ARM, HAND)
    rig.settle()
    assert rig.advance() == tick + 4
    rig.send(ARM)
    assert rig.source.awaited


def test_one_tick_goes_without_a_skipped_cycle_and_the_next_one_is_waited_for(joined: Rig) -> None:
    joined.advance()
    assert joined.source.proceed(always=False)
    joined.advance()
    assert not joined.source.proceed(always=False)
    assert joined.source.proceed(always=True)
    joined.advance()
    joined.send(ARM, HAND)
    joined.advance()
    assert joined.source.proceed(always=False), "there was an answer in between"
    assert joined.source.status.missed == 3


def test_a_command_after_its_tick_has_proceeded_joins_again(joined: Rig) -> None:
    tick = joined.advance()
    joined.source.proceed(always=False)
    joined.now += 1
    joined.send(ARM, HAND, stamp=tick)
    assert joined.source.status.late == 1
    assert joined.advance() == tick + 2
    assert joined.source.awaited
    assert not joined.source.expected


def test_the_missing_component_is_named(joined: Rig) -> None:
    joined.advance()
    assert joined.source.missing == "'joint_commands'"
    joined.send(HAND)
    assert joined.source.missing == "'joint_commands' from the component of shoulder, elbow"


def test_a_manager_that_has_ended_is_not_waited_for(
    joined: Rig, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    joined.advance()
    joined.source.depart()
    assert not joined.source.awaited
    assert "does not wait for 'joint_commands': it has ended" in caplog.text
    joined.advance()
    joined.join()
    joined.advance()
    assert joined.source.expected, "another one took its place"


def test_a_reset_that_keeps_the_time_leaves_the_tick_to_be_answered(joined: Rig) -> None:
    tick = joined.advance()
    joined.source.forget((tick + 1) * TIMESTEP)
    assert joined.source.awaited
    joined.send(ARM, HAND)
    assert joined.advance() == tick + 4


def test_a_manager_that_sleeps_until_a_time_before_the_reset_is_not_waited_for(
    joined: Rig,
) -> None:
    joined.advance()
    joined.source.forget(0.0)
    assert not joined.source.awaited
    joined.now = 0
    joined.advance()
    assert not joined.source.awaited


@pytest.mark.parametrize(
    ("rate", "timestep", "steps"),
    [(250, 0.001, 4), (1000, 0.001, 1), (2000, 0.001, 1), (300, 0.001, 4), (500, 0.0005, 4)],
)
def test_a_period_is_rounded_up_as_the_manager_wakes_at_the_first_clock_after_it(
    rate: float, timestep: float, steps: int
) -> None:
    assert whole_steps(rate, timestep) == steps


def test_another_timestep_joins_again(joined: Rig) -> None:
    joined.source.measure(0.002)
    assert joined.source.every == 2
    joined.advance()
    assert joined.source.awaited
    assert not joined.source.expected
