"""Setting poses and velocities of entities."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.scene.entities import Entity, EntityKind
from mujoco_ros.sim.observer import Observer
from mujoco_ros.sim.placement import Placement, obstacle, place

MODEL = """
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
def model() -> mujoco.MjModel:
    return mujoco.MjModel.from_xml_string(MODEL)


def test_a_placed_state_is_observed(model):
    data, observer = mujoco.MjData(model), Observer(model)
    place(data, BRICK, Placement(pose=POSE, twist=TWIST))
    observer.set(observer.read(data))
    seen = observer.motion(1)
    assert [*seen.position, *seen.quat_wxyz] == pytest.approx(POSE)
    assert [*seen.linear, *seen.angular] == pytest.approx(TWIST)


def test_a_pose_alone_does_not_change_the_velocity_in_the_world(model):
    data, observer = mujoco.MjData(model), Observer(model)
    place(data, BRICK, Placement(twist=TWIST))
    place(data, BRICK, Placement(pose=POSE))
    observer.set(observer.read(data))
    seen = observer.motion(1)
    assert [*seen.linear, *seen.angular] == pytest.approx(TWIST)


def test_a_twist_alone_does_not_change_the_pose(model):
    data = mujoco.MjData(model)
    place(data, BRICK, Placement(twist=TWIST))
    assert list(data.qpos[:7]) == [0, 0, 5, 1, 0, 0, 0]


def test_the_joints_of_a_placed_robot_are_unchanged(model):
    data = mujoco.MjData(model)
    data.qpos[7], data.qvel[6] = 0.4, 0.3
    place(data, BRICK, Placement(pose=POSE, twist=TWIST))
    assert (data.qpos[7], data.qvel[6]) == (0.4, 0.3)


def test_a_mocap_body_has_its_placed_pose(model):
    data = mujoco.MjData(model)
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
