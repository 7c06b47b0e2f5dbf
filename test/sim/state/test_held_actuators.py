"""Actuators other than joint servos after a state was set."""

import numpy as np
import pytest

from mujoco_ros.sim.state.set_state import StateRequest, set_state, settable_joints

MODEL = """<mujoco><option timestep="0.001" gravity="0 0 0"/><worldbody>
  <body><joint name="j"/><geom size=".1" mass="1" pos=".2 0 0"/></body>
  <body pos="0 1 0"><joint name="k"/><geom size=".1" mass="1" pos=".2 0 0"/></body></worldbody>
  <tendon><fixed name="t"><joint joint="j" coef="1"/></fixed>
  <fixed name="u"><joint joint="k" coef="1"/></fixed></tendon>
  <actuator>{}</actuator></mujoco>"""
KINDS = {
    "tendon servo": '<position tendon="t" kp="50" kv="5"/>',
    "filtered joint servo": '<position joint="j" kp="50" kv="5" timeconst=".1"/>',
    "filtered tendon servo": '<position tendon="t" kp="50" kv="5" timeconst=".1"/>',
    "integrated velocity": '<intvelocity joint="j" kp="50" kv="5" actrange="-3 3"/>',
    "delayed joint servo": '<position joint="j" kp="50" kv="5" delay=".02" nsample="30"/>',
    "delayed tendon servo": '<position tendon="t" kp="50" kv="5" delay=".02" nsample="30"/>',
}


def put(simulation, **positions: float) -> None:
    table = settable_joints(simulation.model, simulation.layout)
    joints = {it.joint: it for it in table.values()}
    positions = {table[name].joint: value for name, value in positions.items()}
    set_state(
        simulation,
        joints,
        StateRequest(positions=positions, velocities=dict.fromkeys(positions, 0.0)),
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("goal", [0.8, 0.0])
def test_it_exerts_no_force_at_the_set_position(simulate, kind, goal):
    simulation = simulate(MODEL.format(KINDS[kind]))
    put(simulation, j=-0.4)
    for _ in range(50):
        simulation.step()
    put(simulation, j=goal)
    moved = []
    for _ in range(300):
        simulation.step()
        moved.append(abs(simulation.data.qpos[0] - goal))
    assert max(moved) < 1e-9


def test_controls_of_other_joints_stay(simulate):
    servos = '<position tendon="t" kp="50" kv="5"/><position tendon="u" kp="50" kv="5"/>'
    simulation = simulate(MODEL.format(servos))
    simulation.data.ctrl[:] = 0.3, 0.7
    put(simulation, j=0.5)
    np.testing.assert_allclose(simulation.data.ctrl, [0.5, 0.7], atol=1e-12)


def test_muscles_keep_their_activation(simulate):
    muscle = '<muscle joint="j" lengthrange=".1 .5" range="-1 1"/>'
    simulation = simulate(MODEL.format(muscle))
    simulation.data.ctrl[0] = 0.5
    for _ in range(100):
        simulation.step()
    active = float(simulation.data.act[0])
    assert active > 0.1
    put(simulation, j=0.2)
    assert simulation.data.act[0] == active
    assert simulation.data.ctrl[0] == 0.5
