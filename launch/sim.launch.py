"""Start the simulator and, on request, robot_state_publisher, RViz and a recording."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import List  # noqa: UP035 - launch_ros compares with this one

from launch import LaunchContext, LaunchDescription, LaunchDescriptionEntity
from launch.actions import (
    DeclareLaunchArgument,
    ExecuteProcess,
    IncludeLaunchDescription,
    OpaqueFunction,
    Shutdown,
)
from launch.launch_description_sources import PythonLaunchDescriptionSource
from launch.substitutions import LaunchConfiguration
from launch_ros.actions import Node
from launch_ros.parameter_descriptions import ParameterFile, ParameterValue

from mujoco_ros.wire.launch_files import file_argument, integer_argument, on_exit
from mujoco_ros.wire.ros_packages import is_installed, require_packages

SHARE = Path(__file__).resolve().parents[1]
BOOLEAN = ["true", "false"]
# Parameter files with substitutions, which delete their copies with themselves.
COPIED: list[ParameterFile] = []
# The rate of the simulator's TF; the default of robot_state_publisher is 20 Hz.
TF_RATE_HZ = 100.0

ARGUMENTS = [
    DeclareLaunchArgument(
        "scene",
        default_value="humanoid",
        description="Scene to simulate: the name of a shipped scene (humanoid, quadruped, arm, "
        "handover, walk_grasp, zoo) or the path of a scene YAML, MJCF, MJB, URDF or "
        "xacro file, or <collection>:<robot>.",
    ),
    DeclareLaunchArgument(
        "real_time_factor",
        default_value="",
        description="Simulated seconds per second of wall time; 0 runs as fast as possible. "
        "Default: the value in the params_file, or 1.",
    ),
    DeclareLaunchArgument(
        "tf",
        default_value="auto",
        choices=["auto", "base", "all", "none"],
        description="Transforms that the simulator publishes: 'base' for bases, free objects and "
        "cameras; 'all' for every link as well; 'none'. 'auto' is 'base' with "
        "robot_state_publisher, 'all' with RViz only, otherwise the value in the params_file, or "
        "'base'.",
    ),
    DeclareLaunchArgument(
        "params_file",
        default_value="",
        description="YAML file of further parameters of the simulator; arguments take precedence.",
    ),
    DeclareLaunchArgument(
        "log_level",
        default_value="info",
        choices=["debug", "info", "warn", "error", "fatal"],
        description="Log level of the simulator.",
    ),
    DeclareLaunchArgument(
        "viewer",
        default_value="",
        description="Viewer: web (a page for a browser), native (that page and a window) or none. "
        "Default: the value in the params_file, or none.",
    ),
    DeclareLaunchArgument(
        "controller",
        default_value="",
        description="Controller that runs in the simulator, synchronous with the physics: a "
        "shipped one (grasp_reflex, handover, pick_place, stand, trot, trot_policy, walk, "
        "walk_grasp) or the path of a YAML file. Default: the value in the params_file, or none.",
    ),
    DeclareLaunchArgument(
        "controllers",
        default_value="",
        description="Parameter file of ros2_control, whose controllers run in the simulator. Or "
        "several controllers like the one of 'controller', as a list: [stand, grasp_reflex]; the "
        "params_file has their robots and joints. Default: the value in the params_file, or none.",
    ),
    DeclareLaunchArgument(
        "controller_robot",
        default_value="",
        description="Name of the controlled robot. Default: the value in the params_file, or the "
        "only robot with joints.",
    ),
    DeclareLaunchArgument(
        "controller_step_by_step",
        default_value="",
        choices=["", *BOOLEAN],
        description="Whether transitions with the trigger step_by_step wait for a request. "
        "Default: the value in the params_file, or the controller's own.",
    ),
    DeclareLaunchArgument(
        "controller_seed",
        default_value="",
        description="Seed of all random numbers of the controller. Default: the value in the "
        "params_file, or 0.",
    ),
    DeclareLaunchArgument(
        "use_sim_time",
        default_value="true",
        choices=BOOLEAN,
        description="Whether the other nodes use the simulator's /clock.",
    ),
    DeclareLaunchArgument(
        "robot_state_publisher",
        default_value="false",
        choices=BOOLEAN,
        description="Start a robot_state_publisher for each robot, in the robot's namespace. "
        "It publishes the transforms of the links instead of the simulator.",
    ),
    DeclareLaunchArgument(
        "ros2_control",
        default_value="false",
        choices=BOOLEAN,
        description="Leave the joints to a controller_manager, which ros2_control.launch.py "
        "starts: robot_description has their ros2_control hardware, and their states are "
        "published as simulation/joint_states.",
    ),
    DeclareLaunchArgument(
        "mode",
        default_value="",
        choices=["", "realtime", "lockstep"],
        description="Whether the clock follows the wall clock alone, or also waits at every tick "
        "for the sources of commands. Default: the value in the params_file, or realtime.",
    ),
    DeclareLaunchArgument(
        "lockstep_sources",
        default_value="",
        description="Sources that the clock waits for in lockstep, such as joint_commands@200; "
        "ros2_control.launch.py sets them. Default: the value in the params_file.",
    ),
    DeclareLaunchArgument(
        "clock_rate",
        default_value="",
        description="Rate of /clock in simulated time; 0 publishes it with every other message. "
        "ros2_control.launch.py sets it. Default: the value in the params_file, or 0.",
    ),
    DeclareLaunchArgument(
        "rviz", default_value="false", choices=BOOLEAN, description="Start RViz."
    ),
    DeclareLaunchArgument(
        "rviz_config",
        default_value=str(SHARE / "config" / "rviz" / "mujoco_ros.rviz"),
        description="RViz configuration; its displays are repeated for each robot of the scene.",
    ),
    DeclareLaunchArgument(
        "record",
        default_value="",
        description="Folder of an MCAP bag of all topics, including cameras; it must not exist. "
        "Default: no recording.",
    ),
    DeclareLaunchArgument(
        "state_log",
        default_value="",
        description="File of the log of the full state at every step; it must not exist. Default: "
        "no log.",
    ),
]


def generate_launch_description() -> LaunchDescription:
    """Return the arguments and the function that turns them into processes."""
    return LaunchDescription([*ARGUMENTS, OpaqueFunction(function=start)])


def start(context: LaunchContext) -> list[LaunchDescriptionEntity]:
    """Return the processes for the arguments in `context`.

    Raises:
        UserInputError: The scene is invalid.
        ValueError: An argument is invalid, or needs a package that is not installed.
    """
    arguments = {a.name: LaunchConfiguration(a.name).perform(context) for a in ARGUMENTS}
    # The simulator is the last one, so errors of the others occur before any process starts.
    entities: list[LaunchDescriptionEntity] = []
    if arguments["rviz"] == "true":
        entities.append(_rviz(arguments))
    if arguments["robot_state_publisher"] == "true":
        require_packages(["robot_state_publisher"], "robot_state_publisher:=true")
        entities += _robot_state_publishers(arguments)
    if arguments["record"]:
        entities.append(_recorder(arguments["record"], arguments["use_sim_time"]))
    return [*entities, _simulator(context, arguments)]


def _simulator(context: LaunchContext, arguments: dict[str, str]) -> Node:
    parameters: list[Path | dict[str, ParameterValue]] = []
    if arguments["params_file"]:
        parameters.append(file_argument(arguments, "params_file"))
    chosen = {"scene": ParameterValue(arguments["scene"], value_type=str)}
    remappings: list[tuple[str, str]] = []
    if arguments["ros2_control"] == "true":
        chosen["ros2_control"] = ParameterValue(True, value_type=bool)
        remappings = _simulated_states(arguments["scene"])
    if arguments["real_time_factor"]:
        chosen["real_time_factor"] = ParameterValue(
            _number(arguments, "real_time_factor"), value_type=float
        )
    if arguments["clock_rate"]:
        rate = _number(arguments, "clock_rate")
        chosen["clock_rate"] = ParameterValue(rate, value_type=float)
    texts = ("state_log", "viewer", "controller", "controller_robot", "mode", "lockstep_sources")
    for name in texts:
        if arguments[name]:
            chosen[name] = ParameterValue(arguments[name], value_type=str)
    if arguments["controllers"].startswith("["):
        names = _names(arguments, "controllers")
        chosen["controllers"] = ParameterValue(names, value_type=List[str])  # noqa: UP006
    elif arguments["controllers"]:
        file = _controllers_file(context, arguments)
        chosen["controllers_file"] = ParameterValue(str(file), value_type=str)
    if arguments["controller_step_by_step"]:
        steps = arguments["controller_step_by_step"] == "true"
        chosen["controller_step_by_step"] = ParameterValue(steps, value_type=bool)
    if arguments["controller_seed"]:
        seed = integer_argument(arguments, "controller_seed")
        chosen["controller_seed"] = ParameterValue(seed, value_type=int)
    tf = _tf(arguments)
    if tf is not None:
        chosen["tf"] = ParameterValue(tf, value_type=str)
    parameters.append(chosen)
    return Node(
        package="mujoco_ros",
        executable="sim",
        name="mujoco",
        # With a namespace, launch_ros writes parameters for this node instead of `/**`; only those
        # take precedence over a params_file that names the node.
        namespace="",
        output="screen",
        parameters=parameters,
        remappings=remappings,
        ros_arguments=["--log-level", arguments["log_level"]],
        on_exit=on_exit("the simulator", [Shutdown(reason="the simulator ended")]),
    )


def _tf(arguments: dict[str, str]) -> str | None:
    """Return the simulator's `tf` parameter; None leaves the default."""
    tf = arguments["tf"]
    links_published = arguments["robot_state_publisher"] == "true"
    if tf == "all" and links_published:
        raise ValueError(
            "tf:=all and robot_state_publisher:=true would both publish every link; choose one"
        )
    if tf != "auto":
        return tf
    if links_published:
        return "base"
    return "all" if arguments["rviz"] == "true" else None


def _simulated_states(scene: str) -> list[tuple[str, str]]:
    """Return remappings that reserve joint_states for the joint_state_broadcasters."""
    # Imported here so that `ros2 launch --show-args` is fast.
    from mujoco_ros.model.scene.config import load_scene

    config = load_scene(scene)
    namespaces = [config.namespace(robot) for robot in config.robots]
    prefixes = [f"{namespace}/" if namespace else "" for namespace in namespaces]
    return [(f"{p}joint_states", f"{p}simulation/joint_states") for p in prefixes]


def _robot_state_publishers(arguments: dict[str, str]) -> list[Node]:
    # Imported here, as it loads MuJoCo, so that `ros2 launch --show-args` is fast.
    from mujoco_ros.model.robot.description import describe

    remappings: list[tuple[str, str]] = []
    if arguments["ros2_control"] == "true":
        # The simulator's description has the ros2_control hardware; this one must not replace it.
        remappings.append(("robot_description", "robot_state_publisher/robot_description"))
    return [
        Node(
            package="robot_state_publisher",
            executable="robot_state_publisher",
            name="robot_state_publisher",
            namespace=robot.namespace or None,
            parameters=[
                {
                    # Without a type, the XML would be parsed as YAML.
                    "robot_description": ParameterValue(robot.urdf, value_type=str),
                    "frame_prefix": ParameterValue(robot.frame_prefix, value_type=str),
                    "publish_frequency": TF_RATE_HZ,
                    "use_sim_time": arguments["use_sim_time"] == "true",
                }
            ],
            remappings=remappings,
        )
        for robot in describe(arguments["scene"])
    ]


