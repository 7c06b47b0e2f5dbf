"""MuJoCo's compiler without output on the terminal."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import mujoco

_LOCK = threading.Lock()


@contextmanager
def silence_compiler() -> Iterator[list[warnings.WarningMessage]]:
    """Collect the warnings about models that this thread reads and compiles.

    One thread at a time: both warning handlers belong to the whole process.
    """
    with _LOCK, warnings.catch_warnings(record=True) as caught, _silent_engine():
        warnings.simplefilter("always")
        yield caught


@contextmanager
def _silent_engine() -> Iterator[None]:
    """Drop the engine's warnings of this thread; Python's warnings carry the same text."""
    previous, compiling = mujoco.get_mju_user_warning(), threading.get_ident()

    def warn(message: str) -> None:
        if previous is not None and threading.get_ident() != compiling:
            previous(message)

    mujoco.set_mju_user_warning(warn)
    try:
        yield
    finally:
        if mujoco.get_mju_user_warning() is warn:  # no other handler was set in the meantime
            mujoco.set_mju_user_warning(previous)
