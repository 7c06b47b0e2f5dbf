"""Demonstrations: what a frame contains, and their exact replay."""

import io
import json
from dataclasses import dataclass

import numpy as np
import pytest

from mujoco_ros.controllers.evaluation.demonstration_recording import (
    DemonstrationRun,
    DemonstrationSettings,
    chosen_cameras,
    ticks_per_frame,
)
from mujoco_ros.controllers.evaluation.demonstration_replay import (
    ReplayResult,
    replay_demonstration,
)
from mujoco_ros.controllers.evaluation.trials.pick_place import PickPlaceTrial
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.recording.demonstrations.demonstration_file import (
    ACTION,
    COMMANDED,
    COMMANDS,
    GOAL,
    IMAGES,
    QPOS,
    SEED,
    STATE,
    read_messages,
)

HALVES = ("position", "velocity")
TICKS = 5
"""In a frame of 25 Hz, of a controller at 125 Hz."""


@dataclass(frozen=True)
class ThinnedTrial(PickPlaceTrial):
    """The last tick of each frame has no commands: the joints keep those before."""

    def command_filter(self, conditions):
        count = 0

        def thin(_time, values):
            nonlocal count
            count += 1
            return np.full_like(values, np.nan) if count % TICKS == 0 else values

        return thin


@dataclass(frozen=True)
class TorqueTrial(PickPlaceTrial):
    """The controller sends efforts alone."""

    def command_filter(self, conditions):
        def drop(_time, values):
            return np.vstack((np.full_like(values[0], np.nan), values[1:]))

        return drop


@dataclass(frozen=True)
class DivergingTrial(PickPlaceTrial):
    def act(self, simulation, request, conditions):
        if simulation.time >= 0.4:
            simulation.data.qvel[0] = np.nan


@pytest.fixture(scope="module")
def assembly():
    return assemble(load_scene("arm"))


def _run(folder, trial, cameras=()):
    settings = DemonstrationSettings(fps=25, cameras=cameras, failures=True, task="pick and place")
    run = DemonstrationRun(trial, settings, folder, {"trial": repr(trial)})
    run.folder.mkdir()
    return run


def _frames(path):
    _, *contents = read_messages(path)
    return [dict(np.load(io.BytesIO(it), allow_pickle=False)) for it in contents]


def _columns(frames):
    return {name: np.array([it[name] for it in frames]) for name in frames[0]}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """Return the file of a second, which ends before the box is reached."""
    run = _run(tmp_path_factory.mktemp("run"), ThinnedTrial(limit=1.0), ("wrist_camera",))
    episode = run(11)
    assert episode.outcome == "unfinished"
    assert not run.lacks(episode)
    return run.path(11)


@pytest.fixture
def columns(recorded):
    return _columns(_frames(recorded))


def test_features_have_types_shapes_and_names(recorded):
    header = json.loads(next(read_messages(recorded)))
    assert (header["fps"], header["robot"], header["task"]) == (25, "arm", "pick and place")
    features = header["features"]
    assert features[STATE]["shape"] == [16]
    assert features[STATE]["names"][::8] == [f"shoulder_pan_joint.{it}" for it in HALVES]
    assert features[ACTION]["names"] == features[STATE]["names"][:8]
    assert features[GOAL]["names"] == ["goal_x", "goal_y", "goal_yaw"]
    image = features[f"{IMAGES}wrist_camera"]
    assert (image["dtype"], image["shape"]) == ("video", [240, 320, 3])


def test_an_action_is_the_last_command_in_force(columns):
    given, commands = columns[COMMANDED], columns[COMMANDS]
    assert len(given) == 25
    assert not given[:, -1].any(), "the last tick of each frame has no commands"
    held = columns[STATE][0, :8].copy()
    for row, action in enumerate(columns[ACTION]):
        for tick in range(TICKS):
            held = np.where(given[row, tick, 0], commands[row, tick, 0], held)
        np.testing.assert_array_equal(action, held.astype(np.float32))
    assert np.abs(columns[ACTION][-1] - columns[ACTION][0]).max() > 0.01, "the arm moves"
    unmoved = ~given[:, :, 0].any(axis=(0, 1))
    assert unmoved.any()
    np.testing.assert_array_equal(
        columns[ACTION][:, unmoved], np.tile(columns[STATE][0, :8][unmoved], (25, 1))
    )


