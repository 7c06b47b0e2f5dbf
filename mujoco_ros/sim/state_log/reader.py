"""Reading the log of the full state.

log = StateLog.open("run.mjlog")
plt.plot(log.time, log.joint("left_knee").position)
"""

import mmap
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.sim.state_log.fields import STATE, from_json, split
from mujoco_ros.sim.state_log.records import SEGMENT, Record, find_records
from mujoco_ros.sim.state_log.segment_head import (
    assembly,
    load_model,
    unpack,
)

_ROUNDING_S = 1e-9


class JointRows(NamedTuple):
    """What the log has of a joint with one degree of freedom; a number per row."""

    position: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray
    effort: np.ndarray
    """Of the actuators, at the joint [Nm or N]."""


class ReferenceRows(NamedTuple):
    """What a joint was told; a number per row."""

    position: np.ndarray
    velocity: np.ndarray
    effort: np.ndarray


class LogSegment:
    """The rows of one model. Each field is an attribute: `time`, `qpos`, `qvel`, `ctrl`, …

    A row is the state at the beginning of a step, and what was sensed and applied in it.

    Attributes:
        fields: Names of the fields.
        scene: Name of the scene.
        timestep: Of the physics [s].
        every: So many steps make a row.
    """

    def __init__(
        self, told: dict[str, Any], binary: memoryview, parts: list[dict[str, np.ndarray]]
    ) -> None:
        """Take what was told of the model, the model, and the fields of so many rows each."""
        self.scene: str = told["scene"]
        self.timestep: float = told["timestep"]
        self.every: int = told["every"]
        self._told, self._binary, self._parts = told, binary, parts
        self._shapes = {field.name: field.shape for field in from_json(told["fields"])}
        self.fields = tuple(self._shapes)
        self._starts = np.cumsum([0, *(len(part["time"]) for part in parts)])
        self._read: dict[str, np.ndarray] = {}

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self._starts[-1])

    def __getattr__(self, name: str) -> np.ndarray:
        """Return a field, one row after the other.  # (rows, …)."""
        if name.startswith("_") or name not in self._shapes:
            raise AttributeError(f"a state log has no '{name}'; it has: {', '.join(self.fields)}")
        if name not in self._read:
            none = np.empty((0, *self._shapes[name]))
            self._read[name] = np.concatenate([none, *(part[name] for part in self._parts)])
        return self._read[name]

    def __dir__(self) -> list[str]:
        """Offer the fields for completion as well."""
        return [*super().__dir__(), *self.fields]

    def __repr__(self) -> str:
        """Say what it is."""
        return f"<{self.summary}: {', '.join(self.fields)}>"

    @property
    def summary(self) -> str:
        """How much there is of what."""
        span = f" from {self.time[0]:g} to {self.time[-1]:g} s" if len(self) else ""
        return f"{len(self)} rows of '{self.scene}'{span}"

    def row(self, index: int) -> dict[str, np.ndarray]:
        """Return one row, field by field, without reading the others."""
        if not -len(self) <= index < len(self):
            raise IndexError(f"row {index} of {len(self)}")
        index %= len(self)
        part = int(np.searchsorted(self._starts, index, side="right")) - 1
        place = index - self._starts[part]
        return {name: values[place] for name, values in self._parts[part].items()}

    def index(self, time: float) -> int:
        """Return the last row that is not later than `time`, or the first."""
        # A reset may have set the time back, so the rows need not be sorted by it.
        earlier = np.flatnonzero(self.time <= time + _ROUNDING_S)
        return int(earlier[-1]) if len(earlier) else 0

    def joint(self, name: str) -> JointRows:
        """Return what there is of a hinge or slide joint; of others, take `qpos` and `qvel`.

        Raises:
            ModelError: There is no such joint.
        """
        q, v = self._of("joint", "joints", name)
        return JointRows(
            self.qpos[:, q], self.qvel[:, v], self.qacc[:, v], self.qfrc_actuator[:, v]
        )

    def reference(self, name: str) -> ReferenceRows:
        """Return what a joint was told.

        Raises:
            ModelError: There is no such joint.
        """
        names = self._told["references"]
        if name not in names:
            raise unknown("joint", name, names, where="the state log")
        position, velocity, effort = np.moveaxis(self.references[:, :, names.index(name)], 1, 0)
        return ReferenceRows(position, velocity, effort)

    def sensor(self, name: str) -> np.ndarray:
        """Return the readings of a sensor.  # (rows, n).

        Raises:
            ModelError: There is no such sensor.
        """
        first, size = self._of("sensor", "sensors", name)
        return np.asarray(self.sensordata[:, first : first + size])

    def actuator(self, name: str) -> np.ndarray:
        """Return the controls of an actuator.  # (rows,).

        Raises:
            ModelError: There is no such actuator.
        """
        names = self._told["actuators"]
        if name not in names:
            raise unknown("actuator", name, names, where="the state log")
        return np.asarray(self.ctrl[:, names.index(name)])

    @cached_property
    def model(self) -> mujoco.MjModel:
        """The model.

        Raises:
            ModelError: Another version of MuJoCo wrote it.
        """
        return load_model(self._binary, self._told)

    @property
    def assembly(self) -> Assembly:
        """The scene, around the model."""
        return assembly(self._told, self.model)

    def show(self, index: int, data: mujoco.MjData) -> None:
        """Put the state of a row into `data` of this model; `mj_forward` computes what follows."""
        row = self.row(index)
        data.time = row["time"].item()
        for name in STATE:
            getattr(data, name)[:] = row[name]

    def _of(self, kind: str, table: str, name: str) -> tuple[int, int]:
        names = self._told[table]
        if name not in names:
            raise unknown(kind, name, names, where="the state log")
        first, second = names[name]
        return first, second


