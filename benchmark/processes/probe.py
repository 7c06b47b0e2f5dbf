"""The simulator with time measurements of its steps.

``benchmark.processes.probe FILE [--message-objects | --profile | --commands] --ros-args …`` runs
``python -m mujoco_ros --ros-args …`` and records for each step its begin, the end of the engine's
step, the end of publishing (CLOCK_MONOTONIC), and its stamp; with ``--commands`` also the activity
and references of the first robot. Recording costs about 0.5 µs per step, with references some
microseconds more; records are saved at exit.
"""

import os
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from time import monotonic_ns, perf_counter_ns
from typing import Any

import mujoco
import numpy as np

from benchmark.processes.message_objects import MessageObjectPublishers
from benchmark.processes.probe_columns import (
    ACTIVITY,
    CARTESIAN,
    COLUMNS,
    CONTROL,
    FORCE,
    GRIPPER,
    LATE,
    POSITION,
    PUBLISHED,
    SHARED,
    STAMP,
    TORQUE,
    UNIT,
    VELOCITY,
)
from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.bridge.publishing.publishers import Publishers
from mujoco_ros.bridge.publishing.template_publisher import Batch
from mujoco_ros.bridge.publishing.topic_publisher import TopicPublisher
from mujoco_ros.bridge.publishing.topics import CONTACTS
from mujoco_ros.cli.sim import main as simulate
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.native.plan import MANY
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.drives import Drives
from mujoco_ros.sim.kinematics import BaseMotion, RelativePoses
from mujoco_ros.sim.shared_memory.writer import SharedStateWriter
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping import physics_thread
from mujoco_ros.sim.stepping.compiled_steps import CompiledSteps, RunCells, StepOutcome
from mujoco_ros.sim.stepping.real_time import Pacer
from mujoco_ros.sim.tracking import Tracking

CAPACITY = 200_000  # steps
ALTERNATE = 250
"""Steps after which ``--message-objects`` switches from templates to objects, and back."""

IDLE, TRAJECTORY, STREAM, HELD = range(4)
"""Activity in a step: none, a trajectory, a stream, or a stream with constant references."""


class Stopwatch:
    """Rows of `COLUMNS`, one per step; times in nanoseconds."""

    def __init__(self, *, commands: bool) -> None:
        self._commands = commands
        self._rows = array("q", bytes(CAPACITY * COLUMNS * 8))
        self._next = 0

    def install(self) -> None:
        """Wrap the simulation's step and the publishing of its sample."""
        rows, limit = self._rows, CAPACITY * COLUMNS
        step, publish, prepare = Simulation.step, Publishers.publish, Pacer.__init__
        share = SharedStateWriter.write
        pacers: list[Pacer] = []
        commands = self._commands

        def prepared(pacer: Pacer, *arguments: Any, **options: Any) -> None:
            prepare(pacer, *arguments, **options)
            pacers.append(pacer)

        def timed_step(simulation: Simulation) -> bool:
            begun = monotonic_ns()
            good = step(simulation)
            at = self._next
            if at < limit:
                rows[at], rows[at + 1] = begun, monotonic_ns()
                rows[at + STAMP] = round(simulation.time * 1e9)
                rows[at + LATE] = pacers[0].late_steps
                if commands:
                    control = simulation.controls[0]
                    references = control.references
                    rows[at + ACTIVITY] = activity(control)
                    rows[at + POSITION] = round(references.q[0] / UNIT)
                    rows[at + VELOCITY] = round(references.dq[0] / UNIT)
                    rows[at + TORQUE] = round(references.tau[0] / UNIT)
                    rows[at + FORCE] = round(simulation.data.xfrc_applied[:, 2].sum() / UNIT)
                    rows[at + CARTESIAN] = round(cartesian_target(control) / UNIT)
                    if control.gripper is not None:
                        rows[at + GRIPPER] = round(control.gripper._target / UNIT)
                    rows[at + CONTROL] = round(simulation.data.ctrl[0] / UNIT)
            return good

        def timed_publish(topics: Publishers) -> None:
            publish(topics)
            at = self._next
            if at < limit:
                rows[at + PUBLISHED] = monotonic_ns()
                self._next = at + COLUMNS

        def timed_share(writer: SharedStateWriter) -> None:
            share(writer)
            if self._next:
                rows[self._next - COLUMNS + SHARED] = monotonic_ns()

        self._trace_compiled_steps()
        _replace(SharedStateWriter, "write", timed_share)
        _replace(Pacer, "__init__", prepared)
        _replace(Simulation, "step", timed_step)
        _replace(Publishers, "publish", timed_publish)

    def _trace_compiled_steps(self) -> None:
        """Have compiled steps note their times."""
        run, columns = CompiledSteps.run, SHARED + 1
        trace = np.zeros(1 + columns * MANY, dtype=np.int64)
        if self._commands:  # which are recorded after steps in Python
            _replace(Simulation, "can_be_compiled", False)

        _replace(
            physics_thread,
            "RunCells",
            lambda pace, wake, periods, costs: RunCells(pace, wake, periods, costs, trace),
        )

        def traced(*arguments: Any, **options: Any) -> Any:
            trace[0] = 0
            result = run(*arguments, **options)
            for row in trace[1:].reshape(-1, columns)[: trace[0]].tolist():
                if self._next < CAPACITY * COLUMNS:
                    for column, value in enumerate(row):
                        self._rows[self._next + column] = value
                    self._next += COLUMNS
            if result[0] == StepOutcome.PUBLISH and self._next:
                self._next -= COLUMNS  # Python publishes this step, and completes its row
            return result

        _replace(CompiledSteps, "run", traced)

    def result(self) -> np.ndarray:
        """Return the rows.  # (steps, COLUMNS) int64."""
        return np.array(self._rows[: self._next], dtype=np.int64).reshape(-1, COLUMNS)


