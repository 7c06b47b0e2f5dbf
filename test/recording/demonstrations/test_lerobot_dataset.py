"""Datasets that LeRobot itself writes and reads."""

import json
import subprocess

import numpy as np
import pytest
from lerobot_environment import python_or_skip

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.recording.demonstrations.demonstration_file import (
    ACTION,
    IMAGES,
    QPOS,
    DemonstrationFile,
)
from mujoco_ros.recording.demonstrations.lerobot_dataset import (
    PYTHON_VARIABLE,
    check_new,
    lerobot_python,
    read_description,
    read_replays,
    write_dataset,
)

EYE = f"{IMAGES}eye"
READ = """
import json, sys
from lerobot.datasets.lerobot_dataset import LeRobotDataset
dataset = LeRobotDataset("any/name", root=sys.argv[1], video_backend="pyav")
frame = dataset[5]
print(json.dumps({
    "episodes": dataset.num_episodes, "frames": dataset.num_frames, "fps": dataset.fps,
    "robot": dataset.meta.robot_type, "task": frame["task"], "action": frame["action"].tolist(),
    "image": list(frame[sys.argv[2]].shape), "mean": frame[sys.argv[2]].mean(dim=(1, 2)).tolist(),
}))
"""


def _frame(number):
    image = np.empty((64, 96, 3), np.uint8)
    image[:] = 200, 100, 50
    qpos = np.array([np.pi, number / 3.0])
    return {ACTION: np.float32([number, 0.5]), QPOS: qpos, EYE: image}


def _write(path, numbers, change=dict):
    with DemonstrationFile(path) as file:
        file.describe(names={ACTION: ("a", "b")}, task="move", fps=10, robot="arm")
        for number in numbers:
            file.add(change(_frame(number)))
        file.finish()
    return path


def test_lerobot_reads_a_dataset_with_its_images_and_exact_numbers(tmp_path):
    python = python_or_skip()
    folder = tmp_path / "dataset"
    numbers = {"1": range(4), "2": [], "3": range(10, 13)}
    files = [(_write(tmp_path / f"{name}.zst", it), {}) for name, it in numbers.items()]
    seen = []
    text = write_dataset(
        folder, "h264", files, {"command": "evaluate"}, lambda _: seen.append(folder.exists())
    )
    assert text == f"2 episodes, 7 frames in {folder}", "no frames, no episode"
    assert seen == [False] * 3
    assert {it.name for it in tmp_path.iterdir()} == {"dataset", "1.zst", "2.zst", "3.zst"}
    assert not list(folder.rglob("*.png"))
    counts = [{"frames": 4}, {"frames": 3}]
    assert read_description(folder) == {"command": "evaluate", "episodes": counts}
    episodes = list(read_replays(folder))
    for columns, numbers in zip(episodes, (range(4), range(10, 13)), strict=True):
        np.testing.assert_array_equal(columns[QPOS], [_frame(it)[QPOS] for it in numbers])
    command = [python, "-c", READ, str(folder), EYE]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    found = json.loads(answer.stdout.splitlines()[-1])
    assert np.array(found.pop("mean")) * 255.0 == pytest.approx([200, 100, 50], abs=4.0)
    assert found == {
        "episodes": 2,
        "frames": 7,
        "fps": 10,
        "robot": "arm",
        "task": "move",
        "action": [11.0, 0.5],
        "image": [3, 64, 96],
    }


def test_an_error_leaves_nothing_of_a_dataset_and_touches_nothing_else(tmp_path):
    python_or_skip()
    other = tmp_path / "dataset.part"
    other.mkdir()
    (other / "mine").touch()

    def flat(frame):
        return {**frame, ACTION: frame[ACTION][:1]}

    first, second = _write(tmp_path / "1.zst", [1]), _write(tmp_path / "2.zst", [1], flat)
    with pytest.raises(UserInputError, match=r"2\.zst has other features than the episodes"):
        write_dataset(tmp_path / "dataset", "h264", [(first, {}), (second, {})], {})
    broken = _write(tmp_path / "3.zst", [1], lambda it: {**it, EYE: it[EYE][0]})
    with pytest.raises(UserInputError, match="LeRobot failed"):
        write_dataset(tmp_path / "dataset", "h264", [(broken, {})], {})
    left = {it.name for it in tmp_path.iterdir()}
    assert left == {"dataset.part", "1.zst", "2.zst", "3.zst"}
    assert (other / "mine").exists()


def test_an_existing_folder_and_a_missing_lerobot_are_errors(tmp_path, monkeypatch):
    with pytest.raises(UserInputError, match="exists; name a new folder for the dataset"):
        check_new(tmp_path)
    monkeypatch.setenv(PYTHON_VARIABLE, "/bin/false")
    with pytest.raises(UserInputError, match="needs LeRobot, which '/bin/false' lacks"):
        check_new(tmp_path / "dataset")
    monkeypatch.setenv(PYTHON_VARIABLE, str(tmp_path / "python"))
    with pytest.raises(UserInputError, match=r"LEROBOT_PYTHON: .*No such file"):
        lerobot_python()


def test_a_folder_that_is_not_a_dataset_is_an_error(tmp_path):
    with pytest.raises(UserInputError, match="is not a dataset of this package"):
        read_description(tmp_path)
    (tmp_path / "meta").mkdir()
    (tmp_path / "meta" / "mujoco_ros.json").write_text("[1]")
    with pytest.raises(UserInputError, match="is not an object of JSON"):
        read_description(tmp_path)
