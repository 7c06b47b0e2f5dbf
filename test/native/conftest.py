"""The native part, compiled apart from the package."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from mujoco_ros import native

Compile = Callable[..., Path]


@pytest.fixture
def compile_native(tmp_path: Path) -> Compile:
    """Compile the native part with further options; returns the library."""

    def compiled(compiler: str, *options: str) -> Path:
        library = tmp_path / "compiled.so"
        sources = sorted(map(str, Path(native.__file__).parent.glob("*.c")))
        command = [compiler, "-std=gnu11", "-shared", "-fPIC", *options]
        command += ["-o", str(library), *sources]
        subprocess.run([*command, "-lm"], check=True)
        return library

    return compiled
