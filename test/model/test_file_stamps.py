"""Changes of files between two readings."""

import os
from pathlib import Path

import pytest

from mujoco_ros.model.errors import ParseError
from mujoco_ros.model.file_stamps import recorded_files, unchanged_files
from mujoco_ros.model.scene.parts import load_spec, part_from_file

CHANGED = "changed while it was read; try again"


def model(folder: Path) -> Path:
    """Write a model that includes a file with a mesh."""
    faces = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (folder / "tetra.obj").write_text(faces)
    (folder / "parts.xml").write_text(
        "<mujoco><asset><mesh name='m' file='tetra.obj'/></asset></mujoco>"
    )
    path = folder / "model.xml"
    path.write_text(
        "<mujoco><include file='parts.xml'/><worldbody><geom type='mesh' mesh='m'/></worldbody>"
        "</mujoco>"
    )
    return path


def test_all_files_of_a_model_are_recorded(tmp_path: Path) -> None:
    path = model(tmp_path)
    with recorded_files() as stamps:
        part_from_file(path, name="x")
    assert {Path(it).name for it in stamps} == {"model.xml", "parts.xml", "tetra.obj"}
    with unchanged_files(stamps):
        part_from_file(path, name="x")


@pytest.mark.parametrize("changed", ["model.xml", "parts.xml", "tetra.obj"])
def test_a_file_that_changed_is_not_read(tmp_path: Path, changed: str) -> None:
    path = model(tmp_path)
    with recorded_files() as stamps:
        part_from_file(path, name="x")
    file = tmp_path / changed
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    file.write_text(file.read_text().replace("1", "2"))  # of the same size
    os.utime(file, ns=times)
    with pytest.raises(ParseError, match=f"{changed}' {CHANGED}"), unchanged_files(stamps):
        part_from_file(path, name="x")


def test_a_file_that_was_not_read_before_is_not_read(tmp_path: Path) -> None:
    path = model(tmp_path)
    with pytest.raises(ParseError, match=f"model.xml' {CHANGED}"), unchanged_files({}):
        load_spec(path, "x")


def test_a_file_that_changes_during_the_reading_is_reported(tmp_path: Path) -> None:
    path = model(tmp_path)

    def read_and_change() -> None:
        load_spec(path, "x")
        (tmp_path / "parts.xml").write_text("<mujoco/>")

    with recorded_files() as stamps:
        load_spec(path, "x")
    with pytest.raises(ParseError, match=f"parts.xml' {CHANGED}"), unchanged_files(stamps):
        read_and_change()
    model(tmp_path)
    with pytest.raises(ParseError, match=f"parts.xml' {CHANGED}"), recorded_files():
        read_and_change()
