"""Changes of files between two readings."""

import os
import pickle
from pathlib import Path

import numpy as np
import pytest
from mujoco import MjModel, MjSpec, mj_saveModel, mj_sizeModel

from mujoco_ros.model.errors import ParseError
from mujoco_ros.model.reading import Reading, computed_once, recorded_reading, repeated_reading
from mujoco_ros.model.scene.assembly import assemble, rebuild
from mujoco_ros.model.scene.config import SceneConfig
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
    with recorded_reading() as reading:
        part_from_file(path, name="x")
    assert {Path(it).name for it in reading.stamps} == {"model.xml", "parts.xml", "tetra.obj"}
    with repeated_reading(reading):
        part_from_file(path, name="x")


@pytest.mark.parametrize("changed", ["model.xml", "parts.xml", "tetra.obj"])
def test_a_file_that_changed_is_not_read(tmp_path: Path, changed: str) -> None:
    path = model(tmp_path)
    with recorded_reading() as reading:
        part_from_file(path, name="x")
    file = tmp_path / changed
    times = file.stat().st_atime_ns, file.stat().st_mtime_ns
    file.write_text(file.read_text().replace("1", "2"))  # of the same size
    os.utime(file, ns=times)
    with pytest.raises(ParseError, match=f"{changed}' {CHANGED}"), repeated_reading(reading):
        part_from_file(path, name="x")


def test_a_file_that_was_not_read_before_is_not_read(tmp_path: Path) -> None:
    path = model(tmp_path)
    with pytest.raises(ParseError, match=f"model.xml' {CHANGED}"), repeated_reading(Reading()):
        load_spec(path, "x")


def test_a_file_that_changes_during_the_reading_is_reported(tmp_path: Path) -> None:
    path = model(tmp_path)

    def read_and_change() -> None:
        load_spec(path, "x")
        (tmp_path / "parts.xml").write_text("<mujoco/>")

    with recorded_reading() as reading:
        load_spec(path, "x")
    with pytest.raises(ParseError, match=f"parts.xml' {CHANGED}"), repeated_reading(reading):
        read_and_change()
    model(tmp_path)
    with pytest.raises(ParseError, match=f"parts.xml' {CHANGED}"), recorded_reading():
        read_and_change()


def test_a_repeated_reading_compiles_nothing_and_gives_the_same_model(monkeypatch) -> None:
    """It has the start, the gains and the overlaps that the first reading has computed."""
    path = Path(__file__).parent / "urdf" / "data" / "computed.urdf"
    world = assemble(SceneConfig(name="world"))
    with recorded_reading() as reading:
        first = part_from_file(path, name="x")
    assert [name for name, _ in reading.results] == ["masses", "middle", "inertias", "overlaps"]
    expected = rebuild(world, add=[first]).model
    with monkeypatch.context() as patch, repeated_reading(pickle.loads(pickle.dumps(reading))):
        patch.setattr(MjSpec, "compile", lambda _spec: pytest.fail("compiled"))
        repeated = part_from_file(path, name="x")
    model = rebuild(world, add=[repeated]).model
    assert saved(model) == saved(expected)


def saved(model: MjModel) -> bytes:
    content = np.zeros(mj_sizeModel(model), np.uint8)
    mj_saveModel(model, None, content)
    return content.tobytes()


def test_a_result_of_another_computation_is_not_used() -> None:
    with recorded_reading() as reading:
        assert computed_once("a", lambda: 1) == 1
        assert computed_once("b", lambda: 2) == 2
    with repeated_reading(reading):
        assert computed_once("c", lambda: 3) == 3
        assert computed_once("b", lambda: 4) == 4  # the recorded one may be of another element
