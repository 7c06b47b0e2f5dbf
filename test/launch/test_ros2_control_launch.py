"""Processes and arguments of ros2_control.launch.py, with stand-in executables."""

from pathlib import Path

import pytest
import yaml
from hardware_blocks import read_blocks
from rclpy.qos import DurabilityPolicy, QoSProfile
from sensor_msgs.msg import JointState
from std_msgs.msg import String

from mujoco_ros.model.scene.config import load_scene

ROOT = Path(__file__).resolve().parents[2]
ROS2_CONTROL = str(ROOT / "launch" / "ros2_control.launch.py")
SIM = str(ROOT / "launch" / "sim.launch.py")
CONFIG = ROOT / "config" / "ros2_control"
ARM = [
    "joint_state_broadcaster",
    "joint_trajectory_controller",
    "gripper_controller",
    "--param-file",
    str(CONFIG / "arm.yaml"),
]
EVERYTHING = 4
"""How many processes a single robot takes."""
FLOW_TIMEOUT_S = 60.0

pytest.importorskip("launch_ros", reason="no ROS 2 launch system (package 'launch')")


def arguments_of(path: str) -> dict:
    from launch.launch_context import LaunchContext
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    from launch.utilities import perform_substitutions

    context = LaunchContext()
    description = PythonLaunchDescriptionSource(path).get_launch_description(context)
    return {
        a.name: (perform_substitutions(context, a.default_value), a.choices, a.description)
        for a in description.get_launch_arguments()
    }


def own_arguments(argv: list[str]) -> list[str]:
    """Return the arguments that are not for ROS."""
    return argv[: argv.index("--ros-args")] if "--ros-args" in argv else argv


def test_it_has_its_own_arguments_and_those_of_the_simulator():
    arguments, simulator = arguments_of(ROS2_CONTROL), arguments_of(SIM)
    assert {name: (a[0], a[1]) for name, a in arguments.items() if name not in simulator} == {
        "controllers_file": ("", None),
        "active_controllers": ("", None),
    }
    assert arguments["scene"][0] == "arm"
    assert {n: a for n, a in arguments.items() if n in simulator and n != "scene"} == {
        n: a for n, a in simulator.items() if n != "scene"
    }


def test_it_starts_the_simulator_and_ros2_control(ros2_launch, stand_ins):
    launch = ros2_launch(ROS2_CONTROL, environment=stand_ins)
    started = launch.started(EVERYTHING)
    (sim,), (publisher,) = started["sim"], started["robot_state_publisher"]
    (manager,), (spawner,) = started["ros2_control_node"], started["spawner"]
    assert sim.parameters == {
        "scene": "arm",
        "ros2_control": True,
        "tf": "base",
        "clock_rate": 250.0,
    }
    assert own_arguments(spawner.argv) == ARM
    assert manager.parameter_files == [
        yaml.safe_load((CONFIG / "arm.yaml").read_text()),
        {"/**": {"ros__parameters": {"use_sim_time": True}}},
    ]
    assert "ros2_control" not in publisher.parameters["robot_description"]
    assert launch.interrupt() == 0
    assert launch.processes() == []


def test_each_topic_has_exactly_one_publisher(ros2_launch, stand_ins):
    started = ros2_launch(ROS2_CONTROL, environment=stand_ins).started(EVERYTHING)
    (sim,), (publisher,) = started["sim"], started["robot_state_publisher"]
    # The joint_state_broadcaster publishes joint_states, the simulator robot_description.
    assert sim.remapped("joint_states") == "simulation/joint_states"
    assert sim.remapped("robot_description") is None
    assert publisher.remapped("robot_description") == "robot_state_publisher/robot_description"
    assert publisher.remapped("joint_states") is None


def test_the_controller_manager_is_not_renamed_because_controllers_inherit_its_name(
    ros2_launch, stand_ins
):
    (manager,) = ros2_launch(ROS2_CONTROL, environment=stand_ins).started(EVERYTHING)[
        "ros2_control_node"
    ]
    assert manager.remapped("__node") is None
    assert manager.remapped("__ns") in (None, "/")


