"""Files of the past states: a state log, and a table of the joints."""

import csv
import math
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Any, BinaryIO

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import complete_file
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.sim.state.state_vector import Field
from mujoco_ros.sim.state_log import row_format
from mujoco_ros.sim.state_log.segment_header import pack

_KIND = "file of the past states"
_MEASURED = {
    "true_sensordata": "sensordata",
    "measured_qpos": "qpos",
    "measured_qvel": "qvel",
    "measured_effort": "qfrc_actuator",
}
"""Fields of a log of imperfect sensors, and where the past states have them."""

Rows = dict[str, np.ndarray]


def collect(state: SharedState, start: float = -math.inf, end: float = math.inf) -> Rows:
    """Return the past states of a span of time [s] by field, oldest first.  # (n, …) each"""
    rows = state.past.span(start, end)
    if not len(rows):
        raise UserInputError("there are no past states to save")
    return _fields(state, rows)


def shown_row(state: SharedState) -> Rows:
    """Return the state that `state` holds as the only row.  # (1, …) each."""
    return _fields(state, state.row[np.newaxis].copy())


def _fields(state: SharedState, rows: np.ndarray) -> Rows:
    found = row_format.columns(
        rows[:, 1:], state.fields
    )  # after the time, which the state has again
    # The acceleration of the last step, as the sensor readings: the engine keeps it for the next.
    return found | {"qacc": found["qacc_warmstart"]}


def write_log(path: Path, rows: Rows, header: Mapping[str, Any], model: mujoco.MjModel) -> None:
    """Write a state log of what `collect` returns; `header` is the metadata of the shared state."""
    with complete_file(path, _KIND, below=path.parent) as file:
        write_log_to(file, rows, header, model)


def write_log_to(
    file: BinaryIO, rows: Rows, header: Mapping[str, Any], model: mujoco.MjModel
) -> None:
    """Write a state log to an open file; the other arguments are as for `write_log`."""
    imperfect = any("realism" in robot for robot in header["robots"])
    rows = rows | {name: rows[source] for name, source in _MEASURED.items() if imperfect}
    timestep = float(model.opt.timestep)
    times = rows["time"]
    period = float(np.median(np.diff(times))) if len(times) > 1 else timestep
    fields = [Field(name, column.shape[1:]) for name, column in rows.items()]
    described = dict(header) | {
        "timestep": timestep,
        "every": max(round(period / timestep), 1),
        "fields": row_format.to_json(fields),
    }
    row_format.write_all(file, row_format.MAGIC)
    row_format.write_record(file, row_format.SEGMENT, pack(model, described))
    row_format.write_rows(file, rows)


def write_table(path: Path, rows: Rows, header: Mapping[str, Any]) -> None:
    """Write time, positions, velocities, efforts and references of the joints as CSV.

    Arguments and errors are as for `write_log`.
    """
    table = dict(_table(rows, header))
    text = StringIO()
    csv.writer(text).writerow(table)
    np.savetxt(text, np.stack(list(table.values()), axis=1), "%.9g", ",")
    with complete_file(path, _KIND, below=path.parent) as file:
        row_format.write_all(file, text.getvalue().encode())


def _table(rows: Rows, header: Mapping[str, Any]) -> Iterator[tuple[str, np.ndarray]]:
    yield "time", rows["time"]
    scalar = header["references"]
    for name, (q, v) in header["joints"].items():
        if name in scalar:
            yield f"{name}.position", rows["qpos"][:, q]
            yield f"{name}.velocity", rows["qvel"][:, v]
            yield f"{name}.effort", rows["qfrc_actuator"][:, v]
            for row, quantity in enumerate(("position", "velocity", "effort")):
                reference = rows["references"][:, row, scalar.index(name)]
                yield f"{name}.{quantity}_reference", reference
