"""Plot of the committed run of ``python -m benchmark.soak``."""

from pathlib import Path

import numpy as np
from plot import Line, Panel, draw

_RESULTS = Path(__file__).resolve().parents[1] / "benchmark" / "results" / "soak"
_COLOURS = {"simulator": "#2f6fad", "cameras": "#d9822b", "viewer": "#3d8b57"}
_WARM_UP = 0.1
_MINUTE_S = 60.0


def soak_plot() -> str:
    """Return an SVG of all parts, one after the other: dropped time, memory, queues."""
    files = sorted(_RESULTS.glob("part*.csv"))
    parts = [np.genfromtxt(file, delimiter=",", names=True) for file in files]
    ends = np.cumsum([0.0, *(part["wall"][-1] for part in parts)])
    times = [(part["wall"] + end) / _MINUTE_S for part, end in zip(parts, ends, strict=False)]
    dropped, memory, queues = [], [], []
    for number, (time, part) in enumerate(zip(times, parts, strict=True)):
        dropped.append(Line(x=time, y=part["dropped"] - part["dropped"][0]))
        warm = int(_WARM_UP * len(time))
        for name, colour in _COLOURS.items():
            label = "" if number else name
            growth = part[name] - np.median(part[name][warm : 2 * warm])
            memory.append(Line(x=time[warm:], y=growth[warm:], label=label, colour=colour))
        queues.append(Line(x=time, y=part["commands"], label="" if number else "commands"))
    return draw(
        [
            [Panel(title="dropped time", y_label="[s]", lines=dropped)],
            [Panel(title="growth of memory after the warm-up", y_label="[MB]", lines=memory)],
            [Panel(title="longest queue of commands", lines=queues)],
        ],
        title="Dropped time, memory and queues of a long run",
        x_label="time [min]",
        width=720,
        height=150,
    )
