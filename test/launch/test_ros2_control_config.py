"""The shipped controllers fit the robots: joints, interfaces and tolerances."""

import ast
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import rclpy
import yaml
from catkin_pkg.package import parse_package
from rclpy.context import Context
from rclpy.node import Node

from mujoco_ros.control.joints import command_interfaces
from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.model.scene.config import RATES, load_scene, shipped_scenes
from mujoco_ros.sim.simulation import Simulation

ROOT = Path(__file__).resolve().parents[2]
CONFIG = ROOT / "config" / "ros2_control"
MODELS = sorted(path.stem for path in CONFIG.glob("*.yaml"))
ON_WHEELS = ("rover", "mobile_manipulator")
"""Models without a file: controllers of wheels are not among the generated ones."""
SETTLED_S = 3.0


@cache
def simulated(scene: str) -> Simulation:
    """Return a scene at rest."""
    simulation = Simulation(load_scene(scene))
    for _ in range(round(SETTLED_S / simulation.model.opt.timestep)):
        simulation.step()
    return simulation


def takes(simulation: Simulation) -> dict[str, frozenset[str]]:
    """Return the interfaces of each joint; names have a prefix if there are several robots."""
    names = simulation.joints.names
    return {name: command_interfaces(simulation.drives.modes(i)) for i, name in enumerate(names)}


def robots() -> list[Any]:
    return [
        pytest.param(scene, index, id=f"{scene}-{robot.name}")
        for scene in shipped_scenes()
        for index, robot in enumerate(load_scene(scene).robots)
        if Path(robot.model).stem not in ON_WHEELS
    ]


def robot_model(scene: str, index: int) -> tuple[RobotLayout, str]:
    """Return a robot of a scene, and the name of its model."""
    simulation = simulated(scene)
    model = simulation.assembly.config.robots[index].model
    return simulation.layout.robots[index], Path(model).stem


def content_of(model: str) -> dict[str, Any]:
    return yaml.safe_load((CONFIG / f"{model}.yaml").read_text())


def parameters(model: str, node: str) -> dict[str, Any]:
    return content_of(model)[f"/**/{node}"]["ros__parameters"]


def controllers(model: str) -> dict[str, str]:
    """Return the type of each controller."""
    manager = parameters(model, "controller_manager")
    return {name: value["type"] for name, value in manager.items() if isinstance(value, dict)}


def claims(model: str) -> list[tuple[str, str]]:
    """Return the command interfaces that the controllers claim, as joint and quantity."""
    trajectory = parameters(model, "joint_trajectory_controller")
    claimed = [(j, i) for j in trajectory["joints"] for i in trajectory["command_interfaces"]]
    if "gripper_controller" in controllers(model):
        claimed.append((parameters(model, "gripper_controller")["joint"], "position"))
    return claimed


@pytest.mark.parametrize(("scene", "index"), robots())
def test_the_controllers_command_exactly_the_joints_with_command_interfaces(scene, index):
    robot, model = robot_model(scene, index)
    of = takes(simulated(scene))
    driven = [name for name in robot.joints.names if of[robot.prefix + name]]
    trajectory = parameters(model, "joint_trajectory_controller")["joints"]
    gripper = [] if robot.gripper is None else [robot.joints.names[robot.gripper]]
    assert trajectory == [name for name in driven if name not in gripper], "in model order"
    assert [joint for joint, _ in claims(model) if joint not in trajectory] == gripper


@pytest.mark.parametrize(("scene", "index"), robots())
def test_the_controllers_claim_existing_interfaces_once_each(scene, index):
    robot, model = robot_model(scene, index)
    of = takes(simulated(scene))
    claimed = claims(model)
    assert len(set(claimed)) == len(claimed)
    for joint, interface in claimed:
        assert interface in of[robot.prefix + joint], f"{joint}/{interface}"


@pytest.mark.parametrize("model", MODELS)
def test_the_tolerances_allow_the_deflection_under_gravity_at_rest(model):
    simulation = simulated(model)
    constraints = parameters(model, "joint_trajectory_controller")["constraints"]
    error = np.abs(simulation.sample.qpos[simulation.joints.qpos] - simulation.references.q)
    speed = np.abs(simulation.sample.qvel[simulation.joints.dof])
    joints = parameters(model, "joint_trajectory_controller")["joints"]
    for joint in joints:
        index = [n.rpartition("/")[2] for n in simulation.joints.names].index(joint)
        tolerance = constraints[joint]
        assert 4 * error[index] < tolerance["goal"] < tolerance["trajectory"] < 0.5
        assert 4 * speed[index] < constraints["stopped_velocity_tolerance"]
    assert set(constraints) == {"goal_time", "stopped_velocity_tolerance", *joints}


@pytest.mark.parametrize("model", MODELS)
def test_the_update_period_is_a_multiple_of_the_clock_period(model):
    # In simulated time the loop sleeps until a /clock that is late enough.
    rate = parameters(model, "controller_manager")["update_rate"]
    assert (RATES["joint_states"] / rate).is_integer()


@pytest.mark.parametrize("model", MODELS)
def test_joint_states_are_broadcast_before_any_motion(model):
    assert next(iter(controllers(model))) == "joint_state_broadcaster"


@pytest.mark.parametrize("model", MODELS)
def test_every_section_has_a_controller_of_a_declared_dependency(model):
    sections = {key.removeprefix("/**/") for key in content_of(model)}
    assert sections - {"controller_manager"} <= set(controllers(model))
    tree = ast.parse((ROOT / "launch" / "ros2_control.launch.py").read_text())
    (packages,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "PACKAGES"
    )
    depended = {d.name for d in parse_package(str(ROOT / "package.xml")).exec_depends}
    for kind in controllers(model).values():
        assert packages[kind] in depended


@pytest.mark.parametrize("namespace", ["", "/left_arm"])
@pytest.mark.parametrize("model", MODELS)
def test_ros_finds_the_parameters_of_each_node_in_any_namespace(model, namespace):
    context = Context()
    rclpy.init(context=context)
    try:
        for key, section in content_of(model).items():
            name = key.removeprefix("/**/")
            node = Node(
                name,
                namespace=namespace,
                context=context,
                cli_args=["--ros-args", "--params-file", str(CONFIG / f"{model}.yaml")],
                automatically_declare_parameters_from_overrides=True,
            )
            found = {n: p.value for n, p in node.get_parameters_by_prefix("").items()}
            node.destroy_node()
            asked = flattened(section["ros__parameters"])
            assert asked
            assert {n: found.get(n) for n in asked} == asked
    finally:
        rclpy.shutdown(context=context)


def flattened(tree: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return the parameters by their full names."""
    found: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, dict):
            found |= flattened(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found
