"""Tables of results for the terminal, as JSON and as Markdown."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from functools import partial
from operator import ge, gt
from pathlib import Path

import numpy as np

from mujoco_ros.model.output_files import write_whole

_HEAD = ("", "quantity", "value", "unit", "mj_steps", "limit", "", "others report")
MJ_STEP = "mj_step of the humanoid"
"""The yardstick of `benchmark.machine` in the table."""
_MICROSECONDS = {"µs": 1.0, "ms": 1e3, "s": 1e6}
_VALUE, _RATIO = 2, 4
"""The column of values; `_RATIO` has durations in steps of the engine."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One result.

    Attributes:
        key: Key of the measurement.
        limit: The limit, as text; empty without one.
        good: Whether the value is within the limit; None without one.
        text: The value, rounded for display.
        others: A published value of another project, as text; empty without one.
        yardsticks: A duration in units of each of the machine's yardsticks; empty for others.
    """

    key: str
    quantity: str
    value: float
    unit: str
    text: str
    limit: str = ""
    good: bool | None = None
    others: str = ""
    yardsticks: Mapping[str, float] = field(default_factory=dict)

    def cells(self) -> tuple[str, ...]:
        """Return the columns of a table."""
        verdict = {None: "", True: "pass", False: "FAIL"}[self.good]
        steps = f"{self.yardsticks[MJ_STEP]:.3g}" if self.yardsticks else ""
        cells = (self.key, self.quantity, self.text, self.unit, steps, self.limit, verdict)
        return (*cells, self.others)

    def compared(self, yardsticks: Mapping[str, float]) -> "Row":
        """Return the row with its duration in units of the yardsticks [µs]."""
        if (unit := _MICROSECONDS.get(self.unit)) is None:
            return self
        ratios = {name: unit * self.value / us for name, us in yardsticks.items()}
        return replace(self, yardsticks=ratios)


def result(
    key: str,
    quantity: str,
    value: float,
    unit: str,
    digits: int = 1,
    *,
    limit: str = "",
    keeps: Callable[[float], bool] | None = None,
    others: str = "",
) -> Row:
    """Return a row; `keeps` returns whether a value is within the limit."""
    good = None if keeps is None else bool(keeps(value))
    text = f"{value:.{digits}f}"
    return Row(
        key=key,
        quantity=quantity,
        value=value,
        unit=unit,
        text=text,
        limit=limit,
        good=good,
        others=others,
    )


def at_most(key: str, quantity: str, value: float, most: float, unit: str, digits: int = 1) -> Row:
    """Return a row whose value has an upper limit."""
    keeps = partial(ge, most)
    return result(key, quantity, value, unit, digits, limit=f"≤ {most:g}", keeps=keeps)


def percentiles(
    key: str,
    quantity: str,
    values: np.ndarray,
    *percents: float,
    unit: str = "µs",
    below: Mapping[float, float] | None = None,
) -> list[Row]:
    """Return a row for each percentile; `below` has the limits of some of them."""
    rows = []
    for percent in percents:
        name, value = f"{quantity}, p{percent:g}", float(np.percentile(values, percent))
        limit = (below or {}).get(percent)
        if limit is None:
            rows.append(result(key, name, value, unit))
        else:
            keeps = partial(gt, limit)
            rows.append(result(key, name, value, unit, 2, limit=f"< {limit:g}", keeps=keeps))
    return rows


def table(rows: Sequence[Row]) -> str:
    """Return the rows as aligned text."""
    lines = _lines(rows)
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_aligned(line, widths) for line in lines)


def _lines(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return the head and the cells of all rows; the last column only if any row has it."""
    columns = len(_HEAD) if any(row.others for row in rows) else len(_HEAD) - 1
    return [line[:columns] for line in (_HEAD, *(row.cells() for row in rows))]


def _aligned(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [
        cell.rjust(width) if column in (_VALUE, _RATIO) else cell.ljust(width)
        for column, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(padded).rstrip()


def save(
    folder: Path,
    name: str,
    machine: Mapping[str, str],
    notes: Sequence[str],
    rows: Sequence[Row],
    *,
    is_calm: bool = True,
) -> tuple[Path, Path]:
    """Write ``<name>.json`` and ``<name>.md`` and return their paths.

    Pages quote no result of a machine on which much else ran: not `is_calm`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    record, page = folder / f"{name}.json", folder / f"{name}.md"
    content = {
        "date": datetime.now().astimezone().isoformat(timespec="seconds"),
        "is_calm": is_calm,
        "machine": dict(machine),
        "notes": list(notes),
        "rows": [asdict(row) for row in rows],
    }
    # Some values are NumPy's.
    text = json.dumps(content, indent=1, ensure_ascii=False, default=float)
    write_whole(record, text + "\n")
    lines = [f"# Benchmark {name}", ""]
    lines += [f"- {what}: {value}" for what, value in machine.items()]
    lines += [f"- {note}" for note in notes]
    head, *cells = _lines(rows)
    rule = ["--:" if column in (_VALUE, _RATIO) else "---" for column in range(len(head))]
    lines += ["", _markdown(head), f"|{'|'.join(rule)}|", *map(_markdown, cells)]
    write_whole(page, "\n".join(lines) + "\n")
    return record, page


def _markdown(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
