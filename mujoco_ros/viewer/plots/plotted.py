"""What is plotted: chosen signals and fields of messages, with their samples."""

import csv
from collections.abc import Iterator, Mapping, Sequence
from io import StringIO
from math import isnan
from typing import Any

import numpy as np

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import FieldKey
from mujoco_ros.viewer.plots.curves import Curve, FieldCurves, StateCurves
from mujoco_ros.viewer.ros.field_subscriber import FieldSubscriber
from mujoco_ros.viewer.ros.simulator_parameters import SimulatorParameters


class Plotted:
    """The curves of a viewer: all of its pages plot the same."""

    def __init__(
        self, state: SharedState, parameters: SimulatorParameters, fields: FieldSubscriber
    ) -> None:
        self.signals, self.fields = StateCurves(state, parameters), FieldCurves(fields)
        self.client = fields  # what finds topics and their fields

    def __iter__(self) -> Iterator[Curve]:
        yield from self.signals
        yield from self.fields

    @property
    def is_empty(self) -> bool:
        """Whether nothing is chosen."""
        return not (self.signals.selected or self.fields.selected)

    def sample(self) -> None:
        """Add the samples since the last call."""
        self.signals.update()
        self.fields.update()

    def clear(self) -> None:
        """Choose nothing."""
        self.signals.clear()
        self.fields.keep(())

    def settings(self) -> dict[str, Any]:
        """Return the choice, if the user has made one."""
        chosen = self.signals.chosen
        return {
            "signals": None if chosen is None else sorted(map(list, chosen)),
            "fields": [list(key) for key in self.fields.selected],
        }

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Choose what is valid among kept settings."""
        if isinstance(kept := settings.get("signals"), list):
            self.signals.restore(tuple(map(str, key)) for key in kept if isinstance(key, list))
        fields = settings.get("fields")
        for key in fields if isinstance(fields, list) else ():
            if isinstance(key, list) and [type(text) for text in key] == [str, str]:
                self.fields.select(FieldKey(*key), True)

    def columns(self) -> list[tuple[str, np.ndarray, np.ndarray]]:
        """Return a copy of all samples: name, times [s] and values of each curve."""
        return [
            (f"{it.name} [{it.plot}]", it.history.times.copy(), it.history.curve(it.index).copy())
            for it in self
        ]


def table(columns: Sequence[tuple[str, np.ndarray, np.ndarray]]) -> str:
    """Return samples as CSV: a line for each time, with empty cells where a curve has no sample."""
    times = np.unique(np.concatenate([np.empty(0), *(at for _, at, _ in columns)]))
    cells = np.full((len(times), len(columns)), np.nan)
    for index, (_, at, values) in enumerate(columns):
        cells[np.searchsorted(times, at), index] = values
    text = StringIO()
    writer = csv.writer(text)
    writer.writerow(["time", *(name for name, _, _ in columns)])
    for time, row in zip(times.tolist(), cells.tolist(), strict=True):
        writer.writerow([f"{time:.9g}", *("" if isnan(it) else f"{it:.9g}" for it in row)])
    return text.getvalue()
