"""Functions that a worker process is to survive, or not."""

import ctypes
import itertools
import os
import threading
import time
from pathlib import Path

import mujoco

from mujoco_ros.model.errors import MissingFileError
from mujoco_ros.model.reading import note_file


def answer(value: int) -> int:
    return value


def read_address_zero() -> None:
    ctypes.string_at(0)


def fill_memory() -> None:
    blocks = [bytearray(1 << 24) for _ in itertools.repeat(None)]
    raise AssertionError(f"{len(blocks)} blocks")


def loop() -> None:
    while True:
        pass


def nice_values() -> tuple[int, int]:
    """Return the nice values of the main thread and of this one, once that is low."""
    own = threading.get_native_id()
    for _ in range(600):
        if os.getpriority(os.PRIO_PROCESS, own) > 0:
            break
        time.sleep(0.1)
    return os.getpriority(os.PRIO_PROCESS, os.getpid()), os.getpriority(os.PRIO_PROCESS, own)


def reject() -> None:
    raise MissingFileError("there is no file 'x'")


def parse_unchecked(path: Path) -> None:
    """Have MuJoCo read an MJCF file that was not checked."""
    mujoco.MjSpec.from_file(str(path))


def read(path: Path) -> None:
    note_file(path)
