"""Arguments and processes of the launch files."""

import atexit
import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any


def file_argument(arguments: Mapping[str, str], name: str) -> Path:
    """Return the path in an argument.

    Raises:
        ValueError: There is no such file.
    """
    path = Path(arguments[name]).expanduser()
    if not path.is_file():
        raise ValueError(f"{name}:={path} does not exist")
    return path


def integer_argument(arguments: Mapping[str, str], name: str) -> int:
    """Return the integer in an argument.

    Raises:
        ValueError: It is not an integer.
    """
    try:
        return int(arguments[name])
    except ValueError:
        raise ValueError(f"{name}:={arguments[name]} is not an integer") from None


def on_exit(process: str, actions: Sequence[Any]) -> Callable[[Any, Any], list[Any]]:
    """Return a handler of `launch.events.process.ProcessExited`.

    If the process ended without an error, launch goes on with `actions`. Otherwise `ros2 launch`
    ends with an error, which only an exception achieves.
    """

    def ended(event: Any, context: Any) -> list[Any]:
        if event.returncode != 0 and not context.is_shutdown:
            raise RuntimeError(f"{process} failed with exit code {event.returncode}")
        return list(actions)

    return ended


def temporary_folder() -> Path:
    """Return a new folder, which is removed when `ros2 launch` ends."""
    folder = Path(tempfile.mkdtemp(prefix="mujoco_ros_"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder
