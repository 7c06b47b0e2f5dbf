"""Numbers in segmentation images, and their meaning."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.rendering.segmentation import Label, Segmentation
from mujoco_ros.sim.simulation import Simulation

GEOM, TENDON = int(mujoco.mjtObj.mjOBJ_GEOM), int(mujoco.mjtObj.mjOBJ_TENDON)


def test_bodies_then_tendons_have_numbers_and_the_background_is_0():
    model = mujoco.MjModel.from_xml_string(
        """
        <mujoco><worldbody>
          <geom size="1"/>
          <body name="arm"><joint name="j" axis="1 0 0"/><geom size="1"/><geom size="1"/>
            <site name="a"/></body>
          <body name="hand"><geom size="1"/><site name="b"/></body></worldbody>
          <tendon><spatial name="cord"><site site="a"/><site site="b"/></spatial></tendon>
        </mujoco>"""
    )
    seen = np.array([[(0, GEOM), (1, GEOM), (2, GEOM)], [(3, GEOM), (0, TENDON), (-1, -1)]])
    numbers = Segmentation(model).numbers(seen.astype(np.int32))
    assert numbers.dtype == np.uint16
    assert numbers.tolist() == [[1, 2, 2], [3, 4, 0]]


@pytest.fixture(scope="module")
def arm() -> Simulation:
    return Simulation(load_scene("arm"))


def test_the_legend_names_links_and_objects_with_their_frames(arm):
    model, layout = arm.model, arm.layout
    legend = Segmentation(model).legend(layout)
    assert len(legend) == model.nbody + model.nflex + model.nskin + model.ntendon
    assert legend[1] == Label(kind="body", name="world", frame="world")
    robot = layout.robots[0]
    link = robot.bodies[0]
    name = model.body(link).name
    assert legend[1 + link] == Label(kind="body", name=name, frame=robot.frame(name))
    frame, base = layout.free_objects[0]
    assert legend[1 + base.body] == Label(kind="body", name=model.body(base.body).name, frame=frame)
