"""How often, and when last, sources command."""

from mujoco_ros.control.command_rates import CommandRates, CommandTally


def test_each_source_has_its_rate_over_the_time_of_the_report_and_the_age_of_its_newest_command():
    heard = CommandRates()
    for step in range(10):
        heard.note("fast", 0.1 * step)
    heard.note("slow", 0.25)
    assert heard.report(1.0, 2.0) == (
        CommandTally("fast", 5.0, 1.0 - 0.1 * 9),
        CommandTally("slow", 0.5, 0.75),
    )


def test_who_fell_silent_is_told_with_a_rate_of_none_and_an_age_that_grows():
    heard = CommandRates()
    heard.note("once", 1.0)
    heard.report(2.0, 1.0)
    assert heard.report(3.0, 1.0) == (CommandTally("once", 0.0, 2.0),)


def test_a_report_over_no_time_has_no_rates():
    heard = CommandRates()
    heard.note("paused", 1.0)
    assert heard.report(1.0, 0.0) == (CommandTally("paused", 0.0, 0.0),)


def test_a_command_that_takes_effect_with_the_next_step_is_no_older_than_new():
    heard = CommandRates()
    heard.note("next", 1.001)
    assert heard.report(1.0, 1.0)[0].age == 0.0


def test_after_a_reset_nobody_was_heard():
    heard = CommandRates()
    heard.note("before", 1.0)
    heard.clear()
    assert heard.report(2.0, 1.0) == ()
