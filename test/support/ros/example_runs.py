"""Runs the scripts of examples/ as a user does, and records the robots."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fork_server import fork_server
from sensor_msgs.msg import JointState
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import ResetSimulation
from simulators import (
    ROOT,
    WAIT_LIMIT_S,
    Listener,
    Recording,
    Simulator,
    without_middleware_log,
)

REAL_TIME_FACTOR = 0.6
"""Below 1, so that controllers keep their rates on a busy machine."""
SLOW_FACTOR = 0.2
"""For programs whose commands may not be late: on a busy machine some are late by 50 ms."""


@dataclass(frozen=True)
class Outcome:
    """How an example ended."""

    code: int
    output: str
    errors: str


class Example:
    """An example, running."""

    def __init__(self, folder: Path, domain: int, script: str, *arguments: str) -> None:
        number = len(list(folder.glob("*.out")))
        self._out, self._err = (folder / f"{number}_{script}.{kind}" for kind in ("out", "err"))
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = fork_server().fork(
                str(ROOT / "examples" / script),
                *arguments,
                env=os.environ | {"ROS_DOMAIN_ID": str(domain)},
                stdout=out.fileno(),
                stderr=err.fileno(),
            )

    @property
    def output(self) -> str:
        """The standard output so far, without what the middleware logs there."""
        return without_middleware_log(self._out.read_text())

    def is_over(self) -> bool:
        return self.process.poll() is not None

    def wait_for_output(self, text: str) -> bool:
        """Wait until it has printed a text; return whether it did in time."""
        deadline = time.monotonic() + WAIT_LIMIT_S
        while text not in self.output and not self.is_over():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.02)
        return text in self.output

    def outcome(self) -> Outcome:
        """Wait for its end; kill it after the timeout."""
        try:
            code = self.process.wait(WAIT_LIMIT_S)
        finally:
            self.process.kill()
        return Outcome(code, self.output, without_middleware_log(self._err.read_text()).strip())


class CommandedSimulator:
    """A simulator that examples command, and a listener to its topics."""

    def __init__(self, folder: Path, simulator: Simulator, listener: Listener) -> None:
        simulator.wait_until_running()
        self.simulator = simulator
        self.listener = listener
        self._folder = folder

    def start(self, script: str, *arguments: str) -> Example:
        return Example(self._folder, self.simulator.domain, script, *arguments)

    def run(self, script: str, *arguments: str) -> Outcome:
        """Run an example to its end and spin the listener meanwhile."""
        example = self.start(script, *arguments)
        self.listener.spin_until(example.is_over)
        return example.outcome()

    def run_slowly(self, script: str, *arguments: str) -> Outcome:
        """Run an example that commands with a rate, while simulated time passes slowly."""
        self.set_real_time_factor(SLOW_FACTOR)
        try:
            return self.run(script, *arguments)
        finally:
            self.set_real_time_factor(REAL_TIME_FACTOR)

    def set_real_time_factor(self, factor: float) -> None:
        (result,) = self.listener.set_parameters({"real_time_factor": factor})
        assert result.successful, result.reason

    def reset(self) -> None:
        """Reset the simulation."""
        reset = self.listener.node.create_client(ResetSimulation, "/mujoco/reset_simulation")
        assert self.listener.spin_until(reset.service_is_ready)
        response = self.listener.result(reset.call_async(ResetSimulation.Request()))
        assert response.result.result == Result.RESULT_OK, response.result.error_message
        self.listener.node.destroy_client(reset)

    def joint_states(self, namespace: str = "") -> Recording:
        """Return a recording that has begun."""
        recording = self.listener.record(JointState, f"{namespace}/joint_states")
        assert self.listener.spin_until(lambda: len(recording) > 0)
        return recording


def positions(recording: Recording, joint: str) -> np.ndarray:
    """Return the positions of a joint in recorded joint states."""
    index = list(recording.messages[0].name).index(joint)
    return np.array([message.position[index] for message in recording.messages])
