"""Simulated times as stamps of messages."""

from builtin_interfaces.msg import Time

_NANOSECONDS = 1_000_000_000


def stamp(time: float) -> Time:
    """Return a simulated time as a message."""
    sec, nanosec = split(time)
    return Time(sec=sec, nanosec=nanosec)


def nanoseconds(time: Time) -> int:
    """Return a stamp as one number [ns]."""
    return int(time.sec) * _NANOSECONDS + int(time.nanosec)


def split(time: float) -> tuple[int, int]:
    """Return a simulated time as seconds and nanoseconds, rounded to the nanosecond."""
    return divmod(round(time * _NANOSECONDS), _NANOSECONDS)
