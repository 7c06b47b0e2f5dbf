"""The compiled messages: what they write and send."""

import ctypes
import threading
from typing import Any

import numpy as np
import pytest
from simulators import WAIT_LIMIT_S

from mujoco_ros.native import Sending, flush, last_rejection, messages_type
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


class Middleware:
    """A middleware that keeps what it is given, and rejects messages of publisher 2."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, bytes]] = []
        self.resets: list[int] = []
        self.accepts = threading.Event()
        self.accepts.set()

        def publish(publisher: int, message: Any, _allocation: object) -> int:
            assert self.accepts.wait(WAIT_LIMIT_S)
            array = message.contents
            self.sent.append((publisher, ctypes.string_at(array.buffer, array.length)))
            return int(publisher == 2)

        def error(text: Any) -> int:
            text.contents.text = b"out of memory"
            return ctypes.addressof(text.contents)

        array = ctypes.POINTER(_Array)
        self._callbacks = [
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, array, ctypes.c_void_p)(publish),
            # Large structures are returned at an address that is the first argument.
            ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Text))(error),
            ctypes.CFUNCTYPE(None)(lambda: self.resets.append(1)),
        ]
        self.functions = [ctypes.cast(each, ctypes.c_void_p).value or 0 for each in self._callbacks]


def serialized(
    kind: type, middleware: Middleware, buffer: np.ndarray, size: int
) -> tuple[Any, np.ndarray]:
    """Return messages of publishers 1, 2, 3, which has no subscription, and 0; and their losses."""
    plan, lost = Plan(), np.zeros(4, dtype=np.int64)
    some, none = np.array([1]), np.array([0])
    table = plan.table(
        (
            publisher,
            plan.address(count, kind=np.int64),
            plan.address(lost, at, kind=np.int64),
            plan.address(buffer, size * at, size, np.uint8),
            size,
        )
        for at, (publisher, count) in enumerate([(1, some), (2, some), (3, none), (0, some)])
    )
    empty = [plan.table([]) for _ in range(3)]
    return kind(*empty, table, plan.table([middleware.functions])), lost


@pytest.mark.parametrize("sending", Sending)
def test_messages_with_subscriptions_are_sent_and_rejected_ones_counted(
    messages: type, sending: Sending
) -> None:
    middleware, buffer = Middleware(), np.arange(48, dtype=np.uint8)
    filled, lost = serialized(messages, middleware, buffer, 8)
    filled.send(sending)
    if sending != Sending.AT_ONCE:
        buffer[:] = 0  # as for the next step
        flush()
    assert middleware.sent == [(1, bytes(range(8))), (2, bytes(range(8, 16)))]
    assert middleware.resets == [1]
    assert lost.tolist() == [0, 1, 0, 0]
    assert last_rejection() == "out of memory"


def test_messages_wait_for_a_busy_middleware_or_are_lost(messages: type) -> None:
    size, count = 40_000, 100
    middleware, buffer = Middleware(), np.zeros(4 * size, dtype=np.uint8)
    filled, lost = serialized(messages, middleware, buffer, size)
    middleware.accepts.clear()
    for _ in range(count):
        filled.send(Sending.IN_TIME)
    assert not middleware.sent
    missing = int(lost.sum())
    assert count < missing < 2 * count  # two times a megabyte have room
    middleware.accepts.set()
    flush()
    rejected = sum(publisher == 2 for publisher, _ in middleware.sent)
    assert len(middleware.sent) == 2 * count - missing
    assert lost.sum() == missing + rejected
    for number in range(count):
        buffer[:] = number
        filled.send(Sending.WAITING)
    filled.send(Sending.AT_ONCE)
    assert len(middleware.sent) == 4 * count - missing + 2
    numbers = [data[0] for publisher, data in middleware.sent[-2 * count - 2 :] if publisher == 1]
    assert numbers == [*range(count), count - 1]


def test_messages_are_sent_before_their_buffer_is_freed(messages: type) -> None:
    middleware = Middleware()
    filled, _ = serialized(messages, middleware, np.full(48, 7, dtype=np.uint8), 8)
    middleware.accepts.clear()
    filled.send(Sending.WAITING)
    threading.Timer(0.05, middleware.accepts.set).start()
    del filled
    assert [data for _, data in middleware.sent] == [bytes([7] * 8)] * 2


@pytest.mark.parametrize(("wrong", "columns"), [(0, 4), (2, 3), (3, 9), (4, 2)])
def test_a_table_with_other_columns_is_an_error(messages: type, wrong: int, columns: int) -> None:
    tables = [Plan().table([]) for _ in range(5)]
    tables[wrong] = Plan().table([(0,) * columns])
    with pytest.raises(ValueError, match="not the table of a plan"):
        messages(*tables)
