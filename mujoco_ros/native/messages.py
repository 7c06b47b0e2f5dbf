"""Messages of several topics in one buffer, which compiled code fills and sends."""

import ctypes
from collections.abc import Iterable, Sequence
from weakref import finalize

from mujoco_ros.native import Sending
from mujoco_ros.native.plan import Plan

_SECOND_NS = 1_000_000_000


class CompiledMessages:
    """Messages whose numbers are written, and whose bytes are sent, by ``messages.c``."""

    def __init__(
        self,
        compiled: ctypes.CDLL,
        plan: Plan,
        *,
        numbers: Iterable[Sequence[int]] = (),
        stamps: Iterable[Sequence[int]] = (),
        durations: Iterable[Sequence[int]] = (),
        messages: Iterable[Sequence[int]] = (),
        functions: Sequence[int] = (0, 0, 0),
    ) -> None:
        """Lay out the tables; `plan`, which has given the addresses, is kept.

        Args:
            compiled: From `library`.
            plan: The plan.
            numbers: Addresses of a float64 and of its place, and the form there: a double, a
                negated double, a float, a negated float.
            stamps: Addresses of the time stamps.
            durations: Addresses of a float64 in seconds and of its place.
            messages: Addresses of the ``rcl_publisher_t``, 0 without one, of the numbers of
                subscriptions and of lost messages, and of the bytes, and their number.
            functions: Addresses of ``rcl_publish_serialized_message``,
                ``rcutils_get_error_string`` and ``rcutils_reset_error``.
        """
        self._plan = plan
        tables = (numbers, stamps, durations, messages)
        row = [word for rows in tables for word in plan.table(rows)]
        self.address = plan.table([(*row, plan.table([functions])[0])])[0]
        """Address of the ``Messages`` of compiled.h."""
        self._fill, self._publish = compiled.fill_messages, compiled.publish_messages
        compiled.start_sender()
        finalize(self, compiled.flush_sender)  # which may use the tables

    def fill(self, sec: int, nanosec: int) -> None:
        """Write the numbers, the stamp and the durations of all messages.

        Raises:
            ValueError: A duration is not a number below 2^31 s.
        """
        _check(self._fill(self.address, sec * _SECOND_NS + nanosec))

    def publish(self, sec: int, nanosec: int, sending: Sending) -> None:
        """Fill the messages, and send those that have a subscription and a publisher.

        Raises:
            ValueError: As of `fill`; nothing is sent.
        """
        _check(self._publish(self.address, sec * _SECOND_NS + nanosec, sending))


def _check(is_valid: int) -> None:
    if not is_valid:
        raise ValueError("a duration is not a number of seconds below 2^31")
