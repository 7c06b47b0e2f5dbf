import logging
import subprocess
import sys

import pytest

from mujoco_ros.sim.stepping import thread_priority
from mujoco_ros.sim.stepping.thread_priority import RealTimePriority

SCRIPT = """
import os, threading
from mujoco_ros.sim.stepping.thread_priority import schedule

def of(thread):
    policy = os.sched_getscheduler(thread) & ~os.SCHED_RESET_ON_FORK
    return policy, os.sched_getparam(thread).sched_priority

def mine():
    return of(0)

def thread():
    allowed = schedule(3)
    assert mine() == ((os.SCHED_FIFO, 3) if allowed else (os.SCHED_OTHER, 0)), mine()
    started = threading.Thread(target=lambda: others.append(mine()))
    started.start()
    started.join()
    assert others.pop() == (os.SCHED_OTHER, 0)
    assert of(main) == ((os.SCHED_FIFO, 2) if allowed else (os.SCHED_OTHER, 0)), of(main)
    assert schedule(1) is allowed
    assert mine() == of(main)
    assert schedule(0)
    assert mine() == of(main) == (os.SCHED_OTHER, 0), mine()
    others.append("done")

main, others = threading.get_native_id(), []
child = threading.Thread(target=thread)
child.start()
child.join()
assert others == ["done"], others
"""


@pytest.mark.skipif(sys.platform != "linux", reason="SCHED_FIFO is Linux'")
def test_the_calling_thread_gets_the_priority_and_others_the_next_lower_one_if_permitted():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stderr


def test_a_thread_that_is_too_slow_has_no_priority_for_ten_seconds(scheduled):
    priority = RealTimePriority(7, "steps")
    priority.want(True, 100.0, 0.0)
    priority.check(100.1, 0.19)
    assert scheduled == [7]
    priority.check(100.2, 0.21)
    assert scheduled == [7, 0]
    for now in (100.3, 105.0, 110.1):
        priority.want(True, now, 0.21)
        priority.check(now, 0.21)
    assert scheduled == [7, 0]
    priority.check(110.3, 50.0)
    assert scheduled == [7, 0, 7], "time lost without priority is no reason to drop it again"
    priority.check(110.4, 50.1)
    assert scheduled == [7, 0, 7]


def test_repeated_drops_last_longer_until_the_priority_was_kept_for_long(scheduled):
    priority = RealTimePriority(7, "steps")
    now, lost = 100.0, 0.0
    priority.want(True, now, lost)
    durations = []
    for held in (1.0,) * 7 + (301.0,):
        now, lost = now + held, lost + 0.3
        priority.check(now, lost)
        since = now
        while scheduled[-1] == 0:
            now += 1.0
            priority.check(now, lost)
        durations.append(now - since)
    assert durations == [10.0, 20.0, 40.0, 80.0, 160.0, 300.0, 300.0, 10.0]


def test_time_that_is_lost_slowly_is_no_reason_to_drop_the_priority(scheduled):
    priority = RealTimePriority(7, "steps")
    priority.want(True, 0.0, 0.0)
    for second in range(100):
        priority.check(float(second), 0.15 * second)
        priority.excuse(0.15 * second)
    assert scheduled == [7]


def test_a_thread_that_needs_no_priority_returns_it_and_gets_none_after_a_drop(scheduled):
    priority = RealTimePriority(7, "steps")
    priority.want(True, 0.0, 0.0)
    priority.want(False, 1.0, 0.0)
    assert scheduled == [7, 0]
    priority.want(True, 2.0, 0.0)
    priority.check(3.0, 0.3)
    priority.want(False, 4.0, 0.3)
    priority.check(20.0, 0.3)
    assert scheduled == [7, 0, 7, 0]
    priority.release()
    assert scheduled == [7, 0, 7, 0]
    priority.want(True, 30.0, 0.3)
    priority.release()
    assert scheduled == [7, 0, 7, 0, 7, 0]


def test_a_system_that_permits_no_priority_is_requested_once_and_logged(monkeypatch, caplog):
    caplog.set_level(logging.INFO)
    requests: list[int] = []
    monkeypatch.setattr(thread_priority, "schedule", requests.append)
    priority = RealTimePriority(7, "steps")
    for now in (0.0, 1.0):
        priority.want(True, now, 0.0)
        priority.check(now, 1.0)
    assert requests == [7]
    (record,) = caplog.records
    assert "steps may be late" in record.getMessage()


def test_without_a_priority_nothing_is_requested(scheduled):
    priority = RealTimePriority(0, "steps")
    priority.want(True, 0.0, 0.0)
    priority.check(1.0, 1.0)
    priority.release()
    assert scheduled == []
