from collections.abc import Callable

import numpy as np

ENGINE_VERSION: int

def flush() -> None:
    """Wait until the middleware has all messages that were sent, without the interpreter's lock."""

def reason() -> str:
    """Return why the middleware rejected a message the last time."""

class Messages:
    """Messages of several topics in one buffer, which are filled and sent without the interpreter.

    All arguments are tables of `native.plan.Plan`, whose rows are the structs of messages.c.
    """

    def __init__(
        self,
        numbers: np.ndarray,
        stamps: np.ndarray,
        durations: np.ndarray,
        messages: np.ndarray,
        functions: np.ndarray,
    ) -> None:
        """Take the plan.

        Args:
            numbers: Addresses of a float64 and of its place, and the form there: a double, a
                negated double, a float, a negated float.  # (n, 3)
            stamps: Addresses of the time stamps.  # (n, 1)
            durations: Addresses of a float64 in seconds and of its place.  # (n, 2)
            messages: Addresses of the ``rcl_publisher_t``, 0 without one, of the numbers of
                subscriptions and of lost messages, and of the bytes, and their number.  # (n, 5)
            functions: Addresses of ``rcl_publish_serialized_message``,
                ``rcutils_get_error_string`` and ``rcutils_reset_error``.  # (1, 3)
        """

    def fill(self, sec: int, nanosec: int) -> None:
        """Write the numbers, the stamp and the durations of all messages.

        Raises:
            ValueError: A duration is not a number below 2^31 s.
        """

    def send(self, sending: int, /) -> None:
        """Send the messages with subscriptions and a publisher, without the interpreter's lock.

        Args:
            sending: A `Sending`.
        """

class Steps:
    """Steps of a simulation; see steps.c for the rows of the tables."""

    def __init__(
        self, on_warning: Callable[[str], object], tables: tuple[np.ndarray, ...], /
    ) -> None:
        """Take the tables ENGINE, INPUTS, LIMITS and RAMPS.

        `on_warning` is called with each warning of the engine.
        """

    def set_topics(self, *tables: np.ndarray) -> None:
        """Take the tables GROUPS, CLOCK, UPDATES and SUBSCRIPTIONS, of what `run` publishes."""

    def set_sharing(self, *tables: np.ndarray) -> None:
        """Take the tables COUNTER, ROWS and PIECES, of the shared memory that `run` writes."""

    def step(self, references: np.ndarray, most: int, ramps: bool, /) -> tuple[int, int]:
        """Take steps without messages and shared memory; the arguments are as of `run`.

        Returns:
            A `StepOutcome`, and the number of complete steps.

        Raises:
            RuntimeError: The engine reported an error.
        """

    def finish(self) -> int:
        """Complete a step that had to be checked, or whose warning was handled.

        Returns a `StepOutcome`.
        """

    def run(
        self, references: np.ndarray, most: int, cells: np.ndarray, ramps: bool, /
    ) -> tuple[int, int]:
        """Step, publish and share in real time, until something is to be done in Python.

        Args:
            references: Position, velocity and effort of each joint.  # (3, n)
            most: Largest number of steps.
            cells: The table of a ``Run``.
            ramps: Whether to write the references of ramping streams.

        Returns:
            A `StepOutcome`, and the number of complete steps.

        Raises:
            RuntimeError: The engine reported an error.
        """
