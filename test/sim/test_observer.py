"""Observations of the present state beside the physics."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.sim.observer import Observer

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
