from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np

class Messages:
    """Messages of several topics in one buffer, which are filled and sent without the interpreter.

    All rows are C-contiguous arrays of int64, all offsets are in bytes from the buffer's start.
    """

    def __init__(
        self,
        buffer: np.ndarray,
        arrays: Sequence[np.ndarray],
        numbers: np.ndarray,
        stamps: np.ndarray,
        durations: np.ndarray,
        messages: np.ndarray,
        functions: tuple[int, int, int],
    ) -> None:
        """Check the plan.

        Args:
            buffer: The serialized messages.
            arrays: Sources of numbers, C-contiguous arrays of float64, and numbers of
                subscriptions, of int64.
            numbers: Array, element, offset, and form: a double, a negated double, a float, a
                negated float.  # (n, 4)
            stamps: Offsets of the time stamps.  # (n,)
            durations: Array, element in seconds, and offset.  # (n, 3)
            messages: Offset, size, address of the ``rcl_publisher_t``, 0 without one, and the array
                with its number of subscriptions.  # (n, 4)
            functions: Addresses of ``rcl_publish_serialized_message``,
                ``rcutils_get_error_string`` and ``rcutils_reset_error``.

        Raises:
            ValueError: An offset, an array or an element does not exist.
        """

    def fill(self, sec: int, nanosec: int) -> None:
        """Write the numbers, the stamp and the durations of all messages.

        Raises:
            ValueError: A duration is not a number below 2^31 s.
        """

    def send(self) -> Sequence[Rejection]:
        """Send the messages with subscriptions and a publisher, without the interpreter's lock.

        Returns:
            These messages, the index of each one that the middleware rejects, and the reason.
        """

Rejection: TypeAlias = tuple[Messages, int, str]
ENGINE_VERSION: int

class Steps:
    """Steps of a simulation; see steps.c for the plan."""

    def __init__(
        self,
        model: int,
        data: int,
        functions: np.ndarray,
        on_warning: Callable[[str], object],
        arrays: Sequence[np.ndarray],
        components: int,
        inputs: np.ndarray,
        limited: np.ndarray,
    ) -> None:
        """Check the plan.

        Args:
            model: Address of the ``mjModel``, which the caller keeps.
            data: Address of the ``mjData``, which the caller keeps.
            functions: Addresses of the functions of ``Engine`` in steps.c.  # (8,)
            on_warning: Called with each warning of the engine.
            arrays: Settings, time, handled warnings (int64), state before the step, sample, factors
                (inputs, 3) and offsets (inputs,) of the controls, and the arrays of `limited`.
            components: Components of the state, bits of ``mjtState``.
            inputs: Slot in ``ctrl`` and joint of each control that follows references.  # (n, 2)
            limited: What is counted at its limit, as ``read_limited`` says.  # (n, 6)

        Raises:
            ValueError: An array, an element or an index does not exist.
        """

    def set_topics(
        self,
        groups: Sequence[tuple[int, bool, Messages | None, list[np.ndarray], np.ndarray]],
        clock: Messages,
        clock_every: int,
        is_clock_last: bool,
        /,
    ) -> None:
        """Plan what `run` publishes: period, whether in Python, messages, arrays and updates."""

    def set_sharing(
        self, rows: Sequence[Sequence[tuple[Any, Any]]], arrays: Sequence[Any], /
    ) -> None:
        """Plan the rows of shared memory: pairs (target, source); the counter and the times."""

    def step(self, references: np.ndarray, /) -> int:
        """Advance by one timestep; return an `Outcome`.

        Raises:
            RuntimeError: The engine reported an error.
        """

    def finish(self) -> int:
        """Complete a step that the check of the solver had interrupted; return an `Outcome`."""

    def complete(self) -> None:
        """Take the sample of a step that a warning had interrupted."""

    def run(
        self, references: np.ndarray, most: int, cells: Sequence[Any], /
    ) -> tuple[int, int, Sequence[Rejection]]:
        """Step, publish and share in real time, until something is to be done in Python.

        Args:
            references: Position, velocity and effort of each joint.  # (3, n)
            most: Largest number of steps.
            cells: The pace, whether Python is needed, and the counts of periods and of costs.

        Returns:
            An `Outcome`, the number of complete steps, and the messages that were rejected.

        Raises:
            RuntimeError: The engine reported an error.
        """
