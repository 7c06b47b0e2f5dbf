"""Exit codes, error messages and arguments of all executables; needs no ROS."""

import argparse
import gc
import logging
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from mujoco_ros.cli import terminal
from mujoco_ros.model.errors import LineFormatter, UserInputError, one_line
from mujoco_ros.model.file_access import recorded_inputs
from mujoco_ros.model.output_files import write_whole
from mujoco_ros.process.end_limit import limit_end

FAILED = 1
"""Exit code of an error. argparse ends with 2 if the command line itself is wrong."""
INTERRUPTED = 130
"""Exit code after Ctrl-C before the result was complete."""


def fail(message: str, code: int = FAILED) -> int:
    """Write an error message; return the exit code."""
    first, *others = map(one_line, message.split("\n"))
    lines = "\n".join([f"mujoco_ros: error: {first}", *(f"  {line}" for line in others)])
    sys.stderr.write(f"{lines}\n")
    return code


def log_to_terminal(line: str) -> None:
    """Write the log to the standard error, each record in the format of a line."""
    handler = logging.StreamHandler()
    handler.setFormatter(LineFormatter(line))
    logging.basicConfig(handlers=[handler])


def run_command(
    parser: argparse.ArgumentParser,
    command: Callable[[argparse.Namespace], None],
    arguments: Sequence[str] | None,
) -> int:
    """Run a command on files with the options of a command line; return the exit code."""
    options = parser.parse_args(arguments)

    def run() -> int:
        command(options)
        return 0

    return report_errors(run)


def report_errors(command: Callable[[], int]) -> int:
    """Run a command that overwrites none of its input files, and report its errors.

    SIGINT and SIGTERM interrupt it, so that it leaves no unfinished file. Returns the exit code.
    """
    limit_end()
    collect_garbage()
    terminal.report("running")
    try:
        with _interruptible(), recorded_inputs():
            return command()
    except KeyboardInterrupt:
        return fail("interrupted", INTERRUPTED)
    except (UserInputError, OSError) as error:
        return fail(str(error))
    finally:
        terminal.end()


def collect_garbage() -> None:
    """Begin with the collections of garbage that `prepare_program` put off."""
    if not gc.isenabled():
        gc.freeze()  # the imports leave none
        gc.enable()


@contextmanager
def _interruptible() -> Iterator[None]:
    """Raise KeyboardInterrupt at SIGINT and SIGTERM in the block, unless they are ignored."""
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    changed = [number for number in numbers if before[number] is not signal.SIG_IGN]
    for number in changed:
        signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number in changed:
            signal.signal(number, before[number])


def create_parser(prog: str, description: str | None, epilog: str = "") -> argparse.ArgumentParser:
    """Return a parser that takes no abbreviated options; lines of an epilog are kept."""
    raw = argparse.RawDescriptionHelpFormatter
    return argparse.ArgumentParser(
        prog=prog,
        description=description,
        epilog=epilog,
        formatter_class=raw if epilog else argparse.HelpFormatter,
        allow_abbrev=False,
    )


def parse(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None
) -> tuple[argparse.Namespace, list[str]]:
    """Return the options and the arguments for ROS, from ``--ros-args`` on."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    ros = given.index("--ros-args") if "--ros-args" in given else len(given)
    return parser.parse_args(given[:ros]), given[ros:]


def integer_from(least: int) -> Callable[[str], int]:
    """Return the type of an argument that is an integer of at least `least`."""

    def integer(text: str) -> int:
        if not (text.isdecimal() and int(text) >= least):
            raise argparse.ArgumentTypeError(f"'{text}' is not an integer of at least {least}")
        return int(text)

    return integer


def add_output(parser: argparse.ArgumentParser) -> None:
    """Add the option of `write_output`."""
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="default: standard output"
    )


def write_output(text: str, path: Path | None) -> None:
    """Write text to a file that is no input, or to the standard output."""
    if path is None:
        sys.stdout.write(text)
    else:
        write_whole(path, text)
