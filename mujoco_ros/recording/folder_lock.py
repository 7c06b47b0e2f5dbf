"""A folder into which one process at a time writes."""

import fcntl
import os
from pathlib import Path

from mujoco_ros.model.errors import UserInputError


def locked(folder: Path) -> int:
    """Return the descriptor of a folder that this process alone has locked; closing it unlocks.

    Raises:
        UserInputError: Another process has locked it.
        OSError: It cannot be read.
    """
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        raise UserInputError(f"another process writes into {folder}") from error
    return descriptor
