"""Settings of pages are kept for the next page of the scene."""

from pathlib import Path

import pytest

from mujoco_ros.viewer.settings_file import SettingsFile

SETTINGS = {"layout": {"left": ["World"]}, "speed": 0.5}


def test_settings_belong_to_their_scene_and_to_the_user(tmp_path: Path) -> None:
    folder = tmp_path / "viewer"
    kept = SettingsFile(folder)
    assert kept.read("left arm, right arm") == {}
    assert not folder.exists()
    kept.write("left arm, right arm", SETTINGS)
    (file,) = folder.iterdir()
    assert file.name == "left_arm_right_arm.json"
    assert file.stat().st_mode & 0o077 == 0
    assert SettingsFile(folder).read("left arm, right arm") == SETTINGS
    assert SettingsFile(folder).read("left arm") == {}


@pytest.mark.parametrize(
    "content", [b"{", b"[1]", b"\xff\xfe", b"[" * 60_000, b" " * 70_000 + b"{}", b"null"]
)
def test_a_file_that_is_no_settings_is_ignored(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "arm.json").write_bytes(content)
    kept = SettingsFile(tmp_path)
    assert kept.read("arm") == {}
    kept.write("arm", SETTINGS)
    assert kept.read("arm") == SETTINGS


def test_a_folder_that_cannot_be_written_is_one_warning(tmp_path: Path, caplog) -> None:
    (tmp_path / "file").touch()
    kept = SettingsFile(tmp_path / "file" / "folder")
    kept.write("arm", SETTINGS)
    kept.write("arm", {})
    (record,) = caplog.records
    assert "cannot be written" in record.getMessage()
