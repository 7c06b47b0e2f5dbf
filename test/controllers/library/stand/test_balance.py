"""The balance of a robot, as its sensors measure it."""

from pathlib import Path

import numpy as np
import pytest

from mujoco_ros.controllers.interface.observation import BaseReading, ImuReading, Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.stand.stand_states import BaseTilt
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

MODEL = """<mujoco><worldbody><body name="trunk"><freejoint/><geom size=".1"/>
<body name="leg"><joint name="hip"/><geom size=".1"/><site name="foot_imu"/></body>
<site name="trunk_imu"/><site name="other_imu"/></body></worldbody></mujoco>"""


def about_x(angle: float) -> np.ndarray:
    return np.array([np.cos(angle / 2), np.sin(angle / 2), 0.0, 0.0])


@pytest.fixture
def robot(tmp_path: Path) -> RobotModel:
    (tmp_path / "robot.xml").write_text(MODEL)
    return robot_model(Simulation(load_scene(str(tmp_path / "robot.xml"))).plant, 0)


def observation(base: float | None = None, **imus: float | None) -> Observation:
    """Return an observation with tilts about x [rad]; None is not measured."""
    readings = {
        name: ImuReading(quat_wxyz=None if angle is None else about_x(angle))
        for name, angle in imus.items()
    }
    zero = np.zeros(3)
    pose = None if base is None else Pose(quat_wxyz=about_x(base))
    return Observation(
        time=0.0,
        q=np.zeros(1),
        dq=np.zeros(1),
        effort=np.zeros(1),
        imus=readings,
        base=None if pose is None else BaseReading(pose=pose, linear=zero, angular=zero),
    )


def test_the_observed_base_comes_before_imus(robot: RobotModel) -> None:
    seen = observation(0.1, trunk_imu=0.5, other_imu=0.6)
    assert BaseTilt(robot).angle(seen) == pytest.approx(0.1)


def test_the_imu_of_the_base_gives_the_tilt_wherever_it_is_listed(robot: RobotModel) -> None:
    assert BaseTilt(robot).angle(observation(foot_imu=0.5, trunk_imu=-0.2)) == pytest.approx(0.2)
    assert BaseTilt(robot).angle(observation(trunk_imu=-0.2, foot_imu=0.5)) == pytest.approx(0.2)
    seen = observation(other_imu=None, foot_imu=0.5, trunk_imu=0.2)
    assert BaseTilt(robot).angle(seen) == pytest.approx(0.2), (
        "the other one measures no orientation"
    )
    assert BaseTilt(robot).angle(observation(foot_imu=0.5)) == pytest.approx(0.5), "the only one"
    assert BaseTilt(robot).angle(observation(trunk_imu=None)) is None


def test_of_several_imus_of_the_base_a_name_decides(robot: RobotModel) -> None:
    seen = observation(foot_imu=0.5, trunk_imu=0.2, other_imu=0.3)
    with pytest.raises(UserInputError, match=r"IMU: trunk_imu on .*trunk, other_imu on .*trunk;"):
        BaseTilt(robot).angle(seen)
    assert BaseTilt(robot, "other_imu").angle(seen) == pytest.approx(0.3)
    assert BaseTilt(robot, "other-imu").angle(seen) == pytest.approx(0.3), (
        "as the site may be named"
    )
    with pytest.raises(UserInputError, match=r"IMU with orientation 'x' not found; there are: foo"):
        BaseTilt(robot, "x").angle(seen)


def test_imus_are_found_by_their_names_in_topics_unless_two_sites_have_the_same(
    tmp_path: Path,
) -> None:
    seen, scene = observation(trunk_imu=0.2, foot_imu=0.5), tmp_path / "robot.xml"
    scene.write_text(MODEL.replace("trunk_imu", "trunk-imu").replace("foot_imu", "foot-imu"))
    named = robot_model(Simulation(load_scene(str(scene))).plant, 0)
    assert BaseTilt(named).angle(seen) == pytest.approx(0.2), "the IMU of the base"
    scene.write_text(scene.read_text().replace("other_imu", "trunk_imu"))
    same = robot_model(Simulation(load_scene(str(scene))).plant, 0)
    with pytest.raises(UserInputError, match=r"site of 'trunk_imu': .*trunk-imu, .*trunk_imu;"):
        BaseTilt(same).angle(seen)
