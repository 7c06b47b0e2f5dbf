"""The limit of the wall time of calls."""

import random
import sys
import time
from collections.abc import Iterator

import pytest

from mujoco_ros.controllers.fsm.state_calls import TimeLimitError
from mujoco_ros.controllers.runtime import time_limit
from mujoco_ros.controllers.runtime.time_limit import TimeLimit


def limit(seconds: float) -> TimeLimit:
    return TimeLimit(seconds, lambda frame: frame.f_code.co_name if frame else "?")


def count(n: int) -> int:
    for _ in range(n):
        pass
    return n


@pytest.fixture
def quick_switches() -> Iterator[None]:
    """Let threads alternate often."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("quick_switches")
def test_no_interruption_takes_effect_outside_of_the_call(monkeypatch):
    """Calls that end about when they are interrupted: every result is one of both, and both occur.

    A busy machine may interrupt none for seconds.
    """
    monkeypatch.setattr(time_limit, "_POLL_S", 0.0005)
    monkeypatch.setattr(time_limit, "_RETRY_POLLS", 1)
    limited, seeds = limit(0.001), random.Random(1)
    interrupted = finished = 0
    end = time.monotonic() + 3.0
    while time.monotonic() < end or not (interrupted and finished):
        n = seeds.choice((0, seeds.randrange(500_000)))
        try:
            assert limited.call(count, n) == n
            finished += 1
        except TimeLimitError:
            interrupted += 1
        assert count(50) == 50


def test_a_shielded_function_is_never_left_half_done():
    limited, begun, ended = limit(0.1), [], []

    def work() -> None:
        begun.append(0)
        count(20_000)
        ended.append(0)

    shielded = limited.shielded(work)

    def loop(_: None) -> None:
        while True:
            shielded()

    with pytest.raises(TimeLimitError, match=r"did not return within 0\.1 s"):
        limited.call(loop, None)
    assert len(begun) == len(ended) > 0


def test_a_call_that_blocks_outside_of_python_is_named_and_fails_when_it_returns(caplog):
    limited = limit(0.1)
    with pytest.raises(TimeLimitError):
        limited.call(time.sleep, 0.5)
    assert "does not return for 0.1 s" in caplog.text
    assert not limited.overdue


def test_time_for_which_other_programs_have_the_processor_does_not_count(monkeypatch):
    begun = time.monotonic()
    starved = [float("inf")]
    monkeypatch.setattr(
        time_limit,
        "processor_times",
        lambda _thread: (0.0, min(time.monotonic() - begun, starved[0])),
    )
    assert limit(0.1).call(lambda _: time.sleep(0.3), None) is None
    starved[0] = 0.0
    with pytest.raises(TimeLimitError):
        limit(0.1).call(time.sleep, 0.5)


def test_an_exception_of_a_call_is_raised():
    with pytest.raises(ZeroDivisionError):
        limit(1.0).call(lambda n: 1 / n, 0)
