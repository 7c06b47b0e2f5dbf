"""The folder of episodes that are in no dataset yet."""

import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.demonstrations.demonstration_file import (
    STATE,
    DemonstrationFile,
    EpisodeFolder,
)


@pytest.fixture
def dataset(tmp_path):
    return tmp_path / "dataset"


def _add(folder, source=""):
    with DemonstrationFile(folder.next()) as file:
        file.describe(names={}, task="it", fps=10, robot="arm", source=source)
        file.add({STATE: np.zeros(2)})
        file.finish()


def _names(folder):
    return sorted(it.name for it in folder.path.iterdir())


def test_only_its_own_files_are_deleted(dataset):
    folder = EpisodeFolder(dataset, resume=False)
    _add(folder)
    (folder.path / "photo.png").write_bytes(b"of the user")
    folder.delete()
    folder.close()
    assert _names(folder) == ["photo.png"]


@pytest.mark.parametrize("resume", [False, True])
def test_a_folder_with_other_files_is_an_error(dataset, resume):
    other = dataset.with_name("dataset.episodes")
    other.mkdir()
    (other / "00001.zst").write_bytes(b"of the user")
    with pytest.raises(UserInputError, match=r"it has other files, such as '00001\.zst'"):
        EpisodeFolder(dataset, resume=resume)
    assert [it.name for it in other.iterdir()] == ["00001.zst"]


def test_one_process_writes_into_a_folder(dataset):
    folder = EpisodeFolder(dataset, resume=False)
    _add(folder)
    with pytest.raises(UserInputError, match="another process writes into"):
        EpisodeFolder(dataset, resume=True)
    folder.close()
    again = EpisodeFolder(dataset, resume=True)
    assert len(again.finished) == 1
    again.close()


def test_a_folder_without_an_episode_is_deleted(dataset):
    folder = EpisodeFolder(dataset, resume=False)
    folder.end_source("bag", "")
    folder.close()
    assert not folder.path.exists()


def test_a_source_is_read_once_and_from_its_begin(dataset):
    folder = EpisodeFolder(dataset, resume=False)
    assert folder.begin_source("first", "--start 0")
    _add(folder, "first")
    folder.end_source("first", "--start 0")
    assert folder.begin_source("second", "--start 0")
    _add(folder, "second")
    (folder.path / "000003.new").touch()
    folder.close()
    folder = EpisodeFolder(dataset, resume=True)
    assert _names(folder) == ["000001.zst", "000002.zst", "sources.json"]
    assert not folder.begin_source("first", "--start 0")
    with pytest.raises(UserInputError, match="of 'first' with '--start 0', not '--start 1'"):
        folder.begin_source("first", "--start 1")
    assert folder.begin_source("second", "--start 0")
    assert _names(folder) == ["000001.zst", "sources.json"]
    folder.delete()
    folder.close()
    assert not folder.path.exists()


def test_a_damaged_list_of_sources_is_an_error(dataset):
    folder = EpisodeFolder(dataset, resume=False)
    for content, error_text in ((b"{", "is not JSON"), (b"[]", "is not an object of JSON")):
        (folder.path / "sources.json").write_bytes(content)
        with pytest.raises(UserInputError, match=error_text):
            folder.begin_source("bag", "")
    folder.close()
