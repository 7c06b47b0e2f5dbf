"""Executables: the command lines of the package."""

import signal
import sys
from pathlib import Path

from mujoco_ros.cli import status_lines

_NODES = ("cameras", "controller", "record", "replay", "sim", "viewer")
"""Programs that log what they do."""


def _program() -> str:
    """Return the program of this folder that this process runs; empty if it runs another one."""
    name, arguments = Path(sys.argv[0]).name, sys.orig_argv
    if "-m" in arguments[:-1]:
        module = arguments[arguments.index("-m") + 1]
        name = module.removeprefix(f"{__name__}.") if module.startswith(f"{__name__}.") else name
    return name if Path(__file__).with_name(f"{name}.py").is_file() else ""


def _begin() -> None:
    """Prepare a program before it imports its modules, which takes seconds."""
    program = _program()
    if not program:
        return
    # A KeyboardInterrupt is a traceback in an import, or an import drops it. A shell that runs a
    # script has its background processes ignore SIGINT; a request to end is for them as well.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if program not in _NODES:
        status_lines.begin(program)


_begin()
