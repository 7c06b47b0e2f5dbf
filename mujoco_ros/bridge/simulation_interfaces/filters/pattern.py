"""Regular expressions from clients, matched in bounded time."""

import math
import time

import regex

LONGEST = 500  # characters
MOST_REPEATS = 1000
BUDGET_S = 0.05  # processor time
_COUNT = regex.compile(r"\{(?:\d*,)?(\d+)")


class PatternError(ValueError):
    """An expression is malformed, too large, or takes too long to match."""


class Pattern:
    """A compiled expression: POSIX extended, as simulation_interfaces requires.

    Any client can send one, and some expressions need exponential time; so all searches of a
    pattern share one budget of processor time. They release the GIL.
    """

    def __init__(self, expression: str) -> None:
        """Compile an expression.

        Raises:
            PatternError: It is malformed or too large.
        """
        if len(expression) > LONGEST:
            raise PatternError(f"{len(expression)} characters; {LONGEST} are possible")
        if "(?" in expression:  # the library's own groups, some of which bypass these checks
            raise PatternError(f"'{expression}' is malformed: nothing before '?'")
        # The library expands counted repeats, and nested ones multiply.
        repeats = math.prod(max(1, int(count)) for count in _COUNT.findall(expression))
        if repeats > MOST_REPEATS:
            raise PatternError(f"{repeats} repeats; {MOST_REPEATS} are possible")
        try:
            self._compiled = regex.compile(expression, regex.POSIX)
        except (regex.error, OverflowError, RecursionError) as error:
            raise PatternError(f"'{expression}' is malformed: {error}") from error
        self._left_s = BUDGET_S

    def search(self, text: str) -> bool:
        """Return whether the expression matches somewhere in `text`.

        Raises:
            PatternError: The budget is used up.
        """
        while self._left_s > 0:
            # The library limits wall time, of which other processes may have taken a part.
            began = time.thread_time()
            try:
                return bool(self._compiled.search(text, concurrent=True, timeout=self._left_s))
            except TimeoutError:
                pass
            finally:
                self._left_s -= time.thread_time() - began
        raise PatternError(f"'{self._compiled.pattern}' takes too long to match")
