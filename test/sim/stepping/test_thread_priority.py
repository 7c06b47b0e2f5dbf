import subprocess
import sys

import pytest

SCRIPT = """
import os, threading
from mujoco_ros.sim.stepping.thread_priority import schedule

def mine():
    policy = os.sched_getscheduler(0) & ~os.SCHED_RESET_ON_FORK
    return policy, os.sched_getparam(0).sched_priority

def thread():
    allowed = schedule(3)
    assert mine() == ((os.SCHED_FIFO, 3) if allowed else (os.SCHED_OTHER, 0)), mine()
    started = threading.Thread(target=lambda: others.append(mine()))
    started.start()
    started.join()
    assert others.pop() == (os.SCHED_OTHER, 0)
    others.append(os.sched_getscheduler(main))
    assert schedule(0)
    assert mine() == (os.SCHED_OTHER, 0), mine()
    others.append("done")

main, others = threading.get_native_id(), []
child = threading.Thread(target=thread)
child.start()
child.join()
assert others == [os.SCHED_OTHER, "done"], others
"""


@pytest.mark.skipif(sys.platform != "linux", reason="SCHED_FIFO is Linux'")
def test_only_the_calling_thread_gets_the_priority_if_permitted():
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=250
    )
    assert done.returncode == 0, done.stderr
