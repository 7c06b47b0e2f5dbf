"""Ticks by stamps."""

import pytest

from mujoco_ros.controllers.ros.node.ticks_of_stamps import Due, Ticker

MS = 1_000_000


def ticks(ticker: Ticker, stamps: list[float]) -> list[float]:
    """Return the stamps [ms] that are ticks, of any kind."""
    return [at for at in stamps if ticker.action(round(at * MS)) is not Due.NOTHING]


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        (1, [3, 5, 10, 15, 20, 25]),  # exactly the multiples of the period
        (2, [3, 5, 11, 15, 21, 25]),  # the nearest
        (5, [3, 8, 13, 18, 23, 28]),  # each
        (7, [3, 10, 17, 24]),
    ],
)
def test_a_tick_is_the_message_nearest_to_a_multiple_of_the_period(every, expected):
    stamps = [3.0 + i * every for i in range(30) if 3.0 + i * every <= 29]
    assert ticks(Ticker(0.005, 0.5), stamps) == expected


@pytest.mark.parametrize(
    ("every", "expected"), [(1, 0.0), (2, 1.0), (2.5, 0.0), (3, 1.33), (5, 0.0), (7, 2.0)]
)
def test_the_time_between_ticks_differs_from_a_period_that_is_no_multiple_of_the_interval(
    every, expected
):
    ticker = Ticker(0.005, 0.5)
    ticks(ticker, [every * number for number in range(300)])
    assert 1e3 * ticker.unevenness == pytest.approx(expected, abs=0.2)


def test_messages_at_the_controllers_own_rate_are_ticks_whatever_their_jitter():
    jitter = [0.0, 0.9, -0.9, 0.5, -0.5] * 20
    stamps = [2.5 + 5.0 * i + off for i, off in enumerate(jitter)]
    assert ticks(Ticker(0.005, 0.5), stamps) == stamps


def test_in_lockstep_only_multiples_of_the_period_are_ticks():
    stamps = [1.0, 2.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0]
    assert ticks(Ticker(0.005, 0.5, exact=True), stamps) == [5.0, 10.0, 15.0]


def test_a_repeated_stamp_is_one_tick_and_gaps_are_counted():
    ticker = Ticker(0.005, 0.5)
    actions = [ticker.action(round(at * MS)) for at in (5, 10, 10, 15, 40, 45)]
    assert actions == [Due.BEGIN, Due.TICK, Due.NOTHING, Due.TICK, Due.TICK, Due.TICK]
    assert (ticker.ticks, ticker.missed) == (5, 4)


def test_a_jump_of_the_stamps_restarts():
    ticker = Ticker(0.005, 0.5)
    actions = [ticker.action(at * MS) for at in (5000, 5005, 10, 15, 515, 1016)]
    assert actions == [Due.BEGIN, Due.TICK, Due.BEGIN, Due.TICK, Due.TICK, Due.LEAP]
