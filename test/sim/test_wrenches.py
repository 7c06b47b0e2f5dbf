"""Wrenches on bodies, in frames of bodies and of the world."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.robot.body_frames import BodyFrame
from mujoco_ros.sim.wrenches import AppliedEffort, AppliedWrench, ExternalWrenches

_STEP_S = 0.001
_MASS, _INERTIA = 2.0, (0.2, 0.3, 0.4)
_COM = (0.0, 0.3, 0.0)

_XML = f"""
<mujoco>
  <option timestep="{_STEP_S}" gravity="0 0 0" integrator="Euler"/>
  <worldbody>
    <body name="box" pos="1 2 3" quat="1 1 0 0">
      <freejoint/>
      <inertial pos="{_COM[0]} {_COM[1]} {_COM[2]}" mass="{_MASS}"
        diaginertia="{_INERTIA[0]} {_INERTIA[1]} {_INERTIA[2]}"/>
    </body>
    <body name="other" pos="5 0 0">
      <freejoint/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>
    </body>
  </worldbody>
</mujoco>
"""
_UPRIGHT = np.array([1.0, 0.0, 0.0, 0.0])


class World:
    """Two free bodies in empty space, and the wrenches on them."""

    def __init__(self, xml: str = _XML) -> None:
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)
        self.wrenches = ExternalWrenches(self.model, self.data)
        self.box, self.other = self.model.body("box").id, self.model.body("other").id

    def place(
        self,
        body: str = "box",
        position: tuple[float, float, float] = (0.0, 0.0, 0.0),
        quat_wxyz: np.ndarray = _UPRIGHT,
        frame: str = "",
    ) -> BodyFrame:
        return BodyFrame(
            frame=frame or body,
            owner=body,
            body=self.model.body(body).id,
            position=np.array(position),
            quat_wxyz=np.array(quat_wxyz),
        )

    def step(self, count: int = 1) -> None:
        for _ in range(count):
            if self.wrenches.acting:
                self.wrenches.apply(self.data.time)
            mujoco.mj_step(self.model, self.data)


def _wrench(
    *force: float, torque: tuple[float, float, float] = (0, 0, 0), **rest: object
) -> AppliedWrench:
    return AppliedWrench(force=force, torque=torque, **rest)  # type: ignore[arg-type]


def test_a_force_at_the_centre_of_mass_accelerates_by_force_over_mass() -> None:
    world = World()
    place = world.place(position=_COM)
    world.wrenches.put(place, _wrench(0.0, 4.0, 0.0))  # the body's y axis points up
    world.step()
    assert world.data.qvel[:6] == pytest.approx([0, 0, 4.0 / _MASS * _STEP_S, 0, 0, 0], abs=1e-9)


def test_a_force_at_the_origin_rotates_a_body_with_an_offset_centre_of_mass() -> None:
    world = World()
    world.wrenches.put(world.place(), _wrench(4.0, 0.0, 0.0))
    world.step()
    # Torque about the centre of mass: (origin - com) x force = (0, -0.3, 0) x (4, 0, 0).
    assert world.data.qvel[5] == pytest.approx(0.3 * 4.0 / _INERTIA[2] * _STEP_S)


def test_a_frame_on_a_body_has_its_own_axes_and_origin() -> None:
    world = World()
    half_turn_about_z = np.array([0.0, 0.0, 0.0, 1.0])
    world.wrenches.put(
        world.place(position=_COM, quat_wxyz=half_turn_about_z, frame="tool"),
        _wrench(0.0, 4.0, 0.0, torque=(0.1, 0.0, 0.0)),
    )
    world.step()
    assert world.data.qvel[2] == pytest.approx(-4.0 / _MASS * _STEP_S)
    assert world.data.qvel[3] == pytest.approx(-0.1 / _INERTIA[0] * _STEP_S)


@pytest.mark.parametrize("in_world", [False, True])
def test_a_wrench_rotates_with_the_body_unless_it_is_in_the_axes_of_the_world(
    in_world: bool,
) -> None:
    """Against the same, worked out by hand at every step."""
    world, by_hand = World(), World()
    force, torque = np.array([1.0, 2.0, 3.0]), np.array([0.5, -0.2, 0.3])
    wrench = AppliedWrench(force=tuple(force), torque=tuple(torque), in_world=in_world)
    point = np.array([0.1, 0.2, -0.3])
    for each in (world, by_hand):
        each.data.qvel[3:6] = 3.0, -4.0, 5.0
    world.wrenches.put(world.place(position=tuple(point)), wrench)
    for _ in range(300):
        world.step()
        data, box = by_hand.data, by_hand.box
        mujoco.mj_kinematics(by_hand.model, data)
        axes = data.xmat[box].reshape(3, 3)
        pushed, turned = (force, torque) if in_world else (axes @ force, axes @ torque)
        lever = data.xpos[box] + axes @ point - data.xipos[box]
        data.xfrc_applied[box] = [*pushed, *(turned + np.cross(lever, pushed))]
        mujoco.mj_step(by_hand.model, data)
    assert np.linalg.norm(world.data.qvel[:6]) > 1.0
    assert world.data.qpos == pytest.approx(by_hand.data.qpos, abs=1e-9)


def test_wrenches_at_several_bodies_and_at_several_frames_of_one_add_up() -> None:
    world = World()
    world.wrenches.put(world.place(position=_COM, frame="a"), _wrench(0.0, 4.0, 0.0))
    world.wrenches.put(world.place(position=_COM, frame="b"), _wrench(0.0, 2.0, 0.0))
    world.wrenches.put(world.place("other"), _wrench(0.0, 0.0, 5.0))
    world.step()
    assert world.data.qvel[2] == pytest.approx(6.0 / _MASS * _STEP_S)
    assert world.data.qvel[8] == pytest.approx(5.0 * _STEP_S)
    assert set(world.wrenches.listing) == {"a", "b", "other"}


def test_a_wrench_is_replaced_by_the_next_at_its_frame() -> None:
    world = World()
    for force in (4.0, 2.0):
        world.wrenches.put(world.place(position=_COM), _wrench(0.0, force, 0.0))
    world.step()
    assert world.data.qvel[2] == pytest.approx(2.0 / _MASS * _STEP_S)


def test_a_zero_wrench_ends_a_wrench_without_a_residue() -> None:
    world = World()
    world.wrenches.put(world.place(), _wrench(1.0, 1.0, 1.0))
    world.wrenches.put(world.place("other"), _wrench(1.0, 1.0, 1.0))
    world.step()
    world.wrenches.put(world.place(), _wrench(0.0, 0.0, 0.0))
    assert not world.data.xfrc_applied[world.box].any()
    assert world.wrenches.acting
    world.wrenches.put(world.place("other"), _wrench(0.0, 0.0, 0.0))
    assert not world.wrenches.acting
    assert not world.data.xfrc_applied.any()
    assert world.wrenches.listing == {}


@pytest.mark.parametrize("steps", [1, 7, 250])
def test_a_wrench_acts_for_exactly_its_time(steps: int) -> None:
    world = World()
    world.step(13)
    until = world.data.time + steps * _STEP_S
    world.wrenches.put(world.place("other"), _wrench(0.0, 0.0, 1.0, until=until))
    world.step(steps + 20)
    assert world.data.qvel[8] == pytest.approx(steps * _STEP_S)
    assert not world.wrenches.acting
    assert not world.data.xfrc_applied.any()


def test_wrenches_end_at_their_own_times() -> None:
    world = World()
    world.wrenches.put(world.place("other", frame="a"), _wrench(0.0, 0.0, 1.0, until=0.010))
    world.wrenches.put(world.place("other", frame="b"), _wrench(0.0, 0.0, 1.0, until=0.030))
    world.wrenches.put(world.place("box", frame="c"), _wrench(0.0, 0.0, 1.0))
    world.step(50)
    assert world.data.qvel[8] == pytest.approx(40 * _STEP_S)
    assert list(world.wrenches.listing) == ["c"]


def test_clear_ends_all_wrenches() -> None:
    world = World()
    world.wrenches.put(world.place(), _wrench(1.0, 1.0, 1.0))
    world.step()
    world.wrenches.clear()
    assert not world.wrenches.acting
    assert not world.data.xfrc_applied.any()


def test_forces_of_others_on_other_bodies_are_unchanged() -> None:
    world = World()
    world.data.xfrc_applied[world.other, 2] = 7.0
    world.wrenches.put(world.place(), _wrench(1.0, 0.0, 0.0))
    world.step()
    world.wrenches.clear()
    assert world.data.xfrc_applied[world.other, 2] == 7.0


def test_wrenches_are_transferred_to_the_next_model_by_body_names() -> None:
    world = World()
    world.wrenches.put(world.place(), _wrench(1.0, 1.0, 1.0))
    world.wrenches.put(world.place("other"), _wrench(0.0, 0.0, 3.0))
    more = '<body name="first"><freejoint/><geom size="0.1"/></body><body name="other"'
    xml = _XML.replace('<body name="other"', more).replace('name="box"', 'name="changed"')
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    world.wrenches.switch_model(model, data)
    assert list(world.wrenches.listing) == ["other"]
    world.wrenches.apply(0.0)
    acted = np.flatnonzero(data.xfrc_applied.any(axis=1))
    assert [model.body(int(body)).name for body in acted] == ["other"]


def test_a_wrench_for_a_frame_of_the_previous_model_finds_its_body() -> None:
    world = World()
    place = world.place("other")
    more = '<body name="first"><freejoint/><geom size="0.1"/></body><body name="box"'
    model = mujoco.MjModel.from_xml_string(_XML.replace('<body name="box"', more))
    data = mujoco.MjData(model)
    world.wrenches.switch_model(model, data)
    world.wrenches.put(place, _wrench(0.0, 0.0, 3.0))
    world.wrenches.apply(0.0)
    assert data.body("other").xfrc_applied[2] == 3.0
    assert np.count_nonzero(data.xfrc_applied) == 1
    gone = mujoco.MjModel.from_xml_string(_XML.replace('name="other"', 'name="changed"'))
    world.wrenches.switch_model(gone, mujoco.MjData(gone))
    world.wrenches.put(place, _wrench(0.0, 0.0, 3.0))
    assert not world.wrenches.acting


def test_restored_wrenches_act_again() -> None:
    world = World()
    world.wrenches.put(world.place(), _wrench(1.0, 1.0, 1.0))
    saved = world.wrenches.save_state()
    world.wrenches.put(world.place(), _wrench(2.0, 2.0, 2.0))
    world.wrenches.put(world.place("other"), _wrench(2.0, 2.0, 2.0))
    world.wrenches.restore_state(saved)
    assert {f: w.force for f, w in world.wrenches.listing.items()} == {"box": (1.0, 1.0, 1.0)}
    world.step()
    assert not world.data.xfrc_applied[world.other].any()


def test_no_wrench_is_transferred_to_a_fresh_world() -> None:
    world = World()
    world.wrenches.put(world.place(), _wrench(1.0, 1.0, 1.0))
    model = mujoco.MjModel.from_xml_string(_XML)
    world.wrenches.switch_model(model, mujoco.MjData(model), fresh=True)
    assert not world.wrenches.acting


_DOOR = """
<mujoco>
  <option gravity="0 0 0" timestep="0.001"/>
  <worldbody>
    <body name="box"><freejoint/><geom size="0.1"/></body>
    <body name="other"><freejoint/><geom size="0.1"/></body>
    <body name="door" pos="3 0 0">
      <joint name="hinge" axis="0 0 1"/>
      <inertial pos="0 0 0" mass="1" diaginertia="1 1 2"/>
    </body>
  </worldbody>
