"""How times of other nodes are written, whose clocks may be simulated or the world's."""

from datetime import datetime

_LATEST_SIMULATED_S = 1e8
"""Later than that it is the world's clock, which counts from 1970."""


def stamp(time: float) -> str:
    """Return simulated seconds as such, and times of the world as time of the day here [s]."""
    if time < _LATEST_SIMULATED_S:
        return f"{time:.2f} s"
    return datetime.fromtimestamp(time).astimezone().strftime("%H:%M:%S")