def _rviz(arguments: dict[str, str]) -> IncludeLaunchDescription:
    return IncludeLaunchDescription(
        PythonLaunchDescriptionSource(str(SHARE / "launch" / "rviz.launch.py")),
        launch_arguments=[
            (name, arguments[name]) for name in ("scene", "rviz_config", "use_sim_time")
        ],
    )


def _recorder(record: str, use_sim_time: str) -> ExecuteProcess:
    """Return `ros2 bag record`; if that is not installed, the recorder of this package."""
    folder = Path(record).expanduser()
    if folder.exists():
        raise ValueError(f"record:={folder} already exists; name a folder to be created")
    ros2 = shutil.which("ros2")
    if ros2 is None or not all(is_installed(p) for p in ("ros2bag", "rosbag2_storage_mcap")):
        arguments = ["--output", str(folder)]
        if use_sim_time == "true":
            arguments.append("--use-sim-time")
        return Node(package="mujoco_ros", executable="record", arguments=arguments, output="screen")
    # The keyboard control would read the terminal of `ros2 launch`.
    command = [ros2, "bag", "record", "--all", "--storage", "mcap", "--disable-keyboard-controls"]
    if use_sim_time == "true":
        command.append("--use-sim-time")
    return ExecuteProcess(
        cmd=[*command, "--output", str(folder)], name="ros2_bag_record", output="screen"
    )


def _number(arguments: dict[str, str], name: str) -> float:
    try:
        return float(arguments[name])
    except ValueError:
        raise ValueError(f"{name}:={arguments[name]} is not a number") from None


def _names(arguments: dict[str, str], name: str) -> list[str]:
    from mujoco_ros.model.strict import parse_yaml

    found = None
    with suppress(ValueError):
        found = parse_yaml(arguments[name], name)
    if not (isinstance(found, list) and found and all(isinstance(entry, str) for entry in found)):
        raise ValueError(f"{name}:={arguments[name]} is not a list of names, [first, second]")
    return found


def _controllers_file(context: LaunchContext, arguments: dict[str, str]) -> Path:
    """Return the file of controllers, or a copy in which substitutions are replaced."""
    path = Path(arguments["controllers"]).expanduser().absolute()
    if not path.is_file():
        raise ValueError(
            f"controllers:={arguments['controllers']} is neither a file nor a list of names, "
            "[first, second]"
        )
    if "$(" not in path.read_text(encoding="utf-8"):
        return path
    file = ParameterFile(str(path), allow_substs=True)
    COPIED.append(file)
    return Path(file.evaluate(context))
