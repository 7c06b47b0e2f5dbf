import subprocess
import sys

import pytest

SCRIPT = """
import os, threading
from mujoco_ros.sim.scheduling import schedule

stop = threading.Event()
thread = threading.Thread(target=stop.wait)
thread.start()
allowed = schedule(3)
kinds = {os.sched_getscheduler(thread.native_id), os.sched_getscheduler(0)}
assert kinds == ({os.SCHED_FIFO} if allowed else {os.SCHED_OTHER}), kinds
assert not allowed or os.sched_getparam(thread.native_id).sched_priority == 3
assert schedule(0)
assert os.sched_getscheduler(thread.native_id) == os.sched_getscheduler(0) == os.SCHED_OTHER
stop.set()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="SCHED_FIFO is Linux'")
def test_every_thread_gets_the_priority_or_none_does():
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
