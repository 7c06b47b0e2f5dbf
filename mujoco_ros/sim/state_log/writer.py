"""Writing of the state log: a thread writes the rows that the physics thread adds."""

import dataclasses
import logging
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from copy import copy
from errno import ENOENT
from pathlib import Path
from typing import Any, BinaryIO

import mujoco
import numpy as np

from mujoco_ros.model.output_files import create_file
from mujoco_ros.model.robot.actuators import control_names
from mujoco_ros.model.robot.description import RobotDescription, descriptions
from mujoco_ros.model.scene.config import ObjectConfig, RobotConfig
from mujoco_ros.model.scene.engine_plugins import used_plugins
from mujoco_ros.sim.actuator_controls import free_controls
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state.model_edits import gather, scatter
from mujoco_ros.sim.state.state_vector import state_fields
from mujoco_ros.sim.state_log.row_format import (
    DERIVED,
    MAGIC,
    SEGMENT,
    STATE,
    RowRing,
    columns,
    row_fields,
    to_json,
    write_all,
    write_record,
    write_rows,
)
from mujoco_ros.sim.state_log.segment_header import MODEL, pack

_LOG = logging.getLogger(__name__)
_PERIOD_S = 0.1  # a crash loses the rows of at most this time

_BYTES = 32 << 20
_FEWEST, _MOST = 1024, 1 << 16


