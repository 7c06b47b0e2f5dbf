"""The cache of converted meshes."""

from pathlib import Path

import numpy as np
import pytest

from mujoco_ros.model.urdf.importing.mesh_file import MeshData, converted

MESH = MeshData(
    np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.int32), np.array([1.0, 0, 0, 1])
)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "mujoco_ros" / "converted_meshes"


def never():
    raise AssertionError("it is in the cache")


def test_the_same_content_is_converted_once(cache):
    converted(b"content", "dae", lambda: MESH)
    again = converted(b"content", "dae", never)
    assert all(np.array_equal(a, b) for a, b in zip(again, MESH, strict=True))
    assert [a.dtype for a in again] == [b.dtype for b in MESH]
    with pytest.raises(AssertionError):
        converted(b"other content", "dae", never)
    with pytest.raises(AssertionError):
        converted(b"content", "stl", never)
    assert len(list(cache.iterdir())) == 1


@pytest.mark.parametrize("damage", [b"", b"PK\x03\x04 cut short", b"no archive"])
def test_a_damaged_file_is_converted_again(cache, damage):
    converted(b"content", "dae", lambda: MESH)
    (file,) = cache.iterdir()
    file.write_bytes(damage)
    assert np.array_equal(converted(b"content", "dae", lambda: MESH)[0], MESH[0])
    converted(b"content", "dae", never)


def test_a_cache_that_cannot_be_written_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "mujoco_ros").write_text("a file")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert np.array_equal(converted(b"content", "dae", lambda: MESH)[0], MESH[0])