def test_each_robot_of_a_scene_has_a_controller_manager_in_its_namespace(ros2_launch, stand_ins):
    scene = load_scene("zoo")
    launch = ros2_launch(ROS2_CONTROL, "scene:=zoo", "use_sim_time:=false", environment=stand_ins)
    started = launch.started(1 + 3 * len(scene.robots))
    files = {f"/{robot.name}": CONFIG / f"{Path(robot.model).stem}.yaml" for robot in scene.robots}
    assert {
        manager.remapped("__ns"): manager.parameter_files[0]
        for manager in started["ros2_control_node"]
    } == {namespace: yaml.safe_load(file.read_text()) for namespace, file in files.items()}
    assert not any(m.parameters["use_sim_time"] for m in started["ros2_control_node"])
    assert {
        spawner.remapped("__ns"): Path(own_arguments(spawner.argv)[-1])
        for spawner in started["spawner"]
    } == files
    (sim,) = started["sim"]
    for robot in scene.robots:
        states = sim.remapped(f"{robot.name}/joint_states")
        assert states == f"{robot.name}/simulation/joint_states"


def test_arguments_of_the_simulator_are_passed_on(ros2_launch, stand_ins, tmp_path):
    file = tmp_path / "my.yaml"
    file.write_text("mujoco: {ros__parameters: {seed: 3}}")
    launch = ros2_launch(
        ROS2_CONTROL,
        "scene:=quadruped",
        "real_time_factor:=0.5",
        f"params_file:={file}",
        "rviz:=true",
        environment=stand_ins,
    )
    started = launch.started(EVERYTHING + 1)
    assert started["sim"][0].parameters == {
        "scene": "quadruped",
        "seed": 3,
        "real_time_factor": 0.5,
        "ros2_control": True,
        "tf": "base",
        "clock_rate": float(update_rate("quadruped")),
    }
    assert "rviz2" in started


def update_rate(model: str) -> int:
    content = yaml.safe_load((CONFIG / f"{model}.yaml").read_text())
    return content["/**/controller_manager"]["ros__parameters"]["update_rate"]


def test_in_lockstep_the_clock_waits_for_each_manager_at_its_update_rate(ros2_launch, stand_ins):
    launch = ros2_launch(ROS2_CONTROL, "mode:=lockstep", environment=stand_ins)
    (sim,) = launch.started(EVERYTHING)["sim"]
    assert sim.parameters["mode"] == "lockstep"
    assert sim.parameters["lockstep_sources"] == "joint_commands@250"

    scene = load_scene("zoo")
    launch = ros2_launch(ROS2_CONTROL, "scene:=zoo", "mode:=lockstep", environment=stand_ins)
    (sim,) = launch.started(1 + 3 * len(scene.robots))["sim"]
    assert sim.parameters["lockstep_sources"] == ", ".join(
        f"{robot.name}/joint_commands@{update_rate(Path(robot.model).stem)}"
        for robot in scene.robots
    )


def test_lockstep_needs_simulated_time(ros2_launch, stand_ins):
    launch = ros2_launch(
        ROS2_CONTROL, "mode:=lockstep", "use_sim_time:=false", environment=stand_ins
    )
    assert launch.wait() == 1
    assert "mode:=lockstep needs use_sim_time:=true" in launch.output


def test_sources_and_the_rate_of_the_clock_can_be_given(ros2_launch, stand_ins):
    launch = ros2_launch(
        ROS2_CONTROL,
        "mode:=lockstep",
        "lockstep_sources:=joint_commands@125",
        "clock_rate:=500",
        environment=stand_ins,
    )
    (sim,) = launch.started(EVERYTHING)["sim"]
    assert sim.parameters["lockstep_sources"] == "joint_commands@125"
    assert sim.parameters["clock_rate"] == 500.0


def test_a_file_for_the_real_robot_is_used_unchanged(ros2_launch, stand_ins, tmp_path):
    file = tmp_path / "real.yaml"
    file.write_text(
        "/**:\n"
        "  controller_manager:\n"
        "    ros__parameters:\n"
        "      update_rate: 500\n"
        "      first: {type: maker/First}\n"
        "      second: {type: maker/Second}\n"
    )
    launch = ros2_launch(
        ROS2_CONTROL,
        f"controllers_file:={file}",
        "active_controllers:=second, first",
        environment=stand_ins,
    )
    started = launch.started(EVERYTHING)
    (spawner,), (manager,) = started["spawner"], started["ros2_control_node"]
    assert own_arguments(spawner.argv) == ["second", "first", "--param-file", str(file)]
    assert manager.parameter_files[0] == yaml.safe_load(file.read_text())


