"""Reader of the state log.

log = StateLog.open("run.mjlog")
plt.plot(log.time, log.joint("left_knee").position)
"""

import mmap
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, counted, unknown
from mujoco_ros.model.file_access import open_file
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.sim.state.extension_states import EXTENSION, ExtensionStates
from mujoco_ros.sim.state.state_vector import (
    StateField,
    fill_delay,
    set_state,
    state_fields,
    state_vector,
)
from mujoco_ros.sim.state_log.row_format import SEGMENT, Record, find_records, split_rows
from mujoco_ros.sim.state_log.segment_header import SegmentHeader, assembly, load_model, unpack

_ROUNDING_S = 1e-9


class JointRows(NamedTuple):
    """Logged values of a hinge or slide joint.  # (rows,) each."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray
    """Actuator effort at the joint [Nm or N]."""


class ReferenceRows(NamedTuple):
    """Logged references of a joint.  # (rows,) each."""

    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


class LogSegment:
    """Rows of one model. Each field is an attribute: `time`, `qpos`, `qvel`, `ctrl`, …

    A row is the state at the beginning of a step, with the sensor data and controls of that step.

    Attributes:
        scene: Name of the scene.
        timestep: Timestep of the physics [s].
        every: Steps per row.
    """

    def __init__(
        self,
        header: SegmentHeader,
        binary: memoryview,
        parts: list[dict[str, np.ndarray]],
        place: str,
    ) -> None:
        self.scene, self.timestep, self.every = header.scene, header.timestep, header.every
        self._header, self._binary, self._parts, self._place = header, binary, parts, place
        self._shapes = {field.name: field.shape for field in header.fields}
        self.fields = tuple(self._shapes)  # names of the fields
        self._starts = np.cumsum([0, *(len(part["time"]) for part in parts)])
        self._cache: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        return int(self._starts[-1])

    def __getattr__(self, name: str) -> np.ndarray:
        """Return all rows of a field.  # (rows, …)."""
        if name.startswith("_") or name not in self._shapes:
            raise AttributeError(f"a state log has no '{name}'; it has: {', '.join(self.fields)}")
        if name not in self._cache:
            empty = np.empty((0, *self._shapes[name]))
            self._cache[name] = np.concatenate([empty, *(part[name] for part in self._parts)])
        return self._cache[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.fields]

    def __repr__(self) -> str:
        return f"<{self.summary}: {', '.join(self.fields)}>"

    @property
    def summary(self) -> str:
        """Number of rows, scene and time span, as text."""
        span = f" from {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        return f"{counted(len(self), 'row')} of '{self.scene}'{span}"

    def row(self, index: int) -> dict[str, np.ndarray]:
        """Return one row by field, without reading the others."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        index %= len(self)
        part = int(np.searchsorted(self._starts, index, side="right")) - 1
        offset = index - self._starts[part]
        return {name: values[offset] for name, values in self._parts[part].items()}

    def index(self, time: float) -> int:
        """Return the index of the last row not later than `time`, or of the first row."""
        # Rows need not be sorted by time, which a reset sets back.
        earlier = np.flatnonzero(self.time <= time + _ROUNDING_S)
        return int(earlier[-1]) if len(earlier) else 0

    def joint(self, name: str) -> JointRows:
        """Return the values of a hinge or slide joint; others are in `qpos` and `qvel` only."""
        q, v = self._entry("joint", "joints", name)
        return JointRows(
            self.qpos[:, q], self.qvel[:, v], self.qacc[:, v], self.qfrc_actuator[:, v]
        )

    def reference(self, name: str) -> ReferenceRows:
        """Return the references of a joint."""
        return ReferenceRows(*self.references[..., self._entry("joint", "references", name)].T)

    def sensor(self, name: str) -> np.ndarray:
        """Return the readings of a sensor.  # (rows, n)."""
        first, size = self._entry("sensor", "sensors", name)
        return np.asarray(self.sensordata[:, first : first + size])

    def actuator(self, name: str) -> np.ndarray:
        """Return the controls of an actuator, or of ``<actuator>.<input>``.  # (rows,)."""
        return np.asarray(self.ctrl[:, self._entry("actuator", "actuators", name)])

    def extension(self, name: str) -> np.ndarray:
        """Return the state of an extension, as named in the scene, or ``<robot>/<name>``.  # (rows,
        n)
        """
        known = [
            field.removeprefix(EXTENSION) for field in self.fields if field.startswith(EXTENSION)
        ]
        if name not in known:
            raise unknown("extension with state", name, known, where="the state log")
        return np.asarray(getattr(self, EXTENSION + name))

    @cached_property
    def model(self) -> mujoco.MjModel:
        """The model; `UserInputError` if another MuJoCo wrote it, or it does not fit the rows."""
        return load_model(self._binary, self._header, f"the model in {self._place}")

    @property
    def assembly(self) -> Assembly:
        """The scene with the model."""
        found = assembly(vars(self._header), self.model, self._place)
        try:
            lay_out(found)  # names that the model lacks
        except UserInputError as error:
            raise UserInputError(f"{self._place}: {error}") from error
        return found

    @cached_property
    def missing(self) -> tuple[str, ...]:
        """Fields of the engine's state that the log lacks, because an older version wrote it."""
        return tuple(
            field.name
            for field in self._state_fields
            if field.size and field.name not in self.fields
        )

    def load_state(self, index: int, data: mujoco.MjData) -> None:
        """Copy the state of a row into `data` of this model; `mj_forward` computes the rest.

        The next step has the same bits as in the simulation, unless fields are `missing`. Those
        are as after a reset, and delayed controls are the present ones.
        """
        row, model, state = self.row(index), self.model, self._initial_state.copy()
        for field in self._state_fields:
            if field.name in row:
                field.view(state)[...] = row[field.name]
        set_state(model, data, state)
        if "history" in self.missing:
            for actuator in range(model.nactuator):
                fill_delay(model, data, actuator, data.ctrl)

    def load_extensions(self, index: int, extensions: ExtensionStates) -> None:
        """Copy the numbers and generators of a row to extensions of the same names."""
        row = self.row(index)
        for name, array in extensions.arrays.items():
            if name in row:
                array[:] = row[name]

    @cached_property
    def _initial_state(self) -> np.ndarray:
        return state_vector(self.model, mujoco.MjData(self.model))

    @cached_property
    def _state_fields(self) -> tuple[StateField, ...]:
        return state_fields(self.model, mujoco.MjData(self.model))

    def _entry(self, kind: str, table: str, name: str) -> Any:
        """Return an entry of a table in the header; of a list, the index of the name."""
        entries = getattr(self._header, table)
        if name not in entries:
            raise unknown(kind, name, entries, where="the state log")
        return entries[name] if isinstance(entries, dict) else entries.index(name)


