"""Simulators shared by the tests of the examples; each test restores their state."""

from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from example_runs import REAL_TIME_FACTOR, CommandedSimulator
from simulators import SimulatorLauncher

IDLE_FACTOR = 0.01
"""Real-time factor of a simulator that no test of a module uses; it takes little time."""
TWO_ROBOTS = """
world: package://mujoco_ros/urdf_mjcf/worlds/ground.xml
robots:
  - name: quadruped
    model: package://mujoco_ros/urdf_mjcf/quadruped/quadruped.xml
    gains: package://mujoco_ros/urdf_mjcf/quadruped/gains.yaml
  - name: left_arm
    model: package://mujoco_ros/urdf_mjcf/arm/arm.xml
    pose: {xyz: [2.0, 0.0, 0.0]}
    gains: package://mujoco_ros/urdf_mjcf/arm/gains.yaml
    gripper: left_finger_joint
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(scope="module")
def starter(folder: Path) -> Iterator[SimulatorLauncher]:
    starter = SimulatorLauncher(folder)
    yield starter
    starter.close()


@pytest.fixture(scope="session")
def shared_arm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandedSimulator]:
    folder = tmp_path_factory.mktemp("arm")
    starter = SimulatorLauncher(folder)
    simulator = starter.simulator(scene="arm", real_time_factor=IDLE_FACTOR)
    yield CommandedSimulator(folder, simulator, starter.listener(simulator))
    starter.close()


@pytest.fixture(scope="module")
def running_arm(shared_arm: CommandedSimulator) -> Iterator[CommandedSimulator]:
    shared_arm.set_real_time_factor(REAL_TIME_FACTOR)
    yield shared_arm
    shared_arm.set_real_time_factor(IDLE_FACTOR)


@pytest.fixture
def arm(running_arm: CommandedSimulator) -> Iterator[CommandedSimulator]:
    """The arm with a box on a table in front of it."""
    yield running_arm
    running_arm.listener.forget_subscriptions()


@pytest.fixture(scope="module")
def shared_pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandedSimulator]:
    folder = tmp_path_factory.mktemp("pair")
    scene = folder / "two_robots.yaml"
    scene.write_text(TWO_ROBOTS)
    starter = SimulatorLauncher(folder)
    simulator = starter.simulator(scene=scene, real_time_factor=REAL_TIME_FACTOR)
    yield CommandedSimulator(folder, simulator, starter.listener(simulator))
    starter.close()


@pytest.fixture
def pair(shared_pair: CommandedSimulator) -> Iterator[CommandedSimulator]:
    """A quadruped and an arm, each in its namespace."""
    yield shared_pair
    shared_pair.listener.forget_subscriptions()
