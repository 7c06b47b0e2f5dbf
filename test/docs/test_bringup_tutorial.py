"""The tutorial of a robot's own bringup: its files run, with and without its launch file."""

import re
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from action_msgs.msg import GoalStatus
from command_clients import follow, point
from control_msgs.action import FollowJointTrajectory
from geometry_msgs.msg import Twist, TwistStamped, Vector3
from manager_client import Client
from nav_msgs.msg import Odometry
from sensor_msgs.msg import Imu
from simulators import ROOT, SimulatorLauncher

PAGE = (ROOT / "docs" / "tutorials" / "your_robots_bringup.md").read_text(encoding="utf-8")
FILES = {"my_rover.urdf": "xml", "my_controllers.yaml": "yaml", "my_bringup.launch.py": "python"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the page."""
    folder = tmp_path_factory.mktemp("bringup")
    for name, language in FILES.items():
        text = PAGE[PAGE.index(f"`{name}`") :]
        found = re.search(rf"^```{language}\n(.*?)^```", text, re.M | re.S)
        assert found, name
        (folder / name).write_text(found.group(1))
    return folder


@pytest.fixture
def nodes(files: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, SimpleNamespace]:
    """Return the arguments of the nodes of the launch file, by executable."""
    modules = {name: ModuleType(name) for name in ("launch", "launch_ros", "launch_ros.actions")}
    modules["launch"].LaunchDescription = list  # type: ignore[attr-defined]
    modules["launch_ros.actions"].Node = SimpleNamespace  # type: ignore[attr-defined]
    for name, module in modules.items():
        monkeypatch.setitem(sys.modules, name, module)
    described = runpy.run_path(str(files / "my_bringup.launch.py"))["generate_launch_description"]()
    return {node.executable: node for node in described}


@pytest.fixture
def start(tmp_path: Path) -> Iterator[SimulatorLauncher]:
    starter = SimulatorLauncher(tmp_path)
    yield starter
    starter.close()


def run(start: SimulatorLauncher, **options: Any) -> Client:
    simulator = start.simulator(**options)
    simulator.wait_until_running()
    return Client(simulator, start.listener(simulator))


def check_that_it_moves(client: Client) -> None:
    """Turn the mast, drive, and read the IMU, by the topics of the page."""
    goal = follow(point(0.5, [1.0]), joints=["mast_joint"])
    action = "mast_controller/follow_joint_trajectory"
    assert client.goal(FollowJointTrajectory, action, goal).status == GoalStatus.STATUS_SUCCEEDED

    odometry = client.listener.record(Odometry, "/base_controller/odom")
    imus = client.listener.record(Imu, "/imu_broadcaster/imu")
    publisher = client.listener.node.create_publisher(TwistStamped, "base_controller/cmd_vel", 10)
    command = TwistStamped(twist=Twist(linear=Vector3(x=0.3), angular=Vector3(z=0.5)))

    def has_turned() -> bool:
        publisher.publish(command)
        return bool(len(odometry)) and odometry.latest.pose.pose.orientation.z > 0.2

    assert client.listener.spin_until(has_turned)
    assert odometry.latest.pose.pose.position.x > 0.1
    assert odometry.latest.child_frame_id == "base_link"
    assert imus.latest.header.frame_id == "imu_link"
    assert imus.latest.linear_acceleration.z == pytest.approx(9.81, abs=1.5)


def test_the_controllers_of_the_tutorial_start_without_a_launch_file(
    files: Path, start: SimulatorLauncher
) -> None:
    command = re.search(r"^make sim SCENE=(\S+) ARGS=\"-p controllers_file:=(\S+)\"", PAGE, re.M)
    assert command
    scene, controllers = (files / name for name in command.groups())
    client = run(start, scene=scene, controllers_file=controllers, viewer="none")
    assert set(client.states().values()) == {"active"}
    assert "ignores parameters" not in client.simulator.log
    check_that_it_moves(client)


def test_the_controllers_of_the_tutorial_wait_for_the_spawner_of_the_launch_file(
    nodes: dict[str, SimpleNamespace], start: SimulatorLauncher
) -> None:
    own, controllers = nodes["sim"].parameters
    client = run(start, **own | {"viewer": "none"}, params_files=(Path(controllers),))
    assert client.states() == {}
    assert all(client.spawn(name) for name in nodes["spawner"].arguments)
    check_that_it_moves(client)
