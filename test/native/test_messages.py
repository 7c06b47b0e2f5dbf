"""The compiled messages: what they write and send."""

import ctypes
from typing import Any

import numpy as np
import pytest

from mujoco_ros.native import messages_type
from mujoco_ros.native.plan import Plan


@pytest.fixture
def messages() -> type:
    """The compiled class."""
    kind = messages_type()
    if kind is None:
        pytest.skip("the native part is not compiled: no C compiler")
    return kind


class Planned:
    """A plan with two numbers, a stamp and a duration in a buffer of 48 bytes."""

    def __init__(self, kind: type, elapsed: float) -> None:
        plan, buffer = Plan(), np.zeros(48, np.uint8)
        self.values, self.elapsed = np.array([1.5, -2.25]), np.array([elapsed])
        self.buffer = buffer

        def at(offset: int) -> int:
            return plan.address(buffer, offset, 8, np.uint8)

        numbers = [(plan.address(self.values), at(8), 0), (plan.address(self.values, 1), at(16), 3)]
        self.messages = kind(
            plan.table(numbers),
            plan.table([(at(0),)]),
            plan.table([(plan.address(self.elapsed), at(24))]),
            plan.table([]),
            plan.table([(0, 0, 0)]),
        )


def test_numbers_stamps_and_durations_are_written(messages: type) -> None:
    planned = Planned(messages, -1.25)
    buffer = planned.buffer
    planned.messages.fill(-7, 999_999_999)
    assert buffer[:8].view("<i4").tolist() == [-7, 999_999_999]
    assert buffer[8:16].view("<f8")[0] == 1.5
    assert buffer[16:20].view("<f4")[0] == 2.25
    assert buffer[24:32].view("<i4").tolist() == [-2, 750_000_000]
    planned.elapsed[0] = 2.0**31 - 0.5
    planned.values[0] = np.nan
    planned.messages.fill(0, 0)
    assert buffer[24:32].view("<u4").tolist() == [2**31 - 1, 500_000_000]
    assert np.isnan(buffer[8:16].view("<f8")[0])


@pytest.mark.parametrize("elapsed", [np.nan, np.inf, -np.inf, 2.0**31, 1e12])
def test_a_duration_without_a_value_is_an_error(messages: type, elapsed: float) -> None:
    with pytest.raises(ValueError, match="a duration is not a number"):
        Planned(messages, elapsed).messages.fill(0, 0)


class _Array(ctypes.Structure):
    _fields_ = (("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _Text(ctypes.Structure):
    _fields_ = (("text", ctypes.c_char * 1024),)


def test_messages_with_subscriptions_are_sent_and_rejected_ones_reported(messages: type) -> None:
    sent: list[tuple[int, bytes]] = []

    def publish(publisher: int, message: Any, _allocation: object) -> int:
        array = message.contents
        sent.append((publisher, ctypes.string_at(array.buffer, array.length)))
        return int(publisher == 2)

    def error(text: Any) -> int:
        text.contents.text = b"out of memory"
        return ctypes.addressof(text.contents)

    resets: list[int] = []
    array = ctypes.POINTER(_Array)
    callbacks = [
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, array, ctypes.c_void_p)(publish),
        # Large structures are returned at an address that is the first argument.
        ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Text))(error),
        ctypes.CFUNCTYPE(None)(lambda: resets.append(1)),
    ]
    functions = [ctypes.cast(callback, ctypes.c_void_p).value or 0 for callback in callbacks]
    plan, buffer = Plan(), np.arange(48, dtype=np.uint8)
    some, none = np.array([1]), np.array([0])
    rows = [
        (
            publisher,
            plan.address(count, kind=np.int64),
            plan.address(buffer, 8 * at, 4, np.uint8),
            4,
            4,
        )
        for at, (publisher, count) in enumerate([(1, some), (2, some), (3, none), (0, some)])
    ]
    table = plan.table([(*row, 0, 0, 0, 0, 0) for row in rows])
    filled = messages(
        plan.table([]), plan.table([]), plan.table([]), table, plan.table([functions])
    )
    assert list(filled.send()) == [(filled, 1, "out of memory")]
    assert sent == [(1, bytes(range(4))), (2, bytes(range(8, 12)))]
    assert resets == [1]


@pytest.mark.parametrize(("wrong", "columns"), [(0, 4), (2, 3), (3, 9), (4, 2)])
def test_a_table_with_other_columns_is_an_error(messages: type, wrong: int, columns: int) -> None:
    tables = [Plan().table([]) for _ in range(5)]
    tables[wrong] = Plan().table([(0,) * columns])
    with pytest.raises(ValueError, match="not the table of a plan"):
        messages(*tables)
