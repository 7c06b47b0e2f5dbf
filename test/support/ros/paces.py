"""Tests of what keeps a rate, at a pace of the simulation that a busy machine leaves possible."""

import functools
import warnings
from collections.abc import Callable
from typing import Any

from example_runs import PACE, Commanded

_PACES = (PACE, PACE / 3, PACE / 8)


def slower_if_need_be(test: Callable[..., None]) -> Callable[..., None]:
    """Let a test of a `Commanded` fail only where it does at each of some ever slower paces.

    A program that is late has commanded late, which shows in the motion; at a slower pace the same
    lateness is less of simulated time. What is wrong is so at every pace.
    """

    @functools.wraps(test)
    def run(**fixtures: Any) -> None:
        (robot,) = [value for value in fixtures.values() if isinstance(value, Commanded)]
        try:
            for pace in _PACES:
                robot.set_pace(pace)
                try:
                    return test(**fixtures)
                except AssertionError:
                    if pace == _PACES[-1]:
                        raise
                    warnings.warn(f"it failed at a pace of {pace:g}", stacklevel=1)
                    robot.listener.forget_subscriptions()
        finally:
            robot.set_pace(PACE)

    return run
