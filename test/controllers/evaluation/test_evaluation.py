"""Episodes: reproducible in any process, and their reports."""

import csv
import re
import time
from dataclasses import replace
from pathlib import Path

import fake_episodes
import numpy as np
import pytest
from fake_episodes import die_always, die_once, fake_episode

from mujoco_ros.cli.evaluate import main
from mujoco_ros.controllers.evaluation.bounds import LAB, comparison, missed
from mujoco_ros.controllers.evaluation.episode import run_episode
from mujoco_ros.controllers.evaluation.parallel_episodes import DIED, episodes
from mujoco_ros.controllers.evaluation.plots import write_plots
from mujoco_ros.controllers.evaluation.report import as_csv, as_markdown, summarize
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.controllers.evaluation.trials.legged import WALKS
from mujoco_ros.controllers.evaluation.trials.pick_place import SPREADS, PickPlaceTrial, Spread
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene


@pytest.fixture(scope="module")
def assembly():
    return assemble(load_scene("arm"))


def test_the_same_seed_gives_the_same_bits_after_other_episodes_and_with_another_clock(assembly):
    tried = PickPlaceTrial(ranges=SPREADS["table"])
    first = run_episode(tried, assembly, 11, time.process_time)
    assert first.success, first.reason
    assert first.measures["error_xy"] < 1e-3
    assert first.measures["saturated_steps"] == 0.0
    assert abs(first.measures["payload_error"]) < 0.02
    assert sum(first.phases.values()) == pytest.approx(first.duration, abs=0.01)
    # In another process, after another episode.
    (_, other) = sorted(episodes(tried, [5, 11], time.perf_counter, jobs=1), key=lambda it: it.seed)
    assert other.digest == first.digest
    assert other.measures == pytest.approx(first.measures, abs=0.0)


def test_conditions_are_drawn_within_their_ranges_and_follow_the_seed():
    tried = PickPlaceTrial(ranges=SPREADS["table"])
    drawn = [tried.conditions(seed) for seed in range(50)]
    assert drawn == [tried.conditions(seed) for seed in range(50)]
    assert len({it["mass"] for it in drawn}) == 50
    assert all(0.05 <= it["mass"] <= 0.3 and 0.7 <= it["friction"] <= 1.3 for it in drawn)
    assert all(0.3 <= (it["goal_x"] ** 2 + it["goal_y"] ** 2) ** 0.5 <= 0.7 for it in drawn)
    with pytest.raises(UserInputError, match=r"mass from 0\.2 to 0\.1 is reversed"):
        Spread(mass=(0.2, 0.1))


def test_perturbations_are_drawn_and_applied_within_their_ranges():
    tried = trial("pick_place", "perturbed")
    drawn = [tried.conditions(seed) for seed in range(50)]
    for name, low, high in (
        *((f"offset_{axis}", -0.005, 0.005) for axis in range(1, 7)),
        ("size", 0.04, 0.06),
        ("delay", 0.0, 0.1),
        ("obstacle", 0.05, 0.2),
    ):
        values = [it[name] for it in drawn]
        assert low <= min(values) < max(values) <= high
        assert len(set(values)) == 50
    apart = [
        np.hypot(it["obstacle_x"] - it[f"{what}_x"], it["obstacle_y"] - it[f"{what}_y"])
        for it in drawn
        for what in ("start", "goal")
    ]
    assert min(apart) >= 0.16
    lab = PickPlaceTrial().conditions(1)
    assert not {"delay", "obstacle", "motion", "offset_1"} & set(lab)


def test_an_obstacle_and_a_moving_box_are_in_the_scene(tmp_path):
    path = tmp_path / "busy.yaml"
    path.write_text("obstacle: [0.1, 0.1]\nmotion: [0.05, 0.05]\nsize: [0.05, 0.05]\n")
    tried = trial("pick_place", str(path))
    episode = run_episode(tried, assemble(tried.scene_config()), 3, time.process_time)
    assert episode.success, episode.reason
    assert episode.measures["obstacle_moved"] < 1e-3
    assert episode.conditions["motion"] == 0.05
    assert "object_moved" in episode.failures


