"""Files of episodes: continued after an interruption, and never mixed with another evaluation."""

import json
from dataclasses import replace

import numpy as np
import pytest
from fake_episodes import fake_episode

from mujoco_ros.cli.evaluate import EPISODES, main
from mujoco_ros.controllers.evaluation.episode_file import EpisodeFile, identity_of
from mujoco_ros.controllers.evaluation.trials.catalogue import trial
from mujoco_ros.model.errors import UserInputError

IDENTITY = {"trial": "a trial", "seed": "1"}


@pytest.fixture
def path(tmp_path):
    return tmp_path / EPISODES


def _interrupted(path, *seeds, count=4):
    with EpisodeFile(path, IDENTITY, count, resume=False) as file:
        for seed in seeds:
            file.add(fake_episode(seed))


def test_an_interrupted_evaluation_continues_with_the_same_episodes(path):
    odd = fake_episode(2, outcome="slip", measures={"error_xy": np.float64(0.1) / 3.0, "n": np.inf})
    with EpisodeFile(path, IDENTITY, 4, resume=False) as file:
        file.add(fake_episode(1))
        file.add(odd)
    with EpisodeFile(path, IDENTITY, 4, resume=True) as file:
        assert file.done == [fake_episode(1), odd]
        file.add(fake_episode(3))
        file.add(fake_episode(4))
    with EpisodeFile(path, IDENTITY, 8, resume=True) as file:
        assert [it.seed for it in file.done] == [1, 2, 3, 4], "a larger number adds episodes"
    with pytest.raises(UserInputError, match="has 4 of 8 episodes of an interrupted evaluation"):
        EpisodeFile(path, IDENTITY, 8, resume=False)


def test_half_a_line_at_the_end_is_left_out_and_elsewhere_an_error(path):
    _interrupted(path, 1, 2)
    whole = path.read_text()
    path.write_text(whole[:-40])
    with EpisodeFile(path, IDENTITY, 4, resume=True) as file:
        assert [it.seed for it in file.done] == [1]
        file.add(fake_episode(2))
    assert path.read_text() == whole
    lines = whole.splitlines()
    path.write_text("\n".join([lines[0], lines[1][:-40], lines[2]]))
    with pytest.raises(UserInputError, match="line 2 is not JSON"):
        EpisodeFile(path, IDENTITY, 4, resume=True)
    path.write_text("\n".join([lines[0], '{"seed": 1}', lines[2]]))
    with pytest.raises(UserInputError, match="line 2 is not an episode"):
        EpisodeFile(path, IDENTITY, 4, resume=True)


@pytest.mark.parametrize("text", ["", "[]", "no JSON\n", '{"trial": "a trial"}\n'])
def test_a_file_of_something_else_is_an_error_and_stays(path, text):
    path.write_text(text)
    for resume in (True, False):
        with pytest.raises(UserInputError, match="line 1"):
            EpisodeFile(path, IDENTITY, 4, resume=resume)
    assert path.read_text() == text


def test_episodes_of_another_evaluation_are_not_mixed(path):
    _interrupted(path, 1)
    kept = path.read_text()
    with pytest.raises(UserInputError, match="of another evaluation: its seed is 1, here 2"):
        EpisodeFile(path, {**IDENTITY, "seed": "2"}, 4, resume=True)
    assert path.read_text() == kept


def test_a_complete_evaluation_may_be_replaced(path):
    _interrupted(path, 1, 2, 3, 4)
    with EpisodeFile(path, IDENTITY, 2, resume=False) as file:
        assert not file.done


def test_the_identity_follows_conditions_settings_and_a_table_of_a_user(tmp_path):
    table = tmp_path / "own.yaml"
    table.write_text("a: 1")
    tried = trial("pick_place")
    all_of_them = [
        identity_of(tried, 1),
        identity_of(tried, 2),
        identity_of(trial("pick_place", "table"), 1),
        identity_of(trial("pick_place", "", {"IDLE": {"gains": "lab"}}), 1),
        identity_of(replace(tried, controller=str(table)), 1),
    ]
    table.write_text("a: 2")
    all_of_them.append(identity_of(replace(tried, controller=str(table)), 1))
    assert len({json.dumps(it) for it in all_of_them}) == len(all_of_them)
    assert identity_of(trial("pick_place"), 1) == all_of_them[0]
    assert " at 0x" not in all_of_them[0]["trial"]


def test_the_command_continues_with_the_missing_episodes(tmp_path, capsys, monkeypatch):
    asked = []

    def run(_trial, seeds, _jobs, *, cluster, keep):
        asked.append([seed - 1_000_000 for seed in seeds])
        for seed in seeds[:2]:
            keep(fake_episode(seed))
        return [], len(seeds) <= 2

    monkeypatch.setattr("mujoco_ros.cli.evaluate.run_episodes", run)
    arguments = ["pick_place", "--episodes", "4", "--output", str(tmp_path)]
    assert main(arguments) == 130
    assert "2 of 4 are done; continue with --resume" in capsys.readouterr().err
    assert main(arguments) == 1
    assert "has 2 of 4 episodes of an interrupted evaluation" in capsys.readouterr().err
    assert main([*arguments, "--resume", "--random", "table"]) == 1
    assert "is of another evaluation: its trial is" in capsys.readouterr().err
    assert main([*arguments, "--resume"]) == 0
    assert asked == [[0, 1, 2, 3], [2, 3]]
    printed = capsys.readouterr()
    assert f"2 episodes of {tmp_path / EPISODES} are kept" in printed.err
    assert "4 of 4 succeeded" in printed.out
    assert "**4 of 4** succeeded" in (tmp_path / "report.md").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        main([*arguments, "--resume", "--check"])
    assert "--resume is for evaluations with an output folder" in capsys.readouterr().err
