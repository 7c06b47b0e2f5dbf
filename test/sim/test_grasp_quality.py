"""Closures of grasps and margins of friction, compared with analytic expectations."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.sim.grasp_quality import HoldingContacts, holding_contacts

FORCE_N, MASS_KG, FRICTION = 5.0, 0.2, 0.8
FINGER = """
<body name="{name}" pos="0 {y} 0">
  <joint name="{name}" type="slide" axis="0 {axis} 0" damping="20"/>
  <geom type="box" size="0.01 0.01 0.01" mass="0.2" friction="0.8 0.005 0.0001" condim="4"/>
</body>"""
GRIP = f"""
<mujoco>
  <option cone="elliptic" impratio="100" timestep="0.001"/>
  <worldbody>
    <body name="cube"><freejoint/>
      <geom type="box" size="0.02 0.02 0.02" mass="{MASS_KG}" friction="0.1 0.005 0.0001"/>
    </body>
    {FINGER.format(name="left", y=0.03, axis=-1)} {FINGER.format(name="right", y=-0.03, axis=1)}
  </worldbody>
  <actuator><motor joint="left"/><motor joint="right"/></actuator>
</mujoco>
"""


def test_the_margin_is_the_friction_that_the_weight_leaves() -> None:
    model = mujoco.MjModel.from_xml_string(GRIP)
    data = mujoco.MjData(model)
    cube, left = model.body("cube").id, model.body("left").id
    data.ctrl[:] = FORCE_N
    while data.time < 0.5:
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    found = holding_contacts(model, data, cube)
    assert found.pressed.sum() == pytest.approx(2 * FORCE_N, rel=0.02)
    weight = MASS_KG * 9.81
    shares = found.sliding * found.pressed * FRICTION
    assert shares.sum() == pytest.approx(weight, rel=0.02)
    assert found.margin == pytest.approx(1 - weight / (2 * FORCE_N * FRICTION), abs=0.06)
    assert found.force_closure() > 0.1
    assert found.form_closure() == 0.0
    assert (found.normals[:, 1] * found.points[:, 1] < 0).all(), "they point into the cube"
    one = holding_contacts(model, data, cube, {left})
    assert len(one.points) == len(found.points) / 2
    assert one.force_closure() == 0.0


def cage(offset: float) -> HoldingContacts:
    """Two contacts without friction on each face of a cube, off the middle in turn."""
    points, normals = [], []
    for axis, side in np.ndindex(3, 2):
        for sign in (1.0, -1.0):
            point, normal = np.zeros(3), np.zeros(3)
            point[axis], point[(axis + 1) % 3] = 2 * side - 1.0, sign * offset
            normal[axis] = 1.0 - 2 * side
            points.append(point)
            normals.append(normal)
    none = np.zeros(len(points))
    return HoldingContacts(
        points=np.array(points),
        normals=np.array(normals),
        friction=none,
        torsion=none,
        pressed=none,
        sliding=none,
    )


def test_a_cage_is_a_form_closure_and_contacts_in_the_middle_are_not() -> None:
    assert cage(0.5).form_closure() > 0.1
    assert cage(0.5).force_closure() == pytest.approx(cage(0.5).form_closure())
    assert cage(0.0).form_closure() == 0.0
    assert cage(0.5).form_closure() > cage(0.2).form_closure()
    assert np.isnan(cage(0.5).margin), "without load"


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_a_body_that_slides_has_no_margin_in_any_direction(cone: str) -> None:
    xml = f"""
    <mujoco>
      <option cone="{cone}" gravity="3 3 -3" impratio="10"/>
      <worldbody>
        <geom type="plane" size="1 1 .1" friction=".5"/>
        <body name="block" pos="0 0 .02">
          <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/>
          <joint type="slide" axis="0 0 1"/>
          <geom type="box" size=".1 .1 .02" friction=".5"/>
        </body>
      </worldbody>
    </mujoco>"""
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    block, margins = model.body("block").id, []
    for step in range(200):
        mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        if step > 20 and data.ncon:  # it bounces a little
            margins.append(holding_contacts(model, data, block).margin)
    assert len(margins) > 5
    assert margins == pytest.approx([0.0] * len(margins), abs=0.01)