class StateLog:
    """A log of the full state; of one segment for each model, or timestep, that was simulated.

    Has the attributes and methods of its segment if it has just one.

    Attributes:
        path: The file.
        segments: One for each model, in the order in which they were simulated.
        problem: Why there is no more to read; empty for a log that is whole.
    """

    def __init__(self, path: Path, segments: list[LogSegment], problem: str) -> None:
        """Take what was found in a file; `open` does that."""
        self.path, self.segments, self.problem = path, segments, problem

    @classmethod
    def open(cls, path: str | Path) -> "StateLog":
        """Read a log, up to where it is broken.

        Every byte is looked at once, to see whether it is whole; what is kept in memory is what is
        asked for later.

        Raises:
            ModelError: The file cannot be read, or is no state log, or has no whole model.
        """
        path = Path(path).expanduser()
        try:
            with path.open("rb") as file:
                content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except ValueError:
            raise UserInputError(f"'{path}' is empty") from None
        except OSError as error:
            raise UserInputError(f"'{path}' cannot be read: {error.strerror}") from error
        found = find_records(path, content)
        if not found.records:
            raise UserInputError(f"'{path}' has no model: {found.problem or 'it ends before it'}")
        return cls(path, _segments(found.records, content), found.problem)

    def __getattr__(self, name: str) -> Any:
        """Return what the only segment has."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._only(), name)

    def __len__(self) -> int:
        """Return the number of rows of all segments."""
        return sum(len(segment) for segment in self.segments)

    def __dir__(self) -> list[str]:
        """Offer what the only segment has for completion as well."""
        return [*super().__dir__(), *(dir(self.segments[0]) if len(self.segments) == 1 else ())]

    def __repr__(self) -> str:
        """Say what it is."""
        note = f"; {self.problem}" if self.problem else ""
        return f"<state log '{self.path}': {', '.join(map(repr, self.segments))}{note}>"

    def _only(self) -> LogSegment:
        if len(self.segments) != 1:
            raise AttributeError(
                f"'{self.path}' has {len(self.segments)} segments, one for each model; "
                "take one of .segments"
            )
        return self.segments[0]


def _segments(records: list[Record], content: memoryview) -> list[LogSegment]:
    """Return the segments that records make up."""
    heads: list[tuple[dict[str, Any], memoryview, list[dict[str, np.ndarray]]]] = []
    for kind, offset, length in records:
        part = content[offset : offset + length]
        if kind == SEGMENT:
            heads.append((*unpack(part), []))
            continue
        told, _, rows = heads[-1]
        rows.append(split(np.frombuffer(part, np.float64), from_json(told["fields"])))
    return [LogSegment(*head) for head in heads]
