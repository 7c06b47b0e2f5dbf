"""Files of episodes: continued after an interruption, and never mixed with another evaluation."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from fake_episodes import fake_episode
from simulators import ROOT, WAIT_LIMIT_S

from mujoco_ros.cli.evaluate import EPISODES, main
from mujoco_ros.controllers.evaluation.episode import EpisodeFile, identity_of, run_episode
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble

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
        assert file.done == {1: fake_episode(1), 2: odd}
        file.add(fake_episode(3))
        file.add(fake_episode(4))
    with EpisodeFile(path, IDENTITY, 8, resume=True) as file:
        assert list(file.done) == [1, 2, 3, 4], "a larger number adds episodes"
        file.add(fake_episode(5))
    with pytest.raises(UserInputError, match="has 5 of 8 episodes of an interrupted evaluation"):
        EpisodeFile(path, IDENTITY, 8, resume=False)


def test_half_a_line_at_the_end_is_left_out_and_elsewhere_an_error(path):
    _interrupted(path, 1, 2)
    whole = path.read_text()
    path.write_text(whole[:-40])
    with EpisodeFile(path, IDENTITY, 4, resume=True) as file:
        assert list(file.done) == [1]
        file.add(fake_episode(2))
    assert path.read_text() == whole
    path.write_bytes(whole.encode() + b"\x00\xff\xfe")
    with EpisodeFile(path, IDENTITY, 4, resume=True) as file:
        assert list(file.done) == [1, 2]
    lines = whole.splitlines()
    path.write_bytes(f"{lines[0]}\n".encode() + b"\xff\xfe\n")
    with pytest.raises(UserInputError, match="line 2 is not JSON"):
        EpisodeFile(path, IDENTITY, 4, resume=True)
    path.write_text("\n".join([lines[0], lines[1][:-40], lines[2], ""]))
    with pytest.raises(UserInputError, match="line 2 is not JSON"):
        EpisodeFile(path, IDENTITY, 4, resume=True)
    path.write_text("\n".join([lines[0], '{"seed": 1}', lines[2], ""]))
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

    with pytest.raises(UserInputError, match="its scene is None, here 5"):
        EpisodeFile(path, {**IDENTITY, "scene": "5"}, 4, resume=True)
    with pytest.raises(UserInputError, match="its seed is 1, here None"):
        EpisodeFile(path, {"trial": "a trial"}, 4, resume=True)


def test_a_complete_evaluation_is_replaced_by_the_first_episode_of_the_next(path):
    _interrupted(path, 1, 2, 3, 4)
    kept = path.read_text()
    with EpisodeFile(path, IDENTITY, 2, resume=False) as file:
        assert not file.done
    assert path.read_text() == kept, "the command failed before an episode was done"
    with EpisodeFile(path, IDENTITY, 2, resume=False) as file:
        file.add(fake_episode(7))
    with EpisodeFile(path, IDENTITY, 2, resume=True) as file:
        assert list(file.done) == [7]


def test_a_file_without_episodes_does_not_block_the_next_evaluation(path):
    path.write_text('{"trial": "another trial", "seed": "1", "episodes": 4}\n')
    with EpisodeFile(path, IDENTITY, 4, resume=False) as file:
        file.add(fake_episode(1))


def test_one_evaluation_at_a_time_writes_into_a_folder(path):
    wrong = pytest.raises(UserInputError, match="another process writes into")
    with EpisodeFile(path, IDENTITY, 4, resume=False), wrong:
        EpisodeFile(path, IDENTITY, 4, resume=True)
    EpisodeFile(path, IDENTITY, 4, resume=True).__exit__()


def test_an_interrupted_command_continues_to_the_same_bits(tmp_path):
    path = tmp_path / EPISODES
    arguments = ["pick_place", "--episodes", "2", "--jobs", "1", "--output", str(tmp_path)]
    command = [sys.executable, "-m", "mujoco_ros.cli.evaluate", *arguments]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        # A test run in the background ignores SIGINT, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    )
    while not path.exists() and process.poll() is None:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=WAIT_LIMIT_S)
    assert process.returncode == 130, errors
    assert "of 2 are done; continue with --resume" in errors
    kept = path.read_text().count("\n") - 1
    assert kept == 1
    assert main([*arguments, "--resume"]) == 0
    seeds = range(1_000_000, 1_000_002)
    tried = trial("pick_place")
    assembly = assemble(tried.scene_config())
    with EpisodeFile(path, identity_of(tried, 1, assembly), 2, resume=True) as file:
        found = {seed: episode.digest for seed, episode in file.done.items()}
    whole = [run_episode(tried, assembly, seed, time.process_time) for seed in seeds]
    assert found == {it.seed: it.digest for it in whole}


def test_a_command_that_fails_keeps_the_results(tmp_path, capsys):
    path = tmp_path / EPISODES
    _interrupted(path, 1, 2, 3, 4)
    kept = path.read_text()
    arguments = ["pick_place", "--episodes", "2", "--output", str(tmp_path)]
    assert main([*arguments, "--cluster", "127.0.0.2:1"]) == 1
    assert "no Ray cluster at '127.0.0.2:1'" in capsys.readouterr().err
    assert path.read_text() == kept
    for options in (["--cluster", "auto", "--jobs", "2"], ["--cluster", "auto", "--episode", "1"]):
        with pytest.raises(SystemExit):
            main([*arguments, *options])
        assert "are for this machine, not for --cluster" in capsys.readouterr().err


def test_the_command_continues_with_the_missing_episodes(tmp_path, capsys, monkeypatch):
    asked = []

    def run(_trial, seeds, _jobs, *, keep, **_options):
        asked.append([seed - 1_000_000 for seed in seeds])
        for seed in seeds[:2]:
            keep(fake_episode(seed))
        return [], len(seeds) <= 2

    monkeypatch.setattr("mujoco_ros.cli.evaluate.run_episodes", run)
    arguments = ["pick_place", "--episodes", "4", "--output", str(tmp_path)]
    assert main(arguments) == 130
    assert "2 of 4 are done; continue with --resume" in capsys.readouterr().err
    assert (tmp_path / "report.md").exists()
    assert not list(tmp_path.glob("*.svg")), "plots take longer than an interrupted program may"
    assert main(arguments) == 1
    assert "has 2 of 4 episodes of an interrupted evaluation" in capsys.readouterr().err
    assert main([*arguments, "--resume", "--random", "table"]) == 1
    assert "is of another evaluation: its trial is" in capsys.readouterr().err
    assert main([*arguments, "--resume"]) == 0
    assert asked == [[0, 1, 2, 3], [2, 3]]
    printed = capsys.readouterr()
    assert f"kept from {tmp_path / EPISODES}: 2 episodes" in printed.err
    assert "4 of 4 succeeded" in printed.out
    assert "**4 of 4** succeeded" in (tmp_path / "report.md").read_text(encoding="utf-8")
    with pytest.raises(SystemExit):
        main([*arguments, "--resume", "--check"])
    assert "--resume is for evaluations with an output folder" in capsys.readouterr().err
