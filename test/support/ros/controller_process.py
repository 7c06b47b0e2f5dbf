"""A controller node in its own process."""

import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fork_server import fork_server
from simulators import WAIT_LIMIT_S, Simulator

_WAIT_LIMIT_S = 3 * WAIT_LIMIT_S
"""A controller and its planner run in two processes beside the simulator."""
_MADE = re.compile(r"\]: ([0-9.]+) s: (\w+) -> (\w+): (\w+)")


class ControllerProcess:
    """The node `controller` in the domain of a simulator."""

    def __init__(self, log: Path, simulator: Simulator, controller: str, **parameters: Any) -> None:
        arguments = [controller, "--ros-args"]
        for name, value in parameters.items():
            arguments += ["-p", f"{name}:={value}"]
        self._log = log
        with log.open("wb") as output:
            self.process = fork_server().fork(
                "mujoco_ros.cli.controller",
                *map(str, arguments),
                env=simulator.environment | {"OMP_NUM_THREADS": "1"},
                stdout=output.fileno(),
            )

    @property
    def log(self) -> str:
        return self._log.read_text()

    def made(self) -> list[tuple[float, str, str, str]]:
        """Return the logged transitions: time, start, goal and label."""
        return [(float(t), *rest) for t, *rest in _MADE.findall(self.log)]

    def wait_for(self, *, goal: str, after: int = 0) -> list[tuple[float, str, str, str]]:
        """Wait for a transition to a state, and return all transitions but the first `after`."""
        self._wait(
            lambda: goal in [made[2] for made in self.made()[after:]], f"transition to {goal}"
        )
        return self.made()[after:]

    def wait_for_log(self, text: str) -> None:
        """Wait until the log has some text."""
        self._wait(lambda: text in self.log, f"'{text}'")

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + _WAIT_LIMIT_S
        while not condition():
            assert self.process.poll() is None, f"the process ended early:\n{self.log}"
            assert time.monotonic() < deadline, f"no {what}:\n{self.log}"
            time.sleep(0.05)

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
