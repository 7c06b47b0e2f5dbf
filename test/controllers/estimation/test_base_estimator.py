"""The base of a moving robot is estimated near the true one, which is not read."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import mujoco_ros
from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.estimation.base_estimator import BaseEstimator, EstimatorConfig
from mujoco_ros.controllers.interface.observation import ImuReading, Observation
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.controllers.runtime.robot_model import robot_model
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

FEET = {
    "humanoid": (("left_foot", "right_foot"), ("left_ankle_ft", "right_ankle_ft")),
    "quadruped": (("FL_foot", "FR_foot", "RL_foot", "RR_foot"), ()),
}
ROOT = Path(mujoco_ros.__file__).resolve().parents[1]
IMU = '<site name="pelvis_imu" pos="0 0 0.08"/>'
TORSO = '<body name="torso" pos="0 0 0">'
QUICK = {"READY": {"duration": 0.3}, "SQUAT": {"duration": 1.5}, "SWAY": {"duration": 2.5}}


class Compared:
    """An estimator, and its errors against the true base."""

    def __init__(self, simulation: Simulation, robot: str, bias: Sequence[float], **config: bool):
        feet, sensors = FEET[robot]
        self._simulation, self._bias = simulation, np.array(bias)
        self.estimator = BaseEstimator(
            robot_model(simulation.plant, 0),
            feet,
            force_sensors=sensors,
            config=EstimatorConfig(**config),
        )
        self.errors: list[tuple[float, ...]] = []

    def compare(self, observation: Observation) -> None:
        true = observation.base
        imus = observation.imus
        if self._bias.any():
            imus = {
                name: replace(imu, angular_velocity=imu.angular_velocity + self._bias)
                for name, imu in imus.items()
            }
        found = self.estimator.update(replace(observation, base=None, imus=imus))
        tilt = np.linalg.norm(true.pose.matrix[2] - found.pose.matrix[2])
        offset = found.pose.position - true.pose.position
        speed = np.linalg.norm(found.linear - true.linear)
        self.errors.append((observation.time, tilt, speed, *offset))
        base = self._simulation.layout.robots[0].bases[0].body
        data = self._simulation.data
        com = self.estimator.robot.com - found.pose.position
        self.com_error = com - (data.subtree_com[base] - data.xpos[base])

    def late(self) -> np.ndarray:
        """Return times and errors of tilt, speed and position after the first second.  # (n, 6)"""
        return np.array([it for it in self.errors if it[0] > 1.0])


ORIENTATION, GYROSCOPE, BIASED = "orientation", "gyroscope", "biased gyroscope"
NO_BIAS, BIAS = (0.0, 0.0, 0.0), (0.004, -0.004, 0.0)


def run(scene: str, robot: str, *, is_biased: bool = False) -> dict[str, Compared]:
    """Return estimators beside the controller of a robot that squats, sways and is pushed."""
    simulation = Simulation(load_scene(scene))
    host = ControllerHost(simulation, load("stand", settings=QUICK))
    compared = {
        ORIENTATION: Compared(simulation, robot, NO_BIAS, use_orientation=True),
        GYROSCOPE: Compared(simulation, robot, NO_BIAS, use_orientation=False),
    }
    if is_biased:
        compared[BIASED] = Compared(simulation, robot, BIAS, use_orientation=False)

    def observe(observation: Observation) -> Observation:
        for it in compared.values():
            it.compare(observation)
        return observation

    host.observation_filter = observe
    requests = [(0.5, "squat"), (2.5, "sway")]
    base = simulation.layout.robots[0].bases[0].body
    while simulation.time < 5.5:
        assert host.tick()
        if requests and simulation.time > requests[0][0]:
            host.supervised.request(requests.pop(0)[1])
        simulation.data.xfrc_applied[base, 1] = 40.0 if 2.1 < simulation.time < 2.2 else 0.0
    assert host.supervised.state == "HOLD"
    return compared


