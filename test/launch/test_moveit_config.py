"""The MoveIt configuration of the shipped arm fits the simulated arm."""

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest
import yaml
from rclpy.action import get_action_server_names_and_types_by_node
from sensor_msgs.msg import JointState
from simulators import SimulatorLauncher

from mujoco_ros.model.robot.description import RobotDescription, describe
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

FOLDER = Path(__file__).resolve().parents[2] / "config" / "moveit" / "arm"
SRDF = ET.parse(FOLDER / "arm.srdf").getroot()


def content(name: str) -> dict[str, Any]:
    return yaml.safe_load((FOLDER / f"{name}.yaml").read_text())


def disabled(reason: str) -> list[tuple[str, str]]:
    """Return the pairs of links whose collisions are disabled for a reason."""
    found = SRDF.findall(f"disable_collisions[@reason='{reason}']")
    return [(pair.get("link1", ""), pair.get("link2", "")) for pair in found]


@pytest.fixture(scope="module")
def description() -> RobotDescription:
    (found,) = describe("arm")
    return found


@pytest.fixture(scope="module")
def joints(description: RobotDescription) -> set[str]:
    """The joints of the description that move and mimic none."""
    found = ET.fromstring(description.urdf).findall("joint")
    moving = (joint for joint in found if joint.get("type") != "fixed")
    return {joint.get("name", "") for joint in moving if joint.find("mimic") is None}


def test_groups_and_pairs_have_joints_and_links_of_the_description(description, joints) -> None:
    chain, virtual = SRDF.find("group/chain"), SRDF.find("virtual_joint")
    assert {chain.get("base_link"), chain.get("tip_link")} <= description.links
    assert virtual.get("child_link") == description.root
    assert {joint.get("name") for joint in SRDF.iter("joint")} == joints
    pairs = disabled("Adjacent") + disabled("Never")
    assert {link for pair in pairs for link in pair} <= description.links
    assert len(pairs) == len(SRDF.findall("disable_collisions"))


def test_the_state_home_is_the_start_of_the_scene() -> None:
    simulation = Simulation(load_scene("arm"))
    robot = simulation.layout.robots[0]
    for joint in SRDF.findall("group_state[@name='home']/joint"):
        address = robot.joints.qpos[robot.joints.names.index(joint.get("name"))]
        assert float(joint.get("value")) == pytest.approx(simulation.data.qpos[address], abs=1e-6)


def test_pairs_of_links_that_never_meet_are_apart_in_random_configurations() -> None:
    simulation = Simulation(load_scene("arm"))
    model, data, robot = simulation.model, simulation.data, simulation.layout.robots[0]
    geoms: dict[str, list[int]] = {}
    for geom in np.flatnonzero(model.geom_contype | model.geom_conaffinity).tolist():
        link = model.body(model.geom_bodyid[geom]).name.removeprefix(robot.prefix)
        geoms.setdefault(link, []).append(geom)
    random, left, right = np.random.default_rng(1), *robot.joints.qpos[-2:]
    for _ in range(100):
        data.qpos[robot.joints.qpos] = random.uniform(*model.jnt_range[robot.joints.ids].T)
        data.qpos[right] = data.qpos[left]  # which it mimics
        mujoco.mj_kinematics(model, data)
        for pair in disabled("Never"):
            distances = [
                mujoco.mj_geomDistance(model, data, one, other, 0.01, None)
                for one in geoms[pair[0]]
                for other in geoms[pair[1]]
            ]
            assert min(distances) >= 0.0, pair


def test_limits_planners_and_sensors_are_of_the_arm(joints) -> None:
    assert set(content("joint_limits")["joint_limits"]) == joints
    groups = {group.get("name") for group in SRDF.findall("group")}
    planning, kinematics = content("ompl_planning"), content("kinematics")
    assert set(kinematics) <= groups
    assert set(planning["arm"]["planner_configs"]) <= set(planning["planner_configs"])
    (camera,) = Simulation(load_scene("arm")).layout.robots[0].cameras
    cloud = content("sensors_3d")["wrist_camera"]["point_cloud_topic"]
    assert cloud == f"/camera/{camera.name}/depth/points"


def test_the_simulator_has_the_actions_and_joint_states_that_moveit_uses(
    start: SimulatorLauncher, joints
) -> None:
    simulator = start.simulator(scene="arm", viewer="none")
    simulator.wait_until_running()
    listener = start.listener(simulator)
    states = listener.record(JointState, "/joint_states")
    assert listener.spin_until(lambda: len(states) > 0)
    assert joints <= set(states.latest.name)
    found: dict[str, list[str]] = {}

    def has_found() -> bool:
        if "mujoco" not in listener.node.get_node_names():
            return False
        found.update(get_action_server_names_and_types_by_node(listener.node, "mujoco", "/"))
        return "/gripper_controller/gripper_cmd" in found

    assert listener.spin_until(has_found)
    controllers = content("moveit_controllers")["moveit_simple_controller_manager"]
    for name in controllers["controller_names"]:
        own = controllers[name]
        assert found[f"/{name}/{own['action_ns']}"] == [f"control_msgs/action/{own['type']}"]
        assert set(own["joints"]) <= joints
