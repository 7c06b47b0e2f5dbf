"""Files of demonstrations: complete or absent."""

import io
import json

import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.demonstrations.demonstration_file import (
    ACTION,
    IMAGES,
    DemonstrationFile,
    read_messages,
)

FRAME = {ACTION: np.float32([1.0, 2.0]), f"{IMAGES}eye": np.full((4, 6, 3), 7, np.uint8)}


def _describe(file):
    file.describe(names={ACTION: ("a", "b")}, task="a task", fps=10, robot="arm")


def test_a_file_has_its_description_and_frames(tmp_path):
    path = tmp_path / "1.zst"
    with DemonstrationFile(path) as file:
        _describe(file)
        file.add(FRAME)
        file.add({**FRAME, ACTION: np.float32([3.0, 4.0])})
        file.finish()
    assert list(tmp_path.iterdir()) == [path]
    header, *frames = read_messages(path)
    features = json.loads(header)["features"]
    assert features[ACTION] == {"dtype": "float32", "shape": [2], "names": ["a", "b"]}
    assert features[f"{IMAGES}eye"]["dtype"] == "video"
    with np.load(io.BytesIO(frames[1]), allow_pickle=False) as second:
        np.testing.assert_array_equal(second[ACTION], [3.0, 4.0])
    assert len(frames) == 2


def test_nothing_is_left_of_a_file_that_is_not_finished(tmp_path):
    path = tmp_path / "1.zst"
    with DemonstrationFile(path) as file:
        _describe(file)
        file.add(FRAME)
        assert not path.exists()
    assert list(tmp_path.iterdir()) == []


def test_half_a_file_and_another_one_are_errors(tmp_path):
    path = tmp_path / "1.zst"
    with DemonstrationFile(path) as file:
        _describe(file)
        file.add({**FRAME, ACTION: np.random.default_rng(1).random(500)})
        file.finish()
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(UserInputError, match="is not a complete demonstration: it ends early"):
        list(read_messages(path))
    path.write_text("something else")
    with pytest.raises(UserInputError, match="is not a complete demonstration"):
        list(read_messages(path))


def test_a_flipped_bit_is_an_error(tmp_path):
    path = tmp_path / "1.zst"
    with DemonstrationFile(path) as file:
        _describe(file)
        for seed in range(3):
            noise = np.random.default_rng(seed).integers(0, 255, (40, 60, 3), np.uint8)
            file.add({**FRAME, f"{IMAGES}eye": noise})
        file.finish()
    content = path.read_bytes()
    for at in range(0, len(content), 97):
        path.write_bytes(content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :])
        with pytest.raises(UserInputError, match=r"1\.zst is not a complete demonstration"):
            list(read_messages(path))