</mujoco>
"""


def _effort(effort: float, joint: str = "hinge", **rest: float) -> AppliedEffort:
    return AppliedEffort(joint=joint, effort=effort, **rest)


def test_an_effort_accelerates_a_passive_joint_until_it_ends() -> None:
    world = World(_DOOR)
    world.wrenches.push(_effort(4.0, until=0.1))
    world.step(100)
    velocity = world.data.joint("hinge").qvel[0]
    assert velocity == pytest.approx(4.0 / 2.0 * 0.1, rel=0.02)
    world.step(100)
    assert world.data.joint("hinge").qvel[0] == pytest.approx(velocity, rel=0.02)
    assert not world.wrenches.acting
    assert not world.data.qfrc_applied.any()


def test_an_effort_replaces_the_one_on_its_joint_and_zero_ends_it() -> None:
    world = World(_DOOR)
    dof = world.model.joint("hinge").dofadr[0]
    world.wrenches.push(_effort(4.0))
    world.wrenches.push(_effort(1.0))
    world.step(3)
    assert world.data.qfrc_applied[dof] == 1.0
    world.wrenches.push(_effort(0.0))
    assert not world.wrenches.acting
    assert world.data.qfrc_applied[dof] == 0.0


def test_efforts_are_saved_and_continue_in_another_model_by_their_names() -> None:
    world = World(_DOOR)
    world.wrenches.push(_effort(4.0))
    world.wrenches.put(world.place(), _wrench(1.0, 0.0, 0.0))
    state = world.wrenches.save_state()
    world.wrenches.clear()
    assert not world.wrenches.efforts
    world.wrenches.restore_state(state)
    assert world.wrenches.efforts == {"hinge": _effort(4.0)}
    model = mujoco.MjModel.from_xml_string(
        _DOOR.replace('<body name="other"><freejoint/>', "<body>")
    )
    data = mujoco.MjData(model)
    world.wrenches.switch_model(model, data)
    world.wrenches.apply(0.0)
    assert data.qfrc_applied[model.joint("hinge").dofadr[0]] == 4.0
    world.wrenches.switch_model(mujoco.MjSpec().compile(), mujoco.MjData(mujoco.MjSpec().compile()))
    assert not world.wrenches.acting


def test_efforts_on_the_joints_of_a_body_end_with_its_wrenches() -> None:
    world = World(_DOOR)
    world.wrenches.push(_effort(4.0))
    world.wrenches.clear_bodies([world.model.body("door").id])
    assert not world.wrenches.efforts
