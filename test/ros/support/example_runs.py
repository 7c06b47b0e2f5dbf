"""The scripts of examples/, run as a user runs them, and what robots do meanwhile."""

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sensor_msgs.msg import JointState
from simulators import PATIENCE_S, ROOT, Listener, Recording, Simulator


@dataclass(frozen=True)
class Outcome:
    """How an example ended."""

    code: int
    says: str
    complains: str


class Example:
    """An example, running."""

    def __init__(self, folder: Path, domain: int, script: str, *arguments: str) -> None:
        number = len(list(folder.glob("*.out")))
        self._out, self._err = (folder / f"{number}_{script}.{kind}" for kind in ("out", "err"))
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, ROOT / "examples" / script, *arguments],
                env=os.environ | {"ROS_DOMAIN_ID": str(domain), "PYTHONUNBUFFERED": "1"},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                # A shell that runs the tests in the background has SIGINT ignored.
                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
            )

    @property
    def says(self) -> str:
        """What it has written so far."""
        return self._out.read_text()

    def is_over(self) -> bool:
        return self.process.poll() is not None

    def outcome(self) -> Outcome:
        """Wait for its end, and make sure of it."""
        try:
            code = self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()
        return Outcome(code, self.says, self._err.read_text().strip())


class Commanded:
    """A simulator that examples command, and a listener to what becomes of that."""

    def __init__(self, folder: Path, simulator: Simulator, listener: Listener) -> None:
        self.simulator = simulator
        self.listener = listener
        self._folder = folder

    def start(self, script: str, *arguments: str) -> Example:
        return Example(self._folder, self.simulator.domain, script, *arguments)

    def run(self, script: str, *arguments: str) -> Outcome:
        """Run an example to its end, listening meanwhile."""
        example = self.start(script, *arguments)
        self.listener.spin_until(example.is_over)
        return example.outcome()

    def joint_states(self, namespace: str = "") -> Recording:
        """Return a recording that has begun."""
        recording = self.listener.record(JointState, f"{namespace}/joint_states")
        assert self.listener.spin_until(lambda: len(recording) > 0)
        return recording


def positions(recording: Recording, joint: str) -> np.ndarray:
    """Return the positions of a joint in recorded joint states."""
    index = list(recording.messages[0].name).index(joint)
    return np.array([message.position[index] for message in recording.messages])
