"""Delay of the commands of a controller, as of a fieldbus."""

from collections import deque
from collections.abc import Callable

import numpy as np

CommandFilter = Callable[[float, np.ndarray], np.ndarray]
"""Returns the commands (3, n) that act after the tick at a time [s], given those of the tick."""
_ROUNDING = 1e-6
"""[s]"""


def command_delay(delay: float) -> CommandFilter:
    """Return a filter that delays commands by `delay` [s]; the first ones act at once."""
    waiting: deque[tuple[float, np.ndarray]] = deque()

    def apply(time: float, values: np.ndarray) -> np.ndarray:
        waiting.append((time, values.copy()))
        while len(waiting) > 1 and waiting[1][0] <= time - delay + _ROUNDING:
            waiting.popleft()
        return waiting[0][1]

    return apply
