import mujoco
import numpy as np
import pytest

from mujoco_ros.sim.contact_forces import contact_forces

BLOCKS = """
<mujoco>
  <option integrator="implicitfast" cone="elliptic"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 .1" euler="0 10 0"/>
    <body name="lower" pos="0 0 .11" euler="0 10 0">
      <freejoint/><geom name="lower" type="box" size=".2 .2 .1" mass="3"/>
      <body name="arm" pos="0 .3 .1"><joint name="arm" axis="0 1 0"/>
        <geom type="capsule" size=".02 .1" pos="0 0 .12" mass=".2"/></body>
    </body>
    <body name="upper" pos=".04 0 .31" euler="0 10 0">
      <freejoint/><geom name="upper" type="box" size=".1 .1 .1" mass="2"/>
    </body>
  </worldbody>
  <actuator><position joint="arm" kp="5"/></actuator>
</mujoco>
"""
FLOATING = """
<mujoco>
  <worldbody>
    <geom type="plane" size="5 5 .1"/>
    <flexcomp name="cloth" type="grid" count="4 4 1" spacing=".1 .1 .1" pos="0 0 .05" radius=".02"
              dim="2" mass=".5"><edge equality="true"/></flexcomp>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def settled() -> tuple[mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(BLOCKS)
    data = mujoco.MjData(model)
    data.ctrl[0] = 0.4
    for _ in range(1000):
        mujoco.mj_step(model, data)
    return model, data


def test_each_force_equals_that_of_the_engine_in_world_axes(settled):
    model, data = settled
    found = contact_forces(model, data)
    assert len(found.points) == data.ncon > 4
    np.testing.assert_array_equal(found.points, data.contact.pos)
    for index in range(data.ncon):
        force = np.zeros(6)
        mujoco.mj_contactForce(model, data, index, force)
        axes = data.contact.frame[index].reshape(3, 3)
        np.testing.assert_allclose(found.forces[index], axes.T @ force[:3], atol=1e-12)


def test_a_force_is_that_on_the_second_body(settled):
    model, data = settled
    found = contact_forces(model, data)
    upper, weight = model.body("upper").id, model.body("upper").mass[0] * 9.81
    on_upper = np.zeros(3)
    for force, (first, second) in zip(found.forces, found.bodies, strict=True):
        on_upper += force if second == upper else -force if first == upper else 0
    np.testing.assert_allclose(on_upper, [0, 0, weight], atol=0.02 * weight)


def test_a_state_copied_to_another_model_gives_the_forces_of_the_step(settled):
    model, stepped = settled
    before = mujoco.MjData(model)
    mujoco.mj_copyState(model, stepped, before, int(mujoco.mjtState.mjSTATE_INTEGRATION))
    mujoco.mj_step(model, stepped)  # its contacts are those of the state before
    other = mujoco.MjModel.from_xml_string(BLOCKS)
    data = mujoco.MjData(other)
    mujoco.mj_copyState(other, before, data, int(mujoco.mjtState.mjSTATE_INTEGRATION))
    mujoco.mj_forward(other, data)
    expected, found = contact_forces(model, stepped), contact_forces(other, data)
    np.testing.assert_allclose(found.points, expected.points, atol=1e-12)
    np.testing.assert_allclose(found.forces, expected.forces, atol=1e-9)


def test_contacts_of_deformable_bodies_have_bodies():
    model = mujoco.MjModel.from_xml_string(FLOATING)
    data = mujoco.MjData(model)
    for _ in range(100):
        mujoco.mj_step(model, data)
    found = contact_forces(model, data)
    assert len(found.points)
    assert (found.bodies[:, 0] == 0).all()
    assert (found.bodies[:, 1] > 0).all()
    assert (found.sides[:, 3] == 0).all()


def test_without_contacts_there_are_no_forces():
    model = mujoco.MjModel.from_xml_string("<mujoco/>")
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    found = contact_forces(model, data)
    assert found.points.shape == found.forces.shape == (0, 3)
    assert found.bodies.shape == (0, 2)
