"""Files of the past states."""

import csv
import resource
from functools import partial

import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.realism_config import RealismConfig
from mujoco_ros.sim.shared_memory.past_files import collect, write_log, write_table
from mujoco_ros.sim.shared_memory.past_states import HistorySettings
from mujoco_ros.sim.state.playback import Playback
from mujoco_ros.sim.state_log.reader import StateLog


@pytest.fixture
def moved(share, shipped):
    shared = share(shipped("arm"), HistorySettings(length=1.0, rate=100.0))
    shared.simulation.references.q[0] += 0.3
    shared.step(300)
    shared.reader.update()
    return shared


def test_a_state_log_of_the_past_states_is_replayed(moved, tmp_path):
    reader, path = moved.reader, tmp_path / "new" / "past.mjlog"
    write_log(path, collect(reader), reader.metadata, reader.model)
    log = StateLog.open(path)
    assert not log.problem
    np.testing.assert_array_equal(log.time, reader.past.times)
    assert log.every == 10
    playback = Playback(log, lambda _segment: None)
    joints = moved.simulation.joints.names
    assert playback.joints.names == joints
    for _ in reader.review(-1):
        assert playback.step()
        np.testing.assert_array_equal(playback.data.qpos, reader.data.qpos)
        np.testing.assert_array_equal(playback.references.values, reader.references.values)
    assert log.joint(joints[0]).position[-1] > log.joint(joints[0]).position[0] + 0.05


def test_a_table_has_the_joints_over_time(moved, tmp_path):
    reader, path = moved.reader, tmp_path / "past.csv"
    write_table(path, collect(reader), reader.metadata)
    with path.open() as file:
        head, *rows = csv.reader(file)
    name = moved.simulation.joints.names[0]
    assert head[:3] == ["time", f"{name}.position", f"{name}.velocity"]
    assert len(head) == 1 + 6 * len(moved.simulation.joints.names)
    numbers = np.array(rows, dtype=float)
    np.testing.assert_allclose(numbers[:, 0], reader.past.times)
    for row, _ in zip(numbers, reader.review(-1), strict=True):
        assert row[1] == pytest.approx(reader.data.qpos[0], abs=1e-8)
        assert row[head.index(f"{name}.position_reference")] == pytest.approx(
            reader.references.q[0]
        )


def test_nothing_is_overwritten_and_nothing_saved_without_states(moved, share, shipped, tmp_path):
    (tmp_path / "past.csv").write_text("mine")
    reader = moved.reader
    with pytest.raises(UserInputError, match="exists"):
        write_table(tmp_path / "past.csv", collect(reader), reader.metadata)
    assert (tmp_path / "past.csv").read_text() == "mine"
    with pytest.raises(UserInputError, match="no past states"):
        collect(share(shipped("arm")).reader)


@pytest.mark.parametrize("kind", ["log", "table"])
def test_an_incomplete_file_is_deleted(moved, tmp_path, kind):
    reader, path = moved.reader, tmp_path / "past"
    arguments = path, collect(reader), reader.metadata
    write = partial(write_log, model=reader.model) if kind == "log" else write_table
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(UserInputError, match="cannot be written"):
            write(*arguments)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())


def test_a_log_of_a_robot_with_imperfect_sensors_is_replayed(share, shipped, tmp_path):
    shared = share(
        shipped("arm", realism=RealismConfig(joints={"encoders": {"delay": 0.004}})),
        HistorySettings(length=1.0, rate=100.0),
    )
    shared.step(100)
    reader, path = shared.reader, tmp_path / "past.mjlog"
    reader.update()
    write_log(path, collect(reader), reader.metadata, reader.model)
    playback = Playback(StateLog.open(path), lambda _segment: None)
    assert playback.plant.realism is not None
    assert playback.step()
