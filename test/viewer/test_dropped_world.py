"""Files that are dropped on the page."""

import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.viewer import dropped_world as module
from mujoco_ros.viewer.dropped_world import dropped_world


def test_a_text_is_loaded_without_a_file(tmp_path):
    found = dropped_world("../../arm.XML", b"<mujoco/>", [str(tmp_path)])
    assert (found.model.uri, found.text) == ("arm.XML", "<mujoco/>")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["arm.mjb", "arm.mjz", "arm.zip"])
def test_another_file_is_stored_in_the_first_folder_of_clients(tmp_path, name):
    found = dropped_world(f"/etc/../{name}", b"\0content", ["", str(tmp_path), "/none"])
    (stored,) = tmp_path.rglob(f"*{name[-4:]}")
    assert stored.parent == tmp_path / "dropped"
    assert (found.model.uri, found.text) == (stored.as_uri(), "")
    assert stored.read_bytes() == b"\0content"
    other = dropped_world(name, b"other", [str(tmp_path)])
    assert other.model.uri != found.model.uri
    assert stored.read_bytes() == b"\0content", "a file is replaced"


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("arm.xml", b" \n", "'arm.xml' is empty"),
        ("arm.mjb", b"model", "the parameter 'client_folders' names one"),
        ("arm.sh", b"ls", "'arm.sh' is no world: the name must end with one of .yaml"),
        ("arm.xml", b"\xff", "'arm.xml' is no text"),
        ("arm.xml", b" " * ((1 << 21) + 1), "at most 2097152 bytes of text"),
    ],
)
def test_what_is_no_world_is_refused(name, content, words):
    with pytest.raises(UserInputError, match=words):
        dropped_world(name, content, [""])


def test_a_file_that_is_too_large_or_cannot_be_stored_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    with pytest.raises(UserInputError, match=r"'arm\.mjb' cannot be stored"):
        dropped_world("arm.mjb", b"model", [str(tmp_path / "file")])
    monkeypatch.setattr(module, "LARGEST", 3)
    with pytest.raises(UserInputError, match=r"'arm\.mjb' is too large: at most 3 bytes"):
        dropped_world("arm.mjb", b"four", [str(tmp_path)])