class StateLog:
    """A state log: one segment for each model, and for each timestep, that was simulated.

    A log of one segment has the attributes and methods of that segment.

    Attributes:
        path: The file.
        segments: The segments in the order of simulation.
        problem: Reason why the rest of the file cannot be read; empty for an intact log.
    """

    def __init__(self, path: Path, segments: list[LogSegment], problem: str) -> None:
        """Combine the contents of a file; use `open`."""
        self.path, self.segments, self.problem = path, segments, problem

    @classmethod
    def open(cls, path: str | Path) -> "StateLog":
        """Read a log, up to the first incomplete or corrupt record.

        The checksums of the whole file are verified; fields are loaded on access. A file that
        cannot be read, is no state log, or has no complete model is a `UserInputError`.
        """
        path = Path(path).expanduser()
        try:
            with open(open_file(path, "state log"), "rb") as file:
                content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except UserInputError:
            raise
        except ValueError:
            raise UserInputError(f"'{path}' is empty") from None
        except OSError as error:
            raise UserInputError(f"'{path}' cannot be read: {error.strerror}") from error
        records, problem = find_records(path, content)
        if not records:
            raise UserInputError(f"'{path}' has no model: {problem or 'it ends before it'}")
        return cls(path, _segments(records, content, f"'{path}'"), problem)

    def __getattr__(self, name: str) -> Any:
        """Return an attribute of the only segment."""
        if name.startswith("_"):
            raise AttributeError(name)
        if len(self.segments) != 1:
            raise AttributeError(
                f"'{self.path}' has {len(self.segments)} segments, one for each model; "
                "take one of .segments"
            )
        return getattr(self.segments[0], name)

    def __len__(self) -> int:
        return sum(len(segment) for segment in self.segments)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(dir(self.segments[0]) if len(self.segments) == 1 else ())]

    def __repr__(self) -> str:
        note = f"; {self.problem}" if self.problem else ""
        return f"<state log '{self.path}': {', '.join(map(repr, self.segments))}{note}>"


def _segments(records: list[Record], content: memoryview, place: str) -> list[LogSegment]:
    segments: list[tuple[SegmentHeader, memoryview, list[dict[str, np.ndarray]], str]] = []
    for kind, offset, length in records:
        part = content[offset : offset + length]
        if kind == SEGMENT:
            where = f"{place}: the header of segment {len(segments)}"
            segments.append((*unpack(part, where), [], place))
            continue
        if not segments:
            raise UserInputError(f"{place} has rows without a model")
        header, _, rows, _ = segments[-1]
        width = 8 * sum(field.size for field in header.fields)
        if length % width:
            raise UserInputError(
                f"{place}: a record of segment {len(segments) - 1} has {length} bytes, "
                f"which are no whole rows of {width} bytes"
            )
        rows.append(split_rows(np.frombuffer(part, np.float64), header.fields))
    return [LogSegment(*segment) for segment in segments]
