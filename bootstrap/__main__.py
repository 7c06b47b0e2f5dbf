"""Command line of the set-up."""

# Importable by any Python since 3.7, to report an unsupported version.
from __future__ import annotations

import argparse
import fcntl
import os
import signal
import sys
import time
from typing import IO, NoReturn

from bootstrap.machine import OLDEST_PYTHON, check_machine, newer_python
from bootstrap.progress import Log, SetupError
from bootstrap.steps import ROOT, Setup

DEFAULT_ROS = "jazzy"


def distributions() -> list[str]:
    """Return the ROS distributions in requirements/."""
    return sorted(path.stem[len("ros-") :] for path in (ROOT / "requirements").glob("ros-*.in"))


def lock(file: IO[str]) -> None:
    """Wait for another set-up of the same environment."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        print("another set-up is running; waiting until it ends", flush=True)
        fcntl.flock(file, fcntl.LOCK_EX)


def interrupt(*_: object) -> NoReturn:
    """Handle SIGTERM like Ctrl-C."""
    raise KeyboardInterrupt


def set_up(ros: str, *, apt: bool, exact: bool, models: bool, interfaces: str) -> None:
    """Bring the environment for one distribution up to date."""
    if ros not in distributions():
        raise SetupError(f"ROS={ros} is unknown; choose from: {', '.join(distributions())}")
    began = time.monotonic()
    venv = ROOT / (".venv" if ros == DEFAULT_ROS else f".venv-{ros}")
    build = ROOT / "build"
    build.mkdir(exist_ok=True)
    log = Log(build / f"setup-{ros}.log")
    setup = Setup(ros, venv, log, apt=apt, exact=exact, models=models, interfaces=interfaces)
    with (build / f"setup-{ros}.lock").open("w") as file:
        lock(file)
        try:
            setup.run()
            log.line(f"{venv.name}: ROS 2 {ros} is ready, {time.monotonic() - began:.1f} s")
        except (SetupError, OSError) as error:
            raise SetupError(f"{error}\nThe complete output is in {log.path}") from error
        finally:
            setup.stop()


def main() -> int:
    """Parse the command line, run the set-up and return the exit code."""
    parser = argparse.ArgumentParser(prog="bootstrap", description="Set up mujoco_ros.")
    parser.add_argument("--ros", default=DEFAULT_ROS, metavar="DISTRO", help="jazzy or kilted")
    parser.add_argument("--no-apt", action="store_true", help="install no system package")
    parser.add_argument(
        "--exact", action="store_true", help="replace an environment of another Python version"
    )
    parser.add_argument(
        "--models", action="store_true", help="install the robot models of the tests too"
    )
    parser.add_argument(
        "--interfaces",
        default="",
        metavar="VERSION",
        help="build this version of simulation_interfaces too, for the tests",
    )
    options = parser.parse_args()
    newer = newer_python()
    if sys.version_info[:2] < OLDEST_PYTHON and newer:
        os.execv(newer, [newer, "-m", "bootstrap", *sys.argv[1:]])
    signal.signal(signal.SIGTERM, interrupt)
    try:
        check_machine()
        set_up(
            options.ros,
            apt=not options.no_apt,
            exact=options.exact,
            models=options.models,
            interfaces=options.interfaces,
        )
    except SetupError as error:
        print(f"\nset-up failed: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nset-up interrupted; run it again to continue", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
