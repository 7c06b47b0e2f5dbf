"""Start the arm with a box, and the controller that moves the box between two places."""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, IncludeLaunchDescription, OpaqueFunction
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration

SHARE = Path(__file__).resolve().parents[1]
BOOLEAN = ["true", "false"]

ARGUMENTS = [
    DeclareLaunchArgument(
        "viewer",
        default_value="web",
        description="Viewer: web (a page for a browser), native (that page and a window) or none.",
    ),
    DeclareLaunchArgument(
        "repeat",
        default_value="true",
        choices=BOOLEAN,
        description="Whether the task is repeated endlessly, alternating the two places; otherwise "
        "parameters of the node pick_place define it.",
    ),
    DeclareLaunchArgument(
        "step_by_step",
        default_value="false",
        choices=BOOLEAN,
        description="Whether every phase waits for a request: `ros2 lifecycle list /pick_place` "
        "lists the available ones, `ros2 lifecycle set /pick_place done` sends one.",
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the function that turns them into processes."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return sim.launch.py with the arguments in `context`."""
    arguments = {a.name: LaunchConfiguration(a.name).perform(context) for a in ARGUMENTS}
    again = str(SHARE / "config" / "controllers" / "pick_place_again.yaml")
    chosen = {
        "scene": "arm",
        "tf": "all",
        "controller": "pick_place",
        "controller_step_by_step": arguments["step_by_step"],
        "viewer": arguments["viewer"],
        "params_file": again if arguments["repeat"] == "true" else "",
    }
    source = PythonLaunchDescriptionSource(str(SHARE / "launch" / "sim.launch.py"))
    return [IncludeLaunchDescription(source, launch_arguments=chosen.items())]