@pytest.mark.parametrize("scene", FEET)
def test_a_moving_robot_is_estimated_without_its_true_base(scene):
    compared = run(scene, scene, is_biased=scene == "humanoid")
    for name in (ORIENTATION, GYROSCOPE):
        errors = compared[name].late()
        assert np.rad2deg(errors[:, 1].max()) < 0.5, name
        assert np.sqrt(np.mean(errors[:, 2] ** 2)) < 0.01, name
        assert np.ptp(errors[:, 3:], axis=0).max() < 0.01, name
        np.testing.assert_allclose(compared[name].com_error, 0.0, atol=5e-3, err_msg=name)
    if scene == "humanoid":
        biased = compared[BIASED].late()
        assert np.rad2deg(biased[:, 1].max()) < 1.0, "a biased gyroscope does not tilt the base"


@pytest.fixture
def imu_on_torso(tmp_path: Path) -> str:
    """Return the file of a humanoid whose IMU is on the torso, turned and three joints away."""
    folder = ROOT / "urdf_mjcf" / "humanoid"
    text = (folder / "humanoid.xml").read_text()
    assert IMU in text
    assert TORSO in text
    turned = IMU.replace("/>", ' euler="0.3 -0.5 1.2"/>')
    text = text.replace(IMU, "").replace(TORSO, f"{TORSO}{turned}")
    text = text.replace('meshdir="meshes"', f'meshdir="{folder / "meshes"}"')
    (tmp_path / "humanoid.xml").write_text(text)
    scene = (ROOT / "config" / "scenes" / "humanoid.yaml").read_text()
    model = "package://mujoco_ros/urdf_mjcf/humanoid/humanoid.xml"
    (tmp_path / "humanoid.yaml").write_text(scene.replace(model, "humanoid.xml"))
    return str(tmp_path / "humanoid.yaml")


def test_an_imu_on_another_body_than_the_base_is_enough(imu_on_torso):
    compared = run(imu_on_torso, "humanoid")
    for name in (ORIENTATION, GYROSCOPE):
        errors = compared[name].late()
        assert np.rad2deg(errors[:, 1].max()) < 0.5, name
        assert np.sqrt(np.mean(errors[:, 2] ** 2)) < 0.02, name
        assert np.ptp(errors[:, 3:], axis=0).max() < 0.01, name


def estimator(scene: str = "humanoid", **arguments: object) -> tuple[BaseEstimator, Observation]:
    simulation = Simulation(load_scene(scene))
    host = ControllerHost(simulation, load("stand"))
    seen: list[Observation] = []

    def keep(observation: Observation) -> Observation:
        seen.append(observation)
        return observation

    host.observation_filter = keep
    assert host.tick()
    feet, sensors = FEET[scene]
    arguments = {"feet": feet, "force_sensors": sensors, **arguments}
    return BaseEstimator(robot_model(simulation.plant, 0), **arguments), seen[0]


def test_it_begins_with_the_feet_on_the_ground():
    found, observation = estimator()
    base = found.update(observation)
    heights = [sole.frame(found.robot.data)[0][2] for sole in found.soles]
    assert min(heights) == pytest.approx(0.0, abs=1e-9)
    assert base.pose.position[2] == pytest.approx(0.816, abs=2e-3)


def test_a_reset_begins_again():
    found, observation = estimator()
    first = found.update(observation).pose.position.copy()
    for tick in range(1, 10):
        found.update(replace(observation, time=observation.time + 0.1 * tick))
    found.reset()
    np.testing.assert_array_equal(found.update(observation).pose.position, first)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"feet": ()}, "at least one foot"),
        ({"feet": ("left_foot", "middle_foot")}, "'humanoid/middle_foot' not found.*left_foot"),
        ({"force_sensors": ("left_ankle_ft",)}, "2 feet need as many force sensors"),
        ({"force_sensors": ("left_ankle_ft", "x")}, "force sensor 'x' not found.*right_ankle_ft"),
    ],
)
def test_a_wrong_name_is_rejected_with_the_valid_ones(arguments, message):
    with pytest.raises(UserInputError, match=message):
        estimator(**arguments)


def test_a_robot_on_a_fixed_base_is_rejected():
    simulation = Simulation(load_scene("arm"))
    with pytest.raises(
        UserInputError, match="'arm/wrist_3_link' does not belong to a floating base"
    ):
        BaseEstimator(robot_model(simulation.plant, 0), ("wrist_3_link",))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"imus": {}}, "IMU"),
        ({"imus": {"pelvis_imu": ImuReading()}}, "'pelvis_imu' must measure angular velocity"),
        ({"wrenches": {}}, "force-torque sensor 'left_ankle_ft' not found"),
    ],
)
def test_a_missing_signal_is_named(change, message):
    found, observation = estimator()
    with pytest.raises(UserInputError, match=message):
        found.update(replace(observation, **change))


