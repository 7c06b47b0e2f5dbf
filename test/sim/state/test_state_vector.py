"""The engine's state as a vector."""

from functools import reduce
from operator import or_

import mujoco
import numpy as np

from mujoco_ros.sim.state.snapshots import restore, take_snapshot
from mujoco_ros.sim.state.state_vector import INTEGRATION, set_state, state_fields, state_vector

SLEEPING = """
<mujoco><option><flag sleep="enable"/></option><worldbody><geom type="plane" size="2 2 .1"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body pos="0 1 .12"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
  <body pos=".02 .02 1.4"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""


def test_the_fields_are_all_components_of_the_engine_one_after_the_other(shipped):
    simulation = shipped("zoo")
    model, data = simulation.model, simulation.data
    fields = state_fields(model, data)
    assert reduce(or_, (it.bit for it in fields)) == INTEGRATION
    state = state_vector(model, data)
    assert [it.part.start for it in fields[1:]] == [it.part.stop for it in fields[:-1]]
    assert fields[-1].part.stop == len(state)
    for field in fields:
        np.testing.assert_array_equal(field.view(state), getattr(data, field.name), field.name)


def test_a_state_continues_with_the_same_bits_while_bodies_sleep_and_wake():
    model = mujoco.MjModel.from_xml_string(SLEEPING)
    data, woken = mujoco.MjData(model), 0
    for _ in range(400):
        other, asleep = mujoco.MjData(model), data.tree_asleep.copy()
        set_state(model, other, state_vector(model, data))
        assert (other.tree_asleep == asleep).all()
        for it in (data, other):
            mujoco.mj_step(model, it)
        assert state_vector(model, other).tobytes() == state_vector(model, data).tobytes()
        woken += ((asleep >= 0) & (data.tree_asleep < 0)).any()
    assert woken


def test_a_restored_snapshot_has_the_same_bodies_asleep(simulate):
    simulation = simulate(SLEEPING)

    def run() -> bytes:
        states = []
        for _ in range(300):
            assert simulation.step()
            states.append(simulation.sample.state.copy())
        return np.array(states).tobytes()

    for _ in range(100):
        simulation.step()
    assert (simulation.data.tree_asleep >= 0).any()
    saved = take_snapshot(simulation)
    first = run()
    restore(simulation, saved)
    assert run() == first
