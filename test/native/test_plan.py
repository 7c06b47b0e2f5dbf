"""Plans of compiled code: no address outside of an array, and no array that is freed."""

import ctypes
import gc
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from weakref import ref

import mujoco
import numpy as np
import pytest

from mujoco_ros.native.plan import Plan

ROOT = Path(__file__).parents[2]


def test_an_address_is_that_of_the_element() -> None:
    array = np.arange(6.0).reshape(2, 3)
    address = Plan().address(array, 4, 2)
    assert list((ctypes.c_double * 2).from_address(address)) == [4.0, 5.0]


@pytest.mark.parametrize(
    ("element", "count"), [(6, 1), (5, 2), (-1, 1), (0, 7), (2**62, 1), (0, -1), (7, 0)]
)
def test_elements_outside_of_an_array_are_an_error(element: int, count: int) -> None:
    with pytest.raises(ValueError, match="are not in one of 6"):
        Plan().address(np.zeros(6), element, count)


@pytest.mark.parametrize(
    "array", [np.zeros(6, np.float32), np.zeros(6, np.int64), np.zeros(12)[::2], np.zeros((2, 6)).T]
)
def test_other_or_scattered_numbers_are_an_error(array: np.ndarray) -> None:
    with pytest.raises(ValueError, match="no adjacent float64"):
        Plan().address(array)


def test_a_plan_keeps_the_arrays_that_its_tables_point_to() -> None:
    plan, array = Plan(), np.zeros(3).view(type("Referred", (np.ndarray,), {}))
    alive = ref(array)
    address, count = plan.table([(plan.address(array),)])
    del array
    gc.collect()
    assert count == 1
    assert list((ctypes.c_double * 3).from_address(ctypes.c_int64.from_address(address).value)) == [
        *(0.0, 0.0, 0.0)
    ]
    assert alive() is not None
    del plan
    gc.collect()
    assert alive() is None


_SANITIZED = """
import sys

import pytest

from mujoco_ros import native

library = native.load(sys.argv[1])
native._library = lambda: library
sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", "--numprocesses=0", *sys.argv[2:]]))
"""


@pytest.mark.timeout(1200)  # a minute of processor time, which others may share
def test_no_sanitizer_finds_a_defect(compile_native: Callable[..., Path]) -> None:
    compiler = os.environ.get("CC", "cc")
    # The sanitizer looks for the exceptions of C++ when it is loaded.
    libraries = [
        subprocess.run(
            [compiler, f"-print-file-name={name}"], capture_output=True, text=True, check=False
        ).stdout.strip()
        for name in ("libasan.so", "libstdc++.so.6")
    ]
    if not all(os.path.isabs(library) for library in libraries):
        pytest.skip("the compiler has no address sanitizer")
    checks = "-fsanitize=address,undefined", "-fno-sanitize-recover=all"
    headers = f"-I{Path(mujoco.__file__).parent / 'include'}"
    library = compile_native(compiler, "-g", "-O1", "-ffp-contract=off", *checks, headers)
    environment = os.environ | {
        "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": "detect_leaks=0",  # the interpreter never frees some objects
    }
    tests = [
        "test/native/test_messages.py",
        "test/sim/stepping/test_compiled_steps.py",
        "test/bridge/publishing/test_compiled_steps.py",
    ]
    run = subprocess.run(
        [sys.executable, "-c", _SANITIZED, str(library), *tests],
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout[-3000:] + run.stderr[-3000:]
