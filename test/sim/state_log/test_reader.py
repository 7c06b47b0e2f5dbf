import mujoco
import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.sim.state_log import segment_header
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter

STEPS = 40


@pytest.fixture
def log(write_log, arm) -> StateLog:
    arm.references.q[0] += 0.2
    return write_log(arm, STEPS)


def test_fields_are_arrays_with_a_row_for_each_step(log, arm):
    assert len(log) == STEPS
    np.testing.assert_allclose(log.time, 0.001 * np.arange(STEPS), atol=1e-12)
    assert log.qpos.shape == (STEPS, arm.model.nq)
    assert log.ctrl.shape == (STEPS, arm.model.nu)
    assert log.references.shape == (STEPS, 3, len(arm.joints.names))
    np.testing.assert_array_equal(log.qpos[-1], arm.sample.qpos)
    assert (log.timestep, log.every, log.scene) == (0.001, 1, "arm")


def test_joints_sensors_and_actuators_are_found_by_name(log, arm):
    name = arm.joints.names[0]
    joint, reference = log.joint(name), log.reference(name)
    np.testing.assert_array_equal(joint.position, log.qpos[:, arm.joints.qpos[0]])
    np.testing.assert_array_equal(joint.effort, log.qfrc_actuator[:, arm.joints.dof[0]])
    np.testing.assert_array_equal(reference.position, log.references[:, 0, 0])
    sensor = arm.model.sensor(0)
    width = int(sensor.dim[0])
    np.testing.assert_array_equal(log.sensor(sensor.name), log.sensordata[:, :width])
    np.testing.assert_array_equal(log.actuator(arm.model.actuator(1).name), log.ctrl[:, 1])


@pytest.mark.parametrize("of", ["joint", "reference", "sensor", "actuator"])
def test_an_unknown_name_is_rejected(log, of):
    with pytest.raises(UserInputError, match="'nonsense' not found"):
        getattr(log, of)("nonsense")


def test_the_error_for_an_unknown_field_lists_the_fields(log):
    with pytest.raises(AttributeError, match="no 'qqos'; it has: time, qpos, qvel"):
        _ = log.qqos


def test_a_row_has_the_values_of_the_fields(log):
    for index in (0, 17, -1):
        row = log.row(index)
        assert row["time"] == log.time[index]
        np.testing.assert_array_equal(row["references"], log.references[index])
    with pytest.raises(IndexError):
        log.row(STEPS)


def test_a_row_is_found_by_its_time(log):
    assert [log.index(time) for time in (-1.0, 0.0, 0.0101, 0.011, 99.0)] == [0, 0, 10, 11, 39]


def test_a_row_is_found_after_the_time_was_set_back(write_log, arm):
    arm.set_time(5.0)
    log = write_log(arm, 10)
    assert log.index(5.004) == 4


def test_the_model_and_the_scene_are_in_the_log(log, arm):
    assert log.model.nq == arm.model.nq
    assembly = log.assembly
    layout = lay_out(assembly)
    assert [robot.name for robot in layout.robots] == [robot.name for robot in arm.layout.robots]
    (described,) = descriptions(assembly, layout)
    (expected,) = descriptions(arm.assembly, arm.layout)
    assert described == expected


def test_a_scene_of_several_robots_is_in_the_log(write_log, shipped):
    zoo = shipped("zoo")
    assembly = write_log(zoo, 2).assembly
    layout = lay_out(assembly)
    for robot, expected in zip(layout.robots, zoo.layout.robots, strict=True):
        assert (robot.name, robot.namespace, robot.prefix) == (
            expected.name,
            expected.namespace,
            expected.prefix,
        )
        assert robot.joints.names == expected.joints.names
    assert descriptions(assembly, layout) == descriptions(zoo.assembly, zoo.layout)


def test_a_row_can_be_simulated_further(log, arm):
    data = mujoco.MjData(log.model)
    log.load_state(20, data)
    mujoco.mj_step(log.model, data)
    np.testing.assert_allclose(data.qpos, log.qpos[21], atol=1e-9)
    assert data.time == pytest.approx(0.021)


def test_a_log_of_several_models_has_several_segments(path, arm, shipped):
    other = shipped("quadruped")
    writer = StateLogWriter(path)
    for simulation in (arm, other):
        ring = RingBuffer(simulation.plant, 1)
        writer.add(ring)
        for _ in range(5):
            simulation.step()
            ring.add_step()
        ring.closed = True
    writer.close()
    log = StateLog.open(path)
    assert [segment.scene for segment in log.segments] == ["arm", "quadruped"]
    assert len(log) == 10
    assert log.segments[1].qpos.shape == (5, other.model.nq)
    with pytest.raises(AttributeError, match="2 segments, one for each model"):
        _ = log.qpos


def test_a_truncated_log_is_read_up_to_its_end(log, path):
    content = path.read_bytes()
    path.write_bytes(content[:-100])
    truncated = StateLog.open(path)
    assert "its last record is incomplete" in truncated.problem
    assert len(truncated) < STEPS
    assert "incomplete" in repr(truncated)


def test_a_log_without_rows_is_read(write_log, arm):
    log = write_log(arm, 0)
    assert len(log) == 0
    assert log.qpos.shape == (0, arm.model.nq)
    assert log.index(1.0) == 0


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"something else", "is no state log"),
        (b"MJRLOG\x01\n", "has no model"),
        (b"MJRLOG\x01\nSEGM", "has no model: its last record is incomplete"),
    ],
)
def test_a_file_that_is_not_a_log_is_rejected(path, content, message):
    path.write_bytes(content)
    with pytest.raises(UserInputError, match=message):
        StateLog.open(path)


def test_a_missing_file_is_reported(path):
    with pytest.raises(UserInputError, match="does not exist"):
        StateLog.open(path)


def test_a_model_of_another_version_leaves_the_numbers_readable(log, monkeypatch):
    def refuse(*_arguments):
        raise ValueError("wrong version")

    monkeypatch.setattr(segment_header.mujoco.MjModel, "from_binary_path", refuse)
    with pytest.raises(UserInputError, match=r"compiled by MuJoCo \d.* and cannot be read"):
        _ = log.model
    assert log.qpos.shape[0] == STEPS


def test_the_representation_of_a_log_summarizes_it(log, path):
    assert f"<state log '{path}': <40 rows of 'arm' from 0 to 0.039 s: time, qpos" in repr(log)
    assert {"time", "qpos", "joint", "segments"} <= set(dir(log))
