"""Processes and arguments of the launch files, with stand-in executables."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
SIM = str(ROOT / "launch" / "sim.launch.py")
RVIZ = str(ROOT / "launch" / "rviz.launch.py")
CONTROLLER = str(ROOT / "launch" / "controller.launch.py")
PICK_PLACE = str(ROOT / "launch" / "pick_place.launch.py")

pytest.importorskip("launch_ros", reason="no ROS 2 launch system (package 'launch')")


def arguments_of(path: str) -> dict:
    from launch.launch_context import LaunchContext
    from launch.launch_description_sources import PythonLaunchDescriptionSource
    from launch.utilities import perform_substitutions

    context = LaunchContext()
    description = PythonLaunchDescriptionSource(path).get_launch_description(context)
    return {
        a.name: (perform_substitutions(context, a.default_value or []), a.choices, a.description)
        for a in description.get_launch_arguments()
    }


def test_sim_declares_its_arguments_with_defaults_and_choices():
    arguments = arguments_of(SIM)
    boolean = ["true", "false"]
    config = str(ROOT / "config" / "rviz" / "mujoco_ros.rviz")
    assert {name: (default, choices) for name, (default, choices, _) in arguments.items()} == {
        "scene": ("humanoid", None),
        "real_time_factor": ("", None),
        "tf": ("auto", ["auto", "base", "all", "none"]),
        "params_file": ("", None),
        "log_level": ("info", ["debug", "info", "warn", "error", "fatal"]),
        "viewer": ("", None),
        "controller": ("", None),
        "controllers": ("", None),
        "controller_robot": ("", None),
        "controller_step_by_step": ("", ["", *boolean]),
        "controller_seed": ("", None),
        "use_sim_time": ("true", boolean),
        "robot_state_publisher": ("false", boolean),
        "ros2_control": ("false", boolean),
        "mode": ("", ["", "realtime", "lockstep"]),
        "lockstep_sources": ("", None),
        "clock_rate": ("", None),
        "rviz": ("false", boolean),
        "rviz_config": (config, None),
        "record": ("", None),
        "state_log": ("", None),
    }


def test_rviz_declares_its_arguments_with_defaults_and_choices():
    config = str(ROOT / "config" / "rviz" / "mujoco_ros.rviz")
    assert {name: (a[0], a[1]) for name, a in arguments_of(RVIZ).items()} == {
        "rviz_config": (config, None),
        "scene": ("humanoid", None),
        "use_sim_time": ("true", ["true", "false"]),
    }


def test_controller_declares_its_arguments_with_defaults_and_choices():
    from mujoco_ros.controllers.ros.node.command_output import OUTPUTS

    boolean = ["true", "false"]
    assert {name: (a[0], a[1]) for name, a in arguments_of(CONTROLLER).items()} == {
        "controller": ("", None),
        "scene": ("arm", None),
        "robot": ("", None),
        "output": ("joint_commands", list(OUTPUTS)),
        "without": ("", None),
        "simulator": ("/mujoco", None),
        "lockstep": ("false", boolean),
        "step_by_step": ("", ["", *boolean]),
        "seed": ("", None),
        "params_file": ("", None),
    }


def test_showing_the_arguments_does_not_load_the_engine(ros2):
    code = (
        "import sys; from ros2cli.cli import main; "
        f"code = main(argv=['launch', {SIM!r}, '--show-args']); "
        "assert 'mujoco' not in sys.modules; sys.exit(code)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "'scene'" in done.stdout


def test_by_default_only_the_simulator_is_started(ros2_launch, stand_ins):
    launch = ros2_launch(SIM, environment=stand_ins)
    started = launch.started(1)
    assert list(started) == ["sim"]
    (sim,) = started["sim"]
    assert sim.parameters == {"scene": "humanoid"}
    assert sim.remapped("__node") == "mujoco"
    assert sim.argv[sim.argv.index("--log-level") + 1] == "info"
    assert launch.interrupt() == 0
    assert launch.processes() == []


def test_arguments_reach_the_simulator_with_their_types(ros2_launch, stand_ins):
    launch = ros2_launch(
        SIM,
        "scene:=1",
        "real_time_factor:=2",
        "tf:=none",
        "viewer:=web",
        "controller:=pick_place",
        "controllers:=[stand, grasp_reflex]",
        "controller_robot:=arm",
        "controller_step_by_step:=true",
        "controller_seed:=7",
        "log_level:=debug",
        environment=stand_ins,
    )
    (sim,) = launch.started(1)["sim"]
    assert sim.parameters == {
        "scene": "1",
        "real_time_factor": 2.0,
        "tf": "none",
        "viewer": "web",
        "controller": "pick_place",
        "controllers": ["stand", "grasp_reflex"],
        "controller_robot": "arm",
        "controller_step_by_step": True,
        "controller_seed": 7,
    }
    assert isinstance(sim.parameters["real_time_factor"], float)
    assert sim.argv[sim.argv.index("--log-level") + 1] == "debug"


def test_a_file_of_controllers_reaches_the_simulator_without_substitutions(
    ros2_launch, stand_ins, tmp_path
):
    file = tmp_path / "controllers.yaml"
    file.write_text("arm: {ros__parameters: {joints: [$(var prefix)a]}}")
    launch = ros2_launch(SIM, f"controllers:={file}", "prefix:=left_", environment=stand_ins)
    (sim,) = launch.started(1)["sim"]
    read = yaml.safe_load(Path(sim.parameters["controllers_file"]).read_text())
    assert read == {"arm": {"ros__parameters": {"joints": ["left_a"]}}}


def test_the_arm_is_started_with_its_pick_and_place_controller(ros2_launch, stand_ins):
    launch = ros2_launch(PICK_PLACE, "viewer:=none", environment=stand_ins)
    (sim,) = launch.started(1)["sim"]
    chosen = ("scene", "controller", "viewer", "tf")
    assert [sim.parameters[name] for name in chosen] == ["arm", "pick_place", "none", "all"]
    assert any(argument.endswith("pick_place_again.yaml") for argument in sim.argv)
    assert launch.interrupt() == 0
    assert launch.processes() == []


def test_a_controller_is_started_beside_a_robot(ros2_launch, stand_ins, tmp_path):
    file = tmp_path / "my.yaml"
    file.write_text("pick_place: {ros__parameters: {scene: zoo, DESCEND.speed: 0.1}}")
    launch = ros2_launch(
        CONTROLLER,
        "controller:=pick_place",
        "scene:=arm",
        "simulator:=none",
        "lockstep:=true",
        "step_by_step:=true",
        "seed:=3",
        f"params_file:={file}",
        environment=stand_ins,
    )
    (controller,) = launch.started(1)["controller"]
    assert controller.argv[0] == "pick_place"
    assert controller.parameters == {
        "scene": "arm",
        "robot": "",
        "output": "joint_commands",
        "without": "",
        "simulator": "",
        "lockstep": True,
        "step_by_step": True,
        "seed": 3,
        "DESCEND.speed": 0.1,
    }
    assert launch.interrupt() == 0
    assert launch.processes() == []


def test_a_controller_that_fails_makes_ros2_launch_fail(ros2_launch, stand_ins):
    failing = stand_ins | {"controller_ends_with": "1", "once_started": "1"}
    launch = ros2_launch(CONTROLLER, "controller:=pick_plaice", environment=failing)
    assert launch.wait() == 1
    assert "the controller failed with exit code 1" in launch.output
    assert "Traceback" not in launch.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "missing required argument 'controller'"),
        (["controller:=stand", "output:=words"], 'provided value "words" is not valid'),
        (["controller:=stand", "seed:=some"], "seed:=some is not an integer"),
        (["controller:=stand", "params_file:=/missing.yaml"], "/missing.yaml does not exist"),
    ],
)
def test_an_invalid_argument_of_a_controller_is_one_clear_error(
    ros2_launch, stand_ins, arguments, message
):
    launch = ros2_launch(CONTROLLER, *arguments, environment=stand_ins)
    assert launch.wait() == 1
    assert message in launch.output
    assert "Traceback" not in launch.output
    assert not list(launch.notes.iterdir())


def test_a_params_file_is_passed_on_and_arguments_override_it(ros2_launch, stand_ins, tmp_path):
    file = tmp_path / "my.yaml"
    file.write_text("mujoco: {ros__parameters: {scene: arm, real_time_factor: 3.0}}")
    launch = ros2_launch(SIM, "scene:=zoo", f"params_file:={file}", environment=stand_ins)
    (sim,) = launch.started(1)["sim"]
    assert sim.parameter_files == [
        {"mujoco": {"ros__parameters": {"scene": "arm", "real_time_factor": 3.0}}},
        # The same node, not `/**`: rcl ranks a node's own parameters above those of all nodes.
        {"/mujoco": {"ros__parameters": {"scene": "zoo"}}},
    ]


def test_robot_state_publisher_serves_a_single_robot_without_namespace(ros2_launch, stand_ins):
    launch = ros2_launch(SIM, "robot_state_publisher:=true", environment=stand_ins)
    started = launch.started(2)
    (node,) = started["robot_state_publisher"]
    assert node.remapped("__ns") in (None, "/")
    assert node.parameters["frame_prefix"] == ""
    assert node.parameters["use_sim_time"] is True
    assert node.parameters["robot_description"].lstrip().startswith("<")
    assert "<robot" in node.parameters["robot_description"]
    assert started["sim"][0].parameters["tf"] == "base"
    assert launch.interrupt() == 0
    assert launch.processes() == []


def test_robot_state_publisher_is_started_once_per_robot_in_its_namespace(ros2_launch, stand_ins):
    from mujoco_ros.model.robot.description import describe

    robots = describe("zoo")
    assert len(robots) > 1
    launch = ros2_launch(
        SIM,
        "scene:=zoo",
        "robot_state_publisher:=true",
        "use_sim_time:=false",
        environment=stand_ins,
    )
    nodes = launch.started(1 + len(robots))["robot_state_publisher"]
    assert sorted((n.remapped("__ns"), n.parameters["frame_prefix"]) for n in nodes) == sorted(
        (f"/{robot.namespace}", f"{robot.namespace}/") for robot in robots
    )
    assert {n.remapped("__ns"): n.parameters["robot_description"] for n in nodes} == {
        f"/{robot.namespace}": robot.urdf for robot in robots
    }
    assert not any(n.parameters["use_sim_time"] for n in nodes)


def test_with_rviz_alone_the_simulator_publishes_every_link(ros2_launch, stand_ins):
    launch = ros2_launch(SIM, "scene:=arm", "rviz:=true", environment=stand_ins)
    started = launch.started(2)
    (rviz,) = started["rviz2"]
    assert rviz.parameters == {"use_sim_time": True}
    assert "/camera/wrist_camera/image_raw" in topics_of(rviz)
    assert started["sim"][0].parameters["tf"] == "all"
    assert launch.interrupt() == 0
    assert not Path(rviz.argv[rviz.argv.index("-d") + 1]).parent.exists()


def test_rviz_shows_every_robot_of_a_scene_in_its_namespace(ros2_launch, stand_ins):
    from mujoco_ros.model.robot.description import describe

    launch = ros2_launch(RVIZ, "scene:=zoo", environment=stand_ins)
    (rviz,) = launch.started(1)["rviz2"]
    described = {f"/{robot.namespace}/robot_description" for robot in describe("zoo")}
    assert described | {"/contacts", "/humanoid/wrench/left_ankle_ft"} <= topics_of(rviz)


def test_a_custom_configuration_of_rviz_is_used_unchanged(ros2_launch, stand_ins, tmp_path):
    own = tmp_path / "my.rviz"
    own.write_text("Visualization Manager: {Displays: [{Class: rviz_default_plugins/Grid}]}")
    launch = ros2_launch(RVIZ, f"rviz_config:={own}", environment=stand_ins)
    (rviz,) = launch.started(1)["rviz2"]
    assert rviz.argv[rviz.argv.index("-d") + 1] == str(own)


def topics_of(rviz) -> set[str]:
    """Return the topics in the configuration that RViz was started with."""
    text = Path(rviz.argv[rviz.argv.index("-d") + 1]).read_text()
    return {word for word in yaml.safe_dump(yaml.safe_load(text)).split() if word[0] == "/"}


@pytest.mark.parametrize("use_sim_time", [True, False])
def test_record_starts_a_bag_of_all_topics(ros2_launch, stand_ins, tmp_path, use_sim_time):
    bag = tmp_path / "bag"
    launch = ros2_launch(
        SIM, f"record:={bag}", f"use_sim_time:={str(use_sim_time).lower()}", environment=stand_ins
    )
    (ros2,) = launch.started(2)["ros2"]
    assert ros2.argv[:2] == ["bag", "record"]
    assert "--all" in ros2.argv
    assert ros2.argv[ros2.argv.index("--storage") + 1] == "mcap"
    assert ros2.argv[ros2.argv.index("--output") + 1] == str(bag)
    assert ("--use-sim-time" in ros2.argv) == use_sim_time
    assert launch.interrupt() == 0
    assert launch.processes() == []


@pytest.mark.parametrize("missing", ["ros2bag", "rosbag2_storage_mcap"])
def test_record_does_not_need_ros2_bag(ros2_launch, stand_ins_without, tmp_path, missing):
    bag = tmp_path / "bag"
    launch = ros2_launch(SIM, f"record:={bag}", environment=stand_ins_without(missing))
    (record,) = launch.started(2)["record"]
    assert record.argv[:3] == ["--output", str(bag), "--use-sim-time"]
    assert launch.interrupt() == 0
    assert launch.processes() == []


def test_the_state_log_is_a_parameter_of_the_simulator(ros2_launch, stand_ins, tmp_path):
    launch = ros2_launch(SIM, f"state_log:={tmp_path}/run.mjlog", environment=stand_ins)
    (sim,) = launch.started(1)["sim"]
    assert sim.parameters["state_log"] == f"{tmp_path}/run.mjlog"
    assert launch.interrupt() == 0


def ends(code: int) -> dict[str, str]:
    """Return the environment that ends the simulator with `code` after the start of RViz."""
    return {"sim_ends_with": str(code), "once_started": "2"}


def test_the_end_of_the_simulator_ends_all_processes(ros2_launch, stand_ins):
    launch = ros2_launch(SIM, "rviz:=true", environment=stand_ins | ends(0))
    assert launch.wait() == 0
    assert launch.processes() == []


def test_a_failed_simulator_ends_all_processes_with_an_error(ros2_launch, stand_ins):
    launch = ros2_launch(SIM, "rviz:=true", environment=stand_ins | ends(3))
    assert launch.wait() == 1
    assert "the simulator failed with exit code 3" in launch.output
    assert "Traceback" not in launch.output
    assert launch.processes() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rviz:=maybe"], 'Argument "rviz" provided value "maybe" is not valid'),
        (["tf:=links"], 'Argument "tf" provided value "links" is not valid'),
        (["real_time_factor:=fast"], "real_time_factor:=fast is not a number"),
        (["controllers:=stand"], "controllers:=stand is neither a file nor a list of names"),
        (["controllers:=[1]"], "controllers:=[1] is not a list of names, [first, second]"),
        (["params_file:=/missing.yaml"], "params_file:=/missing.yaml does not exist"),
        (["rviz:=true", "rviz_config:=/missing.rviz"], "rviz_config:=/missing.rviz does not exist"),
        (["rviz:=true", f"rviz_config:={__file__}"], "not valid YAML"),
        (["tf:=all", "robot_state_publisher:=true"], "would both publish every link"),
        (["record:=/tmp"], "record:=/tmp already exists"),
        (["scene:=humanoyd", "robot_state_publisher:=true"], "scene 'humanoyd' not found"),
    ],
)
def test_an_invalid_argument_is_one_clear_error(ros2_launch, stand_ins, arguments, message):
    launch = ros2_launch(SIM, *arguments, environment=stand_ins)
    assert launch.wait() == 1
    assert message in launch.output
    assert "Traceback" not in launch.output
    assert not list(launch.notes.iterdir())


@pytest.mark.parametrize(
    ("argument", "package"),
    [
        ("rviz:=true", "rviz2"),
        ("robot_state_publisher:=true", "robot_state_publisher"),
    ],
)
def test_a_package_that_is_not_installed_is_one_clear_error(
    ros2_launch: Callable, argument: str, package: str, tmp_path: Path, stand_ins: dict[str, str]
):
    index = tmp_path / "share" / "ament_index" / "resource_index" / "packages"
    index.mkdir(parents=True)
    launch = ros2_launch(
        SIM, argument, environment=stand_ins | {"AMENT_PREFIX_PATH": str(tmp_path)}
    )
    assert launch.wait() == 1
    assert f"needs the ROS package '{package}', which is not installed" in launch.output
    assert "Traceback" not in launch.output
