"""How many frames there were of something, and how long they took."""

from dataclasses import dataclass


@dataclass
class Timing:
    """Figures of the frames since they were last asked for.

    Attributes:
        total: Frames since the beginning.
    """

    total: int = 0
    _frames: int = 0
    _sum_s: float = 0.0
    _longest_s: float = 0.0

    def add(self, seconds: float) -> None:
        """Note a frame that took so long, from the state that was due to its last message."""
        self.total += 1
        self._frames += 1
        self._sum_s += seconds
        self._longest_s = max(self._longest_s, seconds)

    def lap(self) -> tuple[int, float, float]:
        """Return frames, mean and longest duration [s] since the last lap; begin the next."""
        frames, mean = self._frames, self._sum_s / self._frames if self._frames else 0.0
        longest = self._longest_s
        self._frames, self._sum_s, self._longest_s = 0, 0.0, 0.0
        return frames, mean, longest
