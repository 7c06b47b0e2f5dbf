"""The worker process that builds the models of clients on trial."""

import logging
import os
import threading
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, NamedTuple

import mujoco

from mujoco_ros.model.file_access import ClientFiles, allowed_files
from mujoco_ros.model.reading import Reading, recorded_reading
from mujoco_ros.process.worker_process import serve

_STACK_BYTES = 3 << 19  # less than the 2 MB of a thread where the stack of a process is unlimited
_SOON, _LATER = -10, 5
"""Nice values of a trial at first, and of a long one."""
_LONG_S = 1.0


class BuildTrial(NamedTuple):
    """A function that reads and compiles a model; it and its arguments can be pickled."""

    function: Callable[..., Any]
    args: tuple[object, ...] = ()
    files: ClientFiles | None = None  # the files that its client may name; None for all
    has_result: bool = False  # whether its result can be pickled, and is wanted


def main(arguments: Sequence[str]) -> int:
    """Build models until the simulator ends; return the exit code."""
    # The simulator reports the same messages when it builds the model.
    logging.getLogger().addHandler(logging.NullHandler())
    warnings.simplefilter("ignore")
    mujoco.set_mju_user_warning(lambda _message: None)
    return serve(arguments, lambda _setup: _run)


def _run(trial: BuildTrial) -> tuple[Any, Reading]:
    """Run a trial in a thread with less memory for recursion than the simulator's threads have.

    It has a high priority, as far as the system permits, since a client waits, and a low one if it
    takes long. The main thread has a high one always: the next trial's thread inherits it, and a
    process without privileges cannot undo a low one.
    """
    threading.stack_size(_STACK_BYTES)
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _SOON)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(_record, trial)
        if not wait([running], _LONG_S).done:
            _yield_processor()
        return running.result()


def _yield_processor() -> None:
    """Give a low priority to the trial's threads."""
    with suppress(OSError):
        for thread in os.listdir("/proc/self/task"):
            if int(thread) != threading.get_native_id():
                os.setpriority(os.PRIO_PROCESS, int(thread), _LATER)


def _record(trial: BuildTrial) -> tuple[Any, Reading]:
    with allowed_files(trial.files), recorded_reading() as reading:
        result = trial.function(*trial.args)
    return result if trial.has_result else None, reading
