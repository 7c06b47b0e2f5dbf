"""The native part, compiled apart from the package."""

import ctypes
import shutil
from collections.abc import Callable
from pathlib import Path

import mujoco
import pytest

from mujoco_ros.native import load


def test_without_the_headers_of_the_engine_all_but_the_steps_is_compiled(
    compile_native: Callable[..., Path],
) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    compiled = load(str(compile_native(compiler)))
    assert compiled.publish_messages.restype is ctypes.c_int
    assert not hasattr(compiled, "take_steps")
    assert mujoco.mj_version() != ctypes.c_int.in_dll(compiled, "ENGINE_VERSION").value
