"""The time of a tick, which is the same for every host of a controller."""

NANOSECONDS = 1_000_000_000
"""In a second; stamps are whole numbers of nanoseconds."""
_ROUNDING_NS = 1.0


def tick_time(stamp: int, period: float) -> float:
    """Return the time of a tick [s]: its number times the period.

    Sums and products of timesteps, and stamps, differ from that in the last bits. A stamp that is
    no multiple of the period, as a real robot has, is the time itself.

    Args:
        stamp: Stamp of the tick, rounded to nanoseconds [ns].
        period: Time between two ticks [s].
    """
    time = stamp / NANOSECONDS
    multiple = round(time / period) * period
    return multiple if abs(multiple * NANOSECONDS - stamp) <= _ROUNDING_NS else time


def stamp_of(time: float) -> int:
    """Return the stamp of a simulated time [ns], as the messages of the simulator have it."""
    return round(time * NANOSECONDS)
