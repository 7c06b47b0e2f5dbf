"""Executables, and what each does before its imports: streams, threads, progress, and its end.

The imports take seconds. A signal meanwhile would raise an exception inside an import; some
modules lose it, others turn it into another error.
"""

import gc
import io
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO, cast

from mujoco_ros.cli import terminal
from mujoco_ros.process import child_process
from mujoco_ros.process.end_limit import end_at_signals

_PROGRAMS = {path.stem for path in Path(__file__).parent.glob("[a-z]*.py")}
_PACKAGE = "mujoco_ros"
_NODES = {"sim", "cameras", "controller", "viewer", "window", "record", "replay"}
"""Programs that run until a signal, and so end with 0 after one."""
_STREAMS = ("stdin", "stdout", "stderr")
_RUNPY = "-m"


def prepare_program() -> None:
    """Prepare this process, if it was started as one of the programs of this folder."""
    name = _program()
    if name is None:
        return
    gc.disable()  # until `collect_garbage`; collections take 15 % of the time of the imports
    _open_standard_streams()
    sys.excepthook = _show_error
    # So that results do not depend on the number of processors.
    os.environ.update(child_process.ONE_THREAD)
    # Otherwise MuJoCo imports GLFW, which starts Python again to look for its library.
    os.environ.setdefault("MUJOCO_GL", "off")
    # Message types import rosidl_generator_py, which would import the generator of Python code
    # as well, with two parsers; without it, nothing else changes.
    sys.modules.setdefault("rosidl_generator_py.generate_py_impl", cast(Any, None))
    if name in _NODES:
        end_at_signals()
    else:
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # it is not ignored
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # until `report_errors`
        for stream in _STREAMS[1:]:
            ending = _ending(getattr(sys, stream))
            setattr(sys, stream, ending)
            setattr(sys, f"__{stream}__", ending)
        terminal.begin(name)


def _show_error(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    """Show an error that ends the program; a module that is not installed takes one sentence."""
    missing = error.name or "" if isinstance(error, ModuleNotFoundError) else _PACKAGE
    if missing.partition(".")[0] == _PACKAGE:
        sys.__excepthook__(kind, error, trace)
        return
    from mujoco_ros.extras import missing_module  # not before it is needed

    terminal.end()
    sys.stderr.write(f"{_PACKAGE}: error: {missing_module(missing)}\n")


def _program() -> str | None:
    """Return the name of the program that imports this package first; None if it is another one."""
    started = Path(sys.argv[0] if sys.argv else "")
    # runpy imports the package of `python -m` before the module; a child process imports it itself.
    if started in (Path(_RUNPY), Path(child_process.__file__)):
        modules = (argument.removeprefix(_RUNPY) for argument in sys.orig_argv)
        names = (
            module.rpartition(".")[2] for module in modules if module.startswith(f"{__package__}.")
        )
        started = Path(next(names, ""))
    elif started == Path(__file__).parents[1] / "__main__.py":
        return "sim"
    return started.name if started.name in _PROGRAMS else None


def _open_standard_streams() -> None:
    """Open closed standard streams, lest the next opened files get their numbers and output."""
    for number, mode in enumerate("rww"):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDWR)
            if opened != number:
                os.dup2(opened, number)
                os.close(opened)
            stream = os.fdopen(number, mode, encoding="utf-8", closefd=False)
            setattr(sys, _STREAMS[number], stream)


def _ending(stream: TextIO) -> TextIO:
    """Return the stream, such that it ends the process when its reader has ended."""
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    form = stream.encoding, stream.errors, None, stream.line_buffering, stream.write_through
    return _PipeOutput(stream.detach(), *form)


class _PipeOutput(io.TextIOWrapper):
    """Text output that ends the process by SIGPIPE when its reader has ended, as ``head`` does.

    Python ignores the signal, which would also end a program whose worker process dies. A node does
    not end with the reader of its log.
    """

    def write(self, text: str, /) -> int:
        with _ending_by_sigpipe():
            return super().write(text)

    def flush(self) -> None:
        with _ending_by_sigpipe():
            super().flush()


@contextmanager
def _ending_by_sigpipe() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
        raise


prepare_program()
