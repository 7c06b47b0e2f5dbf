"""Simulator processes, each in its own ROS domain, and listeners that record their topics."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO

import rclpy
from fork_server import ForkedProcess, fork_server
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.qos import QoSProfile, ReliabilityPolicy
from rclpy.serialization import deserialize_message

from benchmark.domains import Domain

ROOT = Path(__file__).resolve().parents[3]
DATA = Path(__file__).parents[1] / "data"
WAIT_LIMIT_S = 120.0
"""Timeout of a wait for a condition; far longer than it takes on an idle machine."""
# Deep enough that a listener without a processor loses no message.
DEEP = 5000
# A pause collects several messages for each take, and leaves the processor to the simulator.
_PAUSE_S = 0.01
_OF_A_SLOW_MACHINE = ("too slow for real time", "slow ticks in state")
"""Warnings that depend on the machine."""

_MIDDLEWARE_LOG = re.compile(
    r"^.*\[(?:\x1b\S*)?RTPS_TRANSPORT_SHM(?:\x1b\S*)? Error\].*\n", re.MULTILINE
)
"""Fast DDS logs a port of shared memory that another process holds; it then takes the next one."""

Stamp = tuple[int, int]


def without_middleware_log(text: str) -> str:
    """Return the output of a program without what Fast DDS logs of ports in use."""
    return _MIDDLEWARE_LOG.sub("", text)


def first_line(output: IO[str]) -> str:
    """Return the first line that a program prints itself, "" if it ends before."""
    line = output.readline()
    while line and not without_middleware_log(line):
        line = output.readline()
    return line


def stamps_of(messages: list[Any]) -> list[Stamp]:
    """Return the time stamps of messages of any type."""
    found = []
    for message in messages:
        if hasattr(message, "header"):
            stamp = message.header.stamp
        elif hasattr(message, "clock"):
            stamp = message.clock
        else:
            stamp = message.transforms[0].header.stamp
        found.append((stamp.sec, stamp.nanosec))
    return found


def steps_of(messages: list[Any], timestep: float = 0.001) -> list[int]:
    """Return the physics steps that messages belong to; their stamps must be whole steps."""
    nanoseconds = round(timestep * 1e9)
    totals = [sec * 1_000_000_000 + nanosec for sec, nanosec in stamps_of(messages)]
    assert all(total % nanoseconds == 0 for total in totals)
    return [total // nanoseconds for total in totals]


@dataclass
class Recording:
    """The serialized messages of one topic; `messages` decodes them."""

    kind: type
    raw: list[bytes] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.raw)

    @property
    def messages(self) -> list[Any]:
        return [deserialize_message(data, self.kind) for data in self.raw]

    @property
    def latest(self) -> Any:
        return deserialize_message(self.raw[-1], self.kind)


class Listener:
    """A node in the domain of a simulator; it spins only while it waits."""

    def __init__(self, domain: int) -> None:
        self.domain = domain
        self._context = Context()
        rclpy.init(context=self._context, domain_id=domain)
        self.node = Node("listener", context=self._context)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self.node)
        self._subscriptions: list[Any] = []
        self._taken = 0  # messages of recorded topics
        self._parameters: AsyncParameterClient | None = None
        self._clients: dict[str, Any] = {}

    def add(self, node: Node) -> None:
        """Spin another node of the same context too."""
        self._executor.add_node(node)

    def remove(self, node: Node) -> None:
        """Stop spinning another node."""
        self._executor.remove_node(node)

    def close(self) -> None:
        self._executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self._context)

    def record(
        self, kind: type, topic: str, *, reliable: bool = False, qos: QoSProfile | None = None
    ) -> Recording:
        recording = Recording(kind)
        reliability = ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT
        qos = qos or QoSProfile(depth=DEEP, reliability=reliability)
        subscription = self.node.create_subscription(
            kind, topic, recording.raw.append, qos, raw=True
        )
        self._subscriptions.append(subscription)
        return recording

    @property
    def recordings(self) -> int:
        """Number of recordings."""
        return len(self._subscriptions)

    def forget_subscriptions(self, first: int = 0) -> None:
        """Stop recording, from the `first` recording on."""
        for subscription in self._subscriptions[first:]:
            self.node.destroy_subscription(subscription)
        del self._subscriptions[first:]

    def spin_until(self, condition: Callable[[], bool], timeout_s: float = WAIT_LIMIT_S) -> bool:
        deadline = time.monotonic() + timeout_s
        while not condition():
            if time.monotonic() > deadline:
                return False
            self._executor.spin_once(timeout_sec=0.05)
            if self._take_waiting():
                time.sleep(_PAUSE_S)
        return True

    def _take_waiting(self) -> bool:
        """Take all messages of recorded topics; the executor would take them one by one."""
        before = self._taken
        for subscription in self._subscriptions:
            take = subscription.handle.take_message
            with subscription.handle:
                while (message := take(subscription.msg_type, True)) is not None:
                    subscription.callback(message[0])
                    self._taken += 1
        return self._taken > before

    @contextmanager
    def spinning(self) -> Iterator[None]:
        """Spin in the background, while the test waits for something else."""
        ended = threading.Event()

        def spin() -> None:
            while not ended.is_set():
                self._executor.spin_once(timeout_sec=0.05)

        thread = threading.Thread(target=spin)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def spin_for(self, seconds: float) -> None:
        """Spin for some time, so that unexpected messages can arrive."""
        self.spin_until(lambda: False, seconds)

    def result(self, future: Any) -> Any:
        before = self._taken
        assert self.spin_until(future.done), (
            f"the service did not answer; {self._taken - before} messages of "
            f"{self.recordings} recorded topics arrived"
        )
        return future.result()

    def call(self, kind: type, service: str, request: Any) -> Any:
        """Call a service of the simulator, by its name below ``/mujoco/``; return the response."""
        if service not in self._clients:
            self._clients[service] = self.node.create_client(kind, f"/mujoco/{service}")
        client = self._clients[service]
        assert self.spin_until(client.service_is_ready), f"no service '{service}'"
        return self.result(client.call_async(request))

    def parameters(self) -> AsyncParameterClient:
        if self._parameters is None:
            self._parameters = AsyncParameterClient(self.node, "/mujoco")
        assert self.spin_until(self._parameters.services_are_ready)
        return self._parameters

    def set_parameters(self, values: Mapping[str, Any], *, atomic: bool = False) -> list[Any]:
        """Set parameters of the simulator; return one result each, or that of the atomic set."""
        client = self.parameters()
        parameters = [Parameter(name, value=value) for name, value in values.items()]
        if atomic:
            return [self.result(client.set_parameters_atomically(parameters)).result]
        return list(self.result(client.set_parameters(parameters)).results)

    def get_parameter(self, name: str) -> Any:
        (value,) = self.result(self.parameters().get_parameters([name])).values
        return parameter_value_to_python(value)


class Simulator:
    """A simulator in its own process, run like by a user."""

    def __init__(
        self,
        log: Path,
        parameters: Mapping[str, Any],
        domain: int,
        *,
        remaps: tuple[str, ...] = (),
        params_files: tuple[Path, ...] = (),
        fresh_interpreter: bool = False,
    ) -> None:
        self.domain = domain
        self._log = log
        arguments = ["--ros-args"]
        for name, value in parameters.items():
            arguments += ["-p", f"{name}:={value}"]
        for remap in remaps:
            arguments += ["-r", remap]
        for file in params_files:
            arguments += ["--params-file", str(file)]
        self.environment = os.environ | {
            "ROS_DOMAIN_ID": str(domain),
            "RCUTILS_COLORIZED_OUTPUT": "0",
        }
        with log.open("wb") as output:
            self.process = (self._start if fresh_interpreter else self._fork)(arguments, output)

    def _fork(self, arguments: list[str], output: BinaryIO) -> ForkedProcess:
        command = ("mujoco_ros", *arguments)
        return fork_server().fork(*command, env=self.environment, stdout=output.fileno())

    def _start(self, arguments: list[str], output: BinaryIO) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(
            [sys.executable, "-m", "mujoco_ros", *arguments],
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            # A shell that runs the tests in the background has SIGINT ignored.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
        )

    @property
    def log(self) -> str:
        return without_middleware_log(self._log.read_text())

    def warnings(self) -> list[str]:
        """Return its log without INFO lines and warnings about a slow machine."""
        return [
            line
            for line in self.log.splitlines()
            if not line.startswith("[INFO]") and not any(it in line for it in _OF_A_SLOW_MACHINE)
        ]

    def wait_for_log(self, text: str, timeout_s: float = WAIT_LIMIT_S) -> None:
        deadline = time.monotonic() + timeout_s
        while text not in self.log:
            assert self.process.poll() is None, f"the simulator ended early:\n{self.log}"
            assert time.monotonic() < deadline, f"no {text!r} in:\n{self.log}"
            time.sleep(0.02)

    def wait_until_running(self) -> None:
        self.wait_for_log("simulating '")

    def has_processes(self) -> bool:
        """Return whether the simulator or a child process of it still runs."""
        try:
            os.killpg(self.process.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def wait_until_gone(self) -> None:
        """Wait until no child process runs; some notice a little later that the simulator ended."""
        deadline = time.monotonic() + WAIT_LIMIT_S
        while self.has_processes():
            assert time.monotonic() < deadline, "a child process still runs"
            time.sleep(0.01)

    def stop(self, number: signal.Signals = signal.SIGINT) -> int:
        """Send a signal and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(WAIT_LIMIT_S)


