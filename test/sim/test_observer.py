"""Observations of the present state beside the physics."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.scene.entities import Entity, EntityKind
from mujoco_ros.sim.observer import Observer, Placement, contact_forces, obstacle, place

MODEL = """
<mujoco>
  <option timestep="1e-4" integrator="RK4"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 1"/>
    <body name="brick" pos="0 0 5">
      <freejoint/>
      <geom name="brick" type="box" size=".1 .2 .3" pos=".05 0 0"/>
    </body>
    <body name="door"><joint axis="0 0 1"/><geom type="box" size=".5 .01 1" pos=".5 0 1"/></body>
    <body name="pointer" mocap="true" pos="1 2 3"><site name="tip" pos="0 0 1"/></body>
    <body name="pole" pos="0 3 0"><geom type="capsule" size=".1 .5" euler="90 0 0"/></body>
  </worldbody>
</mujoco>
"""


@pytest.fixture
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(MODEL)


@pytest.fixture
def tumbling(model: mujoco.MjModel) -> mujoco.MjData:
    data = mujoco.MjData(model)
    data.qvel[:] = [1.0, -2.0, 3.0, 4.0, -5.0, 6.0, 2.0]
    return data


def observe(observer: Observer, data: mujoco.MjData) -> Observer:
    observer.set(observer.read(data))
    return observer


@pytest.mark.parametrize("body", ["brick", "door"])
@pytest.mark.parametrize("offset", [(0.0, 0.0, 0.0), (0.3, -0.2, 0.5)])
def test_velocity_and_acceleration_are_the_derivatives_of_the_pose(model, tumbling, body, offset):
    observer, number = Observer(model), model.body(body).id
    frame = np.array([*offset, 1.0, 0.0, 0.0, 0.0])
    motions = []
    for _ in range(3):
        motions.append(observe(observer, tumbling).motion(number, frame))
        mujoco.mj_step(model, tumbling)
    before, now, after = motions
    h = model.opt.timestep
    assert now.linear == pytest.approx((after.position - before.position) / (2 * h), abs=1e-4)
    assert now.linear_acceleration == pytest.approx(
        (after.linear - before.linear) / (2 * h), abs=1e-3
    )
    assert now.angular_acceleration == pytest.approx(
        (after.angular - before.angular) / (2 * h), abs=1e-3
    )
    turned = np.zeros(3)
    mujoco.mju_subQuat(turned, after.quat_wxyz, before.quat_wxyz)
    in_world = np.zeros(3)
    mujoco.mju_rotVecQuat(in_world, turned, now.quat_wxyz)
    assert now.angular == pytest.approx(in_world / (2 * h), abs=1e-3)


def test_a_falling_body_accelerates_by_gravity_and_a_fixed_one_not_at_all(model, tumbling):
    observer = observe(Observer(model), tumbling)
    tumbling.qvel[:] = 0.0
    observe(observer, tumbling)
    centre = np.array([0.05, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    falling = observer.motion(model.body("brick").id, centre)
    assert falling.linear_acceleration == pytest.approx([0, 0, -9.81])
    for body in ("world", "pole", "pointer"):
        still = observer.motion(model.body(body).id)
        assert not still.linear_acceleration.any()
        assert not still.linear.any()


def test_an_observation_does_not_change_the_simulation(model, tumbling):
    other = mujoco.MjData(model)
    other.qvel[:] = tumbling.qvel
    observer = Observer(model)
    for _ in range(20):
        observe(observer, tumbling)
        mujoco.mj_step(model, tumbling)
        mujoco.mj_step(model, other)
    assert tumbling.qpos.tobytes() == other.qpos.tobytes()


def test_a_jump_is_observed_at_once(model, tumbling):
    observer = Observer(model)
    tumbling.qpos[:3] = [7.0, 8.0, 9.0]
    tumbling.mocap_pos[0] = [1.0, 1.0, 1.0]
    observe(observer, tumbling)
    assert list(observer.motion(model.body("brick").id).position) == [7.0, 8.0, 9.0]
    assert list(observer.motion(model.body("pointer").id).position) == [1.0, 1.0, 1.0]
    position, quat = observer.site(model.site("tip").id)
    assert list(position) == [1.0, 1.0, 2.0]
    assert list(quat) == [1.0, 0.0, 0.0, 0.0]


def test_the_box_around_geoms_follows_their_pose(model, tumbling):
    observer, brick = Observer(model), model.geom("brick").id
    tumbling.qpos[3:7] = [2**-0.5, 0.0, 0.0, 2**-0.5]  # a quarter turn about z
    observe(observer, tumbling)
    in_world = observer.box([brick])
    assert in_world is not None
    assert in_world.low == pytest.approx([-0.2, -0.05, 4.7])
    assert in_world.high == pytest.approx([0.2, 0.15, 5.3])
    in_itself = observer.box([brick], model.body("brick").id)
    assert in_itself is not None
    assert in_itself.low == pytest.approx([-0.05, -0.2, -0.3])
    assert in_itself.high == pytest.approx([0.15, 0.2, 0.3])


def test_an_empty_set_of_geoms_and_infinite_ones_have_no_box(model, tumbling):
    observer = observe(Observer(model), tumbling)
    assert observer.box([]) is None
    assert observer.box([model.geom("floor").id, model.geom("brick").id]) is None


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
    mujoco.mj_step(model, stepped)  # it has the contacts of the state before
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


PLACEABLE = """
<mujoco>
  <worldbody>
    <body name="brick" pos="0 0 5"><freejoint/><geom size=".1"/>
      <body name="lid"><joint name="lid"/><geom size=".1" pos=".5 0 0"/></body>
    </body>
    <body name="pointer" mocap="true"/>
  </worldbody>
