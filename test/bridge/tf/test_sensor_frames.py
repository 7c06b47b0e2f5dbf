"""The TF frames in which sensors of frames report."""

import mujoco
import numpy as np
import pytest

from mujoco_ros.bridge.tf.robot_frames import plan_frames
from mujoco_ros.model.robot.description import descriptions
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

MODEL = """
<mujoco>
  <worldbody>
    <body name="arm" pos="0.1 0.2 0.3">
      <joint name="hinge" axis="1 2 3"/>
      <geom name="plate" type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="10 20 30"/>
      <geom name="knob" size="0.1" pos="0 0 0.4"/>
      <camera name="eye" pos="0 0.1 0" euler="40 50 60"/>
    </body>
    <body name="probe"><freejoint/><geom size="0.1"/><site name="tip" pos="0.3 0 0"/></body>
  </worldbody>
  <sensor>
    <framepos name="to_world" objtype="site" objname="tip"/>
    <framepos name="to_link" objtype="site" objname="tip" reftype="xbody" refname="arm"/>
    <framepos name="to_mass" objtype="site" objname="tip" reftype="body" refname="arm"/>
    <framepos name="to_geom" objtype="site" objname="tip" reftype="geom" refname="plate"/>
    <framepos name="to_camera" objtype="site" objname="tip" reftype="camera" refname="eye"/>
  </sensor>
</mujoco>"""


@pytest.mark.parametrize(
    ("sensor", "frame"),
    [
        ("to_world", "world"),
        ("to_link", "arm"),
        ("to_mass", "arm_inertial"),
        ("to_geom", "plate_geom"),
        ("to_camera", "eye_camera"),
    ],
)
@pytest.mark.parametrize("mode", ["base", "all"])
def test_a_position_in_its_frame_is_that_of_the_site(tmp_path, sensor, frame, mode):
    (tmp_path / "arm.xml").write_text(MODEL)
    simulation = Simulation(load_scene(str(tmp_path / "arm.xml")))
    model, data, layout = simulation.model, simulation.data, simulation.layout
    data.qpos[0] = 0.7
    data.qpos[1:4] = 1, 2, 3
    simulation.step()
    (found,) = (it for it in layout.robots[0].sensors["pose"] if it.name == sensor)
    assert layout.robots[0].sensor_frame(found.frame) == frame
    start = found.addresses["position"]
    reading = simulation.sample.sensordata[start : start + 3].copy()

    plan = plan_frames(model, layout, mode, descriptions(simulation.assembly, layout))
    place, parent = reading, frame
    for transform in plan.static:
        if transform.child_frame_id == frame:
            t, q = transform.transform.translation, transform.transform.rotation
            place, quat = np.zeros(3), np.array([q.w, q.x, q.y, q.z])
            mujoco.mju_rotVecQuat(place, reading, quat)
            place += (t.x, t.y, t.z)
            parent = transform.header.frame_id
    assert parent in ("world", "arm")
    if parent == "arm":
        body = model.body("arm").id
        place = data.xpos[body] + data.xmat[body].reshape(3, 3) @ place
    np.testing.assert_allclose(place, data.site("tip").xpos, atol=1e-9)
