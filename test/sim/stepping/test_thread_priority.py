import subprocess
import sys

import pytest

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
