"""Component that writes the state log, controlled by parameters."""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN, DiagnosticReport
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.file_cache import output_folder, output_path
from mujoco_ros.model.output_files import check_below
from mujoco_ros.native.plan import MANY
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.model_edits import gather
from mujoco_ros.sim.state_log.writer import (
    DescribeRobots,
    RingBuffer,
    StateLogWriter,
    describe_robots,
)
from mujoco_ros.wire.parameter_spec import ParameterSpec

_LOG = logging.getLogger(__name__)
_FILE, _EVERY, _FOLDER = "state_log", "state_log_every", "output_folder"


class StateLogging(Component):
    """Writes the parameter `state_log`'s file.

    A change of the model, of its numbers, or of the timestep starts a segment.
    """

    name = "state log"
    parameters = (
        ParameterSpec(
            name=_FILE,
            default="",
            description="File for the log of the full state, which must not exist yet; empty for no"
            " log. If it is set while the simulator runs, it is below `output_folder`",
        ),
        ParameterSpec(
            name=_FOLDER,
            default="",
            description="Folder below which clients may have files written; empty is "
            "`mujoco_ros` in the folder of ROS, ~/.ros",
            read_only=True,
        ),
        ParameterSpec(
            name=_EVERY,
            default=1,
            description="Simulation steps per row of the state log",
            low=1,
            high=1_000_000,
        ),
    )

    def __init__(
        self,
        simulation: Simulation,
        values: Mapping[str, Any],
        describe: DescribeRobots = describe_robots,
    ) -> None:
        """Open the log if the parameters name one, before the thread of the simulation starts."""
        self._simulation = simulation
        self._values, self._describe = values, describe
        self._writer: StateLogWriter | None = None
        self._ring: RingBuffer | None = None  # of the physics thread
        self._next: RingBuffer | None = None
        simulation.on_timestep.append(self._begin_segment)
        simulation.properties.on_edit.append(self._begin_segment)
        self._name = values[_FILE]
        if self._name:
            path = Path(self._name).expanduser().absolute()
            self._writer = StateLogWriter(path, describe)
            self._switch(self._writer, RingBuffer(simulation.plant, values[_EVERY]))

    def after_step(self) -> None:
        """Log the step."""
        ring = self._ring
        if ring is not None and not ring.closed:
            ring.add_step()

    def idle_steps(self) -> int:
        """Without a log there is nothing to do."""
        return 0 if self._ring is not None and not self._ring.closed else MANY

    def check_parameters(self, values: Mapping[str, Any]) -> None:
        """Reject a file that could not be created."""
        name = values.get(_FILE, "")
        if not name or name == self._values[_FILE]:
            return
        path = self._path(name)
        check_below(path, self._folder, "state log")
        if path.exists():
            raise UserInputError(f"state log '{path}' exists; it is not overwritten")
        if not path.parent.is_dir() and path.parent != self._folder:
            raise UserInputError(f"state log '{path}' cannot be created: its folder does not exist")

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Open or close the log; return the command that switches to it."""
        if _FILE not in values and _EVERY not in values:
            return None
        name, every, writer = self._values[_FILE], self._values[_EVERY], self._writer
        if name != self._name:
            self._name = name
            if writer is not None:
                writer.end()
                if not writer.problem:  # which was logged
                    _LOG.info("the state log '%s' is complete", writer.path)
            self._writer = writer = self._open(name)
        elif self._ring is None or self._ring.every == every:
            return None
        ring = None if writer is None else RingBuffer(self._simulation.plant, every)
        return lambda: self._switch(writer, ring)

    def build(self, plant: Plant) -> None:
        """Allocate the rows of the next model."""
        if self._writer is not None:
            self._next = RingBuffer(plant, self._values[_EVERY])

    def commit(self) -> None:
        """Log the next model."""
        ring, self._next = self._next, None
        if ring is not None:
            self._switch(self._writer, ring)

    def rollback(self) -> None:
        """Drop the rows of the next model."""
        self._next = None

    def report(self) -> DiagnosticReport:
        """Return the row of /diagnostics."""
        writer, ring = self._writer, self._ring
        if writer is None:
            return DiagnosticReport("off", {})
        dropped = writer.dropped + (0 if ring is None else ring.dropped)
        values = {
            "file": str(writer.path),
            "rows": str(writer.rows),
            "size [MB]": f"{writer.size / 1e6:.1f}",
            "dropped rows": str(dropped),
        }
        if writer.problem:
            return DiagnosticReport(writer.problem, values, ERROR)
        if dropped:
            return DiagnosticReport(f"{dropped} rows dropped: the disk is too slow", values, WARN)
        return DiagnosticReport("logging", values, OK)

    def close(self) -> None:
        """Write the pending rows and close the file, after the physics thread has ended."""
        if self._writer is not None:
            self._writer.close()

    def _open(self, name: str) -> StateLogWriter | None:
        try:
            if not name:
                return None
            return StateLogWriter(self._path(name), self._describe, below=self._folder)
        except UserInputError as error:  # the file was created after the check
            _LOG.error("%s", error)
            return None

    @property
    def _folder(self) -> Path:
        """Folder below which clients may have a log written."""
        return output_folder(self._values[_FOLDER])

    def _path(self, name: str) -> Path:
        return output_path(self._folder, name, "state log")

    def _begin_segment(self, _changed: object) -> None:
        """Start a new segment; in the physics thread."""
        ring, plant = self._ring, self._simulation.plant
        if ring is not None and not ring.closed and ring.plant is plant:
            self._switch(self._writer, RingBuffer(plant, ring.every))

    def _switch(self, writer: StateLogWriter | None, ring: RingBuffer | None) -> None:
        """Log into `ring` from the next step on; in the physics thread, once that runs."""
        if self._ring is not None:
            self._ring.closed = True
        if ring is not None:
            if ring.plant is not self._simulation.plant:  # the model changed meanwhile
                ring = RingBuffer(self._simulation.plant, ring.every)
            # A new model may keep timestep and numbers of the previous one.
            ring.timestep = float(ring.plant.model.opt.timestep)
            ring.model_values = gather(ring.plant.model)
            if writer is not None:
                writer.add(ring)
        self._ring = ring
