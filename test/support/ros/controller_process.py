"""A controller node in its own process."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from simulators import ROOT, WAIT_LIMIT_S, Simulator

_WAIT_LIMIT_S = 3 * WAIT_LIMIT_S
"""A controller and its planner run in two processes beside the simulator."""
_MADE = re.compile(r"\]: ([0-9.]+) s: (\w+) -> (\w+): (\w+)")


class ControllerProcess:
    """The node `controller` in the domain of a simulator, as a user runs it."""

    def __init__(self, log: Path, simulator: Simulator, controller: str, **parameters: Any) -> None:
        command = [sys.executable, "-m", "mujoco_ros.cli.controller", controller, "--ros-args"]
        for name, value in parameters.items():
            command += ["-p", f"{name}:={value}"]
        self._log = log
        with log.open("wb") as output:
            self.process = subprocess.Popen(
                command,
                cwd=ROOT,
                env=simulator.environment | {"OMP_NUM_THREADS": "1"},
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                # A shell that runs the tests in the background has SIGINT ignored.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
            )

    @property
    def log(self) -> str:
        return self._log.read_text()

    def made(self) -> list[tuple[float, str, str, str]]:
        """Return the logged transitions: time, start, goal and label."""
        return [(float(t), *rest) for t, *rest in _MADE.findall(self.log)]

    def wait_for(self, *, goal: str, after: int = 0) -> list[tuple[float, str, str, str]]:
        """Wait for a transition to a state, and return all transitions but the first `after`."""
        deadline = time.monotonic() + _WAIT_LIMIT_S
        while goal not in [made[2] for made in self.made()[after:]]:
            assert self.process.poll() is None, f"the process ended early:\n{self.log}"
            assert time.monotonic() < deadline, f"no transition to {goal}:\n{self.log}"
            time.sleep(0.05)
        return self.made()[after:]

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(WAIT_LIMIT_S)

    def stop(self) -> int:
        """End the process like Ctrl-C; return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(WAIT_LIMIT_S)

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
