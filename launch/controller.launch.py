"""Start a controller beside a robot, simulated or real, which it knows by its topics."""

from pathlib import Path

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import DeclareLaunchArgument, OpaqueFunction
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
        choices=["joint_commands", "trajectory"],
        description="How the robot is told: by a stream of joint commands, or by short "
        "trajectories and goals for the gripper.",
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
    """Return the controller for the arguments in `context`."""
    arguments = {a.name: LaunchConfiguration(a.name).perform(context) for a in ARGUMENTS}
    simulator = arguments["simulator"]
    chosen = {name: arguments[name] for name in ("scene", "robot", "output", "without")}
    chosen["simulator"] = "" if simulator == "none" else simulator
    parameters = [arguments["params_file"]] if arguments["params_file"] else []
    typed = {name: ParameterValue(value, value_type=str) for name, value in chosen.items()}
    typed["lockstep"] = ParameterValue(arguments["lockstep"] == "true", value_type=bool)
    return [
        Node(
            package="mujoco_ros",
            executable="controller",
            # As it names itself: parameters for this very node win over a params_file that does.
            name=Path(arguments["controller"]).stem,
            namespace="",
            arguments=[arguments["controller"]],
            output="screen",
            parameters=[*parameters, typed],
        )
    ]
