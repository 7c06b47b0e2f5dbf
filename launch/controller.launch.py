"""Start a controller beside a robot, simulated or real, which it knows by its topics."""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.events.process import ProcessExited
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

BOOLEAN = ["true", "false"]

ARGUMENTS = [
    DeclareLaunchArgument(
        "controller",
        description="The controller: one that is shipped (grasp_reflex, pick_place, stand), or "
        "the path of a YAML file.",
    ),
    DeclareLaunchArgument(
        "scene",
        default_value="arm",
        description="The robot and what is around it, to compute and plan in: the name of a "
        "shipped scene or the path of a scene YAML, MJCF, MJB or URDF file.",
    ),
    DeclareLaunchArgument(
        "robot",
        default_value="",
        description="Name of the scene's robot that is controlled; without it, the only one that "
        "has joints.",
    ),
    DeclareLaunchArgument(
        "output",
        default_value="joint_commands",
        choices=["joint_commands", "trajectory", "trajectory_effort"],
        description="How the robot is told: by a stream of joint commands, or by short "
        "trajectories, without or with efforts, and goals for the gripper.",
    ),
    DeclareLaunchArgument(
        "without",
        default_value="",
        description="What is in the scene but not told of by the robot, such as 'odom, tf/box'.",
    ),
    DeclareLaunchArgument(
        "simulator",
        default_value="/mujoco",
        description="Full name of the node that has the robot's gains as parameters; 'none' for "
        "a robot without one.",
    ),
    DeclareLaunchArgument(
        "lockstep",
        default_value="false",
        choices=BOOLEAN,
        description="Whether the clock of a simulator waits for the controller.",
    ),
    DeclareLaunchArgument(
        "step_by_step",
        default_value="",
        choices=["", *BOOLEAN],
        description="Whether transitions of that trigger wait for a request. Without it, what the "
        "params_file or the controller itself says.",
    ),
    DeclareLaunchArgument(
        "seed",
        default_value="",
        description="Seed of everything random in the controller. Without it, what the "
        "params_file says, or else 0.",
    ),
    DeclareLaunchArgument(
        "params_file",
        default_value="",
        description="YAML file of further parameters, such as settings of states; the arguments "
        "win over it.",
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the function that turns them into a process."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the controller for the arguments in `context`.

    Raises:
        ValueError: An argument is wrong.
    """
    arguments = {a.name: LaunchConfiguration(a.name).perform(context) for a in ARGUMENTS}
    simulator = arguments["simulator"]
    texts = {name: arguments[name] for name in ("scene", "robot", "output", "without")}
    texts["simulator"] = "" if simulator == "none" else simulator
    chosen = {name: ParameterValue(value, value_type=str) for name, value in texts.items()}
    for name in ("lockstep", "step_by_step"):
        if arguments[name]:
            chosen[name] = ParameterValue(arguments[name] == "true", value_type=bool)
    if arguments["seed"]:
        chosen["seed"] = ParameterValue(_integer(arguments, "seed"), value_type=int)
    return [
        Node(
            package="mujoco_ros",
            executable="controller",
            # As it names itself: parameters for this very node win over a params_file that does.
            name=Path(arguments["controller"]).stem,
            namespace="",
            arguments=[arguments["controller"]],
            output="screen",
            parameters=[*_files(arguments["params_file"]), chosen],
            on_exit=_controller_ended,
        )
    ]


def _controller_ended(
    event: ProcessExited, context: LaunchContext
) -> list[LaunchDescriptionEntity]:
    # An exception is what makes `ros2 launch` itself exit with an error.
    if event.returncode != 0 and not context.is_shutdown:
        raise RuntimeError(f"the controller failed with exit code {event.returncode}")
    return []


def _files(params_file: str) -> list[Path]:
    if not params_file:
        return []
    path = Path(params_file).expanduser()
    if not path.is_file():
        raise ValueError(f"params_file:={path} does not exist")
    return [path]


def _integer(arguments: dict[str, str], name: str) -> int:
    try:
        return int(arguments[name])
    except ValueError:
        raise ValueError(f"{name}:={arguments[name]} is not an integer") from None
