"""Warnings of the engine, with the step in which the last one came."""

from collections import deque
from collections.abc import Callable


class EngineMessages(deque[str]):
    """Warnings of the engine, oldest first; the code that logs them removes them.

    Also what plugins and C functions say by ``mju_warning``, which the engine counts nowhere.
    """

    def __init__(self, step: Callable[[], int]) -> None:
        """Keep the newest; `step` returns the number of the present step."""
        super().__init__(maxlen=100)
        self._step = step
        self.total = 0  # number of warnings since the start
        self.last = ""  # the last one, and its step
        self.error = ""  # the error that ended the simulation, and its step

    def append(self, text: str) -> None:
        """Note a warning; in any thread."""
        super().append(text)
        self.total += 1
        self.last = self._at_step(text)

    def fail(self, error: BaseException) -> None:
        """Note the error that ends the simulation."""
        self.error = self._at_step(str(error))

    def _at_step(self, text: str) -> str:
        return f"{text} (step {self._step()})"
