"""Installs a package with extensions in a folder outside of the repository."""

import importlib
from pathlib import Path

import pytest
import sample_extensions

from mujoco_ros.extensions.interface import load_extension


def write_package(folder: Path, module: Path, entry_points: str) -> Path:
    """Write an installed package of one module, as an installer does; return `folder`."""
    name = module.stem
    info = folder / f"{name}-1.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(entry_points)
    (folder / module.name).write_text(module.read_text(encoding="utf-8"), encoding="utf-8")
    return folder


def install_samples(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Install the sample extensions in this process, for one test."""
    write_package(folder, Path(sample_extensions.__file__), sample_extensions.ENTRY_POINTS)
    monkeypatch.syspath_prepend(folder)
    importlib.invalidate_caches()
    load_extension.cache_clear()