def test_random_numbers_of_the_model_are_in_the_report_and_unknown_to_the_controller(tmp_path):
    path = tmp_path / "arms.yaml"
    path.write_text("joint.*.frictionloss: {add: [0.1, 0.2]}\n")
    tried = replace(trial("pick_place", randomize=path), limit=0.01)
    assembly, known = assemble(tried.scene_config()), []

    def look(simulation, host, _conditions):
        joints = simulation.joints.dof
        model = host.supervised.controller._robot.model
        known.append(
            model.dof_frictionloss[joints] + 0.1 <= simulation.model.dof_frictionloss[joints]
        )

    first, again, other = (
        run_episode(tried, assembly, seed, time.process_time, on_start=look) for seed in (3, 3, 4)
    )
    drawn = {name: v for name, v in first.conditions.items() if name.endswith(".frictionloss")}
    assert len(drawn) >= 6
    assert all(0.1 <= value <= 0.2 for value in drawn.values())
    assert first.conditions == again.conditions != other.conditions
    assert first.digest == again.digest
    assert np.all(known)
    ranges = tried.randomize
    path.write_text("randomize:\n  joint.*.frictionloss: {add: [0.1, 0.2]}\n")
    assert trial("pick_place", randomize=path).randomize == ranges
    path.write_text("joint.none.damping: {scale: [1, 2]}\n")
    unknown = trial("pick_place", randomize=path)
    with pytest.raises(UserInputError, match=r"no parameter is named 'joint.none.damping'"):
        run_episode(unknown, assemble(unknown.scene_config()), 3, time.process_time)


def test_an_order_beyond_the_limit_is_not_counted_but_must_be_refused(tmp_path):
    path = tmp_path / "heavy.yaml"
    path.write_text("mass: [1.2, 1.2]\nfriction: [0.5, 0.5]\n")
    tried = trial("pick_place", str(path))
    episode = run_episode(tried, assemble(tried.scene_config()), 3, time.process_time)
    assert episode.refusal == episode.outcome == "too_heavy"
    summary = summarize([episode])
    assert (summary.count, summary.beyond, summary.refused) == (0, 1, 1)
    text = as_markdown("a title", summary, [episode])
    assert "1 further episodes were beyond what the robot can do; 1 of them were refused" in text


def test_false_successes_are_counted():
    wrong = fake_episode(1, outcome="missed_place", claimed=True)
    summary = summarize([wrong, fake_episode(2, claimed=True)])
    assert summary.false_successes == 1
    assert "**1 false successes** were reported" in as_markdown("a title", summary, [wrong])


@pytest.mark.parametrize(
    ("ranges", "error_text"),
    [
        ({"size": (0.01, 0.05)}, r"size from 0\.01 to 0\.05 m is not within 0\.039 to 0\.095 m"),
        ({"delay": (0.1, 0.05)}, r"delay from 0\.1 to 0\.05 is reversed"),
        ({"offset": (0.0, 5.0)}, r"offset from 0 to 5 rad is not within -0\.1 to 0\.1 rad"),
        ({"obstacle": (0.0, 0.1)}, "obstacle from 0 to 0.1 m is not within"),
        ({"motion": (0.0, 1.0)}, "motion from 0 to 1 m is not within"),
    ],
)
def test_ranges_that_make_no_sense_are_an_error(ranges, error_text):
    with pytest.raises(UserInputError, match=error_text):
        Spread(**ranges)


@pytest.mark.parametrize(
    ("spread", "error_text"),
    [
        (Spread(x=(0.3, 0.4), reach=(5.0, 6.0)), "no position within x and y is at that distance"),
        (Spread(x=(0.5, 0.5), y=(0.0, 0.0)), r"no space for a start and a goal 0\.08 m apart"),
    ],
)
def test_impossible_conditions_are_an_error(spread, error_text):
    with pytest.raises(UserInputError, match=error_text):
        PickPlaceTrial(ranges=spread).conditions(1)


