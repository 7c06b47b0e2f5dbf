"""Imperfect robots in a running simulator: topics, ground truth, parameters and rows."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

import yaml
from diagnostic_msgs.msg import DiagnosticArray
from reference_run import steps_of
from sensor_msgs.msg import Imu, JointState
from simulation_interfaces.msg import Result
from simulation_interfaces.srv import LoadWorld
from simulator_client import SimulatorClient
from simulators import SimulatorLauncher
from spawn_requests import named_resource, spawn

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

ARM = "package://mujoco_ros/urdf_mjcf/arm/arm.xml"
REALISM = {
    "profile": "mems_imu",
    "joints": {"encoders": {"delay": 0.005, "dropout": 0.1, "position_quantisation": 1e-5}},
    "actuators": {"drives": {"delay": 0.002, "backlash": 0.001, "peak_effort": 100.0}},
}
MORE = "<mujoco model='m'><worldbody><body name='link' pos='0 5 2'><joint name='j'/>"
MORE += "<geom size='.1' pos='.1 0 0'/></body></worldbody></mujoco>"


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "scene.yaml"
    robots = [{"name": "arm", "model": ARM, "keyframe": "home", "realism": REALISM}]
    path.write_text(yaml.safe_dump({"robots": robots, "physics": {"timestep": 0.001}}))
    return path


def test_measured_topics_and_their_ground_truth_are_those_of_the_seed(
    start: SimulatorLauncher, scene: Path
) -> None:
    """As in a simulation without ROS, bit by bit; the observation of a controller is the same."""
    simulator = start.simulator(scene=scene, real_time_factor=0.2, seed=5)
    listener = start.listener(simulator)
    kinds = {"joint_states": JointState, "imu/gripper_imu": Imu}
    recordings = {
        prefix + topic: listener.record(kind, f"/{prefix}{topic}")
        for topic, kind in kinds.items()
        for prefix in ("", "ground_truth/")
    }
    assert listener.spin_until(lambda: all(len(it) >= 8 for it in recordings.values()))
    messages = {topic: recording.messages for topic, recording in recordings.items()}
    steps = {step for them in messages.values() for step in steps_of(them)}
    reference = Simulation(load_scene(str(scene)), seed=5)
    joints = reference.layout.robots[0].joints
    (imu,) = reference.layout.robots[0].sensors["imu"]
    gyro = slice(imu.addresses["angular_velocity"], imu.addresses["angular_velocity"] + 3)
    expected = {}
    for step in range(max(steps) + 1):
        assert reference.step()
        sample = reference.sample
        expected[step] = {
            "joint_states": sample.measured_qpos[joints.qpos].tolist(),
            "ground_truth/joint_states": sample.qpos[joints.qpos].tolist(),
            "imu/gripper_imu": sample.sensordata[gyro].tolist(),
            "ground_truth/imu/gripper_imu": reference.data.sensordata[gyro].tolist(),
        }
    for topic, them in messages.items():
        for message, step in zip(them, steps_of(them), strict=True):
            if isinstance(message, JointState):
                numbers = list(message.position)
            else:
                rates = message.angular_velocity
                numbers = [rates.x, rates.y, rates.z]
            assert numbers == expected[step][topic], (topic, step)
    measured, truth = (messages[prefix + "joint_states"] for prefix in ("", "ground_truth/"))
    assert measured[-1].position != truth[-1].position


def test_settings_are_live_parameters_with_ranges_and_rows(
    start: SimulatorLauncher, scene: Path
) -> None:
    setting = "realism.joints.encoders.position_quantisation"
    remote = SimulatorClient(
        start, robot="", scene=scene, **{"realism.joints.encoders.dropout": 0.0}
    )
    listener = remote.listener
    assert listener.get_parameter("realism.joints.encoders.dropout") == 0.0, "start arguments win"
    assert listener.get_parameter("realism.sensors.gyroscope.noise_density") == 4.887e-5
    assert listener.get_parameter("realism.actuators.drives.backlash") == 0.001
    (wrong,) = listener.set_parameters({"realism.joints.encoders.dropout": 1.5})
    assert not wrong.successful
    assert "from 0 to 1" in wrong.reason
    (wrong,) = listener.set_parameters({"realism.actuators.drives.derating_end": 90.0})
    assert not wrong.successful
    assert "'derating_end' must be above 'derating_start' (100 °C), got 90" in wrong.reason
    (result,) = listener.set_parameters({setting: 0.5})
    assert result.successful, result.reason
    states = listener.record(JointState, "/joint_states")

    def on_grid() -> bool:
        if not len(states):
            return False
        positions = np.array(states.latest.position)
        return bool(np.array_equal(positions, np.rint(positions / 0.5) * 0.5))

    assert listener.spin_until(on_grid)
    diagnostics = listener.record(DiagnosticArray, "/diagnostics", reliable=True)

    def row() -> dict[str, str]:
        rows = [r for m in diagnostics.messages for r in m.status if "realism of arm" in r.name]
        return {it.key: it.value for it in rows[-1].values} if rows else {}

    assert listener.spin_until(lambda: "samples lost" in row())
    assert row()["hottest motor [°C]"] == "25.0"

    spawned = spawn(remote, text=MORE, name="more")
    assert spawned.result.result == Result.RESULT_OK, spawned.result.error_message
    assert listener.get_parameter(setting) == 0.5
    assert listener.spin_until(on_grid)


def test_a_profile_applies_to_robots_without_their_own(start: SimulatorLauncher) -> None:
    simulator = start.simulator(scene="quadruped", realism="qdd_can,mems_imu")
    listener = start.listener(simulator)
    truth = listener.record(Imu, "/ground_truth/imu/trunk_imu")
    assert listener.get_parameter("realism.actuators.drives.no_load_velocity") == 38.2
    assert listener.get_parameter("realism.sensors.accelerometer.bias") == 0.196
    assert listener.spin_until(lambda: len(truth) > 0)


def test_a_loaded_world_has_the_settings_of_its_own_robots(
    start: SimulatorLauncher, scene: Path
) -> None:
    """Its robot has the same name, and so parameters of the same names."""
    delay, dropout = (f"realism.joints.encoders.{name}" for name in ("delay", "dropout"))
    remote = SimulatorClient(start, robot="", scene=scene)
    listener = remote.listener
    (result,) = listener.set_parameters({delay: 0.02})
    assert result.successful, result.reason
    other = yaml.safe_load(scene.read_text())
    other["robots"][0]["realism"] = {"joints": {"encoders": {"delay": 0.003}}}
    for world, expected in (
        (other, (0.003, 0.0)),
        (yaml.safe_load(scene.read_text()), (0.005, 0.1)),
    ):
        text = yaml.safe_dump(world)
        loaded = remote.call("LoadWorld", **named_resource(LoadWorld.Request, "", text))
        assert loaded.result.result == Result.RESULT_OK, loaded.result.error_message
        assert (listener.get_parameter(delay), listener.get_parameter(dropout)) == expected


def test_more_samples_in_flight_than_the_limit_are_rejected(
    start: SimulatorLauncher, scene: Path
) -> None:
    """Whether by a delay, the timestep or both together."""
    remote = SimulatorClient(start, robot="", scene=scene)
    listener = remote.listener
    delay, timestep = "realism.actuators.drives.delay", "physics.timestep"
    for change, successful in (
        ({delay: 1.0}, True),
        ({timestep: 1e-5}, False),
        ({delay: 0.0}, True),
        ({timestep: 1e-5, delay: 1.0}, False),
        ({timestep: 1e-5}, True),
        ({delay: 1.0}, False),
    ):
        result = listener.set_parameters(change, atomic=True)[0]
        assert result.successful == successful, (change, result.reason)
        if not successful:
            assert "realism of robot 'arm': actuators.drives: too large" in result.reason
            assert "limit 1000000" in result.reason
