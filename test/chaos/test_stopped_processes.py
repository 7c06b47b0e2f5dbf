"""Child processes that are stopped do not delay the physics, and come back."""

import os
import signal
from pathlib import Path

from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image
from simulators import SimulatorLauncher

_READY = "the viewer is at http://"


def _child(simulator: int, name: str) -> int | None:
    """Return the process of a name in the group of a simulator, unless it is a zombie."""
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            pid, rest = int(file.parent.name), file.read_text()
            words = (file.parent / "cmdline").read_bytes()
        except OSError:
            continue
        is_fork = f"({name}) " in rest
        is_named = is_fork or f"mujoco_ros.cli.{name}".encode() in words
        if is_named and words and int(rest.rpartition(")")[2].split()[2]) == simulator:
            return pid
    return None


def test_camera_and_viewer_that_are_stopped_are_replaced_while_the_clock_runs(
    start: SimulatorLauncher,
) -> None:
    simulator = start.simulator(scene="arm", cameras="true", cameras_at_start="true", viewer="web")
    listener, parent = start.listener(simulator), simulator.process.pid
    simulator.wait_until_running()
    modules = ["cameras", "viewer"]
    assert listener.spin_until(lambda: all(_child(parent, module) for module in modules))
    simulator.wait_for_log(_READY)
    images = listener.record(Image, "/camera/wrist_camera/image_raw")
    assert listener.spin_until(lambda: len(images) > 0)  # one that only starts may take 120 s
    listener.forget_subscriptions()
    stopped = {module: _child(parent, module) for module in modules}
    clock = listener.record(Clock, "/clock")
    for pid in stopped.values():
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
    received = len(clock)
    assert listener.spin_until(
        lambda: all(_child(parent, module) not in (pid, None) for module, pid in stopped.items())
    )
    assert len(clock) > received
    for name in ("cameras", "viewer"):
        simulator.wait_for_log(f"child process '{name}': missed its heartbeat; restart now")
    assert listener.spin_until(lambda: simulator.log.count(_READY) == 2)
    assert simulator.stop() == 0
