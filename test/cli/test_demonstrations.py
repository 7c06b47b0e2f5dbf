"""The options `--dataset` and `--replay` of `evaluate`."""

import json

import numpy as np
import pytest
from lerobot_environment import python_or_skip

from mujoco_ros.cli import demonstrations
from mujoco_ros.cli.evaluate import EPISODES, main
from mujoco_ros.controllers.evaluation.episode import EpisodeFile, identity_of
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.recording.demonstrations.demonstration_file import SEED
from mujoco_ros.recording.demonstrations.lerobot_dataset import DESCRIPTION, PYTHON_VARIABLE


@pytest.fixture
def dataset(tmp_path):
    """Return a folder with the description of a dataset of `evaluate pick_place`."""
    folder = tmp_path / "dataset"
    (folder / DESCRIPTION).parent.mkdir(parents=True)
    tried = trial("pick_place")
    identity = identity_of(tried, 1, assemble(tried.scene_config()))
    content = {"command": "evaluate pick_place", **identity}
    (folder / DESCRIPTION).write_text(json.dumps(content))
    return folder


def test_episodes_become_a_dataset_that_repeats_exactly(tmp_path, capsys):
    python_or_skip()
    folder, output = tmp_path / "dataset", tmp_path / "output"
    command = ["pick_place", "--random", "table"]
    options = ["--cameras", "none", "--dataset", str(folder), "--output", str(output)]
    assert main([*command, *options, "--episodes", "1"]) == 0
    (episode,) = json.loads((folder / DESCRIPTION).read_text())["episodes"]
    assert episode["seed"] == 1000000
    written = f"1 episode, {episode['frames']} frames in {folder}"
    assert written in capsys.readouterr().out
    assert not list(output.glob("demonstrations*")), "the files of the episodes are deleted"
    assert main([*command, "--replay", str(folder)]) == 0
    printed = capsys.readouterr().out
    assert "episode 1000000: largest difference 0\n1 of 1 repeated within 1e-06" in printed
    assert main([*command, "--replay", str(folder), "--episode", "3"]) == 1
    assert "has no episode 3; it has 1000000" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "error_text"),
    [
        (["--fps", "25"], "--fps is for --dataset"),
        (["--failures"], "--failures is for --dataset"),
        (["--dataset", "new", "--check"], "--dataset is not for --cluster, --check and --episode"),
        (["--dataset", "new", "--replay", "old"], "--replay is not for --dataset"),
    ],
)
def test_options_that_do_not_fit_are_an_error(options, error_text, capsys):
    with pytest.raises(SystemExit):
        main(["pick_place", *options])
    assert error_text in capsys.readouterr().err


def test_what_prevents_a_dataset_is_an_error_before_the_first_episode(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setenv(PYTHON_VARIABLE, "/bin/false")
    command = ["pick_place", "--output", str(tmp_path / "output"), "--dataset", str(tmp_path / "d")]
    for options, error_text in (
        ([], "needs LeRobot, which '/bin/false' lacks; run: make lerobot"),
        (["--fps", "30"], "--fps 30: the controller's rate of 125 Hz is not a multiple of it"),
        (["--cameras", "wrist"], "camera 'wrist' not found"),
    ):
        assert main([*command, *options]) == 1
        assert error_text in capsys.readouterr().err
    assert list((tmp_path / "output").iterdir()) == []
    assert not (tmp_path / "d").exists()


def test_nothing_changes_in_a_folder_into_which_another_evaluation_writes(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(
        demonstrations.lerobot_dataset, "check_new", lambda _folder: None
    )  # needs LeRobot
    command = ["pick_place", "--output", str(tmp_path), "--dataset", str(tmp_path / "dataset")]
    with EpisodeFile(tmp_path / EPISODES, {}, 1, resume=False):
        assert main(command) == 1
    assert "another process writes into" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_replay_without_episodes_or_of_other_conditions_fails(dataset, capsys, monkeypatch):
    monkeypatch.setattr(demonstrations.lerobot_dataset, "read_replays", lambda _folder: iter(()))
    assert main(["pick_place", "--replay", str(dataset)]) == 1
    assert "has no episodes" in capsys.readouterr().err
    assert main(["pick_place", "--random", "table", "--replay", str(dataset)]) == 1
    error = capsys.readouterr().err
    assert "its trial differs; it was recorded by: evaluate pick_place" in error
    columns = {SEED: np.array([7, 7]), "replay.qpos": np.full((2, 15), np.nan)}
    monkeypatch.setattr(
        demonstrations.lerobot_dataset, "read_replays", lambda _folder: iter([columns])
    )
    assert main(["pick_place", "--replay", str(dataset)]) == 1
    assert "the dataset has no numbers 'replay.commands'" in capsys.readouterr().err
