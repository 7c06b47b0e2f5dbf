from pathlib import Path

import numpy as np
import pytest

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import PoseConfig
from mujoco_ros.model.scene.config import RobotConfig, SceneConfig, load_scene
from mujoco_ros.sim.simulation import Simulation

ROBOT = """
<mujoco>
  <option gravity="0 0 0"/>
  <worldbody>
    <body name="base" pos="0 0 0.3">
      <freejoint/>
      <geom size="0.1"/>
      <body name="link" pos="0.2 0 0">
        <joint name="j" axis="0 0 1"/>
        <geom size="0.05"/>
        <body name="wrist" pos="0.1 0 0"><joint name="ball" type="ball"/><geom size="0.03"/></body>
      </body>
    </body>
  </worldbody>
  <keyframe>
    <key name="first" qpos="0 0 0.3 1 0 0 0 0.1 1 0 0 0"/>
    <key name="moving" qpos="1 0 0.5 0 0 0 1 0.2 0 1 0 0" qvel="1 2 3 0.4 0.5 0.6 0.7 0 0 0"/>
  </keyframe>
</mujoco>"""


@pytest.fixture
def scene(tmp_path):
    (tmp_path / "robot.xml").write_text(ROBOT)
    (tmp_path / "bare.xml").write_text(ROBOT.partition("<keyframe>")[0] + "</mujoco>")

    def build(*robots: RobotConfig) -> Simulation:
        return Simulation(SceneConfig(folder=tmp_path, robots=robots))

    return build


def state(simulation, robot: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return positions and velocities of one robot in the first sample."""
    found = simulation.layout.robots[robot]
    q, v = found.bases[0].qpos, found.bases[0].dof
    assert simulation.step()
    return simulation.sample.qpos[q : q + 12], simulation.sample.qvel[v : v + 10]


def test_a_robot_starts_in_its_first_keyframe(scene):
    qpos, qvel = state(scene(RobotConfig(name="a", model="robot.xml")))
    np.testing.assert_allclose(qpos, [0, 0, 0.3, 1, 0, 0, 0, 0.1, 1, 0, 0, 0])
    np.testing.assert_allclose(qvel, 0.0)


def test_a_robot_starts_in_the_keyframe_the_scene_names(scene):
    qpos, qvel = state(scene(RobotConfig(name="a", model="robot.xml", keyframe="moving")))
    np.testing.assert_allclose(qpos, [1, 0, 0.5, 0, 0, 0, 1, 0.2, 0, 1, 0, 0])
    np.testing.assert_allclose(qvel, [1, 2, 3, 0.4, 0.5, 0.6, 0.7, 0, 0, 0])


def test_a_robot_without_keyframes_starts_in_the_default_state_of_its_model(scene):
    qpos, qvel = state(scene(RobotConfig(name="a", model="bare.xml")))
    np.testing.assert_allclose(qpos, [0, 0, 0.3, 1, 0, 0, 0, 0, 1, 0, 0, 0])
    np.testing.assert_allclose(qvel, 0.0)


def test_the_pose_in_the_scene_moves_the_base_of_a_keyframe_and_its_velocity(scene):
    pose = PoseConfig(xyz=(10.0, 20.0, 0.5), rpy=(0.0, 0.0, np.pi / 2))
    robot = RobotConfig(name="a", model="robot.xml", keyframe="moving", pose=pose)
    qpos, qvel = state(scene(robot))
    np.testing.assert_allclose(qpos[:3], [10, 21, 1.0], atol=1e-12)
    # Half a turn about the vertical, and a quarter more.
    half = np.sqrt(0.5)
    quat = qpos[3:7] * np.sign(qpos[6])
    np.testing.assert_allclose(quat, [-half, 0, 0, half], atol=1e-12)
    np.testing.assert_allclose(qpos[7:], [0.2, 0, 1, 0, 0])
    np.testing.assert_allclose(qvel, [-2, 1, 3, 0.4, 0.5, 0.6, 0.7, 0, 0, 0], atol=1e-12)


def test_the_pose_in_the_scene_moves_a_robot_without_keyframes(scene):
    pose = PoseConfig(xyz=(10.0, 20.0, 0.5))
    qpos, _ = state(scene(RobotConfig(name="a", model="bare.xml", pose=pose)))
    np.testing.assert_allclose(qpos[:7], [10, 20, 0.8, 1, 0, 0, 0])


def test_two_equal_robots_start_in_their_own_keyframes(scene):
    simulation = scene(
        RobotConfig(name="a", model="robot.xml", keyframe="moving"),
        RobotConfig(name="b", model="robot.xml", pose=PoseConfig(xyz=(5.0, 0.0, 0.0))),
    )
    qpos, qvel = state(simulation, 0)
    np.testing.assert_allclose(qpos[:8], [1, 0, 0.5, 0, 0, 0, 1, 0.2])
    np.testing.assert_allclose(qvel[:3], [1, 2, 3])
    simulation.reset()
    qpos, qvel = state(simulation, 1)
    np.testing.assert_allclose(qpos[:8], [5, 0, 0.3, 1, 0, 0, 0, 0.1])
    np.testing.assert_allclose(qvel, 0.0)


def test_the_error_for_an_unknown_keyframe_lists_the_keyframes(scene):
    robot = RobotConfig(name="a", model="robot.xml", keyframe="mooving")
    with pytest.raises(
        UserInputError, match=r"robot 'a': keyframe 'mooving' not found.*'moving'.*first, moving"
    ):
        scene(robot)


def test_a_keyframe_of_a_robot_that_has_none_is_an_error(scene):
    with pytest.raises(UserInputError, match="keyframe 'home' not found; there are none"):
        scene(RobotConfig(name="a", model="bare.xml", keyframe="home"))


def test_a_keyframe_places_mocap_bodies_and_the_scene_moves_them(tmp_path: Path) -> None:
    (tmp_path / "robot.xml").write_text("""
        <mujoco>
          <worldbody>
            <body name="target" mocap="true" pos="1 2 3"><geom size="0.1"/></body>
            <body name="link"><joint name="hinge"/><geom size="0.1"/></body>
          </worldbody>
          <keyframe><key name="start" mpos="4 5 6" mquat="0 1 0 0"/></keyframe>
        </mujoco>""")
    (tmp_path / "scene.yaml").write_text("""
        robots:
          - name: turned
            model: robot.xml
            pose: {xyz: [1, 0, 0], rpy: [0, 0, 1.5707963267948966]}
          - {name: plain, model: robot.xml}""")
    data = Simulation(load_scene(str(tmp_path / "scene.yaml"))).data
    half = np.sqrt(0.5)
    np.testing.assert_allclose(data.mocap_pos, [[-4, 4, 6], [4, 5, 6]], atol=1e-12)
    np.testing.assert_allclose(data.mocap_quat, [[0, half, half, 0], [0, 1, 0, 0]], atol=1e-12)
