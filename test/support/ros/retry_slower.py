"""Repeats tests of programs with a rate at lower real-time factors."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

from example_runs import REAL_TIME_FACTOR, CommandedSimulator

_FACTORS = (REAL_TIME_FACTOR, REAL_TIME_FACTOR / 3, REAL_TIME_FACTOR / 8)


def retry_slower(test: Callable[..., None]) -> Callable[..., None]:
    """Let a test of a `CommandedSimulator` fail only if it fails at each real-time factor.

    On a busy machine a program commands late, which changes the motion. At a lower factor the same
    delay is less simulated time. A defect fails at every factor.
    """

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        (robot,) = [value for value in fixtures.values() if isinstance(value, CommandedSimulator)]
        try:
            for factor in _FACTORS:
                robot.set_real_time_factor(factor)
                try:
                    return test(**fixtures)
                except AssertionError as error:
                    if factor == _FACTORS[-1]:
                        error.add_note(robot.simulator.log)
                        raise
                    text = f"failed at a real-time factor of {factor:g}: {error}"
                    warnings.warn(text, stacklevel=1)
                    robot.listener.forget_subscriptions()
                    robot.reset()  # a robot may have fallen
        finally:
            robot.set_real_time_factor(REAL_TIME_FACTOR)

    return run
