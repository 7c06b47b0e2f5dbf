"""Start a controller for a robot, simulated or real, over the robot's topics."""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterValue

from mujoco_ros.wire.launch_files import file_argument, integer_argument, on_exit

BOOLEAN = ["true", "false"]

ARGUMENTS = [
    DeclareLaunchArgument(
        "controller",
        description="Controller: a shipped one (grasp_reflex, handover, pick_place, "
        "stand, trot, trot_policy, walk, walk_grasp) or the path of a "
        "YAML file.",
    ),
    DeclareLaunchArgument(
        "scene",
        default_value="arm",
        description="Model of the robot and its environment, for dynamics and planning: the name "
        "of a shipped scene or the path of a scene YAML, MJCF, MJB or URDF file.",
    ),
    DeclareLaunchArgument(
        "robot",
        default_value="",
        description="Name of the controlled robot of the scene. Default: the only robot with "
        "joints.",
    ),
    DeclareLaunchArgument(
        "output",
        default_value="joint_commands",
        choices=["joint_commands", "trajectory", "trajectory_effort"],
        description="Command interface: a stream of joint commands, or short trajectories without "
        "or with efforts, and goals for the gripper.",
    ),
    DeclareLaunchArgument(
        "without",
        default_value="",
        description="Topics of the scene that the robot does not publish, such as 'odom, tf/box'.",
    ),
    DeclareLaunchArgument(
        "simulator",
        default_value="/mujoco",
        description="Full name of the node whose parameters are the robot's gains; 'none' without "
        "such a node.",
    ),
    DeclareLaunchArgument(
        "lockstep",
        default_value="false",
        choices=BOOLEAN,
        description="Whether the clock of the simulator waits for the controller.",
    ),
    DeclareLaunchArgument(
        "step_by_step",
        default_value="",
        choices=["", *BOOLEAN],
        description="Whether transitions with the trigger step_by_step wait for a request. "
        "Default: the value in the params_file, or the controller's own.",
    ),
    DeclareLaunchArgument(
        "seed",
        default_value="",
        description="Seed of all random numbers of the controller. Default: the value in the "
        "params_file, or 0.",
    ),
    DeclareLaunchArgument(
        "params_file",
        default_value="",
        description="YAML file of further parameters, such as settings of states; arguments take "
        "precedence.",
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the function that turns them into a process."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the controller for the arguments in `context`.

    Raises:
        ValueError: An argument is invalid.
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
        chosen["seed"] = ParameterValue(integer_argument(arguments, "seed"), value_type=int)
    given = arguments["params_file"]
    files = [file_argument(arguments, "params_file")] if given else []
    return [
        Node(
            package="mujoco_ros",
            executable="controller",
            # The node's own name: parameters of a named node take precedence over a params_file.
            name=Path(arguments["controller"]).stem,
            namespace="",
            arguments=[arguments["controller"]],
            output="screen",
            parameters=[*files, chosen],
            on_exit=on_exit("the controller", []),
        )
    ]
