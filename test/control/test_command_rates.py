"""Rates and ages of command sources."""

from mujoco_ros.control.command_rates import CommandRates, CommandTally


def test_each_source_has_its_rate_over_the_time_of_the_report_and_the_age_of_its_newest_command():
    rates = CommandRates()
    for step in range(10):
        rates.add("fast", 0.1 * step)
    rates.add("slow", 0.25)
    assert rates.report(1.0, 2.0) == (
        CommandTally("fast", 5.0, 1.0 - 0.1 * 9),
        CommandTally("slow", 0.5, 0.75),
    )


def test_a_silent_source_is_reported_with_a_rate_of_zero_and_a_growing_age():
    rates = CommandRates()
    rates.add("once", 1.0)
    rates.report(2.0, 1.0)
    assert rates.report(3.0, 1.0) == (CommandTally("once", 0.0, 2.0),)


def test_a_report_over_no_time_has_no_rates():
    rates = CommandRates()
    rates.add("paused", 1.0)
    assert rates.report(1.0, 0.0) == (CommandTally("paused", 0.0, 0.0),)


def test_a_command_that_takes_effect_with_the_next_step_is_no_older_than_new():
    rates = CommandRates()
    rates.add("next", 1.001)
    assert rates.report(1.0, 1.0)[0].age == 0.0


def test_after_a_reset_there_are_no_sources():
    rates = CommandRates()
    rates.add("before", 1.0)
    rates.clear()
    assert rates.report(2.0, 1.0) == ()
