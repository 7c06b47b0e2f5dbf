"""Calls of the methods of states: an error fails the state, and nothing else."""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from traceback import walk_stack, walk_tb
from types import FrameType
from typing import Any, NoReturn, TypeVar

from mujoco_ros.controllers.fsm.state import State, StateContext

T = TypeVar("T")
Guard = Callable[[Callable[[StateContext], Any], StateContext], Any]
"""Calls a method with a context, and limits the time that it takes."""


class StateError(RuntimeError):
    """A state returned, raised or left behind something that a state may not."""


class TimeLimitError(StateError):
    """A call exceeded its limit of time; `place` is the state, method and line at the limit."""

    def __init__(self, message: str, place: str) -> None:
        super().__init__(message)
        self.place = place


class StateCalls:
    """Calls methods of states, and records which one is running.

    An exception that would end a thread or the process, such as `SystemExit`, becomes a
    `StateError`, except `KeyboardInterrupt` in the main thread, where Ctrl-C raises it.
    """

    def __init__(self) -> None:
        self.path = ""  # full name of the state that was called last; empty before the first call
        self.guard: Guard | None = None  # limits the time of each call; None for no limit
        self._method: Callable[..., Any] | None = None
        self._failures: deque[tuple[BaseException, str]] = deque(maxlen=4)

    def call(self, path: str, method: Callable[[StateContext], T], context: StateContext) -> T:
        """Call a method of the state with a full name, and check what it left in the context."""
        guard = self.guard

        def checked() -> T:
            result: T = method(context) if guard is None else guard(method, context)
            context.check()
            return result

        return self._called(path, method, checked)

    def evaluate(self, path: str, method: Callable[[], T]) -> T:
        """Return what a method without arguments returns, within the limit of time."""
        guard: Callable[[Callable[[Any], T], Any], T] | None = self.guard
        limited = method if guard is None else partial(guard, lambda _: method(), None)
        return self._called(path, method, limited)

    def run(self, path: str, state: State, context: StateContext) -> str | None:
        """Run one tick of a state; StateError if it returns something else than an outcome."""
        outcome = self.call(path, state.run, context)
        if outcome is not None:
            self._called(path, state.run, partial(_check_outcome, path, state, outcome))
        return None if outcome is None else str(outcome)

    def configure(self, path: str, state: State, *arguments: Any) -> None:
        """Call `State.configure` without a limit of time; see `call`."""
        self._called(path, state.configure, partial(state.configure, *arguments))

    def _called(self, path: str, method: Callable[..., Any], call: Callable[[], T]) -> T:
        self.path, self._method = path, method
        try:
            return call()
        except BaseException as error:
            self._fail(error)

    def place_of(self, error: BaseException) -> str:
        """Return state, method and line that raised an error, once; empty if no state did."""
        places = [place for failure, place in self._failures if failure is error]
        self._failures.clear()
        return places[0] if places else ""

    def place(self, frame: FrameType | None) -> str:
        """Return state, method and line of the running call, from its innermost frame."""
        return self._place([] if frame is None else list(walk_stack(frame)))

    def _place(self, lines: Sequence[tuple[FrameType, int]]) -> str:
        method = self._method
        function = getattr(method, "__func__", method)
        source = getattr(getattr(function, "__code__", None), "co_filename", "")
        own = [line for frame, line in lines if frame.f_code.co_filename == source][:1]
        name = f"{type(getattr(method, '__self__', None)).__name__}."
        name += getattr(function, "__name__", "?")
        where = "".join(f", {Path(source).name}:{line}" for line in own)
        return f"state '{self.path}' ({name}{where})"

    def _fail(self, error: BaseException) -> NoReturn:
        """Raise an error of the last call again, as one that cannot end a thread."""
        if (
            isinstance(error, KeyboardInterrupt)
            and threading.current_thread() is threading.main_thread()
        ):
            raise error
        place = self._place(list(walk_tb(error.__traceback__))[::-1])
        if isinstance(error, TimeLimitError):
            place = error.place or place
        if isinstance(error, Exception):
            self._failures.append((error, place))
            raise error
        contained = StateError(f"it raised {shown(error)}")
        self._failures.append((contained, place))
        raise contained from error


def _check_outcome(path: str, state: State, outcome: Any) -> None:
    if not isinstance(outcome, str) or outcome not in state.outcomes:
        raise StateError(
            f"{path}: {type(state).__name__}.run returned {shown(outcome)}, which is not one of "
            f"its outcomes: {', '.join(state.outcomes) or 'none'}"
        )


def shown(value: Any) -> str:
    """Return the `repr` of a value, cut to a line; a user's class may raise anything in it."""
    try:
        text = repr(value)
    except BaseException:
        text = f"a {type(value).__name__}"
    text = " ".join(text.split())
    return text if len(text) <= 200 else text[:197] + "..."