def test_conditions_are_drawn_again_where_the_first_draw_leaves_no_space():
    spread = Spread(x=(0.3, 0.5), y=(-0.15, 0.15), obstacle=(0.05, 0.2))
    drawn = [PickPlaceTrial(ranges=spread).conditions(10**6 + seed) for seed in range(30)]
    for it in drawn:
        for end in ("start", "goal"):
            offset = [it[f"obstacle_{axis}"] - it[f"{end}_{axis}"] for axis in "xy"]
            assert np.hypot(*offset) >= 0.16


def test_a_worker_that_dies_is_replaced_and_one_that_always_dies_is_reported(tmp_path, monkeypatch):
    monkeypatch.setenv("MARK", str(tmp_path / "mark"))
    monkeypatch.setenv("PYTHONPATH", str(Path(fake_episodes.__file__).parent))
    tried = PickPlaceTrial()
    done = list(episodes(tried, [1, 2, 3], time.process_time, jobs=1, run=die_once))
    assert sorted(it.seed for it in done) == [1, 2, 3]
    assert all(it.success for it in done)
    (lost,) = episodes(tried, [4], time.process_time, jobs=1, run=die_always)
    assert (lost.seed, lost.outcome) == (4, DIED)


def test_episodes_are_written_as_csv_markdown_and_plots(tmp_path):
    done = [fake_episode(seed) for seed in range(1, 20)]
    done.append(fake_episode(20, outcome="slip", reason="it |fell|", failures=("slip", "give_up")))
    summary = summarize(done)
    assert (summary.successes, summary.count) == (19, 20)
    assert summary.interval == pytest.approx((0.764, 0.991), abs=1e-3)
    assert summary.speed == pytest.approx(12.5)
    assert missed(LAB, summary) == ["success [%]: 95.0, limit: at least 100"]
    text = as_markdown("a title", summary, done) + comparison({"here": summary})
    unplanned = summarize([replace(it, planning=()) for it in done])
    assert "a plan took" in text
    assert "a plan took" not in as_markdown("a title", unplanned, done)
    assert "**19 of 20** succeeded: 95.0%, 95 % interval 76.4% to 99.1% (Wilson)." in text
    assert "| place error in the plane [mm] | 0.4 | 0.4 | 0.4 |" in text
    assert r"| 20 | slip | it \|fell\| |" in text
    assert "| mean cycle [s] | 8.2 | ≤ 6.5 | 5.00 |" in text
    rows = list(csv.DictReader(as_csv(done).splitlines()))
    assert [row["seed"] for row in rows] == [str(seed) for seed in range(1, 21)]
    assert (rows[19]["outcome"], rows[0]["error_xy"]) == ("slip", "0.0004")
    names = [path.name for path in write_plots(tmp_path, done)]
    assert names == ["map.svg", "errors.svg", "phases.svg"]
    drawn = (tmp_path / "map.svg").read_text()
    assert "success: 19" in drawn
    assert "slip: 1" in drawn


def test_a_metric_beyond_its_limit_is_reported_with_the_limit():
    measures = {**fake_episode(1).measures, "error_xy": 2e-3}
    summary = summarize([replace(fake_episode(1), measures=measures)])
    assert missed(LAB, summary) == ["place error, RMS in the plane [mm]: 2.00, limit: at most 1"]


def test_the_command_writes_its_tables_and_reports_wrong_arguments(tmp_path, capsys):
    sets = ["--set", "IDLE.object=ball", "--set", "RECOVER.attempts=0"]
    arguments = ["pick_place", "--episodes", "2", "--jobs", "1", "--output", str(tmp_path), *sets]
    assert main(arguments) == 0
    assert "0 of 2 succeeded" in capsys.readouterr().out
    report = (tmp_path / "report.md").read_text(encoding="utf-8")
    assert "# pick_place under conditions 'lab', seed 1" in report
    assert "no_object" in report
    assert main([*arguments, "--episode", "7"]) == 1
    printed = capsys.readouterr().out
    assert re.search(r"^episode 7\n  outcome +no_object\n  reason +\S", printed)
    assert re.search(r"^  start, x \[mm\] +350$", printed, re.M)
    assert re.search(r"^  cycle \[s\] +\d", printed, re.M)
    assert main([*arguments, "--set", "IDLE=3"]) == 1
    assert "expected STATE.NAME=VALUE" in capsys.readouterr().err
    assert main(["pick_plaice"]) == 1
    assert "did you mean 'pick_place'?" in capsys.readouterr().err
    assert main(["pick_place", "--random", "lob"]) == 1
    assert "did you mean 'lab'?" in capsys.readouterr().err
    assert main(["stand", "--check"]) == 1
    listing = "pick_place, trot, trot_policy, walk, walk_grasp"
    assert f"--check is for {listing}:" in capsys.readouterr().err