def test_the_simulator_subscribes_to_the_topics_of_the_description(
    ros2_launch, sourced, stand_ins, ros_node, spin_until
):
    prefixes = f"{sourced['AMENT_PREFIX_PATH']}:{stand_ins['AMENT_PREFIX_PATH']}"
    launch = ros2_launch(
        "mujoco_ros",
        "ros2_control.launch.py",
        environment=sourced | {"AMENT_PREFIX_PATH": prefixes},
    )
    texts: list[String] = []
    states: list[JointState] = []
    latched = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
    ros_node.create_subscription(String, "/robot_description", texts.append, latched)
    ros_node.create_subscription(JointState, "/simulation/joint_states", states.append, 10)
    assert spin_until(lambda: bool(texts and states), FLOW_TIMEOUT_S), launch.output
    blocks = read_blocks(texts[0].data)
    assert {name for block in blocks for name in (j.name for j in block.joints)} == set(
        states[0].name
    )
    for block in blocks:
        assert block.parameters["joint_states_topic"] == "/simulation/joint_states"
        assert ros_node.count_subscribers(block.parameters["joint_commands_topic"]) == 1
    assert ros_node.count_publishers("/joint_states") == 0
    assert launch.interrupt() == 0, launch.output
    assert launch.processes() == []


def ends(name: str, code: int) -> dict[str, str]:
    """Return the environment that ends a process with `code` after all have started."""
    return {f"{name}_ends_with": str(code), "once_started": str(EVERYTHING)}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("spawner", "the spawner of the controllers failed with exit code 3"),
        ("ros2_control_node", "the controller_manager failed with exit code 3"),
        ("sim", "the simulator failed with exit code 3"),
    ],
)
def test_a_failure_ends_all_processes_with_an_error(ros2_launch, stand_ins, name, message):
    launch = ros2_launch(ROS2_CONTROL, environment=stand_ins | ends(name, 3))
    assert launch.wait() == 1
    assert message in launch.output
    assert "Traceback" not in launch.output
    assert launch.processes() == []


def test_a_finished_spawner_does_not_end_the_launch(ros2_launch, stand_ins):
    launch = ros2_launch(ROS2_CONTROL, environment=stand_ins | ends("spawner", 0))
    launch.started(EVERYTHING)
    launch.wait_for("[spawner-4]: process has finished cleanly")
    assert launch.process.poll() is None
    assert len([p for p in launch.processes() if "/lib/" in p]) == EVERYTHING - 1
    assert launch.interrupt() == 0
    assert launch.processes() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scene:=armm"], "scene 'armm' not found (did you mean 'arm'?)"),
        (["controllers_file:=/missing.yaml"], "controllers_file:=/missing.yaml does not exist"),
        (
            ["active_controllers:=gripper"],
            "arm.yaml has no controller 'gripper'; it has: joint_state_broadcaster, "
            "joint_trajectory_controller, gripper_controller",
        ),
        (["scene:={folder}/cart.xml"], "arm, humanoid, quadruped, none for 'cart'"),
        (["controllers_file:={folder}/empty.yaml"], "no controller with a 'type'"),
        (["controllers_file:={folder}/broken.yaml"], "broken.yaml: "),
        (["tf:=all"], "would both publish every link"),
    ],
)
def test_an_invalid_argument_is_one_clear_error(
    ros2_launch, stand_ins, tmp_path, arguments, message
):
    (tmp_path / "cart.xml").write_text("<mujoco/>")
    (tmp_path / "empty.yaml").write_text("controller_manager: {ros__parameters: {a: {b: 1}}}")
    (tmp_path / "broken.yaml").write_text("controller_manager: [")
    given = [argument.format(folder=tmp_path) for argument in arguments]
    launch = ros2_launch(ROS2_CONTROL, *given, environment=stand_ins)
    assert launch.wait() == 1
    assert message in launch.output
    assert "Traceback" not in launch.output
    assert not list(launch.notes.iterdir())


@pytest.mark.parametrize(
    ("missing", "message"),
    [
        (["controller_manager"], "the ROS package 'controller_manager', which is not installed"),
        (
            ["joint_state_topic_hardware_interface", "parallel_gripper_controller"],
            "the ROS packages 'joint_state_topic_hardware_interface', "
            "'parallel_gripper_controller', which are not installed",
        ),
    ],
)
def test_packages_that_are_not_installed_are_one_clear_error(
    ros2_launch, stand_ins_without, missing, message
):
    launch = ros2_launch(ROS2_CONTROL, environment=stand_ins_without(*missing))
    assert launch.wait() == 1
    assert f"ros2_control needs {message}" in launch.output
    assert "Traceback" not in launch.output
    assert not list(launch.notes.iterdir())


def test_a_package_that_only_another_robot_needs_can_be_missing(ros2_launch, stand_ins_without):
    environment = stand_ins_without("parallel_gripper_controller")
    launch = ros2_launch(ROS2_CONTROL, "scene:=quadruped", environment=environment)
    assert "spawner" in launch.started(EVERYTHING)
