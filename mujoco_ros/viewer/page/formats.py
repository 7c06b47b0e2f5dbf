"""How the page writes numbers and times."""

from datetime import datetime
from typing import Any

_LATEST_SIMULATED_S = 1e8  # larger time stamps are on the system clock, which counts from 1970


def is_simulated(time: float) -> bool:
    """Return whether a time stamp [s] is on the clock of a simulation."""
    return time < _LATEST_SIMULATED_S


def format_stamp(time: float) -> str:
    """Return a simulated time in seconds, and a system time as the local time of day."""
    if is_simulated(time):
        return f"{time:.2f} s"
    return datetime.fromtimestamp(time).astimezone().strftime("%H:%M:%S")


def format_speed(factor: float) -> str:
    """Return a real-time factor; 0 is as fast as possible."""
    return f"{factor:g}×" if factor > 0.0 else "as fast as possible"


def format_decimals(value: float, digits: int) -> str:
    """Return a number with a fixed number of decimals, and zero without a sign."""
    return f"{round(value, digits) + 0.0:.{digits}f}".replace("-", "−")


def format_number(value: float, digits: int = 6) -> str:
    """Return a number with significant digits, which a field accepts; tiny ones are zero."""
    return f"{0.0 if abs(value) < 1e-9 else value:.{digits}g}"


def format_value(value: Any) -> str:
    """Return the value of a parameter."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(format_value, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return format_number(value, 10) if isinstance(value, float) else str(value)