def activity(control: RobotControl) -> int:
    """Return the source of a robot's references."""
    if control.trajectory.busy:
        return TRAJECTORY
    if not control.active:
        return IDLE
    return STREAM if any(stream.moving for stream in control.streams.by_source.values()) else HELD


def cartesian_target(control: RobotControl) -> float:
    """Return the first number of the last command of the Cartesian controller; 0 without one."""
    controller = control.cartesian
    if not isinstance(controller, CartesianController):
        return 0.0
    for kind in ("wrench", "twist"):
        if kind in controller._acting:
            return float(controller._acting[kind][0].linear[0])
    return float(controller.reference._goal[0])


def alternate_with_objects() -> None:
    """Publish every other `ALTERNATE` steps with message objects instead of templates."""
    initialize, publish = Publishers.__init__, Publishers.publish
    objects: list[MessageObjectPublishers] = []
    count = 0

    def prepared(topics: Publishers, context: NodeContext, *arguments: Any, **options: Any) -> None:
        initialize(topics, context, *arguments, **options)
        templates = (
            publisher for publisher, topic in topics.topics.items() if topic.rate != CONTACTS
        )
        publishers = [topics._clock, *templates]
        objects.append(MessageObjectPublishers(context.node, topics._simulation, publishers))

    def alternating(topics: Publishers) -> None:
        nonlocal count
        if count == 0:
            # Another thread updates the number of subscribers.
            if not objects[0].has_subscribers:
                return
            objects[0].check(lambda: publish(topics))
        if (count // ALTERNATE) % 2:
            objects[0].publish()
        else:
            publish(topics)
        count += 1

    _replace(Simulation, "can_be_compiled", False)  # compiled steps have no message objects
    _replace(Publishers, "__init__", prepared)
    _replace(Publishers, "publish", alternating)


class Profile:
    """Time spent in each part of a step."""

    def __init__(self) -> None:
        self._spent: dict[str, list[int]] = {}

    def wrap(self, owner: Any, name: str, label: str) -> None:
        """Measure `owner.name` under `label`."""
        _replace(owner, name, self._timed(getattr(owner, name), label))

    def _timed(self, function: Callable[..., Any], label: str) -> Callable[..., Any]:
        spent = self._spent.setdefault(label, [0, 0])

        def timed(*arguments: Any) -> Any:
            begun = perf_counter_ns()
            result = function(*arguments)
            spent[0] += perf_counter_ns() - begun
            spent[1] += 1
            return result

        return timed

    def install(self) -> None:
        """Wrap the parts that make up a step."""
        self.wrap(mujoco, "mj_step", "mj_step")
        self.wrap(Drives, "write", "Drives.write")
        self.wrap(Simulation, "step", "Simulation.step")
        self.wrap(BaseMotion, "update", "BaseMotion.update")
        self.wrap(RelativePoses, "update", "RelativePoses.update")
        self.wrap(Tracking, "update", "Tracking.update")
        self.wrap(Batch, "publish", "Batch.publish")
        self.wrap(Publishers, "publish", "Publishers.publish")
        self.wrap(TopicPublisher, "send", "TopicPublisher.send")

    def result(self) -> np.ndarray:
        """Return rows of label, nanoseconds in total and number of calls."""
        dtype = [("label", "U32"), ("ns", "i8"), ("calls", "i8")]
        return np.array([(k, *v) for k, v in self._spent.items()], dtype=dtype)


def _replace(owner: Any, name: str, function: Any) -> None:
    setattr(owner, name, function)


def main() -> int:
    """Run the simulator and save the records."""
    file, rest = Path(sys.argv[1]), sys.argv[2:]
    options = rest[: rest.index("--ros-args")]
    if "--profile" in options:
        os.environ["MUJOCO_ROS_NATIVE"] = "0"  # the parts are functions in Python
    recorder: Stopwatch | Profile = (
        Profile() if "--profile" in options else Stopwatch(commands="--commands" in options)
    )
    if "--message-objects" in options:
        alternate_with_objects()
    recorder.install()
    code = simulate(rest[len(options) :])
    np.save(file, recorder.result())
    return code


if __name__ == "__main__":
    sys.exit(main())
