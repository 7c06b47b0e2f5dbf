"""What each program does before its imports: streams, threads, progress, and its end.

The imports take seconds. A signal meanwhile would raise an exception inside an import; some
modules lose it, others turn it into another error.
"""

import io
import os
import signal
import sys
from pathlib import Path
from typing import Any, TextIO, cast

from mujoco_ros.cli import terminal
from mujoco_ros.process.child_process import ONE_THREAD
from mujoco_ros.process.end_limit import end_at_signals

_PROGRAMS = {path.stem for path in Path(__file__).parent.glob("[a-z]*.py")}
_NODES = {"sim", "cameras", "controller", "viewer", "record", "replay"}
"""Programs that run until a signal, and so end with 0 after one."""
_STREAMS = ("stdin", "stdout", "stderr")
_RUNPY = "-m"


def prepare_program() -> None:
    """Prepare this process, if it was started as one of the programs of this folder."""
    name = _program()
    if name is None:
        return
    _open_standard_streams()
    os.environ.update(ONE_THREAD)  # so that results do not depend on the number of processors
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


def _program() -> str | None:
    """Return the name of the program that imports this package first; None if it is another one."""
    started = Path(sys.argv[0] if sys.argv else "")
    if str(started) == _RUNPY:  # runpy imports the package of `python -m` before the module
        modules = (argument.removeprefix(_RUNPY) for argument in sys.orig_argv)
        names = (
            module.rpartition(".")[2] for module in modules if module.startswith(f"{__package__}.")
        )
        started = Path(next(names, ""))
    elif started == Path(__file__).parents[1] / "__main__.py":
        return "sim"
    return started.name if started.name in _PROGRAMS else None


def _open_standard_streams() -> None:
    """Open what is closed of standard input, output and error, as if it led to /dev/null.

    Otherwise the first files that the program opens would get these numbers, and what it prints.
    """
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
    encoding, errors, line_buffering = stream.encoding, stream.errors, stream.line_buffering
    through = stream.write_through
    return _PipeOutput(stream.detach(), encoding, errors, None, line_buffering, through)


class _PipeOutput(io.TextIOWrapper):
    """Text output that ends the process by SIGPIPE when its reader has ended, as ``head`` does.

    Python ignores the signal, which would also end a program whose worker process dies. A node does
    not end with the reader of its log.
    """

    def write(self, text: str, /) -> int:
        try:
            return super().write(text)
        except BrokenPipeError:
            _end_by(signal.SIGPIPE)
            raise

    def flush(self) -> None:
        try:
            super().flush()
        except BrokenPipeError:
            _end_by(signal.SIGPIPE)
            raise


def _end_by(number: signal.Signals) -> None:
    """End this process by a signal, as its default action does."""
    signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
