"""A training is written, continued, and ended by parameters that are not finite."""

import csv

import numpy as np
import pytest

pytest.importorskip("brax", reason="brax is missing; `make train-test` installs it")
pytest.importorskip("mujoco.mjx", reason="mujoco-mjx is missing; `make train-test` installs it")

import jax
import onnx

from training.__main__ import main
from training.environment import TrotEnvironment
from training.policy_table import load_policy_table
from training.result_files import NAME, TrainingError
from training.robot_model import make_robot
from training.settings import Settings
from training.trainer import load_checkpoint, save_policy

RUN = ["--small", "--steps", "320", "--points", "2"]
STEPS = 320
TIMEOUT_S = 7200
"""Each run compiles for minutes, on a busy machine for many."""


@pytest.fixture(scope="module")
def environment():
    table, settings = load_policy_table(), Settings()
    return TrotEnvironment(make_robot(table, settings.timestep), table, settings)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Results of a first run, which is continued once."""
    # The second run is compiled by the first one; without the cache it takes minutes again.
    jax.config.update("jax_compilation_cache_dir", str(tmp_path_factory.mktemp("compiled")))
    folder = tmp_path_factory.mktemp("results")
    assert main([*RUN, "--output", str(folder)]) == 0
    first = metadata(folder)
    checkpoint = folder / f"{NAME}.msgpack"
    assert main([*RUN, "--output", str(folder), "--resume", str(checkpoint)]) == 0
    assert int(first["steps"]) == STEPS
    assert int(metadata(folder)["wall_s"]) > int(first["wall_s"]) > 0
    return folder


def metadata(folder):
    return {it.key: it.value for it in onnx.load(folder / f"{NAME}.onnx").metadata_props}


@pytest.mark.timeout(TIMEOUT_S)
def test_a_continued_training_counts_the_steps_of_all_runs(folder, environment):
    assert int(metadata(folder)["steps"]) == 2 * STEPS
    _, progress = load_checkpoint(folder / f"{NAME}.msgpack", environment)
    assert progress.steps == 2 * STEPS
    with (folder / f"{NAME}.csv").open(newline="") as file:
        steps = [int(row["steps"]) for row in csv.DictReader(file)]
    assert steps[0] <= STEPS < steps[-1] <= 2 * STEPS
    assert steps == sorted(steps)


@pytest.mark.timeout(TIMEOUT_S)
def test_parameters_that_are_not_finite_keep_the_last_files(folder, environment):
    before = {path: path.read_bytes() for path in folder.iterdir()}
    parameters, progress = load_checkpoint(folder / f"{NAME}.msgpack", environment)
    parameters = jax.tree.map(np.array, parameters)
    parameters[1]["params"]["hidden_0"]["bias"][3] = np.nan
    with pytest.raises(TrainingError, match="not finite"):
        save_policy(folder, parameters, environment.action_size, 1, progress)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("content", [b"", b"text", b"\x80", b"\x93\x01\x02\x03"])
def test_a_file_that_is_no_checkpoint_is_refused(tmp_path, environment, content):
    path = tmp_path / "file.msgpack"
    path.write_bytes(content)
    with pytest.raises(TrainingError, match=r"file\.msgpack is not a checkpoint"):
        load_checkpoint(path, environment)
