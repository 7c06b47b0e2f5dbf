"""The native part, compiled apart from the package."""

import shutil
import sysconfig
from collections.abc import Callable
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import mujoco
import pytest


def test_without_the_headers_of_the_engine_all_but_the_steps_is_compiled(
    compile_native: Callable[..., Path],
) -> None:
    compiler = shutil.which("cc")
    if compiler is None or not Path(sysconfig.get_path("include"), "Python.h").is_file():
        pytest.skip("no C compiler, or no headers of Python")
    spec = spec_from_file_location("compiled", compile_native(compiler))
    assert spec is not None
    assert spec.loader is not None
    compiled = module_from_spec(spec)
    spec.loader.exec_module(compiled)
    assert issubclass(compiled.Messages, object)
    assert mujoco.mj_version() != compiled.ENGINE_VERSION
