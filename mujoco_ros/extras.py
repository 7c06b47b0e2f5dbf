"""Optional parts of the package, which the extras of setup.py install."""

import shlex
from importlib.util import find_spec

from mujoco_ros.model.errors import UserInputError

EXTRAS = {
    "images": {"cv2": "<5"},
    "viewer": {
        "nicegui": ">=3.18",
        "fastapi": "",
        "pydantic": "",
        "starlette": "",
        "uvicorn": "",
        "cv2": "<5",
    },
    "planning": {
        "mink": ">=1.3",
        "ompl": ">=2.0",
        "qpsolvers": "",
        "toppra": ">=0.6.10",
        "daqp": ">=0.11",
    },
    "evaluation": {"matplotlib": ""},
    "diagrams": {"pygraphviz": ""},
    "decomposition": {"coacd": ""},
    "policy": {"onnxruntime": ">=1.20"},
    "cluster": {"ray": ">=2.50"},
    "video": {"av": ">=14"},
}
"""The Python modules of each optional part, which no other part imports, with their versions."""
_DISTRIBUTIONS = {"cv2": "opencv-python-headless"}  # names for pip, where they differ
_OF_ROS = {"ament_index_python", "cv_bridge", "launch", "rclpy", "tf2_ros"}
_ENDINGS_OF_ROS = ("_msgs", "_interfaces", "_srvs")


class MissingExtraError(UserInputError):
    """An optional part is not installed."""


def require(extra: str, feature: str) -> None:
    """Check that an optional part is installed, without an import of it.

    Args:
        extra: One of `EXTRAS`.
        feature: The feature that needs it, for the error message.

    Raises:
        MissingExtraError: A module is missing.
    """
    modules = EXTRAS[extra]
    missing = {name: version for name, version in modules.items() if find_spec(name) is None}
    if missing:
        raise MissingExtraError(f"{feature} needs {', '.join(missing)}; {_command(missing)}")


def missing_module(name: str) -> str:
    """Return the message for a module that an import has not found: how to install it."""
    top = name.partition(".")[0]
    versions = {name: version for extra in EXTRAS.values() for name, version in extra.items()}
    if top in versions:
        remedy = _command({top: versions[top]})
    elif top in _OF_ROS or top.endswith(_ENDINGS_OF_ROS):
        remedy = "it is part of ROS 2: source a distribution, or use the Python of `make setup`"
    else:
        remedy = "install the dependencies of mujoco_ros, with rosdep or pip"
    return f"Python module '{top}' is not installed; {remedy}"


def requirements_of(versions: dict[str, str]) -> list[str]:
    """Return what pip has to install for modules, given with their versions."""
    return [_DISTRIBUTIONS.get(name, name) + version for name, version in versions.items()]


def _command(versions: dict[str, str]) -> str:
    return f"run: pip install {shlex.join(requirements_of(versions))}"
