"""The process that runs LeRobot."""

import subprocess
import sys

import pytest

THREAD = """
import os, sys, threading
from mujoco_ros.recording.demonstrations.lerobot_program import give_up_real_time

def take_priority():
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
        print("real time")
    except PermissionError:
        print("refused")

if "give up" in sys.argv:
    give_up_real_time()
thread = threading.Thread(target=take_priority)
thread.start()
thread.join()
"""


def priority(*arguments: str) -> str:
    """Return what a thread got that requested real-time priority."""
    command = [sys.executable, "-c", THREAD, *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def test_its_threads_get_no_real_time_priority_even_as_root():
    if priority() != "real time":
        pytest.skip("this user may not set real-time priorities: it lacks CAP_SYS_NICE")
    assert priority("give up") == "refused"
