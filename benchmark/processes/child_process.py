"""Child processes of the benchmark: the simulator and its clients."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np

from benchmark.domains import Domain
from benchmark.processes.subscriber import load

ROOT = Path(__file__).resolve().parents[2]
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_ANNOUNCE_OFTEN = ROOT / "config" / "fastdds" / "small_messages.xml"
_PROFILE_VARIABLES = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
_READY_S, _END_S, _POLL_S = 120.0, 30.0, 0.02  # of a busy machine
_SCENARIO_TIMEOUT_S = 300.0  # in addition to the duration of the scenario


def environment() -> dict[str, str]:
    """Return an environment with a ROS domain for the processes of this benchmark only."""
    result = dict(os.environ)
    # A process that inherits the first variable starts faster than a user's.
    for name in ("_ROS_WHEELS_BOOTSTRAP_COMPLETE", "ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS"):
        result.pop(name, None)
    result["ROS_DOMAIN_ID"] = str(_domain().id)
    result["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return result


@cache
def _domain() -> Domain:
    """Return a ROS domain that is reserved until this process ends."""
    return Domain()


def cpu_s(pid: int) -> float:
    """Return the CPU time of all threads of a process [s] (proc(5): utime, stime)."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


def end_children_on_sigterm() -> None:
    """Have SIGTERM leave all contexts of this process, so that its child processes end, too."""
    signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(128 + number))


class Process:
    """A Python module that runs in a child process, with its output in a file."""

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        log: Path,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Start the process; `variables` are added to its environment."""
        self._module, self._log = module, log
        self.started_ns = time.monotonic_ns()
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=ROOT,
                env=environment() | dict(variables or {}),
                stdout=output,
                stderr=subprocess.STDOUT,
            )

    def wait_for(self, word: str, timeout_s: float = _READY_S) -> str:
        """Wait for a line of output that begins with `word`, and return the rest of the line.

        Raises:
            RuntimeError: The process ended, or printed no such line in time.
        """
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            for line in self._log.read_text(encoding="utf-8").splitlines():
                if line.partition(" ")[0] == word:
                    return line.partition(" ")[2]
            self.check()
            time.sleep(_POLL_S)
        raise self._error(f"did not print '{word}' within {timeout_s:g} s")

    def sleep(self, seconds: float) -> None:
        """Sleep, and check that it still runs afterwards."""
        time.sleep(seconds)
        self.check()

    def check(self) -> None:
        """Raise RuntimeError if it has ended."""
        if self._process.poll() is not None:
            raise self._error(f"ended with exit code {self._process.returncode}")

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    def cpu_s(self) -> float:
        """Return the CPU time of all its threads [s]."""
        return cpu_s(self._process.pid)

    def family(self) -> dict[int, str]:
        """Return the ids of this process and of all below it, with their names."""
        found, waiting = {}, [self.pid]
        while waiting:
            pid = waiting.pop()
            found[pid] = Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
            for task in Path(f"/proc/{pid}/task").iterdir():
                waiting += map(int, (task / "children").read_text(encoding="ascii").split())
        return found

    def resident_mb(self) -> float:
        """Return its resident memory [MB], exactly; VmRSS is approximate (proc(5))."""
        rollup = Path(f"/proc/{self._process.pid}/smaps_rollup").read_text(encoding="ascii")
        line = next(line for line in rollup.splitlines() if line.startswith("Rss:"))
        return int(line.split()[1]) * 1024 / 1e6

    def finish(self, timeout_s: float) -> None:
        """Wait until it ends.

        Raises:
            RuntimeError: It did not end in time, or not with exit code 0.
        """
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise self._error(f"did not end within {timeout_s:g} s") from None
        if code:
            raise self._error(f"ended with exit code {code}")

    def end(self) -> None:
        """Send SIGINT, and wait until it ends.

        Raises:
            RuntimeError: It did not end, or not with exit code 0.
        """
        self.check()
        self._process.send_signal(signal.SIGINT)
        self.finish(_END_S)

    def kill(self) -> None:
        """Kill it if it still runs."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _error(self, problem: str) -> RuntimeError:
        tail = self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
        return RuntimeError(
            "\n    ".join([f"{self._module} {problem}; its output ends with", *tail])
        )


@contextmanager
def subscriber(
    scene: str, folder: Path, *, record: bool, announce_often: bool = True
) -> Iterator[Process]:
    """Run a subscriber to every topic of a scene; at its end, `folder` has ``arrivals.npz``.

    Args:
        folder: Folder of its files.
        record: Whether it records every message.
        announce_often: Whether Fast DDS announces the process more often than by default, so that
            the time of discovery does not vary.
    """
    arguments = [scene, str(folder / "arrivals.npz"), *(["--record"] if record else [])]
    variables = dict.fromkeys(_PROFILE_VARIABLES, str(_ANNOUNCE_OFTEN)) if announce_often else {}
    log = folder / "subscriber.log"
    with running(Process("benchmark.processes.subscriber", arguments, log, variables)) as process:
        process.wait_for("ready")
        yield process


@contextmanager
def simulator(
    scene: str, folder: Path, parameters: Mapping[str, object], probe: Sequence[str] | None = None
) -> Iterator[Process]:
    """Run the simulator; with options of the probe, through that, which writes ``steps.npy``."""
    arguments = ["--ros-args", "-p", f"scene:={scene}"]
    for name, value in ({"cameras": "false"} | dict(parameters)).items():
        arguments += ["-p", f"{name}:={value}"]
    if probe is None:
        process = Process("mujoco_ros", arguments, folder / "simulator.log")
    else:
        arguments = [str(folder / "steps.npy"), *probe, *arguments]
        process = Process("benchmark.processes.probe", arguments, folder / "simulator.log")
    with running(process):
        yield process


def run_scenario(scenario: str, seconds: float, folder: Path) -> None:
    """Run a commander to its end; then `folder` has its ``commands.npz``."""
    arguments = [scenario, str(folder / "commands.npz"), str(seconds)]
    process = Process("benchmark.processes.commander", arguments, folder / "commander.log")
    try:
        process.finish(seconds + _SCENARIO_TIMEOUT_S)
    finally:
        process.kill()


def run_trial(
    name: str, folder: Path, timeout_s: float, *arguments: object
) -> dict[str, np.ndarray]:
    """Run a trial in a child process, and return its records."""
    file = folder / f"{name}.npz"
    command = [name, str(file), *map(str, arguments)]
    process = Process("benchmark.processes.trial", command, folder / f"{name}.log")
    try:
        process.finish(timeout_s)
    finally:
        process.kill()
    return load(file)


@contextmanager
def running(process: Process) -> Iterator[Process]:
    """Run a process until the end of the block; then it must end with exit code 0."""
    try:
        yield process
        process.end()
    finally:
        process.kill()
