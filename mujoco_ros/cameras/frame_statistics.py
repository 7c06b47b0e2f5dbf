"""Number and duration of frames."""

from dataclasses import dataclass


@dataclass
class FrameStatistics:
    """Statistics of the frames since the last report.

    Attributes:
        total: Number of frames since the start.
    """

    total: int = 0
    _frames: int = 0
    _sum_s: float = 0.0
    _longest_s: float = 0.0

    def add(self, seconds: float) -> None:
        """Add a frame with the duration from its due time to its last message."""
        self.total += 1
        self._frames += 1
        self._sum_s += seconds
        self._longest_s = max(self._longest_s, seconds)

    def take(self) -> tuple[int, float, float]:
        """Return number, mean and longest duration [s] since the last call."""
        frames, mean = self._frames, self._sum_s / self._frames if self._frames else 0.0
        longest = self._longest_s
        self._frames, self._sum_s, self._longest_s = 0, 0.0, 0.0
        return frames, mean, longest