def test_numbers_that_are_not_finite_do_not_enter_the_estimate():
    found, observation = estimator()
    found.update(observation)
    before = found.base
    q = observation.q.copy()
    q[3] = np.nan
    with pytest.raises(UserInputError, match="joint positions"):
        found.update(replace(observation, q=q, time=observation.time + 0.005))
    assert found.base is before
    found.update(replace(observation, time=observation.time + 0.005))
    assert np.isfinite(found.base.pose.position).all()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"slip": 0.0}, "slip must be positive"),
        ({"least_load": 0.3}, "less than full_load 0.25"),
        ({"contact": float("nan")}, "contact must be positive"),
    ],
)
def test_impossible_settings_are_rejected(settings, message):
    with pytest.raises(UserInputError, match=message):
        EstimatorConfig(**settings)


SECOND = '<site name="{0}"/>'
MEASURES = '<gyro site="{0}"/><accelerometer site="{0}"/><framequat objtype="site" objname="{0}"/>'


def with_imus(tmp_path: Path, *imus: tuple[str, str]) -> str:
    """Return a scene of the humanoid with further IMUs, listed first, by name and body."""
    folder = ROOT / "urdf_mjcf" / "humanoid"
    text = (folder / "humanoid.xml").read_text()
    text = text.replace('meshdir="meshes"', f'meshdir="{folder / "meshes"}"')
    for name, body in imus:
        at = text.index(">", text.index(f'<body name="{body}"')) + 1
        text = text[:at] + SECOND.format(name) + text[at:]
        text = text.replace("<sensor>", f"<sensor>{MEASURES.format(name)}", 1)
    (tmp_path / "humanoid.xml").write_text(text)
    scene = (ROOT / "config" / "scenes" / "humanoid.yaml").read_text()
    model = "package://mujoco_ros/urdf_mjcf/humanoid/humanoid.xml"
    (tmp_path / "humanoid.yaml").write_text(scene.replace(model, "humanoid.xml"))
    return str(tmp_path / "humanoid.yaml")


def test_an_imu_in_a_foot_that_is_listed_first_is_not_the_imu_of_the_base(tmp_path):
    _, alone = estimator()
    expected = estimator()[0].update(alone).pose
    FEET[scene := with_imus(tmp_path, ("foot_imu", "left_foot"))] = FEET["humanoid"]
    found, observation = estimator(scene)
    imus = {name: observation.imus[name] for name in ("foot_imu", "pelvis_imu")}
    pose = found.update(replace(observation, imus=imus)).pose
    np.testing.assert_allclose(pose.position, expected.position, atol=1e-6)
    np.testing.assert_allclose(pose.quat_wxyz, expected.quat_wxyz, atol=1e-6)


def test_of_several_imus_on_the_base_a_name_decides(tmp_path):
    FEET[scene := with_imus(tmp_path, ("second_imu", "pelvis"))] = FEET["humanoid"]
    found, observation = estimator(scene)
    message = (
        "several could be the IMU: second_imu on humanoid/pelvis, pelvis_imu on humanoid/pelvis; "
        "name one as 'imu'"
    )
    with pytest.raises(UserInputError, match=message):
        found.update(observation)
    assert estimator(scene, imu="pelvis_imu")[0].update(observation).pose.position[2] > 0.8


def test_an_imu_is_found_by_its_name_in_the_model_and_in_topics(tmp_path):
    FEET[scene := with_imus(tmp_path, ("trunk-imu", "pelvis"))] = FEET["humanoid"]
    for name in ("trunk-imu", "trunk_imu"):
        found, observation = estimator(scene, imu=name)
        assert found.update(observation).pose.position[2] > 0.8
    imus = {"trunk_imu": observation.imus["trunk_imu"]}
    assert estimator(scene)[0].update(replace(observation, imus=imus)).pose.position[2] > 0.8
