"""Soles are found in the collision geometry of feet."""

import mujoco
import numpy as np

from mujoco_ros.controllers.planning.kinematics.sole import find_soles

WEDGE = """
<mujoco>
  <asset>
    <mesh name="wedge" vertex="{vertices}"/>
  </asset>
  <worldbody>
    <body name="robot" pos="0 0 1">
      <freejoint/>
      <geom size="0.1"/>
      <body name="foot" pos="0.3 0 -0.5">
        <joint/>
        <geom type="mesh" mesh="wedge"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_the_sole_of_a_mesh_is_its_lowest_face():
    """The axes of a mesh are those of its inertia: its bounding box is tilted."""
    sole = [(x, y, -0.02) for x in (-0.06, 0.14) for y in (-0.05, 0.05)]
    heel = [(-0.06, y, 0.08) for y in (-0.05, 0.05)]
    vertices = " ".join(f"{number:g}" for vertex in sole + heel for number in vertex)
    model = mujoco.MjModel.from_xml_string(WEDGE.format(vertices=vertices))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    (found,) = find_soles(model, data, "", ("foot",))
    np.testing.assert_allclose(found.half_size, (0.1, 0.05), atol=1e-6)
    np.testing.assert_allclose(found.position, (0.04, 0.0, -0.02), atol=1e-6)
