"""Sizes and encoder offsets of compiled models, compared with models that are built with them."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.controllers.evaluation.variations import offset_hinge, set_box_size, set_mass

BOX = """<mujoco><worldbody><geom type="plane" size="1 1 0.1"/>
<body name="box" pos="0 0 {z}"><freejoint/>
<inertial pos="0 0 0" mass="0.3" diaginertia="{i} {i} {i}"/>
<geom type="box" size="{h} {h} {h}" mass="0"/></body></worldbody></mujoco>"""
ARM = """<mujoco><compiler angle="radian"/><worldbody>
<body name="a" pos="0.1 0 0.2" euler="0.3 0.2 0.1">
<joint name="j" axis="0.6 0 0.8" pos="0.05 0.02 0"/><geom size="0.1"/>
<body pos="0.3 0 0"><geom size="0.05"/><site name="tip" pos="0 0.1 0.2"/></body></body>
</worldbody></mujoco>"""


def built(size: float) -> mujoco.MjModel:
    inertia = 0.3 * size * size / 6
    return mujoco.MjModel.from_xml_string(BOX.format(h=size / 2, i=inertia, z=size / 2 + 0.05))


def test_a_box_with_another_size_falls_and_tilts_as_one_that_was_built_with_it():
    edited, expected = built(0.04), built(0.06)
    set_box_size(edited, 1, (0.06, 0.06, 0.06))
    edited.qpos0[2] = 0.08
    mujoco.mj_setConst(edited, mujoco.MjData(edited))
    states = []
    for model in (edited, expected):
        data = mujoco.MjData(model)
        data.qvel[3:] = 1.0, 2.0, 0.5
        mujoco.mj_step(model, data, nstep=400)
        states.append(data.qpos.copy())
    assert states[0] == pytest.approx(states[1], abs=1e-12)
    with pytest.raises(ValueError, match="body 'world' has 0 collision boxes, not 1"):
        set_box_size(edited, 0, (0.1, 0.1, 0.1))


def test_the_inertia_follows_the_mass():
    model = built(0.04)
    before = model.body_inertia[1].copy()
    set_mass(model, 1, 0.6)
    assert model.body_mass[1] == 0.6
    assert model.body_inertia[1] == pytest.approx(2 * before)


def test_an_offset_turns_the_link_about_its_joint():
    true, offset = mujoco.MjModel.from_xml_string(ARM), mujoco.MjModel.from_xml_string(ARM)
    offset_hinge(offset, 0, 0.02)
    positions = []
    for model, angle in ((true, 0.7 - 0.02), (offset, 0.7)):
        data = mujoco.MjData(model)
        data.qpos[0] = angle
        mujoco.mj_forward(model, data)
        positions.append(np.concatenate([data.site("tip").xpos, data.site("tip").xmat]))
    assert positions[0] == pytest.approx(positions[1], abs=1e-12)
