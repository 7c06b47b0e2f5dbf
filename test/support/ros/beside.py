"""A controller node in a process of its own, beside a simulator."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from simulators import PATIENCE_S, ROOT, Simulator

_PATIENCE_S = 3 * PATIENCE_S
"""A controller and its planner run in two processes beside the simulator."""
_MADE = re.compile(r"\]: ([0-9.]+) s: (\w+) -> (\w+): (\w+)")


class Beside:
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
        deadline = time.monotonic() + _PATIENCE_S
        while goal not in [made[2] for made in self.made()[after:]]:
            assert self.process.poll() is None, f"it ended early:\n{self.log}"
            assert time.monotonic() < deadline, f"no transition to {goal}:\n{self.log}"
            time.sleep(0.05)
        return self.made()[after:]

    def kill(self) -> None:
        """Kill it without a warning."""
        os.kill(self.process.pid, signal.SIGKILL)
        self.process.wait(PATIENCE_S)

    def stop(self) -> int:
        """End it as Ctrl-C does; return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE_S)

    def close(self) -> None:
        if self.process.poll() is None:
            self.kill()
