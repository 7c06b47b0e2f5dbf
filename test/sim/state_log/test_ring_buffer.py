import numpy as np

from mujoco_ros.sim.state.state_vector import state_fields
from mujoco_ros.sim.state_log import writer as ring_module
from mujoco_ros.sim.state_log.writer import RingBuffer


def log(ring: RingBuffer, simulation, steps: int) -> None:
    for _ in range(steps):
        simulation.step()
        ring.add_step()


def pending(ring: RingBuffer, name: str = "time") -> np.ndarray:
    """Return the rows of a field that wait."""
    column = ring.columns[name]
    return np.concatenate([column[:0], *(column[rows] for rows in ring.pending())])


def times(ring: RingBuffer) -> list[float]:
    return pending(ring).round(6).tolist()


def test_a_row_has_the_sample_and_the_controls(arm):
    ring = RingBuffer(arm.plant, 1)
    arm.references.q[:] += 0.3
    log(ring, arm, 5)
    state = {
        "time": arm.time,
        "qpos": arm.sample.qpos,
        "qvel": arm.sample.qvel,
        "act": arm.sample.act,
        "plugin_state": arm.sample.plugin_state,
        "ctrl": arm.data.ctrl,
        "mocap_pos": arm.data.mocap_pos,
        "mocap_quat": arm.data.mocap_quat,
        "eq_active": arm.data.eq_active,
    }
    expected = state | {
        "sensordata": arm.sample.sensordata,
        "qacc": arm.sample.qacc,
        "qfrc_actuator": arm.sample.qfrc_actuator,
        "references": arm.references.values,
    }
    names = [it.name for it in state_fields(arm.model, arm.data)]
    assert set(state) < set(names)
    assert [*names, *(it for it in expected if it not in state)] == [it.name for it in ring.fields]
    for field in ring.fields:
        if field.name not in expected:
            continue
        row = pending(ring, field.name)[-1]
        np.testing.assert_array_equal(row, expected[field.name], err_msg=field.name)


def test_every_nth_step_makes_a_row(arm):
    ring = RingBuffer(arm.plant, 4)
    log(ring, arm, 12)
    assert times(ring) == [0.003, 0.007, 0.011]


def test_removed_rows_free_their_space(arm, monkeypatch):
    monkeypatch.setattr(ring_module, "_BYTES", 0)
    monkeypatch.setattr(ring_module, "_FEWEST", 10)
    ring = RingBuffer(arm.plant, 1)
    logged: list[float] = []
    for steps in (7, 6, 9, 10, 3):
        log(ring, arm, steps)
        logged += times(ring)
        ring.remove(steps)
    assert logged == [round(0.001 * i, 6) for i in range(35)]
    assert ring.dropped == 0


def test_rows_without_space_are_dropped_and_counted(arm, monkeypatch):
    monkeypatch.setattr(ring_module, "_BYTES", 0)
    monkeypatch.setattr(ring_module, "_FEWEST", 10)
    ring = RingBuffer(arm.plant, 1)
    log(ring, arm, 13)
    assert times(ring) == [round(0.001 * i, 6) for i in range(10)]
    assert ring.dropped == 3
    ring.remove(10)
    log(ring, arm, 2)
    assert times(ring) == [0.013, 0.014]


def test_an_empty_ring_has_no_pending_rows(arm):
    assert RingBuffer(arm.plant, 1).pending() == []
