"""Description of the machine that runs the measurements."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy
import rclpy
from ament_index_python.packages import get_package_share_directory

from mujoco_ros.wire.names import ros_distribution


def describe() -> dict[str, str]:
    """Return the hardware, and the versions of the software."""
    rmw = rclpy.get_rmw_implementation_identifier()
    return {
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "memory": _memory(),
        "kernel": f"{platform.system()} {platform.release().partition('-')[0]}",
        "Python": platform.python_version(),
        "numpy": numpy.__version__,
        "MuJoCo": mujoco.__version__,
        "ROS 2": f"{ros_distribution()}, rclpy {_version('rclpy')}, {rmw} {_version(rmw)}",
        "real-time priority": "permitted" if _may_schedule() else "not permitted",
    }


def load() -> float:
    """Return the load average of the last minute."""
    return os.getloadavg()[0]


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
