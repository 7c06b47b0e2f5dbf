import logging
import os
import time
from pathlib import Path

import pytest

from mujoco_ros.model.urdf.exporting.meshes import MeshCache, user_cache

DAY_S = 24 * 3600


def age(path: Path, days: float) -> None:
    then = time.time() - days * DAY_S
    os.utime(path, (then, then))


def test_a_mesh_is_written_once_and_readable_by_its_user_alone(tmp_path):
    cache = MeshCache(tmp_path / "new" / "folder")
    path = cache.store(b"one")
    assert path.read_bytes() == b"one"
    assert path.suffix == ".stl"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    written = path.stat().st_ino
    assert MeshCache(tmp_path / "new" / "folder").store(b"one") == path
    assert path.stat().st_ino == written
    assert cache.store(b"two") != path
    assert sorted(file.suffix for file in path.parent.iterdir()) == [".stl", ".stl"]


def test_an_incomplete_file_is_rewritten(tmp_path):
    cache = MeshCache(tmp_path)
    path = cache.store(b"whole")
    path.write_bytes(b"who")
    assert cache.store(b"whole").read_bytes() == b"whole"


def test_a_read_only_folder_omits_the_meshes_with_one_warning(tmp_path, caplog):
    (tmp_path / "file").touch()
    cache = MeshCache(tmp_path / "file" / "meshes")  # as little use as a read-only home
    with caplog.at_level(logging.WARNING):
        assert cache.store(b"one") is None
        assert cache.store(b"two") is None
    (record,) = caplog.records
    assert str(tmp_path / "file" / "meshes") in record.message
    assert "XDG_CACHE_HOME" in record.message


def test_the_least_recently_used_files_are_deleted_beyond_the_maximum_size(tmp_path):
    cache = MeshCache(tmp_path, limit_bytes=10)
    oldest, old, used = (cache.store(content) for content in (b"aaaa", b"bbbb", b"cccc"))
    age(oldest, 9)
    age(old, 8)
    age(used, 7)
    cache.store(b"cccc")
    (tmp_path / "notes.txt").write_bytes(b"not mine")
    new = cache.store(b"dd")
    assert set(tmp_path.iterdir()) == {old, used, new, tmp_path / "notes.txt"}
    newest = cache.store(b"eeeeeeeee")
    # Files used today are kept, because a client may be about to read them.
    assert {used, new, newest} <= set(tmp_path.iterdir())
    assert not old.exists()


def test_temporary_files_of_a_killed_process_are_deleted(tmp_path):
    cache = MeshCache(tmp_path, limit_bytes=1000)
    left = tmp_path / ".unfinished-abc"
    left.touch()
    cache.store(b"a")
    assert left.exists()
    age(left, 2)
    cache.store(b"b")
    assert not left.exists()


@pytest.mark.parametrize(
    ("named", "below"), [("/some/cache", "/some/cache"), ("relative", "~/.cache"), ("", "~/.cache")]
)
def test_the_cache_follows_the_xdg_directory(named, below, monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", named)
    expected = Path(below).expanduser() / "mujoco_ros" / "meshes"
    assert user_cache().folder == expected
