"""The time axis that all plots share: its range, and its cursors."""

from dataclasses import dataclass

SPANS_S = (1.0, 2.0, 5.0, 10.0, 20.0, 60.0)
"""Spans to choose from [s]."""
SHORTEST_S = 1e-3
"""Least span of a range [s]."""
_PADDING, _LEAST = 0.05, 1e-3
"""Margin of the values, as a share of their span, and the least of the span."""


@dataclass(slots=True)
class TimeAxis:
    """The range of time that all plots show.

    Attributes:
        span_s: Span of the range while it follows the newest sample [s].
        held: Begin and end of a range that stays [s]; None while it follows.
        cursors: Times of the two cursors [s]; None without cursors.
    """

    span_s: float = 10.0
    held: tuple[float, float] | None = None
    cursors: tuple[float, float] | None = None

    def range(self, newest: float) -> tuple[float, float]:
        """Return begin and end [s], for a newest sample at a time [s]."""
        return self.held or (newest - self.span_s, newest)

    def hold(self, begin: float, end: float) -> None:
        """Show a range, with the least span, until `follow` [s]."""
        middle, half = 0.5 * (begin + end), 0.5 * max(end - begin, SHORTEST_S)
        self.held = middle - half, middle + half

    def follow(self) -> None:
        """Follow the newest sample."""
        self.held = None

    def put_cursors(self, newest: float) -> None:
        """Put two cursors into the range, which stays, for a newest sample at a time [s]."""
        begin, end = self.range(newest)
        self.hold(begin, end)
        third = (end - begin) / 3.0
        self.cursors = begin + third, end - third


def padded(low: float, high: float) -> tuple[float, float]:
    """Return the limits of an axis for values from `low` to `high`: with margins, never too close.

    The least span is a thousandth, of the unit or of the values themselves if they are larger, so
    that rounding errors do not look like motion.
    """
    least = _LEAST * max(1.0, abs(low), abs(high))
    middle, half = 0.5 * (low + high), 0.5 * max(high - low, least)
    return middle - (1.0 + 2.0 * _PADDING) * half, middle + (1.0 + 2.0 * _PADDING) * half
