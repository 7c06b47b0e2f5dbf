"""Start the simulator with the ros2_control stack of the real robot."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    IncludeLaunchDescription,
    OpaqueFunction,
    Shutdown,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from mujoco_ros.wire.launch_files import file_argument, on_exit
from mujoco_ros.wire.ros_packages import require_packages

SHARE = Path(__file__).resolve().parents[1]
CONTROLLERS = SHARE / "config" / "ros2_control"
STACK = ("controller_manager", "joint_state_topic_hardware_interface", "robot_state_publisher")
UPDATE_RATE_HZ = 100  # controller_manager's default
# Packages of the controllers in the shipped files; controller_manager reports missing others.
PACKAGES = {
    "joint_state_broadcaster/JointStateBroadcaster": "joint_state_broadcaster",
    "joint_trajectory_controller/JointTrajectoryController": "joint_trajectory_controller",
    "parallel_gripper_action_controller/GripperActionController": "parallel_gripper_controller",
}

ARGUMENTS = [
    DeclareLaunchArgument(
        "scene",
        default_value="arm",
        description="Scene to simulate, as for sim.launch.py. Each robot of the scene has a "
        "controller_manager in its namespace.",
    ),
    DeclareLaunchArgument(
        "controllers_file",
        default_value="",
        description="YAML file of the controller_manager and its controllers, as for the real "
        "robot. Default: config/ros2_control/<model>.yaml for the model file <model>.",
    ),
    DeclareLaunchArgument(
        "active_controllers",
        default_value="",
        description="Controllers to start, in this order, separated by commas. Default: all of the "
        "controllers_file, in its order.",
    ),
]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Namespace, controllers and update rate [Hz] of one robot."""

    namespace: str
    controllers: Path
    active: tuple[str, ...]
    rate: int

    @property
    def source(self) -> str:
        """The source of the lockstep."""
        prefix = f"{self.namespace}/" if self.namespace else ""
        return f"{prefix}joint_commands@{self.rate}"


def generate_launch_description() -> LaunchDescription:
    """Return the checks, the simulator, and the controllers, in this order."""
    return LaunchDescription(
        [
            *ARGUMENTS,
            OpaqueFunction(function=check),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(SHARE / "launch" / "sim.launch.py")),
                launch_arguments=[("ros2_control", "true"), ("robot_state_publisher", "true")],
            ),
            OpaqueFunction(function=start),
        ]
    )


def check(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Check the arguments before any process starts, and set the ones that follow from others.

    Raises:
        UserInputError: The scene is invalid.
        ValueError: A package is missing, or an argument or a controllers file is invalid.
    """
    plans = _plans(*_arguments(context))
    given = context.launch_configurations
    if not given.get("clock_rate"):
        # Each loop wakes at the clock messages: the smallest rate that is a multiple of each.
        given["clock_rate"] = str(math.lcm(*(plan.rate for plan in plans)))
    if given.get("mode") == "lockstep" and not given.get("lockstep_sources"):
        if given.get("use_sim_time") == "false":
            raise ValueError(
                "mode:=lockstep needs use_sim_time:=true: the managers sleep on /clock"
            )
        given["lockstep_sources"] = ", ".join(plan.source for plan in plans)
    return []


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the controller_manager and the spawner of each robot."""
    use_sim_time = LaunchConfiguration("use_sim_time").perform(context) == "true"
    plans = _plans(*_arguments(context))
    return [node for plan in plans for node in (_manager(plan, use_sim_time), _spawner(plan))]


def _manager(plan: Plan, use_sim_time: bool) -> Node:
    return Node(
        package="controller_manager",
        executable="ros2_control_node",
        # Without a name, which would apply to the nodes of all controllers in the process.
        namespace=plan.namespace or None,
        output="screen",
        parameters=[plan.controllers, {"use_sim_time": use_sim_time}],
        on_exit=on_exit("the controller_manager", [Shutdown(reason="its controllers ended")]),
    )


def _spawner(plan: Plan) -> Node:
    return Node(
        package="controller_manager",
        executable="spawner",
        namespace=plan.namespace or None,
        output="screen",
        arguments=[*plan.active, "--param-file", str(plan.controllers)],
        on_exit=on_exit("the spawner of the controllers", []),
    )


def _arguments(context: LaunchContext) -> list[str]:
    return [LaunchConfiguration(argument.name).perform(context) for argument in ARGUMENTS]


@cache
def _plans(scene: str, controllers: str, active: str) -> list[Plan]:
    # Imported here so that `ros2 launch --show-args` is fast.
    from mujoco_ros.model.scene.config import load_scene

    config = load_scene(scene)
    plans = []
    packages = dict.fromkeys(STACK)
    for robot in config.robots:
        file = _file(controllers, robot.name, robot.model)
        types, rate = _controllers(file)
        names = tuple(active.replace(",", " ").split()) or tuple(types)
        for name in names:
            if name not in types:
                raise ValueError(
                    f"active_controllers: {file} has no controller '{name}'; it has: "
                    f"{', '.join(types)}"
                )
        packages |= dict.fromkeys(PACKAGES[types[n]] for n in names if types[n] in PACKAGES)
        plans.append(
            Plan(namespace=config.namespace(robot), controllers=file, active=names, rate=rate)
        )
    require_packages(packages, "ros2_control")
    return plans


def _file(controllers: str, robot: str, model: str) -> Path:
    if controllers:
        return file_argument({"controllers_file": controllers}, "controllers_file")
    found = CONTROLLERS / f"{Path(model).stem}.yaml"
    if not found.is_file():
        shipped = ", ".join(sorted(path.stem for path in CONTROLLERS.glob("*.yaml")))
        raise ValueError(
            f"robot '{robot}': there are controllers for the models {shipped}, none for "
            f"'{Path(model).stem}'; give a file with controllers_file:="
        )
    return found


def _controllers(file: Path) -> tuple[dict[str, str], int]:
    """Return the types of the controllers and the rate of the controller_manager's parameters."""
    from mujoco_ros.model.strict import read_yaml

    found = list(_parameters(read_yaml(file), "controller_manager"))
    types = {
        name: value["type"]
        for parameters in found
        for name, value in parameters.items()
        if isinstance(value, dict) and isinstance(value.get("type"), str)
    }
    if not types:
        raise ValueError(f"{file}: gives the controller_manager no controller with a 'type'")
    rates = [parameters["update_rate"] for parameters in found if "update_rate" in parameters]
    rate = rates[-1] if rates else UPDATE_RATE_HZ
    if not isinstance(rate, int) or isinstance(rate, bool) or rate < 1:
        raise ValueError(f"{file}: update_rate {rate!r} is not a positive integer")
    return types, rate


def _parameters(content: Any, node: str) -> Iterator[dict[str, Any]]:
    """Yield the parameters of the nodes of this name in all namespaces."""
    if not isinstance(content, dict):
        return
    for key, value in content.items():
        if str(key).split("/")[-1] == node and isinstance(value, dict):
            parameters = value.get("ros__parameters")
            if isinstance(parameters, dict):
                yield parameters
        else:
            yield from _parameters(value, node)