</mujoco>
"""
OFFSET = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
POSE = np.array([1.0, 2.0, 3.0, 0.5, 0.5, 0.5, 0.5])
TWIST = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])


def entity(**fields) -> Entity:
    given = {"name": "it", "kind": EntityKind.OBJECT, "root": 1, "offset": OFFSET, "moves": True}
    return Entity(**given | {"bodies": (1,), "geoms": ()} | fields)


BRICK, POINTER = entity(free=(0, 0)), entity(mocap=0)


@pytest.fixture
def placeable() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(PLACEABLE)


def test_a_placed_state_is_observed(placeable):
    data, observer = mujoco.MjData(placeable), Observer(placeable)
    place(data, BRICK, Placement(pose=POSE, twist=TWIST))
    observer.set(observer.read(data))
    seen = observer.motion(1)
    assert [*seen.position, *seen.quat_wxyz] == pytest.approx(POSE)
    assert [*seen.linear, *seen.angular] == pytest.approx(TWIST)


def test_a_pose_alone_does_not_change_the_velocity_in_the_world(placeable):
    data, observer = mujoco.MjData(placeable), Observer(placeable)
    place(data, BRICK, Placement(twist=TWIST))
    place(data, BRICK, Placement(pose=POSE))
    observer.set(observer.read(data))
    seen = observer.motion(1)
    assert [*seen.linear, *seen.angular] == pytest.approx(TWIST)


def test_a_twist_alone_does_not_change_the_pose(placeable):
    data = mujoco.MjData(placeable)
    place(data, BRICK, Placement(twist=TWIST))
    assert list(data.qpos[:7]) == [0, 0, 5, 1, 0, 0, 0]


def test_the_joints_of_a_placed_robot_are_unchanged(placeable):
    data = mujoco.MjData(placeable)
    data.qpos[7], data.qvel[6] = 0.4, 0.3
    place(data, BRICK, Placement(pose=POSE, twist=TWIST))
    assert (data.qpos[7], data.qvel[6]) == (0.4, 0.3)


def test_a_mocap_body_has_its_placed_pose(placeable):
    data = mujoco.MjData(placeable)
    place(data, POINTER, Placement(pose=POSE))
    assert [*data.mocap_pos[0], *data.mocap_quat[0]] == list(POSE)


@pytest.mark.parametrize(
    ("what", "placement", "reason"),
    [
        (BRICK, Placement(pose=POSE, twist=TWIST), ""),
        (POINTER, Placement(pose=POSE, twist=np.zeros(6)), ""),
        (POINTER, Placement(twist=TWIST), "'it' is a mocap body: it has a pose, but no velocity"),
        (entity(jointed=True), Placement(pose=POSE), "its joints connect it to the world"),
        (entity(), Placement(pose=POSE), "it is fixed to the world"),
    ],
)
def test_an_entity_that_cannot_be_placed_is_refused_with_the_reason(what, placement, reason):
    found = obstacle(what, placement)
    assert reason in found
    assert bool(found) == bool(reason)
