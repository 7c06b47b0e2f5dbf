"""The companions of a simulator, and the state that is shared with them."""

import os
import sys
import sysconfig
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from rclpy.clock import Clock, ClockType
from rclpy.node import Node

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.diagnostics.report import OK, WARN, DiagnosticReport
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.rclpy_ext.tasks import guarded
from mujoco_ros.bridge.ros_arguments import handed_on
from mujoco_ros.process.managed_process import ManagedProcess
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.shared_memory.writer import Describe, Draft, SharedStateWriter
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping.pacer import Pacer

COMPANION_PARAMETERS = (
    ParameterSpec(
        name="cameras",
        default=True,
        description="Whether a process beside the simulator's publishes images, point clouds, "
        "scans and contacts, of which nothing is computed that nobody subscribes to",
        read_only=True,
    ),
    ParameterSpec(
        name="rendering",
        default="auto",
        description="What the camera process renders with: EGL, with a GPU where there is one, or "
        "else OSMesa; or the one of them that is named",
        choices=("auto", "egl", "osmesa"),
        read_only=True,
    ),
    ParameterSpec(
        name="viewer",
        default="none",
        description="What shows the simulation: MuJoCo Studio as a page for a browser, in a window,"
        " or nothing",
        choices=("none", "web", "native"),
        read_only=True,
    ),
    ParameterSpec(
        name="viewer_host",
        default="127.0.0.1",
        description="Address at which the page is served; whoever reaches it can steer the robots",
        read_only=True,
    ),
    ParameterSpec(
        name="viewer_port",
        default=8080,
        description="Port at which the page is served; the next free one if it is taken",
        low=1,
        high=65535,
        read_only=True,
    ),
)

_LOOK_S = 0.1
_END_S = 2.0
_STDERR = 2


class ChildProcesses(Component):
    """Starts the companions, hands them the state, and watches over them.

    Without any, nothing is shared.
    """

    name = "child processes"
    parameters = COMPANION_PARAMETERS

    def __init__(
        self,
        node: Node,
        simulation: Simulation,
        values: Mapping[str, Any],
        arguments: Sequence[str],
        *,
        describe: Describe,
        pacer: Pacer,
    ) -> None:
        """Share the state of a simulation whose thread has not been started.

        Args:
            node: The simulator's.
            simulation: What is shown.
            values: The values of its parameters.
            arguments: Of its command line.
            describe: Gives the descriptions of a plant's robots.
            pacer: Its factor is shared as well.

        Raises:
            ModelError: There is not enough memory to share the state.
        """
        self._writer: SharedStateWriter | None = None
        self._write: Callable[[], object] | None = None
        self._companions: list[ManagedProcess] = []
        self._draft: Draft | None = None
        wanted = _wanted(values)
        if not wanted:
            return
        self._pacer = pacer
        self._writer = writer = SharedStateWriter(simulation, describe, pacer.factor)
        self._write = writer.write
        ros = handed_on(arguments, node.get_namespace())
        common = ["--simulator", node.get_fully_qualified_name()]
        for seat, (name, own) in enumerate(wanted.items()):
            state = ["--state", f"{writer.name}#{seat}"]
            self._companions.append(
                ManagedProcess(
                    name,
                    [*_PYTHON, str(os.getpid()), name, *state, *common, *own, *ros],
                    writer.head,
                    seat,
                    environment=_environment(),
                    say=_say,
                )
            )
        # Not the node's clock: under use_sim_time it would stop in a pause.
        steady = Clock(clock_type=ClockType.STEADY_TIME)
        self._timer = node.create_timer(_LOOK_S, guarded(self._look), clock=steady)

    def after_step(self) -> None:
        """Share the state of the step."""
        if self._write is not None:
            self._write()

    def while_paused(self) -> None:
        """Share what changes while the simulation is paused."""
        if self._writer is not None:
            self._writer.idle()

    def start(self) -> None:
        """Start the companions, in the thread that lives as long as the process."""
        now = time.monotonic()
        for companion in self._companions:
            companion.start(now)

    def build(self, plant: Plant) -> None:
        """Make memory to share the next model and its state in."""
        if self._writer is not None:
            self._draft = self._writer.draft(plant)

    def commit(self) -> None:
        """Share the next model."""
        if self._writer is not None and self._draft is not None:
            self._writer.switch(self._draft)
            self._draft = None

    def finish(self) -> None:
        """Give back the memory of the model that is gone."""
        if self._writer is not None:
            self._writer.finish()

    def rollback(self) -> None:
        """Share no next model."""
        if self._draft is not None:
            self._draft.discard()
            self._draft = None

    def report(self) -> DiagnosticReport:
        """Return the row of /diagnostics."""
        values: dict[str, str] = {}
        for companion in self._companions:
            name, pid = companion.name, companion.pid
            values[f"{name} process"] = str(pid or "none")
            values[f"{name} restarts"] = str(max(0, companion.starts - 1))
        troubles = [f"{c.name}: {c.trouble}" for c in self._companions if c.trouble]
        names = ", ".join(c.name for c in self._companions if c.pid)
        return DiagnosticReport(
            "; ".join(troubles) or names or "none", values, WARN if troubles else OK
        )

    def stop(self) -> None:
        """Ask the processes to end; `close` waits for that."""
        for companion in self._companions:
            companion.ask_to_end()

    def close(self) -> None:
        """Wait for the end of the companions, after the physics thread has ended."""
        if self._writer is None:
            return
        patient_until = time.monotonic() + _END_S
        for companion in self._companions:
            companion.end(max(0.0, patient_until - time.monotonic()))
        self._writer.close()

    def _look(self) -> None:
        assert self._writer is not None
        self._writer.head.factor = self._pacer.factor
        self._writer.share_edits()
        now = time.monotonic()
        for companion in self._companions:
            companion.look(now)


# Not from the working folder, where files may be named like modules.
_PYTHON = (sys.executable, "-P", "-m", "mujoco_ros.cli.child_process")


def _wanted(values: Mapping[str, Any]) -> dict[str, list[str]]:
    """Return the companions that parameters ask for, and their arguments."""
    wanted = {}
    if values["cameras"]:
        wanted["cameras"] = ["--rendering", values["rendering"], "--seed", str(values["seed"])]
    if values["viewer"] != "none":
        place = ["--host", values["viewer_host"], "--port", str(values["viewer_port"])]
        wanted["viewer"] = ["--mode", values["viewer"], *place]
    return wanted


def _say(said: bytes) -> None:
    """Pass on what a companion wrote; without a terminal, it is watched over all the same."""
    with suppress(OSError):
        os.write(_STDERR, said)


def _environment() -> dict[str, str]:
    """Return a companion's environment, in which it finds this package."""
    package = str(Path(__file__).resolve().parents[3])
    if package == sysconfig.get_path("purelib"):
        return dict(os.environ)
    path = os.environ.get("PYTHONPATH", "")
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, (path, package)))}