class SimulatorLauncher:
    """Starts simulators, and ends all of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._simulators: list[Simulator] = []
        self._listeners: list[Listener] = []
        self._domains: list[Domain] = []

    def simulator(
        self,
        *,
        remaps: tuple[str, ...] = (),
        params_files: tuple[Path, ...] = (),
        fresh_interpreter: bool = False,
        **parameters: Any,
    ) -> Simulator:
        """Start a simulator; a double underscore in a parameter's name means a dot.

        Args:
            remaps: Remappings of names.
            params_files: Parameter files.
            fresh_interpreter: Whether to start a new interpreter, which is slow, instead of a fork.
            parameters: Parameters that differ from the defaults.
        """
        # Only tests of child processes need cameras. Clients name files of all tests.
        names = {"cameras": "false", "client_folders": [str(self._folder.parent)]}
        names |= {name.replace("__", "."): value for name, value in parameters.items()}
        log = self._folder / f"simulator{len(self._simulators)}.log"
        self._domains.append(Domain())
        domain = self._domains[-1].id
        self._simulators.append(
            Simulator(
                *(log, names, domain),
                remaps=remaps,
                params_files=params_files,
                fresh_interpreter=fresh_interpreter,
            )
        )
        return self._simulators[-1]

    def listener(self, simulator: Simulator) -> Listener:
        """Return a listener in the domain of `simulator`."""
        self._listeners.append(Listener(simulator.domain))
        return self._listeners[-1]

    def close(self) -> None:
        for listener in self._listeners:
            listener.close()
        for simulator in self._simulators:
            if simulator.process.poll() is None:
                simulator.process.kill()
                simulator.process.wait()
        for domain in self._domains:
            domain.close()
