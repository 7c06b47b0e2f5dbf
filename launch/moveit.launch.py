"""Start the simulator with the shipped arm, and MoveIt's move_group."""

from pathlib import Path
from typing import Any

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from mujoco_ros.wire.launch_files import temporary_folder
from mujoco_ros.wire.ros_packages import require_packages

SHARE = Path(__file__).resolve().parents[1]
PACKAGES = (
    "moveit_kinematics",
    "moveit_planners_ompl",
    "moveit_ros_move_group",
    "moveit_simple_controller_manager",
)
OCTOMAP_PACKAGE = "moveit_ros_perception"
PLANNING_SCENE_PACKAGE = "moveit_ros_planning"

ARGUMENTS = [
    DeclareLaunchArgument(
        "scene",
        default_value="arm",
        description="Scene to simulate, as for sim.launch.py, with one robot: the shipped arm, or "
        "the robot of moveit_config.",
    ),
    DeclareLaunchArgument(
        "moveit_config",
        default_value=str(SHARE / "config" / "moveit" / "arm"),
        description="Folder with an SRDF, kinematics.yaml, joint_limits.yaml, ompl_planning.yaml, "
        "moveit_controllers.yaml and sensors_3d.yaml of the robot.",
    ),
    DeclareLaunchArgument(
        "octomap",
        default_value="false",
        choices=["true", "false"],
        description="Whether move_group builds an octomap from the sensors of sensors_3d.yaml.",
    ),
    DeclareLaunchArgument(
        "planning_scene",
        default_value="false",
        choices=["true", "false"],
        description="Whether move_group plans around the world and the objects, where they are at "
        "the start.",
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Return the checks, the simulator, and move_group, in this order."""
    sim = PythonLaunchDescriptionSource(str(SHARE / "launch" / "sim.launch.py"))
    publisher = [("robot_state_publisher", "true")]
    return LaunchDescription(
        [
            *ARGUMENTS,
            OpaqueFunction(function=check),
            IncludeLaunchDescription(sim, launch_arguments=publisher),
            OpaqueFunction(function=start),
        ]
    )


def check(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Check packages and files before any process starts.

    Raises:
        ValueError: A package or a file is missing.
    """
    needed = [*PACKAGES]
    needed += [OCTOMAP_PACKAGE] if _octomap(context) else []
    needed += [PLANNING_SCENE_PACKAGE] if _planning_scene(context) else []
    require_packages(needed, "moveit.launch.py")
    parameters(_folder(context), octomap=_octomap(context))
    return []


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return move_group, which has the robot_description from the topic of the simulator.

    Before it, on request, the node that publishes the planning scene, which ends after that.
    """
    use_sim_time = LaunchConfiguration("use_sim_time").perform(context) == "true"
    given = parameters(_folder(context), octomap=_octomap(context))
    given["use_sim_time"] = use_sim_time
    move_group = Node(
        package="moveit_ros_move_group",
        executable="move_group",
        output="screen",
        parameters=[given],
    )
    if not _planning_scene(context):
        return [move_group]
    # Imported here so that `ros2 launch --show-args` is fast.
    from mujoco_ros.cli.export_moveit_scene import scene_text

    text, _ = scene_text(LaunchConfiguration("scene").perform(context))
    file = temporary_folder() / "world.scene"
    file.write_text(text, encoding="utf-8")
    publisher = Node(
        package=PLANNING_SCENE_PACKAGE,
        executable="moveit_publish_scene_from_text",
        output="screen",
        arguments=["--scene", str(file)],
        parameters=[given],
    )
    return [publisher, move_group]


def parameters(folder: Path, *, octomap: bool) -> dict[str, Any]:
    """Return the parameters of move_group from the files of a folder.

    Raises:
        ValueError: A file is missing, or there is not one SRDF.
    """
    srdf = sorted(folder.glob("*.srdf"))
    if len(srdf) != 1:
        raise ValueError(f"moveit_config:={folder} has {len(srdf)} files *.srdf; it needs one")
    return {
        "robot_description_semantic": srdf[0].read_text(encoding="utf-8"),
        "publish_robot_description_semantic": True,
        "robot_description_kinematics": _content(folder / "kinematics.yaml"),
        "robot_description_planning": _content(folder / "joint_limits.yaml"),
        "planning_pipelines": ["ompl"],
        "default_planning_pipeline": "ompl",
        "ompl": _content(folder / "ompl_planning.yaml"),
        **_content(folder / "moveit_controllers.yaml"),
        **(_content(folder / "sensors_3d.yaml") if octomap else {}),
    }


def _content(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise ValueError(f"moveit_config: {path} does not exist")
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    if not isinstance(content, dict):
        raise ValueError(f"moveit_config: {path} is no mapping of parameters")
    return content


def _folder(context: LaunchContext) -> Path:
    return Path(LaunchConfiguration("moveit_config").perform(context)).expanduser()


def _planning_scene(context: LaunchContext) -> bool:
    return LaunchConfiguration("planning_scene").perform(context) == "true"


def _octomap(context: LaunchContext) -> bool:
    return LaunchConfiguration("octomap").perform(context) == "true"
