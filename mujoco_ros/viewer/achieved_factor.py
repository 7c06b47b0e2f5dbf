"""The real-time factor that a simulation reaches."""

from collections import deque

_WINDOW_S = 1.0
_MIN_WINDOW_S = 0.2


class AchievedFactor:
    """Simulated seconds per wall second, over the last second."""

    def __init__(self) -> None:
        self._samples: deque[tuple[float, float]] = deque()  # (wall, simulated)

    def add(self, now: float, simulated: float) -> None:
        """Add the simulated time at a wall time [s]; an earlier time restarts the measurement."""
        if self._samples and simulated < self._samples[-1][1]:
            self._samples.clear()
        self._samples.append((now, simulated))
        while len(self._samples) > 2 and self._samples[1][0] <= now - _WINDOW_S:
            self._samples.popleft()

    @property
    def value(self) -> float | None:
        """The factor; None until the samples span 0.2 s."""
        if not self._samples:
            return None
        (begin, first), (end, last) = self._samples[0], self._samples[-1]
        return None if end - begin < _MIN_WINDOW_S else (last - first) / (end - begin)
