"""How fast simulated time goes by."""

from collections import deque

_WINDOW_S = 1.0
_ENOUGH_S = 0.2


class AchievedFactor:
    """Simulated seconds per wall second, over the last second."""

    def __init__(self) -> None:
        """Know nothing yet."""
        self._seen: deque[tuple[float, float]] = deque()  # (wall, simulated)

    def note(self, now: float, simulated: float) -> None:
        """Take notice of the simulated time [s] at a wall time [s]."""
        if self._seen and simulated < self._seen[-1][1]:
            self._seen.clear()
        self._seen.append((now, simulated))
        while len(self._seen) > 2 and self._seen[1][0] <= now - _WINDOW_S:
            self._seen.popleft()

    @property
    def value(self) -> float | None:
        """The factor; None as long as too little was seen."""
        if not self._seen:
            return None
        (began, first), (ended, last) = self._seen[0], self._seen[-1]
        return None if ended - began < _ENOUGH_S else (last - first) / (ended - began)
