"""Description of the machine that runs the measurements."""

import os
import platform
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import rclpy
from ament_index_python.packages import get_package_share_directory

from benchmark.report import MJ_STEP
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.wire.names import ros_distribution

_LOAD_S, _CALLS, _SETTLING_STEPS = 1.0, 20, 1000
_STEPS, _NUMBERS, _COPIED = 100, 100_000, 32_000_000


def describe() -> dict[str, str]:
    """Return the hardware, and the versions of the software."""
    rmw = rclpy.get_rmw_implementation_identifier()
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "kernel": f"{platform.system()} {platform.release().partition('-')[0]}",
        "Python": platform.python_version(),
        "numpy": np.__version__,
        "MuJoCo": mujoco.__version__,
        "ROS 2": f"{ros_distribution()}, rclpy {_version('rclpy')}, {rmw} {_version(rmw)}",
        "real-time priority": "permitted" if _may_schedule() else "not permitted",
    }


def load_average() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]


def busy_share() -> float:
    """Return the share of the processors that work now."""
    before = _busy_and_all()
    time.sleep(_LOAD_S)
    busy, total = (after - earlier for after, earlier in zip(_busy_and_all(), before, strict=True))
    return busy / total


def yardsticks() -> dict[str, float]:
    """Return the processor times of fixed work [µs], by which machines can be compared.

    A step of the standing humanoid, a loop of Python's bytecode, and a copy of 32 MB, which no
    cache holds; each the fastest of some.
    """
    simulation = Simulation(load_scene("humanoid"))
    for _ in range(_SETTLING_STEPS):
        simulation.step()
    model, data, numbers = simulation.model, simulation.data, np.ones(_COPIED // 8)

    def steps() -> None:
        for _ in range(_STEPS):
            mujoco.mj_step(model, data)

    def python() -> None:
        total = 0
        for number in range(_NUMBERS):
            total += number

    return {
        MJ_STEP: _fastest(steps) / _STEPS,
        "Python loop of 100,000 additions": _fastest(python),
        "copy of 32 MB": _fastest(numbers.copy),
    }


def _fastest(work: Callable[[], object]) -> float:
    """Return the shortest processor time of some calls [µs]."""
    times = []
    for _ in range(_CALLS):
        before = time.thread_time()
        work()
        times.append(1e6 * (time.thread_time() - before))
    return min(times)


def _busy_and_all() -> tuple[float, float]:
    """Return the time that all processors have worked, and that they have existed (proc(5))."""
    fields = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0].split()[1:9]
    times = [float(field) for field in fields]
    return sum(times) - times[3] - times[4], sum(times)


def _processor() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _memory() -> str:
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{pages / 1e9:.0f} GB"


def _version(package: str) -> str:
    for name in (package, f"ros-{package.replace('_', '-')}"):  # of wheels
        try:
            return version(name)
        except PackageNotFoundError:
            continue
    share = Path(get_package_share_directory(package))
    return ElementTree.parse(share / "package.xml").findtext("version", "unknown")


def _may_schedule() -> bool:
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    except OSError:
        return False
    os.sched_setscheduler(0, *before)
    return True
