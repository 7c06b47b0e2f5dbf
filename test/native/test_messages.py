"""The compiled messages: what they write and send."""

import ctypes
import threading
from typing import Any

import numpy as np
import pytest
from simulators import WAIT_LIMIT_S

from mujoco_ros.native import Sending, flush, last_rejection, library
from mujoco_ros.native.messages import CompiledMessages
from mujoco_ros.native.plan import Plan


@pytest.fixture
def compiled() -> ctypes.CDLL:
    """The compiled functions."""
    functions = library()
    if functions is None:
        pytest.skip("the native part is not compiled: no C compiler")
    return functions


class Planned:
    """A plan with two numbers, a stamp and a duration in a buffer of 48 bytes."""

    def __init__(self, compiled: ctypes.CDLL, elapsed: float) -> None:
        plan, buffer = Plan(), np.zeros(48, np.uint8)
        self.values, self.elapsed = np.array([1.5, -2.25]), np.array([elapsed])
        self.buffer = buffer

        def at(offset: int) -> int:
            return plan.address(buffer, offset, 8, np.uint8)

        numbers = [(plan.address(self.values), at(8), 0), (plan.address(self.values, 1), at(16), 3)]
        self.messages = CompiledMessages(
            compiled,
            plan,
            numbers=numbers,
            stamps=[(at(0),)],
            durations=[(plan.address(self.elapsed), at(24))],
        )


def test_numbers_stamps_and_durations_are_written(compiled: ctypes.CDLL) -> None:
    planned = Planned(compiled, -1.25)
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
def test_a_duration_without_a_value_is_an_error(compiled: ctypes.CDLL, elapsed: float) -> None:
    with pytest.raises(ValueError, match="a duration is not a number"):
        Planned(compiled, elapsed).messages.fill(0, 0)


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
    compiled: ctypes.CDLL, middleware: Middleware, buffer: np.ndarray, size: int
) -> tuple[CompiledMessages, np.ndarray]:
    """Return messages of publishers 1, 2, 3, which has no subscription, and 0; and their losses."""
    plan, lost = Plan(), np.zeros(4, dtype=np.int64)
    some, none = np.array([1]), np.array([0])
    rows = [
        (
            publisher,
            plan.address(count, kind=np.int64),
            plan.address(lost, at, kind=np.int64),
            plan.address(buffer, size * at, size, np.uint8),
            size,
        )
        for at, (publisher, count) in enumerate([(1, some), (2, some), (3, none), (0, some)])
    ]
    messages = CompiledMessages(compiled, plan, messages=rows, functions=middleware.functions)
    return messages, lost


@pytest.mark.parametrize("sending", Sending)
def test_messages_with_subscriptions_are_sent_and_rejected_ones_counted(
    compiled: ctypes.CDLL, sending: Sending
) -> None:
    middleware, buffer = Middleware(), np.arange(48, dtype=np.uint8)
    filled, lost = serialized(compiled, middleware, buffer, 8)
    filled.publish(0, 0, sending)
    if sending != Sending.AT_ONCE:
        buffer[:] = 0  # as for the next step
        flush()
    assert middleware.sent == [(1, bytes(range(8))), (2, bytes(range(8, 16)))]
    assert middleware.resets == [1]
    assert lost.tolist() == [0, 1, 0, 0]
    assert last_rejection() == "out of memory"


def test_messages_wait_for_a_busy_middleware_or_are_lost(compiled: ctypes.CDLL) -> None:
    size, count = 40_000, 100
    middleware, buffer = Middleware(), np.zeros(4 * size, dtype=np.uint8)
    filled, lost = serialized(compiled, middleware, buffer, size)
    middleware.accepts.clear()
    for _ in range(count):
        filled.publish(0, 0, Sending.IN_TIME)
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
        filled.publish(0, 0, Sending.WAITING)
    filled.publish(0, 0, Sending.AT_ONCE)
    assert len(middleware.sent) == 4 * count - missing + 2
    numbers = [data[0] for publisher, data in middleware.sent[-2 * count - 2 :] if publisher == 1]
    assert numbers == [*range(count), count - 1]


def test_messages_are_sent_before_their_buffer_is_freed(compiled: ctypes.CDLL) -> None:
    middleware = Middleware()
    filled, _ = serialized(compiled, middleware, np.full(48, 7, dtype=np.uint8), 8)
    middleware.accepts.clear()
    filled.publish(0, 0, Sending.WAITING)
    threading.Timer(0.05, middleware.accepts.set).start()
    del filled
    assert [data for _, data in middleware.sent] == [bytes([7] * 8)] * 2