def test_images_show_the_motion(columns):
    images = columns[f"{IMAGES}wrist_camera"]
    assert images.dtype == np.uint8
    assert images[0].std() > 10.0
    assert (images[0] != images[-1]).mean() > 0.01


def test_a_replay_repeats_all_states_exactly(columns, assembly):
    assert replay_demonstration(ThinnedTrial(), assembly, columns) == ReplayResult(0.0)
    columns[COMMANDS][5, 2, 0] += 1e-3
    assert not replay_demonstration(ThinnedTrial(), assembly, columns).is_within(1e-6)


def test_a_replay_that_diverges_or_is_not_a_number_is_not_within_any_limit(columns, assembly):
    found = replay_demonstration(DivergingTrial(), assembly, columns)
    assert found.diverged_at == pytest.approx(0.4, abs=0.02)
    assert not found.is_within(np.inf)
    assert not ReplayResult(np.nan).is_within(np.inf)


@pytest.mark.parametrize(
    ("name", "change", "error_text"),
    [
        (QPOS, lambda it: it.__setitem__((3, 0), np.nan), "'replay.qpos' is not finite in frame 3"),
        (COMMANDS, lambda it: it.__setitem__((4, 0, 0, 1), np.nan), "not finite in frame 4"),
        (COMMANDS, lambda it: it.__setitem__((4, 0, 4, 1), -1.0), "kd of joint 'shoulder_lift_j"),
        (SEED, lambda it: it.__setitem__(2, 12), "'replay.seed' of an episode is not one seed"),
    ],
)
def test_numbers_that_a_replay_cannot_use_are_an_error(columns, assembly, name, change, error_text):
    change(columns[name])
    with pytest.raises(UserInputError, match=error_text):
        replay_demonstration(ThinnedTrial(), assembly, columns)


def test_columns_that_are_missing_or_of_another_robot_are_an_error(columns, assembly):
    other = {**columns, COMMANDED: columns[COMMANDED][..., :7]}
    with pytest.raises(UserInputError, match=r"has the shape \(25, 5, 3, 7\), not \(25, 5, 3, 8\)"):
        replay_demonstration(ThinnedTrial(), assembly, other)
    del columns[QPOS]
    with pytest.raises(UserInputError, match=r"the dataset has no numbers 'replay\.qpos'"):
        replay_demonstration(ThinnedTrial(), assembly, columns)


def test_an_episode_shorter_than_a_frame_has_a_file_without_frames(tmp_path):
    run = _run(tmp_path, PickPlaceTrial(limit=0.02))
    assert not run.lacks(run(11))
    assert list(read_messages(run.path(11))) == []


def test_commands_without_positions_are_an_error_and_leave_no_file(tmp_path):
    run = _run(tmp_path, TorqueTrial(limit=1.0))
    with pytest.raises(UserInputError, match=r"commands shoulder_.*_joint without a position"):
        run(11)
    assert list(run.folder.iterdir()) == []


def test_frames_that_do_not_fit_and_cameras_that_do_not_exist_are_errors(assembly):
    assert ticks_per_frame(125.0, 25) == TICKS
    with pytest.raises(UserInputError, match=r"--fps 30: .* possible: 1, 5, 25, 125"):
        ticks_per_frame(125.0, 30)
    layout = lay_out(assembly)
    assert set(chosen_cameras(layout, None)) == {"wrist_camera", "table_camera"}
    with pytest.raises(UserInputError, match="did you mean 'table_camera'"):
        chosen_cameras(layout, ["table_kamera"])
