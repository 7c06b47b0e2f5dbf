"""The compiled messages: a wrong plan is an error, and no sanitizer finds a defect."""

import ctypes
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import mujoco
import numpy as np
import pytest

from mujoco_ros import native

SOURCES = Path(native.__file__).parent
NOTHING = np.zeros(0, np.int64)


@pytest.fixture
def messages() -> type:
    """The compiled class."""
    kind = native.messages_type()
    if kind is None:
        pytest.skip("the native part is not compiled: no C compiler")
    return kind


def rows(*values: tuple[int, ...]) -> np.ndarray:
    return np.array(values, dtype=np.int64)


def plan(**changes: object) -> dict[str, object]:
    """Return a plan with one double, one float, one stamp, one duration and one message."""
    return {
        "buffer": np.zeros(48, np.uint8),
        "arrays": [np.array([1.5, -2.25]), np.array([3.0]), np.ones(1, np.int64)],
        "numbers": rows((0, 0, 8, 0), (0, 1, 16, 3)),
        "stamps": NOTHING,
        "durations": rows((1, 0, 24)),
        "messages": rows((0, 32, 0, 2)),
        "functions": (0, 0, 0),
    } | changes


def test_numbers_stamps_and_durations_are_written(messages: type) -> None:
    buffer, elapsed = np.zeros(48, np.uint8), np.array([-1.25])
    arrays = [np.array([1.5, -2.25]), elapsed, np.zeros(1, np.int64)]
    filled = messages(**plan(buffer=buffer, arrays=arrays, stamps=rows((0,))[0]))
    filled.fill(-7, 999_999_999)
    assert buffer[:8].view("<i4").tolist() == [-7, 999_999_999]
    assert buffer[8:16].view("<f8")[0] == 1.5
    assert buffer[16:20].view("<f4")[0] == 2.25
    assert buffer[24:32].view("<i4").tolist() == [-2, 750_000_000]
    elapsed[0] = 2.0**31 - 0.5
    arrays[0][0] = np.nan
    filled.fill(0, 0)
    assert buffer[24:32].view("<u4").tolist() == [2**31 - 1, 500_000_000]
    assert np.isnan(buffer[8:16].view("<f8")[0])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"numbers": rows((3, 0, 8, 0))}, "array 3 does not exist"),
        ({"numbers": rows((-1, 0, 8, 0))}, "array -1 does not exist"),
        ({"numbers": rows((0, 2, 8, 0))}, "element 2 is outside array 0"),
        ({"numbers": rows((0, -1, 8, 0))}, "element -1 is outside array 0"),
        ({"numbers": rows((0, 0, 41, 0))}, "offset 41 is outside the buffer"),
        ({"numbers": rows((0, 0, 2**62, 0))}, "is outside the buffer"),
        ({"numbers": rows((0, 0, -1, 0))}, "offset -1 is outside the buffer"),
        ({"numbers": rows((0, 0, 8, 4))}, "a form does not exist"),
        ({"numbers": np.zeros(3, np.int64)}, "rows of int64"),
        ({"numbers": np.zeros(8, np.int32)}, "rows of int64"),
        ({"stamps": rows((41,))[0]}, "offset 41 is outside the buffer"),
        ({"durations": rows((1, 1, 24))}, "element 1 is outside array 1"),
        ({"durations": rows((1, 0, 44))}, "offset 44 is outside the buffer"),
        ({"messages": rows((40, 9, 0, 2))}, "offset 40 is outside the buffer"),
        ({"messages": rows((0, -1, 0, 2))}, "is outside the buffer"),
        ({"messages": rows((0, 32, 0, 3))}, "array 3 does not exist"),
        ({"messages": rows((0, 32, 0, 1))}, "array 1 has other numbers"),
        ({"arrays": [np.zeros(2, np.float32), np.zeros(1)]}, "array 0 has other numbers"),
        ({"arrays": [np.zeros(2, np.int64), np.zeros(1)]}, "array 0 has other numbers"),
    ],
)
def test_a_plan_that_would_leave_its_arrays_is_an_error(
    messages: type, changes: dict[str, object], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        messages(**plan(**changes))


def test_buffers_that_cannot_be_used_are_errors(messages: type) -> None:
    fixed = np.zeros(48, np.uint8)
    fixed.flags.writeable = False
    with pytest.raises((ValueError, BufferError)):
        messages(**plan(buffer=fixed))
    with pytest.raises((ValueError, BufferError)):
        messages(**plan(arrays=[np.zeros(8)[::2], np.zeros(1)]))
    with pytest.raises(TypeError):
        messages(**plan(arrays=None))


@pytest.mark.parametrize("elapsed", [np.nan, np.inf, -np.inf, 2.0**31, 1e12])
def test_a_duration_without_a_value_is_an_error(messages: type, elapsed: float) -> None:
    arrays = [np.array([1.5, -2.25]), np.array([elapsed]), np.zeros(1, np.int64)]
    filled = messages(**plan(arrays=arrays))
    with pytest.raises(ValueError, match="a duration is not a number"):
        filled.fill(0, 0)


class _Array(ctypes.Structure):
    _fields_ = (("buffer", ctypes.c_void_p), ("length", ctypes.c_size_t))


class _Text(ctypes.Structure):
    _fields_ = (("text", ctypes.c_char * 1024),)


def test_messages_with_subscriptions_are_sent_and_rejected_ones_reported(messages: type) -> None:
    sent: list[tuple[int, bytes]] = []

    def publish(publisher: int, message: object, _allocation: object) -> int:
        array = message.contents  # type: ignore[attr-defined]
        sent.append((publisher, ctypes.string_at(array.buffer, array.length)))
        return int(publisher == 2)

    def error(text: object) -> int:
        text.contents.text = b"out of memory"  # type: ignore[attr-defined]
        return ctypes.addressof(text.contents)  # type: ignore[attr-defined]

    resets: list[int] = []
    array = ctypes.POINTER(_Array)
    callbacks = [
        ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, array, ctypes.c_void_p)(publish),
        # Large structures are returned at an address that is the first argument.
        ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.POINTER(_Text))(error),
        ctypes.CFUNCTYPE(None)(lambda: resets.append(1)),
    ]
    functions = tuple(ctypes.cast(callback, ctypes.c_void_p).value for callback in callbacks)
    buffer = np.arange(48, dtype=np.uint8)
    given = plan(
        buffer=buffer,
        numbers=NOTHING,
        durations=NOTHING,
        arrays=[np.ones(1, np.int64), np.zeros(1, np.int64)],
        messages=rows((0, 4, 1, 0), (8, 4, 2, 0), (16, 4, 3, 1), (24, 4, 0, 0)),
        functions=functions,
    )
    filled = messages(**given)
    assert list(filled.send()) == [(filled, 1, "out of memory")]
    assert sent == [(1, bytes(range(4))), (2, bytes(range(8, 12)))]
    assert resets == [1]


