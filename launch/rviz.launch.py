"""Start RViz on a running simulator."""

from pathlib import Path

import yaml
from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node

from mujoco_ros.wire.launch_files import file_argument, temporary_folder
from mujoco_ros.wire.ros_packages import require_packages

SHARE = Path(__file__).resolve().parents[1]

ARGUMENTS = [
    DeclareLaunchArgument(
        "rviz_config",
        default_value=str(SHARE / "config" / "rviz" / "mujoco_ros.rviz"),
        description="RViz configuration. Displays with placeholders, as in the default one, are "
        "repeated for each topic of the scene; a file saved by RViz is used unchanged.",
    ),
    DeclareLaunchArgument(
        "scene",
        default_value="humanoid",
        description="The simulated scene, as for sim.launch.py: RViz shows its robots, sensors and "
        "cameras.",
    ),
    DeclareLaunchArgument(
        "use_sim_time",
        default_value="true",
        choices=["true", "false"],
        description="Whether RViz uses the simulator's /clock.",
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the function that turns them into RViz."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return RViz for the arguments in `context`.

    Raises:
        UserInputError: The scene is invalid.
        ValueError: The configuration is invalid or does not exist, or RViz is not installed.
    """
    arguments = {a.name: LaunchConfiguration(a.name).perform(context) for a in ARGUMENTS}
    require_packages(["rviz2"], "RViz")
    config = file_argument(arguments, "rviz_config")
    return [
        Node(
            package="rviz2",
            executable="rviz2",
            name="rviz2",
            arguments=["-d", str(_for_scene(config, arguments["scene"]))],
            parameters=[{"use_sim_time": arguments["use_sim_time"] == "true"}],
        )
    ]


def _for_scene(template: Path, scene: str) -> Path:
    """Return the configuration for a scene; the template itself without placeholders."""
    # Imported here, as they load MuJoCo, so that `ros2 launch --show-args` is fast.
    from mujoco_ros.bridge.tf.rviz_config import filled
    from mujoco_ros.model.robot.layout import lay_out
    from mujoco_ros.model.scene.assembly import assemble
    from mujoco_ros.model.scene.config import load_scene
    from mujoco_ros.model.strict import read_yaml

    try:
        content = read_yaml(template)
    except ValueError as error:
        raise ValueError(f"rviz_config:={error}") from None
    if not isinstance(content, dict):
        raise ValueError(f"rviz_config:={template} is no configuration of RViz")
    config = filled(content, lay_out(assemble(load_scene(scene))))
    if config == content:
        return template
    path = temporary_folder() / "scene.rviz"
    path.write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    return path
