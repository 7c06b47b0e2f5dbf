"""The past states of a simulation: what a reader gets, and the return to one."""

from collections.abc import Mapping
from itertools import count

import mujoco
import numpy as np
import pytest

from mujoco_ros.control.events import SimulationReset
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import rebuild
from mujoco_ros.model.scene.config import ObjectConfig
from mujoco_ros.model.scene.parts import object_part
from mujoco_ros.sim.shared_memory.past_states import HistorySettings, PastStates
from mujoco_ros.sim.shared_memory.reader import Update
from mujoco_ros.sim.state.state_vector import state_vector

SECOND = HistorySettings(length=1.0, rate=100.0)


def ring(capacity: int) -> PastStates:
    return PastStates(np.zeros((capacity, 2)), memoryview(np.zeros(1, np.int64)))


def add(past: PastStates, *times: float) -> None:
    for time in times:
        past.add(memoryview(np.array([time, 10.0 * time])).cast("B"))


def value(past: PastStates, number: int) -> float:
    row = memoryview(bytearray(16))
    assert past.copy(number, row)
    return float(row.cast("d")[1])


@pytest.fixture
def arm(share, shipped):
    shared = share(shipped("arm"), SECOND)
    shared.simulation.references.q[0] += 0.3
    return shared


def test_a_ring_keeps_the_newest_states():
    past = ring(4)
    assert past.find(1.0) is None
    add(past, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert past.times.tolist() == [4.0, 5.0, 6.0], "the oldest may be overwritten at this moment"
    assert [value(past, it) for it in past.after(3)] == [50.0, 60.0]
    assert not past.copy(1, memoryview(bytearray(16)))


@pytest.mark.parametrize(("time", "found"), [(0.0, 2.0), (2.0, 2.0), (3.9, 3.0), (9.0, 5.0)])
def test_the_last_state_not_later_is_found_or_the_oldest(time, found):
    past = ring(8)
    add(past, 2.0, 3.0, 4.0, 5.0)
    assert past.find(time).time == found
    assert value(past, past.find(time).number) == 10.0 * found


def test_a_state_is_not_loaded_in_place_of_an_earlier_one():
    past = ring(8)
    with pytest.raises(UserInputError, match="no past state yet"):
        past.find_not_later(1.0)
    add(past, 2.0, 3.0, 4.0)
    assert past.find_not_later(3.5).time == 3.0
    with pytest.raises(UserInputError, match=r"of 1\.5\d* s or before.* 2\.0\d* s to 4\.0\d* s"):
        past.find_not_later(1.5)


def test_states_that_were_replaced_by_earlier_ones_are_left_out():
    past = ring(16)
    add(past, 1.0, 2.0, 3.0, 4.0, 2.0, 2.5, 2.0)
    assert past.times.tolist() == [1.0, 2.0]
    add(past, 2.2)
    assert past.times.tolist() == [1.0, 2.0, 2.2]
    add(past, 0.0)
    assert past.times.tolist() == [0.0]


def test_the_rate_is_lower_if_all_states_would_not_fit():
    assert HistorySettings(length=60.0, rate=50.0).period(1000) == pytest.approx(0.02)
    settings = HistorySettings(length=60.0, rate=1000.0)
    assert settings.capacity(1000) * 8000 <= 64 << 20
    assert settings.capacity(1000) * settings.period(1000) == pytest.approx(60.0)
    assert HistorySettings().capacity(1000) == 0
    assert settings.capacity((64 << 20) // 8) == 0, "one row could never be read"


def test_a_history_without_any_state_is_rejected():
    with pytest.raises(UserInputError, match=r"history_length 5 s with history_rate 0\.1 Hz"):
        HistorySettings(length=5.0, rate=0.1)
    assert HistorySettings(length=5.0, rate=0.4).capacity(10) == 2


def test_a_simulation_keeps_states_at_the_rate(arm):
    arm.step(2000)
    past = arm.reader.past
    assert past.capacity == 100
    assert past.times[-1] == pytest.approx(2.0, abs=0.011)
    np.testing.assert_allclose(np.diff(past.times), 0.01, atol=1e-9)
    assert past.times[-1] - past.times[0] == pytest.approx(0.98)


def test_a_reader_shows_a_past_state_and_returns_to_the_latest(arm):
    positions = {}
    for _ in range(500):
        arm.step()
        positions[round(float(arm.simulation.data.time), 6)] = arm.simulation.data.qpos.copy()
    reader = arm.reader
    reader.update()
    reader.show(0.2503)
    assert reader.shown.time == pytest.approx(0.25, abs=0.01)
    np.testing.assert_array_equal(reader.data.qpos, positions[round(reader.time, 6)])
    assert reader.update() is Update.STATE
    assert reader.update() is Update.NOTHING
    arm.step(10)
    assert reader.update() is Update.NOTHING, "the shown state stays"
    assert reader.peek()[0] == arm.simulation.time
    reader.show(None)
    assert reader.update() is Update.STATE
    assert reader.time == arm.simulation.time
    np.testing.assert_array_equal(reader.data.qpos, arm.simulation.sample.qpos)


def test_a_state_that_is_overwritten_while_it_is_read_is_not_shown(arm, monkeypatch):
    arm.step(1500)
    reader, past = arm.reader, arm.reader.past
    reader.update()
    oldest, copy, results = float(past.times[0]), past.copy, []

    def overtaken(number, row):
        if not results:
            arm.step(200)  # the simulator overwrites 20 rows
        results.append(copy(number, row))
        return results[-1]

    monkeypatch.setattr(past, "copy", overtaken)
    reader.show(oldest)
    assert results == [False, True]
    assert reader.shown.time == past.times[0] == reader.time
    assert reader.shown.time > oldest


def test_a_torn_row_changes_nothing(arm, monkeypatch):
    def tear(_number, row):
        row[:] = b"\1" * len(row)
        return False

    arm.step(300)
    reader = arm.reader
    reader.update()
    monkeypatch.setattr(reader.past, "copy", tear)
    before = bytes(reader._row)
    assert not reader._copy_past(reader.past.after(-1)[0])
    assert bytes(reader._row) == before


def test_a_review_reads_each_state_once_and_leaves_the_present_one(arm):
    arm.step(300)
    reader = arm.reader
    reader.update()
    before = state_vector(reader.model, reader.data)
    numbers, times = zip(*((number, reader.time) for number in reader.review(-1)), strict=True)
    assert list(times) == reader.past.times.tolist()
    np.testing.assert_array_equal(state_vector(reader.model, reader.data), before)
    assert list(reader.review(numbers[-1])) == []
    arm.step(20)
    assert len(list(reader.review(numbers[-1]))) == 2


def test_a_loaded_state_continues_bitwise_as_before(arm):
    simulation, writer = arm.simulation, arm.writer
    arm.step(300)
    wanted = arm.reader.past.times[-5]
    states = {}
    for _ in range(100):
        states[round(float(simulation.data.time), 6)] = state_vector(
            simulation.model, simulation.data
        )
        arm.step()
    events = len(simulation.events)
    simulation.data.xfrc_applied[:] = 3.0
    simulation.references.q[:] = 0.0
    wanted = arm.reader.past.find(0.35).time
    assert writer.load(wanted) == wanted == simulation.data.time
    assert not simulation.data.xfrc_applied.any()
    for time in sorted(time for time in states if time >= wanted - 1e-6):
        now = state_vector(simulation.model, simulation.data)
        np.testing.assert_array_equal(now, states[time])
        arm.step()
    resets = [it for it in list(simulation.events)[events:] if isinstance(it, SimulationReset)]
    assert [(it.time, it.state) for it in resets] == [(wanted, True)]


def test_later_states_are_forgotten_after_the_return_to_one(arm):
    arm.step(500)
    arm.writer.load(0.2)
    assert arm.reader.past.times[-1] == pytest.approx(0.2, abs=0.01)
    arm.step(100)
    times = arm.reader.past.times
    assert times[0] < 0.02
    assert times[-1] == pytest.approx(0.3, abs=0.011)
    assert (np.diff(times) > 0.0).all()


def test_a_state_can_be_loaded_without_setting_the_time(arm):
    arm.step(500)
    time, qpos = float(arm.simulation.data.time), arm.simulation.data.qpos.copy()
    arm.writer.load(0.1, rewind=False)
    assert arm.simulation.data.time == time
    assert np.abs(arm.simulation.data.qpos - qpos).max() > 1e-3


def test_a_reset_forgets_the_states_before_it(arm):
    arm.step(500)
    arm.simulation.reset()
    arm.step(50)
    assert arm.reader.past.times[0] == 0.0
    assert len(arm.reader.past.times) <= 6


def test_the_states_of_another_model_are_not_shown(arm):
    arm.step(300)
    arm.reader.update()
    arm.reader.show(0.1)
    assembly = arm.simulation.assembly
    box = ObjectConfig(name="more", model="package://mujoco_ros/urdf_mjcf/objects/box.xml")
    plant = arm.simulation.build_plant(rebuild(assembly, add=[object_part(assembly.config, box)]))
    prepared = arm.writer.prepare(plant)
    arm.simulation.switch_model(plant)
    arm.writer.switch(prepared)
    arm.step(50)
    assert arm.reader.update() is Update.MODEL
    assert arm.reader.shown is None
    assert arm.reader.past.times[0] >= 0.3
    with pytest.raises(UserInputError, match="no past state of 0"):
        arm.writer.load(0.0)
    arm.writer.load(arm.reader.past.times[0])
    assert arm.simulation.data.time >= 0.3
    assert np.isfinite(arm.simulation.data.qpos).all()


def test_sensors_are_those_that_were_measured(share, shipped):
    shared = share(shipped("arm", sensor_noise=True, seed=3), SECOND)
    shared.simulation.model.sensor_noise[:] = 0.1
    measured: Mapping[float, np.ndarray] = {}
    for _ in count():
        shared.step()
        measured[round(float(shared.simulation.data.time), 6)] = (
            shared.simulation.sample.sensordata.copy()
        )
        if len(measured) == 100:
            break
    for _ in shared.reader.review(0):
        reader = shared.reader
        np.testing.assert_array_equal(reader.data.sensordata, measured[round(reader.time, 6)])


def test_without_a_history_there_is_none(share, shipped):
    shared = share(shipped("arm"))
    shared.step(100)
    assert len(shared.reader.past.times) == 0
    shared.reader.show(0.01)
    assert shared.reader.shown is None
    with pytest.raises(UserInputError, match="history_length is 0"):
        shared.writer.load(0.01)


def test_a_loaded_state_has_the_mocap_bodies_and_equalities_of_its_time(share, simulate):
    shared = share(
        simulate(
            """<mujoco><worldbody><body name="puppet" mocap="true"><geom size="0.1"/></body>
            <body name="b"><freejoint/><geom size="0.1"/></body></worldbody>
            <equality><weld name="grip" body1="puppet" body2="b"/></equality></mujoco>"""
        ),
        SECOND,
    )
    simulation = shared.simulation
    shared.step(200)
    simulation.data.mocap_pos[0] = [1.0, 2.0, 3.0]
    simulation.data.eq_active[0] = 0
    shared.step(200)
    shared.writer.load(0.1)
    assert simulation.data.eq_active[0] == 1
    assert not simulation.data.mocap_pos.any()
    mujoco.mj_forward(simulation.model, simulation.data)
    assert abs(simulation.data.xpos[-1]).max() < 0.1