_FUZZ = """
import random, sys
import numpy as np
import compiled
random.seed(7)
accepted = 0
for trial in range(4000):
    buffer = np.zeros(random.randrange(1, 60), np.uint8)
    arrays = [np.random.rand(random.randrange(0, 4)) for _ in range(random.randrange(0, 3))]
    arrays.append(np.zeros(1, np.int64))
    def rows(columns, low, high):
        return np.array(
            [[random.randrange(low, high) for _ in range(columns)]
             for _ in range(random.randrange(0, 3))], np.int64).reshape(-1, columns)
    near = [rows(4, 0, 4), rows(1, -2, 60), rows(3, 0, 4), rows(4, 0, 40)]
    near[3][:, 2], near[3][:, 3] = 0, len(arrays) - 1
    if trial % 5 == 0:
        near[trial % 4] = rows(near[trial % 4].shape[1], -2**63, 2**63)
    try:
        made = compiled.Messages(buffer, arrays, *near, (0, 0, 0))
        made.fill(random.randrange(-2**31, 2**31), random.randrange(2**32))
        made.send()
        accepted += 1
    except ValueError:
        pass
assert accepted > 100, accepted
"""


def test_random_plans_cause_no_access_outside_of_arrays(tmp_path: Path) -> None:
    compiler = os.environ.get("CC", "cc")
    asan = subprocess.run(
        [compiler, "-print-file-name=libasan.so"], capture_output=True, text=True, check=False
    ).stdout.strip()
    if not os.path.isabs(asan):
        pytest.skip("the compiler has no address sanitizer")
    options = [
        "-std=gnu11",
        "-g",
        "-O1",
        "-fsanitize=address,undefined",
        "-fno-sanitize-recover=all",
    ]
    command = [compiler, *options, "-shared", "-fPIC", "-DPy_LIMITED_API=0x030B0000"]
    folders = sysconfig.get_path("include"), str(Path(mujoco.__file__).parent / "include")
    command += [*(f"-I{folder}" for folder in folders), *map(str, SOURCES.glob("*.c")), "-lm"]
    subprocess.run([*command, "-o", str(tmp_path / "compiled.so")], check=True)
    environment = os.environ | {
        "LD_PRELOAD": asan,
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter never frees some objects
        "PYTHONPATH": str(tmp_path),
    }
    run = subprocess.run(
        [sys.executable, "-c", _FUZZ], env=environment, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr[-3000:]
