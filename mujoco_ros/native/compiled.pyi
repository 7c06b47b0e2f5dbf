from collections.abc import Sequence

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
            arrays: Sources of numbers, C-contiguous arrays of float64.
            numbers: Array, element, offset, and form: a double, a negated double, a float, a
                negated float.  # (n, 4)
            stamps: Offsets of the time stamps.  # (n,)
            durations: Array, element in seconds, and offset.  # (n, 3)
            messages: Offset, size, and address of the ``rcl_publisher_t``, 0 without one.  # (n, 3)
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

    def send(self, wanted: bytes) -> Sequence[tuple[int, str]]:
        """Send the messages whose flag is set, without the interpreter's lock.

        Returns:
            Index of each message that the middleware rejects, and its reason.
        """
