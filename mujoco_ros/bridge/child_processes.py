"""The camera and viewer processes of a simulator, and the state that it shares with them."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from multiprocessing.connection import Connection
from subprocess import Popen
from typing import Any

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.diagnostics.report import OK, WARN, DiagnosticReport
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.bridge.ros_arguments import child_ros_arguments
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.native.plan import MANY
from mujoco_ros.process.child_process import fork, start_program
from mujoco_ros.process.fork_server import ForkedProcess
from mujoco_ros.process.managed_process import ManagedProcess
from mujoco_ros.rclpy_ext.executor import create_wall_timer
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.shared_memory.past_states import HistorySettings
from mujoco_ros.sim.shared_memory.writer import SegmentWriter, SharedStateWriter
from mujoco_ros.sim.state_log.writer import DescribeRobots
from mujoco_ros.wire.parameter_spec import ParameterSpec

CHILD_PROCESS_PARAMETERS = (
    ParameterSpec(
        name="cameras",
        default=True,
        description="Whether there are images, point clouds, scans and contacts, which a child "
        "process computes; it starts with the first subscription",
        read_only=True,
    ),
    ParameterSpec(
        name="cameras_at_start",
        default=False,
        description="Whether that process starts with the simulator, so that the first image and "
        "its diagnostics do not wait for it",
        read_only=True,
    ),
    ParameterSpec(
        name="rendering",
        default="auto",
        description="OpenGL backend of the camera process; auto is EGL, with a GPU if there is "
        "one, or else OSMesa",
        choices=("auto", "egl", "osmesa"),
        read_only=True,
    ),
    ParameterSpec(
        name="viewer",
        default="none",
        description="Viewer, in child processes: a web page; native is the page, and a window of "
        "MuJoCo Studio; or none",
        choices=("none", "web", "native"),
        read_only=True,
    ),
    ParameterSpec(
        name="viewer_host",
        default="127.0.0.1",
        description="Address of the web page; from other machines with a token from the terminal",
        read_only=True,
    ),
    ParameterSpec(
        name="viewer_port",
        default=8080,
        description="Port of the web page; the next free one if it is taken",
        low=1,
        high=65535,
        read_only=True,
    ),
    ParameterSpec(
        name="history_length",
        default=60.0,
        description="Span of the past states that the viewer can show [s]; 0 keeps none",
        low=0.0,
        high=3600.0,
        read_only=True,
    ),
    ParameterSpec(
        name="history_rate",
        default=50.0,
        description="Past states per simulated second [Hz]; fewer if they need more than 64 MiB",
        low=0.1,
        high=1000.0,
        read_only=True,
    ),
)

_CAMERAS = "cameras"
_CHECK_S = 0.1
_END_TIMEOUT_S = 2.0
_STDERR = 2


class ChildProcesses(Component):
    """Starts and supervises the child processes, and shares the state with them.

    The camera process starts when `start_cameras` is called. Without a child process nothing is
    shared, which costs nothing.
    """

    name = "child processes"
    parameters = CHILD_PROCESS_PARAMETERS

    def __init__(
        self, context: NodeContext, describe: DescribeRobots, connect: Callable[[], Connection]
    ) -> None:
        """Share the state of a simulation whose thread has not been started.

        `describe` returns the descriptions of a plant's robots, and `connect` the connection for a
        camera process that starts.
        """
        self._writer: SharedStateWriter | None = None
        self._write: Callable[[], object] | None = None
        self._processes: dict[str, ManagedProcess] = {}
        self._prepared: SegmentWriter | None = None
        node, pacer = context.node, context.pacer
        self._logger = node.get_logger()
        values = context.values
        history = HistorySettings(length=values["history_length"], rate=values["history_rate"])
        enabled = _enabled(values, node.get_fully_qualified_name())
        if not enabled:
            return
        self._connect, self._pacer, self._namespace = connect, pacer, node.get_namespace()
        self._writer = writer = SharedStateWriter(
            context.simulation, describe, pacer.factor, history if "viewer" in enabled else None
        )
        self._write = writer.write
        ros = child_ros_arguments(context.arguments, node.get_namespace())
        for slot, (name, own) in enumerate(enabled.items()):
            state = ["--state", f"{writer.name}#{slot}"]
            start = partial(self._start, f"mujoco_ros.cli.{name}", [*state, *own, *ros])
            self._processes[name] = ManagedProcess(
                name, start, writer.header.deadline(slot), forward=_forward
            )
        self._cameras_at_start = values["cameras_at_start"]
        self._timer = create_wall_timer(node, _CHECK_S, self._check)

    def after_step(self) -> None:
        """Share the state of the step."""
        if self._write is not None:
            self._write()

    def idle_steps(self) -> int:
        """Compiled steps share the state, but for past states."""
        if self._writer is None:
            return MANY
        return self._writer.idle_steps()

    def while_paused(self) -> None:
        """Share changes of a paused simulation."""
        if self._writer is not None:
            self._writer.idle()

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that shares the real-time factor, after it was set."""
        return None if self._writer is None else self._share_factor

    def load_past(self, time: float, rewind: bool) -> float:
        """Return to a past state, in the physics thread; see `SegmentWriter.load_past`."""
        if self._writer is None:
            raise UserInputError("no past states are kept: the simulator has no viewer")
        return self._writer.load(time, rewind=rewind)

    def start(self) -> None:
        """Start the processes, in a thread that ends with this program."""
        now = time.monotonic()
        for name, process in self._processes.items():
            if name != _CAMERAS or self._cameras_at_start:
                process.start(now)
            if name == "viewer":
                self._logger.info("the viewer starts, which takes a few seconds")

    def build(self, plant: Plant) -> None:
        """Allocate shared memory for the next model and its state."""
        if self._writer is not None:
            self._prepared = self._writer.prepare(plant)

    def commit(self) -> None:
        """Share the next model."""
        if self._writer is not None and self._prepared is not None:
            self._writer.switch(self._prepared)
            self._prepared = None

    def finish(self) -> None:
        """Release the memory of the previous model."""
        if self._writer is not None:
            self._writer.finish()

    def rollback(self) -> None:
        """Release the memory of the next model."""
        if self._prepared is not None:
            self._prepared.discard()
            self._prepared = None

    def report(self) -> DiagnosticReport:
        """Return the row of /diagnostics."""
        values: dict[str, str] = {}
        for process in self._processes.values():
            values[f"{process.name} process"] = str(process.pid or "none")
            values[f"{process.name} restarts"] = str(max(0, process.starts - 1))
        children = self._processes.values()
        troubles = [f"{child.name}: {child.trouble}" for child in children if child.trouble]
        names = ", ".join(child.name for child in children if child.pid)
        return DiagnosticReport(
            "; ".join(troubles) or names or "none", values, WARN if troubles else OK
        )

    def stop(self) -> None:
        """Request the end of the processes; `close` waits for it."""
        for process in self._processes.values():
            process.terminate()

    def close(self) -> None:
        """Wait for the end of the processes, after the physics thread has ended."""
        if self._writer is None:
            return
        deadline = time.monotonic() + _END_TIMEOUT_S
        for process in self._processes.values():
            process.end(max(0.0, deadline - time.monotonic()))
        self._writer.close()

    def _share_factor(self) -> None:
        assert self._writer is not None
        self._writer.header.factor = self._pacer.factor

    def _check(self) -> None:
        assert self._writer is not None
        self._writer.share_edits()
        now = time.monotonic()
        for process in self._processes.values():
            process.check(now)

    def start_cameras(self) -> None:
        """Start the camera process, unless it was started."""
        cameras = self._processes[_CAMERAS]
        if not cameras.starts:
            cameras.start(time.monotonic())

    def _start(self, module: str, arguments: Sequence[str]) -> "Popen[bytes] | ForkedProcess":
        if not module.endswith(_CAMERAS):
            return start_program(module, *arguments)
        # A fork shares the imports of the simulator, which the viewer does not need.
        with self._connect() as connection:
            own = ["--namespace", self._namespace]
            return fork(module, *own, *arguments, connection=connection.fileno())


def _enabled(values: Mapping[str, Any], simulator: str) -> dict[str, list[str]]:
    """Return the processes that the parameters enable, each with its arguments."""
    enabled = {}
    if values["cameras"]:
        enabled[_CAMERAS] = ["--rendering", values["rendering"], "--seed", str(values["seed"])]
    if values["viewer"] != "none":
        address = ["--host", values["viewer_host"], "--port", str(values["viewer_port"])]
        enabled["viewer"] = ["--simulator", simulator, *address]
    if values["viewer"] == "native":
        enabled["window"] = []
    return enabled


def _forward(output: bytes) -> None:
    """Write the output of a child process, if there is a terminal."""
    with suppress(OSError):
        os.write(_STDERR, output)
