"""The package as a ROS 2 distribution sees it: built by colcon, started by `ros2 launch`."""

import time
from itertools import pairwise
from pathlib import Path

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

ROOT = Path(__file__).resolve().parents[2]
SHARED = ("config", "launch", "urdf_mjcf")
FLOW_TIMEOUT_S = 60.0

pytest.importorskip("launch_ros", reason="no ROS 2 launch system (package 'launch')")


def test_colcon_installs_everything_the_simulator_reads(workspace):
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
    assert executables == {"sim", "export_urdf"}
    (packages,) = workspace.glob("lib/python3.*/site-packages")
    assert {f.name for f in packages.iterdir() if "-info" not in f.name} == {"mujoco_ros"}


@pytest.mark.parametrize("scene", ["humanoid", "zoo"])
def test_ros2_launch_makes_topics_flow_and_stops_on_ctrl_c(ros2_launch, sourced, domain_id, scene):
    launch = ros2_launch("mujoco_ros", "sim.launch.py", f"scene:={scene}", environment=sourced)
    namespace = "" if scene == "humanoid" else "/humanoid"
    clocks, states = receive(domain_id, f"{namespace}/joint_states", launch)

    seconds = [stamp.clock.sec + 1e-9 * stamp.clock.nanosec for stamp in clocks]
    assert all(before < after for before, after in pairwise(seconds))
    assert len(states[-1].name) >= 32
    assert len(states[-1].position) == len(states[-1].name)

    assert launch.interrupt() == 0, launch.output
    assert launch.processes() == []
    assert "Traceback" not in launch.output


def test_a_scene_that_does_not_exist_makes_ros2_launch_fail(ros2_launch, sourced):
    launch = ros2_launch("mujoco_ros", "sim.launch.py", "scene:=humanoyd", environment=sourced)
    assert launch.wait() == 1
    assert "scene 'humanoyd' not found, did you mean 'humanoid'?" in launch.output
    assert "Traceback" not in launch.output


def receive(domain_id, topic, launch):
    """Return a hundred messages of /clock and of `topic`."""
    context = rclpy.Context()
    rclpy.init(context=context, domain_id=domain_id)
    clocks: list[Clock] = []
    states: list[JointState] = []
    try:
        node = rclpy.create_node("listener", context=context)
        node.create_subscription(Clock, "/clock", clocks.append, 100)
        node.create_subscription(JointState, topic, states.append, 10)
        executor = SingleThreadedExecutor(context=context)
        executor.add_node(node)
        deadline = time.monotonic() + FLOW_TIMEOUT_S
        while min(len(clocks), len(states)) < 100:
            assert launch.process.poll() is None, launch.output
            assert time.monotonic() < deadline, launch.output
            executor.spin_once(timeout_sec=0.2)
    finally:
        rclpy.shutdown(context=context)
    return clocks, states
