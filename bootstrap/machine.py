"""Checks of the machine: interpreter, compiler, libraries, disk; a clean environment."""

# Importable by any Python since 3.7, to report an unsupported version.
from __future__ import annotations

import ctypes
import importlib.util
import os
import platform
import shutil
import sys
import sysconfig
from pathlib import Path

from bootstrap.progress import SetupError

OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 14)  # the ROS wheels exist for CPython 3.10 to 3.14
PYTHON_VERSION = f"{sys.version_info[0]}.{sys.version_info[1]}"
FREE_DISK_GB = 3  # the virtual environment, uv's cache of the same and the overlay's build

# Variables of a sourced ROS distribution, another virtual environment or the shell.
FOREIGN_VARIABLES = (
    "AMENT_PREFIX_PATH",
    "CMAKE_PREFIX_PATH",
    "COLCON_PREFIX_PATH",
    "LD_LIBRARY_PATH",
    "PIP_PREFIX",
    "PIP_TARGET",
    "PIP_USER",
    "PYTHONDONTWRITEBYTECODE",  # every process would compile all its imports
    "PYTHONHOME",
    "PYTHONPATH",
    "RMW_IMPLEMENTATION",
    "ROS_DISTRO",
    "ROS_PYTHON_VERSION",
    "ROS_VERSION",
    "VIRTUAL_ENV",
    "_ROS_WHEELS_BOOTSTRAP_COMPLETE",
)
RENDERING_LIBRARIES = {"libEGL.so.1": "libegl1", "libGL.so.1": "libgl1"}


def clean_environment(venv: Path) -> dict[str, str]:
    """Return this process's environment for work inside `venv` only."""
    environment = {k: v for k, v in os.environ.items() if k not in FOREIGN_VARIABLES}
    environment["PATH"] = f"{venv / 'bin'}{os.pathsep}{environment.get('PATH', os.defpath)}"
    environment["AMENT_PREFIX_PATH"] = str(venv)
    environment["PYTHONNOUSERSITE"] = "1"
    return environment


def missing_build_packages() -> list[str]:
    """Return the missing Debian packages for building."""
    # The system's interpreter has generic packages, other versions have numbered ones.
    own = os.path.realpath("/usr/bin/python3") == os.path.realpath(sys.executable)
    stem = "python3" if own else f"python{PYTHON_VERSION}"
    missing = []
    if not any(map(shutil.which, (os.environ.get("CXX", "c++"), "g++", "clang++"))):
        missing.append("g++")
    if not Path(sysconfig.get_path("include"), "Python.h").is_file():
        missing.append(f"{stem}-dev")
    if importlib.util.find_spec("ensurepip") is None or importlib.util.find_spec("venv") is None:
        missing.append(f"{stem}-venv")
    return missing


def missing_rendering_packages() -> list[str]:
    """Return the missing Debian packages for rendering."""
    missing = []
    for library, package in RENDERING_LIBRARIES.items():
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.append(package)
    return missing


def check_machine() -> None:
    """Reject a machine without ROS wheels."""
    version = sys.version_info[:2]
    span = f"{OLDEST_PYTHON[0]}.{OLDEST_PYTHON[1]} to {NEWEST_PYTHON[0]}.{NEWEST_PYTHON[1]}"
    implementation = platform.python_implementation()
    if not OLDEST_PYTHON <= version <= NEWEST_PYTHON or implementation != "CPython":
        found = f"{implementation} {PYTHON_VERSION}"
        raise SetupError(
            f"CPython {span} is required, {sys.executable} is {found}. "
            "Select another one with `make PYTHON=/path/to/python3.x`."
        )
    if sys.platform != "linux" or platform.machine() != "x86_64":
        raise SetupError(
            "ROS 2 wheels exist for Linux on x86_64 only, "
            f"this is {sys.platform} on {platform.machine()}. "
            "With a ROS 2 distribution installed, build this package with colcon instead."
        )


def check_disk(where: Path) -> None:
    """Reject a disk with too little free space."""
    free = shutil.disk_usage(where).free / 1e9
    if free < FREE_DISK_GB:
        raise SetupError(f"{where} has {free:.1f} GB free, the set-up requires {FREE_DISK_GB} GB")


def newer_python() -> str | None:
    """Return a supported interpreter on PATH, newest first."""
    names = [f"python3.{minor}" for minor in range(NEWEST_PYTHON[1], OLDEST_PYTHON[1] - 1, -1)]
    return next((path for path in map(shutil.which, names) if path), None)


def foreign_distribution() -> str:
    """Return the name of a sourced ROS distribution; empty without one."""
    if os.environ.get("AMENT_PREFIX_PATH") or "/opt/ros/" in os.environ.get("PYTHONPATH", ""):
        return os.environ.get("ROS_DISTRO", "distribution")
    return ""
