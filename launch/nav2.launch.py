"""Start the simulator with Nav2, which localizes a robot on wheels and drives it to goals."""

from collections.abc import Mapping
from pathlib import Path
from typing import List  # noqa: UP035 - launch_ros compares with this one

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
from launch_ros.parameter_descriptions import ParameterValue

from mujoco_ros.wire.launch_files import file_argument, on_exit, temporary_folder
from mujoco_ros.wire.ros_packages import require_packages

SHARE = Path(__file__).resolve().parents[1]
BOOLEAN = ["true", "false"]
# Between these heights, the shipped rover would hit what the map calls occupied.
SLICE_M = (0.05, 0.4)
# Nodes by their packages and executables, in the order in which they are activated.
ON_A_MAP = {"map_server": "nav2_map_server/map_server", "amcl": "nav2_amcl/amcl"}
SLAM = {"slam_toolbox": "slam_toolbox/async_slam_toolbox_node"}
NAVIGATION = {
    "controller_server": "nav2_controller/controller_server",
    "planner_server": "nav2_planner/planner_server",
    "behavior_server": "nav2_behaviors/behavior_server",
    "bt_navigator": "nav2_bt_navigator/bt_navigator",
}
DOCKING = {"docking_server": "opennav_docking/opennav_docking"}
# The rate of TF. An idle planner_server takes 2 % of a core with it, and 5 % with 500 Hz.
CLOCK_RATE_HZ = 100
# Packages of the plugins in config/nav2/rover.yaml.
PLUGINS = ("nav2_navfn_planner", "nav2_regulated_pure_pursuit_controller")

ARGUMENTS = [
    DeclareLaunchArgument(
        "scene",
        default_value="office",
        description="Scene to simulate, as for sim.launch.py, with one robot on wheels.",
    ),
    DeclareLaunchArgument(
        "slam",
        default_value="false",
        choices=BOOLEAN,
        description="Make a map with slam_toolbox, instead of localizing the robot on one by AMCL.",
    ),
    DeclareLaunchArgument(
        "map",
        default_value="",
        description="YAML file of a map for nav2_map_server. Default: a map of the scene, as "
        "export_map writes it.",
    ),
    DeclareLaunchArgument(
        "params_file",
        default_value=str(SHARE / "config" / "nav2" / "rover.yaml"),
        description="YAML file of the parameters of Nav2 and slam_toolbox; the section 'mujoco' is "
        "for the simulator.",
    ),
    DeclareLaunchArgument(
        "scan_topic",
        default_value="/lidar/lidar/scan",
        description="Topic of the lidar, which the parameters name 'scan'.",
    ),
    DeclareLaunchArgument(
        "docking",
        default_value="false",
        choices=BOOLEAN,
        description="Start the docking server.",
    ),
    DeclareLaunchArgument(
        "use_sim_time",
        default_value="true",
        choices=BOOLEAN,
        description="Whether all nodes use the simulator's /clock.",
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments, Nav2 and, after all checks, the simulator."""
    return LaunchDescription(
        [
            *ARGUMENTS,
            OpaqueFunction(function=start),
            IncludeLaunchDescription(
                PythonLaunchDescriptionSource(str(SHARE / "launch" / "sim.launch.py"))
            ),
        ]
    )


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the nodes of Nav2 for the arguments in `context`.

    Raises:
        UserInputError: The scene is invalid.
        ValueError: A package is missing, an argument is invalid, or the scene has several robots.
    """
    arguments = {a.name: LaunchConfiguration(a.name).perform(context) for a in ARGUMENTS}
    nodes = dict(SLAM if arguments["slam"] == "true" else ON_A_MAP) | NAVIGATION
    if arguments["docking"] == "true":
        nodes |= DOCKING
    names = ParameterValue(list(nodes), value_type=List[str])  # noqa: UP006
    own: dict[str, dict[str, object]] = {
        "lifecycle_manager": {"autostart": True, "node_names": names}
    }
    nodes["lifecycle_manager"] = "nav2_lifecycle_manager/lifecycle_manager"
    packages = [*(executable.split("/")[0] for executable in nodes.values()), *PLUGINS]
    require_packages(packages, "nav2.launch.py")
    params_file = file_argument(arguments, "params_file")
    _check_robots(arguments["scene"])
    if "map_server" in nodes:
        own["map_server"] = {"yaml_filename": str(_map(arguments))}
    given = context.launch_configurations
    if given.get("tf", "auto") == "auto" and given.get("robot_state_publisher") != "true":
        given["tf"] = "all"  # with the frame of the lidar
    given.setdefault("clock_rate", str(CLOCK_RATE_HZ))
    use_sim_time = {"use_sim_time": arguments["use_sim_time"] == "true"}
    return [
        _node(name, executable, [params_file, use_sim_time, own.get(name, {})], arguments)
        for name, executable in nodes.items()
    ]


def _node(
    name: str,
    executable: str,
    parameters: list[Path | Mapping[str, object]],
    arguments: dict[str, str],
) -> Node:
    package, _, program = executable.partition("/")
    return Node(
        package=package,
        executable=program,
        name=name,
        # With a namespace, launch_ros writes parameters for this node instead of `/**`; only those
        # take precedence over a params_file that names the node.
        namespace="",
        output="screen",
        parameters=[p for p in parameters if p],
        remappings=[("/scan", arguments["scan_topic"])],
        on_exit=on_exit(name, [Shutdown(reason=f"{name} ended")]),
    )


def _check_robots(scene: str) -> None:
    # Imported here so that `ros2 launch --show-args` is fast.
    from mujoco_ros.model.scene.config import load_scene

    names = [robot.name for robot in load_scene(scene).robots]
    if len(names) != 1:
        raise ValueError(
            f"Nav2 drives one robot; scene '{scene}' has: {', '.join(names) or 'none'}"
        )


def _map(arguments: dict[str, str]) -> Path:
    """Return the file of the map; without one, export the scene's."""
    if arguments["map"]:
        return file_argument(arguments, "map")
    from mujoco_ros.cli.export_map import map_of_scene, write_map

    folder = temporary_folder()
    description = folder / "map.yaml"
    write_map(map_of_scene(arguments["scene"], heights=SLICE_M), folder / "map.pgm", description)
    return description
