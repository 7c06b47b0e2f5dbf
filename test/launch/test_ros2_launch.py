"""The package in a ROS 2 distribution: built by colcon, started by `ros2 launch`."""

import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rclpy.qos import DurabilityPolicy, QoSProfile
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState
from tf2_msgs.msg import TFMessage

from mujoco_ros.model.robot.description import describe

ROOT = Path(__file__).resolve().parents[2]
SHARED = ("config", "launch", "urdf_mjcf")
FLOW_TIMEOUT_S = 60.0

pytest.importorskip("launch_ros", reason="no ROS 2 launch system (package 'launch')")


def test_colcon_installs_all_files_that_the_simulator_reads(workspace):
    share = workspace / "share" / "mujoco_ros"
    for folder in SHARED:
        sources = [
            f for f in (ROOT / folder).rglob("*") if f.is_file() and "__pycache__" not in f.parts
        ]
        assert sources
        for source in sources:
            assert (share / source.relative_to(ROOT)).read_bytes() == source.read_bytes()
    assert (workspace / "share/ament_index/resource_index/packages/mujoco_ros").is_file()
    assert (share / "package.xml").is_file()


def test_colcon_installs_the_executables_and_no_test_package(workspace):
    executables = {f.name for f in (workspace / "lib" / "mujoco_ros").iterdir()}
    declared = re.findall(r'"(\w+) = mujoco_ros', (ROOT / "setup.py").read_text())
    assert executables == set(declared)
    (packages,) = workspace.glob("lib/python3.*/site-packages")
    assert {f.name for f in packages.iterdir() if "-info" not in f.name} == {"mujoco_ros"}


@pytest.mark.parametrize("scene", ["humanoid", "zoo"])
def test_ros2_launch_starts_the_topics_and_stops_on_ctrl_c(
    ros2_launch, sourced, ros_node, spin_until, scene
):
    launch = ros2_launch("mujoco_ros", "sim.launch.py", f"scene:={scene}", environment=sourced)
    namespace = "" if scene == "humanoid" else "/humanoid"
    clocks: list[Clock] = []
    states: list[JointState] = []
    ros_node.create_subscription(Clock, "/clock", clocks.append, 100)
    ros_node.create_subscription(JointState, f"{namespace}/joint_states", states.append, 100)
    assert spin_until(lambda: min(len(clocks), len(states)) >= 100, FLOW_TIMEOUT_S), launch.output

    seconds = [stamp.clock.sec + 1e-9 * stamp.clock.nanosec for stamp in clocks]
    assert all(before < after for before, after in pairwise(seconds))
    assert len(states[-1].name) >= 32
    assert len(states[-1].position) == len(states[-1].name)

    assert launch.interrupt() == 0, launch.output
    assert launch.processes() == []
    assert "Traceback" not in launch.output


def test_a_missing_scene_makes_ros2_launch_fail(ros2_launch, sourced):
    launch = ros2_launch("mujoco_ros", "sim.launch.py", "scene:=humanoyd", environment=sourced)
    assert launch.wait() == 1
    assert "scene 'humanoyd' not found" in launch.output
    assert "did you mean 'humanoid'?" in launch.output
    assert "Traceback" not in launch.output


def test_every_robot_description_has_a_parent_frame_of_the_simulator(
    ros2_launch, sourced, ros_node, spin_until
):
    launch = ros2_launch("mujoco_ros", "sim.launch.py", "scene:=zoo", environment=sourced)
    frames: set[tuple[str, str]] = set()

    def note(message: TFMessage) -> None:
        frames.update((t.header.frame_id, t.child_frame_id) for t in message.transforms)

    latched = QoSProfile(depth=10, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    ros_node.create_subscription(TFMessage, "/tf", note, 10)
    ros_node.create_subscription(TFMessage, "/tf_static", note, latched)
    roots = {
        ("world", robot.frame_prefix + root_link(robot.urdf))
        for robot in describe(str(ROOT / "config" / "scenes" / "zoo.yaml"))
    }
    assert spin_until(lambda: roots <= frames, FLOW_TIMEOUT_S), (roots - frames, launch.output)


def root_link(urdf: str) -> str:
    """Return the link that is no joint's child."""
    robot = ElementTree.fromstring(urdf)
    children = {child.get("link") for child in robot.iterfind("joint/child")}
    (root,) = (
        link.get("name") for link in robot.iterfind("link") if link.get("name") not in children
    )
    assert root is not None
    return root
