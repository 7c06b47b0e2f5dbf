"""Start RViz on a running simulator."""

import tempfile
from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml
from ament_index_python.packages import PackageNotFoundError, get_package_prefix
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

SHARE = Path(__file__).resolve().parents[1]

ARGUMENTS = [
    DeclareLaunchArgument(
        "rviz_config",
        default_value=str(SHARE / "config" / "rviz" / "mujoco_ros.rviz"),
        description="RViz configuration.",
    ),
    DeclareLaunchArgument(
        "scene",
        default_value="",
        description="The scene that is simulated. If it has several robots, displays of absolute "
        "topics are repeated for each of them, in its namespace. Without it, the configuration "
        "is used as it is.",
    ),
    DeclareLaunchArgument(
        "use_sim_time",
        default_value="true",
        choices=["true", "false"],
        description="Whether RViz follows the simulator's /clock.",
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the function that turns them into RViz."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return RViz for the arguments in `context`.

    Raises:
        ModelError: The scene is wrong.
        ValueError: The configuration does not exist, or RViz is not installed.
    """
    arguments = {a.name: LaunchConfiguration(a.name).perform(context) for a in ARGUMENTS}
    try:
        get_package_prefix("rviz2")
    except PackageNotFoundError:
        raise ValueError("RViz needs the ROS package 'rviz2', which is not installed") from None
    config = Path(arguments["rviz_config"]).expanduser()
    if not config.is_file():
        raise ValueError(f"rviz_config:={config} does not exist")
    if arguments["scene"]:
        config = _for_scene(config, arguments["scene"])
    return [
        Node(
            package="rviz2",
            executable="rviz2",
            name="rviz2",
            arguments=["-d", str(config)],
            parameters=[{"use_sim_time": arguments["use_sim_time"] == "true"}],
        )
    ]


def _for_scene(config: Path, scene: str) -> Path:
    # Imported here because it loads MuJoCo, which `ros2 launch --show-args` need not wait for.
    from mujoco_ros.model.description import describe

    robots = [(robot.namespace, robot.frame_prefix) for robot in describe(scene)]
    if all(not namespace and not prefix for namespace, prefix in robots):
        return config
    content = yaml.safe_load(config.read_text())
    manager = content["Visualization Manager"]
    displays = manager["Displays"]
    own = [display for display in displays if _topics(display)]
    manager["Displays"] = [display for display in displays if not _topics(display)]
    for namespace, prefix in robots:
        manager["Displays"].append(
            {
                "Class": "rviz_common/Group",
                "Name": namespace or prefix.rstrip("/"),
                "Enabled": True,
                "Displays": [_for_robot(display, namespace, prefix) for display in own],
            }
        )
    with tempfile.NamedTemporaryFile(
        "w", prefix="mujoco_ros_", suffix=".rviz", delete=False
    ) as file:
        yaml.safe_dump(content, file, sort_keys=False)
    return Path(file.name)


def _topics(display: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the topic properties of a display that name an absolute topic."""
    properties = [value for key, value in display.items() if key.endswith("Topic")]
    return [p for p in properties if isinstance(p, dict) and str(p.get("Value")).startswith("/")]


def _for_robot(display: dict[str, Any], namespace: str, frame_prefix: str) -> dict[str, Any]:
    display = deepcopy(display)
    for topic in _topics(display):
        topic["Value"] = f"/{namespace}{topic['Value']}" if namespace else topic["Value"]
    if "TF Prefix" in display:
        # RViz joins prefix and link with a slash of its own.
        display["TF Prefix"] = frame_prefix.rstrip("/")
    return display
