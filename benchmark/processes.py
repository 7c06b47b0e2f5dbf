"""Starting, watching and ending the processes that are measured."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from benchmark.domains import Domain

ROOT = Path(__file__).resolve().parents[1]
_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
_ANNOUNCE_OFTEN = ROOT / "benchmark" / "announce_often.xml"
_PROFILE_VARIABLES = ("FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
_READY_S, _END_S, _LOOK_S = 30.0, 5.0, 0.02
_LONGEST_PART_S = 90.0  # of a commander, without the seconds it is given


def environment() -> dict[str, str]:
    """Return an environment in which the processes meet each other and nobody else."""
    result = dict(os.environ)
    # A process that inherits the first one starts quicker than what a user starts.
    for name in ("_ROS_WHEELS_BOOTSTRAP_COMPLETE", "ROS_LOCALHOST_ONLY", "ROS_STATIC_PEERS"):
        result.pop(name, None)
    result["ROS_DOMAIN_ID"] = str(_domain().id)
    result["ROS_AUTOMATIC_DISCOVERY_RANGE"] = "LOCALHOST"
    return result


@cache
def _domain() -> Domain:
    """Return a ROS domain that is held as long as this process lives."""
    return Domain()


def cpu_s(pid: int) -> float:
    """Return the processor time that all threads of a process have used [s]."""
    stat = Path(f"/proc/{pid}/stat").read_text(encoding="ascii")
    fields = stat.rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS_PER_S


class Process:
    """A Python module in a process of its own, its output in a file."""

    def __init__(
        self,
        module: str,
        arguments: Sequence[str],
        log: Path,
        variables: Mapping[str, str] | None = None,
    ) -> None:
        """Start it; `variables` are added to its environment."""
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
        """Wait for a line of output that begins with `word`, and return the rest of it.

        Raises:
            RuntimeError: It ended, or printed no such line in time.
        """
        deadline = time.monotonic() + timeout_s
        while time.monotonic() < deadline:
            for line in self._log.read_text(encoding="utf-8").splitlines():
                if line.partition(" ")[0] == word:
                    return line.partition(" ")[2]
            self.check()
            time.sleep(_LOOK_S)
        raise self._error(f"did not print '{word}' within {timeout_s:g} s")

    def sleep(self, seconds: float) -> None:
        """Sleep, and see that it still runs afterwards."""
        time.sleep(seconds)
        self.check()

    def check(self) -> None:
        """Raise RuntimeError if it has ended."""
        if self._process.poll() is not None:
            raise self._error(f"ended with exit code {self._process.returncode}")

    def cpu_s(self) -> float:
        """Return the processor time that all its threads have used [s] (proc(5): utime, stime)."""
        return cpu_s(self._process.pid)

    def resident_mb(self) -> float:
        """Return its resident memory [MB]; exact, whereas VmRSS is approximate (proc(5))."""
        rollup = Path(f"/proc/{self._process.pid}/smaps_rollup").read_text(encoding="ascii")
        line = next(line for line in rollup.splitlines() if line.startswith("Rss:"))
        return int(line.split()[1]) * 1024 / 1e6

    def finish(self, timeout_s: float) -> None:
        """Wait until it has ended by itself.

        Raises:
            RuntimeError: It did not end, or not with exit code 0.
        """
        try:
            code = self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            raise self._error(f"did not end within {timeout_s:g} s") from None
        if code:
            raise self._error(f"ended with exit code {code}")

    def end(self) -> None:
        """Interrupt it, as Ctrl-C does, and wait until it has ended.

        Raises:
            RuntimeError: It did not end, or not with exit code 0.
        """
        self.check()
        self._process.send_signal(signal.SIGINT)
        try:
            code = self._process.wait(_END_S)
        except subprocess.TimeoutExpired:
            raise self._error(f"did not end within {_END_S:g} s of SIGINT") from None
        if code:
            raise self._error(f"ended with exit code {code}")

    def kill(self) -> None:
        """End it if nothing else did."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()

    def _error(self, what: str) -> RuntimeError:
        tail = self._log.read_text(encoding="utf-8", errors="replace").splitlines()[-15:]
        return RuntimeError("\n    ".join([f"{self._module} {what}; its output ends with", *tail]))


@contextmanager
def subscriber(
    scene: str, folder: Path, *, record: bool, announce_often: bool = True
) -> Iterator[Process]:
    """Run a subscriber to every topic; on leaving, `folder` has its ``arrivals.npz``.

    Args:
        scene: The scene whose topics to subscribe to.
        folder: Where its files go.
        record: Whether to note every message.
        announce_often: Whether Fast DDS announces the process more often than it does by default,
            so that chance has no part in when the two processes find each other.
    """
    arguments = [scene, str(folder / "arrivals.npz"), *(["--record"] if record else [])]
    variables = dict.fromkeys(_PROFILE_VARIABLES, str(_ANNOUNCE_OFTEN)) if announce_often else {}
    log = folder / "subscriber.log"
    with running(Process("benchmark.subscriber", arguments, log, variables)) as process:
        process.wait_for("ready")
        yield process


@contextmanager
def simulator(
    scene: str, folder: Path, parameters: Mapping[str, object], probe: Sequence[str] | None = None
) -> Iterator[Process]:
    """Run the simulator; with `probe`, its options, by the probe, which writes ``steps.npy``."""
    arguments = ["--ros-args", "-p", f"scene:={scene}"]
    for name, value in ({"cameras": "false"} | dict(parameters)).items():
        arguments += ["-p", f"{name}:={value}"]
    if probe is None:
        process = Process("mujoco_ros", arguments, folder / "simulator.log")
    else:
        arguments = [str(folder / "steps.npy"), *probe, *arguments]
        process = Process("benchmark.probe", arguments, folder / "simulator.log")
    with running(process):
        yield process


def play(part: str, seconds: float, folder: Path) -> None:
    """Have a commander play a part to its end; then `folder` has its ``commands.npz``."""
    arguments = [part, str(folder / "commands.npz"), str(seconds)]
    process = Process("benchmark.commander", arguments, folder / "commander.log")
    try:
        process.finish(seconds + _LONGEST_PART_S)
    finally:
        process.kill()


@contextmanager
def running(process: Process) -> Iterator[Process]:
    """Run a process until the block is left, and see that it ends well."""
    try:
        yield process
        process.end()
    finally:
        process.kill()
