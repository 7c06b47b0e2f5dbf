"""The native part, compiled apart from the package."""

import shutil
import subprocess
import sysconfig
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import mujoco
import pytest

from mujoco_ros import native

SOURCES = sorted(Path(native.__file__).parent.glob("*.c"))


def test_without_the_headers_of_the_engine_all_but_the_steps_is_compiled(tmp_path: Path) -> None:
    compiler, paths = shutil.which("cc"), sysconfig.get_paths()
    if compiler is None or not Path(paths["include"], "Python.h").is_file():
        pytest.skip("no C compiler, or no headers of Python")
    built = tmp_path / "compiled.so"
    options = ["-std=gnu11", "-DPy_LIMITED_API=0x030B0000", "-shared", "-fPIC"]
    include = f"-I{paths['include']}"
    subprocess.run([compiler, *options, include, "-o", built, *SOURCES], check=True)
    spec = spec_from_file_location("compiled", built)
    assert spec is not None
    assert spec.loader is not None
    compiled = module_from_spec(spec)
    spec.loader.exec_module(compiled)
    assert issubclass(compiled.Messages, object)
    assert mujoco.mj_version() != compiled.ENGINE_VERSION