def test_a_check_of_walk_fails_with_each_limit_that_is_missed(capsys, monkeypatch):
    estimate = {
        "estimate_relative_drift": 0.01,
        "estimate_tilt": 0.005,
        "estimate_velocity": 0.02,
    }
    measures, failing = dict(estimate), set()

    def run(trial, seeds, _jobs, **_options):
        name = next(name for name, it in WALKS.items() if it is trial.ranges)
        done = []
        for number, seed in enumerate(seeds):
            outcome = "fell" if (name, number) in failing else "success"
            done.append(replace(fake_episode(seed, outcome=outcome), measures=measures))
        return done, True

    monkeypatch.setattr("mujoco_ros.cli.evaluate.run_episodes", run)
    assert main(["walk", "--check"]) == 0
    assert "46 of 46 succeeded" in capsys.readouterr().out
    failing.add(("randomised", 3))
    assert main(["walk", "--check"]) == 0, "one of all may fail"
    failing.add(("turning_on_plates", 0))
    assert main(["walk", "--check"]) == 1
    errors = capsys.readouterr().err
    assert "turning_on_plates: success [%]: 0.0, limit: at least 100" in errors
    assert "only 44 of 46 succeeded" in errors
    failing.clear()
    measures["estimate_tilt"] = 0.01
    assert main(["walk", "--check"]) == 1
    assert "pushed: its error of roll and pitch [°]: 0.57" in capsys.readouterr().err


def test_an_invalid_command_ends_before_the_first_episode(tmp_path, capsys, monkeypatch):
    begun = []
    monkeypatch.setattr(
        "mujoco_ros.cli.evaluate.run_episodes",
        lambda *arguments, **_options: begun.append(arguments),
    )
    (tmp_path / "file").touch()
    assert main(["pick_place", "--output", str(tmp_path / "file" / "folder")]) == 1
    assert "Not a directory" in capsys.readouterr().err
    assert main(["pick_place", "--set", "IDLE.goal=[1", "--output", str(tmp_path)]) == 1
    assert "--set IDLE.goal: not valid YAML" in capsys.readouterr().err
    assert not begun
    monkeypatch.setattr(
        "mujoco_ros.cli.evaluate.run_episodes", lambda *_arguments, **_options: ([], False)
    )
    (tmp_path / "report.md").write_text("what was found before")
    assert main(["pick_place", "--output", str(tmp_path)]) == 130
    assert "interrupted before any episode was done" in capsys.readouterr().err
    assert (tmp_path / "report.md").read_text() == "what was found before"


def test_a_scene_that_workers_cannot_load_is_one_error():
    tried = PickPlaceTrial(scene="arms")
    with pytest.raises(UserInputError, match="scene 'arms' not found"):
        list(episodes(tried, [1, 2, 3], time.process_time, jobs=1))


def test_conditions_can_come_from_a_strict_file(tmp_path):
    path = tmp_path / "heavy.yaml"
    path.write_text("mass: [0.2, 0.3]\nnoise: {force: 0.5}\n")
    tried = trial("pick_place", str(path))
    assert 0.2 <= tried.conditions(1)["mass"] <= 0.3
    assert tried.conditions(1)["start_x"] == 0.35
    path.write_text("mas: [0.2, 0.3]\n")
    with pytest.raises(UserInputError, match=r"key 'mas' not found \(did you mean 'mass'"):
        trial("pick_place", str(path))
