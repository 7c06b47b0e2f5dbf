"""The engine's compiler, kept from writing to the terminal."""

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import mujoco

_ALONE = threading.Lock()


@contextmanager
def quiet_compiler() -> Iterator[list[warnings.WarningMessage]]:
    """Collect the remarks on models that are read and compiled meanwhile; one thread at a time."""
    # Both are of the whole process: two threads would put back what is the other's.
    with _ALONE, warnings.catch_warnings(record=True) as caught, _silent_engine():
        warnings.simplefilter("always")
        yield caught


@contextmanager
def _silent_engine() -> Iterator[None]:
    """Keep this thread's remarks off the terminal; Python's warnings carry the same text."""
    previous, compiling = mujoco.get_mju_user_warning(), threading.get_ident()

    def warn(message: str) -> None:
        if previous is not None and threading.get_ident() != compiling:
            previous(message)

    mujoco.set_mju_user_warning(warn)
    try:
        yield
    finally:
        if mujoco.get_mju_user_warning() is warn:  # nobody else listens since then
            mujoco.set_mju_user_warning(previous)