class RingBuffer(RowRing):
    """Rows of one model that are not written yet.

    The physics thread adds rows and one other thread removes them.
    """

    def __init__(self, plant: Plant, every: int) -> None:
        """Allocate rows for `plant`, the present or next one of a simulation."""
        arrays = _row_arrays(plant)
        self.plant, self.every = plant, every  # steps per row
        self.fields = row_fields(arrays, state_fields(plant.model, plant.data))  # fields of a row
        self.timestep = float(plant.model.opt.timestep)  # simulated time between steps [s]
        self.model_values = gather(plant.model)  # which may change before the header is written
        self.removed = self.dropped = 0  # rows that were written, and that lacked space
        self.closed = False  # whether no rows will be added
        width = sum(field.size for field in self.fields)
        rows = np.empty((min(max(_BYTES // (8 * width), _FEWEST), _MOST), width))
        rows.fill(0.0)  # commits the memory now, not in the physics thread
        super().__init__(rows, np.zeros(1, np.int64).data)
        self.columns = columns(rows, self.fields)  # rows by field, as views (capacity, …) each
        row, ends = np.empty(width), np.cumsum([array.size for array in arrays.values()])
        self._row = row.data.cast("B")
        self._copies: list[tuple[Any, Any]] = [
            # Memory is copied in half the time; but integers of generators become numbers here.
            (part.data, array.reshape(-1).data)
            if array.dtype == row.dtype
            else (part, array.reshape(-1))
            for part, array in zip(np.split(row, ends[:-1]), arrays.values(), strict=True)
            if array.size
        ]
        self._steps = every

    def add_step(self) -> None:
        """Add a row if one is due; called in the physics thread after each step."""
        self._steps -= 1
        if self._steps:
            return
        self._steps = self.every
        if self.added - self.removed >= self.capacity:
            self.dropped += 1
            return
        for part, source in self._copies:
            part[:] = source
        self.add(self._row)

    def pending(self) -> list[slice]:
        """Return the slices of the columns that hold rows, in order."""
        first, last, size = self.removed, self.added, self.capacity
        if first == last:
            return []
        begin, end = first % size, (last - 1) % size + 1
        return [slice(begin, end)] if begin < end else [slice(begin, size), slice(0, end)]

    def remove(self, count: int) -> None:
        """Free the space of the oldest `count` rows."""
        self.removed += count


def _row_arrays(plant: Plant) -> dict[str, np.ndarray]:
    """Return the arrays of a row, as of the last sample."""
    sample = plant.sample
    derived = (sample.sensordata, sample.qacc, sample.qfrc_actuator)
    measured = {} if plant.realism is None else plant.realism.measured_fields
    return {
        STATE: sample.state,
        **dict(zip(DERIVED, derived, strict=True)),
        "references": plant.references.values,
        **plant.extensions.at_step,
        **measured,
    }


_FILES = frozenset({"gains", "urdf"})
"""Keys of files that a reader may not have; their contents are in the model."""


def describe_rows(ring: RingBuffer, described: Sequence[RobotDescription]) -> dict[str, Any]:
    """Return the header of the rows of a buffer, as JSON types."""
    return describe(ring.plant, described) | {
        "timestep": ring.timestep,
        "every": ring.every,
        "fields": to_json(ring.fields),
    }


def describe(plant: Plant, described: Sequence[RobotDescription]) -> dict[str, Any]:
    """Return the description of a plant without its model, as JSON types."""
    model, config = plant.model, plant.assembly.config
    return {
        "scene": config.name,
        "mujoco": mujoco.__version__,
        "plugins": used_plugins(model),
        "joints": {
            model.joint(j).name: [int(model.jnt_qposadr[j]), int(model.jnt_dofadr[j])]
            for j in range(model.njnt)
        },
        "actuators": control_names(model),
        "controls": {
            robot: {control.name: control.slot for control in controls}
            for robot, controls in free_controls(plant).items()
        },
        "sensors": {
            model.sensor(s).name: [int(model.sensor_adr[s]), int(model.sensor_dim[s])]
            for s in range(model.nsensor)
        },
        "references": list(plant.joints.names),
        "robots": [
            {name: value for name, value in _plain(_measured(robot)).items() if name not in _FILES}
            | {
                "model": MODEL,
                "namespace": config.namespace(robot),
                "prefix": part.prefix,
                "description": description.urdf,
                "pose": _plain(description.pose),
            }
            for robot, part, description in zip(
                config.robots, plant.assembly.robots, described, strict=True
            )
        ],
        "objects": [
            _plain(part.config) | {"model": MODEL, "prefix": part.prefix}
            for part in plant.assembly.parts
            if isinstance(part.config, ObjectConfig)
        ],
        "cameras": [_plain(camera) for camera in config.cameras],
        "lidars": [_plain(lidar) for lidar in config.lidars],
        "merged": config.merged,
    }


def _measured(robot: RobotConfig) -> RobotConfig:
    """Return a robot whose drives and motors are ideal: their effects are in the rows."""
    if robot.realism is None:
        return robot
    return dataclasses.replace(robot, realism=dataclasses.replace(robot.realism, actuators={}))


def _plain(value: Any) -> dict[str, Any]:
    """Return a dataclass as JSON types, without None."""
    content: dict[str, Any] = _jsonable(dataclasses.asdict(value))
    return content


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _jsonable(entry) for name, entry in value.items() if entry is not None}
    if isinstance(value, frozenset):
        return sorted(value)
    return str(value) if isinstance(value, Path) else value


DescribeRobots = Callable[[Plant], Sequence[RobotDescription]]


def describe_robots(plant: Plant) -> Sequence[RobotDescription]:
    """Return the descriptions of a plant's robots."""
    return descriptions(plant.assembly, plant.layout)


class StateLogWriter:
    """A thread that writes the rows of ring buffers to a file."""

    def __init__(
        self,
        path: Path,
        describe: DescribeRobots = describe_robots,
        *,
        below: Path | None = None,
    ) -> None:
        """Create the file, which only its user can read, `below` a folder as for `create_file`.

        `describe` returns the descriptions of robots that are stored with a model.
        """
        self.path = path  # the file
        # Bytes and rows that were written, and rows that finished buffers dropped
        self.size = self.rows = self.dropped = 0
        self.problem = ""  # error that ended the log; empty without one
        self._describe = describe
        self._rings: deque[RingBuffer] = deque()
        self._current: RingBuffer | None = None  # whose segment header is written
        self._ending = threading.Event()
        created = create_file(path, "state log", below=below)
        self._file: BinaryIO = os.fdopen(created, "wb", buffering=0)
        self._thread = threading.Thread(target=self._run, name="state log", daemon=True)
        self._thread.start()

    def add(self, ring: RingBuffer) -> None:
        """Write the rows of `ring` after the previous rings' rows; callable from any thread."""
        self._rings.append(ring)

    def end(self) -> None:
        """Close all buffers; the thread writes their rows and closes the file."""
        self._close_rings()
        self._ending.set()

    def close(self) -> None:
        """End the log and wait until the file is closed."""
        self.end()
        self._thread.join()

    def _close_rings(self) -> None:
        for ring in tuple(self._rings):
            ring.closed = True

    def _run(self) -> None:
        try:
            with self._file:
                write_all(self._file, MAGIC)
                self.size += len(MAGIC)
                is_ending = False
                while not is_ending:
                    is_ending = self._ending.wait(_PERIOD_S)
                    self._write_pending()
                    if not os.fstat(self._file.fileno()).st_nlink:
                        raise FileNotFoundError(ENOENT, f"it was deleted with {self.rows} rows")
        except OSError as error:
            self.problem = f"'{self.path}' cannot be written: {error.strerror}"
        except Exception as error:
            self.problem = f"'{self.path}' cannot be written: {type(error).__name__}: {error}"
        if self.problem:
            self._close_rings()  # the physics thread adds no more rows
            _LOG.error("the state log ends: %s; the simulation continues", self.problem)

    def _write_pending(self) -> None:
        """Write the rows of all buffers; remove buffers that are closed and empty."""
        while self._rings:
            ring = self._rings[0]
            closed = ring.closed  # read before the rows: none are added after it is set
            if ring is not self._current:
                header = describe_rows(ring, self._describe(ring.plant))
                model = copy(ring.plant.model)
                scatter(model, ring.model_values)
                self.size += write_record(self._file, SEGMENT, pack(model, header))
                self._current = ring
            self._write_rows(ring)
            if not closed:
                return
            self.dropped += ring.dropped
            self._rings.popleft()

    def _write_rows(self, ring: RingBuffer) -> None:
        for rows in ring.pending():
            count = rows.stop - rows.start
            self.size += write_rows(
                self._file, {name: column[rows] for name, column in ring.columns.items()}
            )
            ring.remove(count)
            self.rows += count
