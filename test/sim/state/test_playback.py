import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.state.playback import Playback
from mujoco_ros.sim.state_log.reader import StateLog
from mujoco_ros.sim.state_log.writer import RingBuffer, StateLogWriter

STEPS = 30
SAMPLED = ("qpos", "qvel", "act", "qacc", "qfrc_actuator", "sensordata", "xpos", "xquat")


def write(path, *simulations, steps=STEPS, every=1) -> StateLog:
    writer = StateLogWriter(path)
    for simulation in simulations:
        ring = RingBuffer(simulation.plant, every)
        writer.add(ring)
        for _ in range(steps):
            simulation.step()
            ring.add_step()
        ring.closed = True
    writer.close()
    return StateLog.open(path)


def _no_other_model(number: int) -> None:
    raise AssertionError(f"segment {number} has no model of its own")


@pytest.fixture
def path(tmp_path):
    return tmp_path / "run.mjlog"


@pytest.mark.parametrize("scene", ["arm", "humanoid", "zoo"])
def test_each_sample_equals_the_logged_one(path, shipped, scene):
    simulation = shipped(scene)
    simulation.references.q[:] += 0.05
    writer = StateLogWriter(path)
    ring = RingBuffer(simulation.plant, 1)
    writer.add(ring)
    logged = []
    for _ in range(STEPS):
        simulation.step()
        ring.add_step()
        sample = {name: getattr(simulation.sample, name).copy() for name in SAMPLED}
        logged.append((simulation.time, simulation.references.values.copy(), sample))
    writer.close()
    playback = Playback(StateLog.open(path), _no_other_model)
    for time, references, sample in logged:
        assert playback.step()
        assert playback.time == time
        np.testing.assert_array_equal(playback.references.values, references)
        for name, expected in sample.items():
            np.testing.assert_allclose(
                getattr(playback.sample, name), expected, rtol=0, atol=1e-12, err_msg=name
            )


def test_at_the_end_it_pauses_and_calls_on_end(path, shipped):
    playback = Playback(write(path, shipped("arm"), steps=3), _no_other_model)
    ends = []
    playback._on_end = lambda: ends.append(playback.time)
    assert [playback.step() for _ in range(4)] == [True, True, True, False]
    assert playback.paused
    assert ends == [pytest.approx(0.002)]


def test_it_can_loop_at_the_end(path, shipped):
    playback = Playback(write(path, shipped("arm"), steps=3), _no_other_model)
    playback.loops = True
    times = []
    for _ in range(9):
        if playback.step():
            times.append(round(playback.time, 6))
    assert times == [0.0, 0.001, 0.002, 0.0, 0.001, 0.002, 0.0]
    assert not playback.paused


def test_it_jumps_forwards_and_backwards(path, shipped):
    playback = Playback(write(path, shipped("arm")), _no_other_model)
    for time in (0.02, 0.005, 0.0125, 99.0):
        playback.seek(time)
        assert playback.step()
        assert playback.time == pytest.approx(min(np.floor(time * 1e3 + 1e-6), STEPS - 1) / 1e3)


def test_a_reset_goes_to_the_first_row(path, shipped):
    simulation = shipped("arm")
    simulation.set_time(3.0)
    playback = Playback(write(path, simulation), _no_other_model)
    playback.seek(3.01)
    playback.reset(time=0.0)
    assert playback.step()
    assert playback.time == pytest.approx(3.0)


def test_a_step_is_a_row(path, shipped):
    playback = Playback(write(path, shipped("arm"), every=5), _no_other_model)
    assert playback.model.opt.timestep == pytest.approx(0.005)


def test_at_a_model_change_it_requests_the_next_model_and_waits(path, shipped):
    log = write(path, shipped("arm"), shipped("quadruped"), steps=3)
    playback = Playback(log, _no_other_model)
    requested = []
    playback._on_segment = requested.append
    assert [playback.step() for _ in range(6)] == [True, True, True, False, False, False]
    assert requested == [1]
    assert not playback.paused
    playback.switch_model(playback.build_plant(log.segments[1].assembly), fresh=True)
    assert playback.step()
    assert playback.model.nq == log.segments[1].model.nq
    np.testing.assert_array_equal(playback.sample.qpos, log.segments[1].qpos[0])


def test_it_jumps_into_another_segment(path, shipped):
    later = shipped("quadruped")
    later.set_time(10.0)
    log = write(path, shipped("arm"), later, steps=5)
    playback = Playback(log, _no_other_model)
    requested = []
    playback._on_segment = requested.append
    playback.seek(10.002)
    assert requested == [1]
    playback.switch_model(playback.build_plant(log.segments[1].assembly), fresh=True)
    assert playback.step()
    assert playback.time == pytest.approx(10.002)
    playback.seek(0.001)
    assert requested == [1, 0]


def test_a_decrease_of_the_time_emits_a_reset_event(path, shipped):
    playback = Playback(write(path, shipped("arm"), steps=5), _no_other_model)
    playback.loops = True
    playback.events.clear()
    for _ in range(8):
        playback.step()
    (event,) = playback.events
    assert (event.time, event.before, event.state) == (0.0, pytest.approx(0.004), False)
    playback.seek(0.003)
    playback.step()
    assert len(playback.events) == 1
    playback.seek(0.001)
    playback.step()
    assert playback.events[-1].before == pytest.approx(0.003)


def test_rows_are_numbered_one_after_the_other(path, shipped):
    playback = Playback(write(path, shipped("arm"), every=2), _no_other_model)
    numbers = []
    while playback.step():
        numbers.append(playback.step_number)
    assert np.diff(numbers).tolist() == [1] * (STEPS // 2 - 1)


@pytest.mark.parametrize("time", [-1.0, 2.0**31 + 1.0, float("nan"), float("inf")])
def test_a_log_with_a_time_outside_of_ros_time_is_rejected(path, shipped, time):
    simulation = shipped("arm")
    writer = StateLogWriter(path)
    ring = RingBuffer(simulation.plant, 1)
    writer.add(ring)
    for _ in range(3):
        simulation.step()
        simulation.sample.state[0] = time
        ring.add_step()
    writer.close()
    with pytest.raises(UserInputError, match=r"segment 0 of .* has the time .* s; a time is from"):
        Playback(StateLog.open(path), _no_other_model)
