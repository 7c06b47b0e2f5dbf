"""Processes and arguments of moveit.launch.py, with a stand-in for move_group."""

import shutil
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
MOVEIT = str(ROOT / "launch" / "moveit.launch.py")
CONFIG = ROOT / "config" / "moveit" / "arm"

pytest.importorskip("launch_ros", reason="no ROS 2 launch system (package 'launch')")


def test_move_group_has_the_files_of_the_configuration_and_the_simulated_clock(
    ros2_launch, stand_ins
):
    launch = ros2_launch(MOVEIT, environment=stand_ins)
    started = launch.started(3)
    assert set(started) == {"sim", "robot_state_publisher", "move_group"}
    assert started["sim"][0].parameters["scene"] == "arm"
    parameters = started["move_group"][0].parameters
    assert parameters["robot_description_semantic"] == (CONFIG / "arm.srdf").read_text()
    assert parameters["use_sim_time"] is True
    ompl = yaml.safe_load((CONFIG / "ompl_planning.yaml").read_text())
    first = next(name for name, value in ompl.items() if not isinstance(value, dict))
    assert parameters[f"ompl.{first}"] == ompl[first]
    assert not any(name.startswith("octomap") for name in parameters)
    assert launch.interrupt() == 0
    assert launch.processes() == []


def test_a_folder_of_another_robot_and_the_wall_clock_reach_move_group(
    ros2_launch, stand_ins, tmp_path
):
    folder = tmp_path / "config"
    shutil.copytree(CONFIG, folder)
    (folder / "arm.srdf").rename(folder / "other.srdf")
    (folder / "other.srdf").write_text("<robot name='other'/>")
    launch = ros2_launch(
        MOVEIT, f"moveit_config:={folder}", "use_sim_time:=false", environment=stand_ins
    )
    parameters = launch.started(3)["move_group"][0].parameters
    assert parameters["robot_description_semantic"] == "<robot name='other'/>"
    assert parameters["use_sim_time"] is False


def test_the_shapes_of_the_world_are_published_as_a_planning_scene_on_request(
    ros2_launch, stand_ins
):
    launch = ros2_launch(MOVEIT, "planning_scene:=true", environment=stand_ins)
    (publisher,) = launch.started(4)["moveit_publish_scene_from_text"]
    assert publisher.argv[0] == "--scene"
    file = Path(publisher.argv[1])
    assert [line for line in file.read_text().splitlines() if line.startswith("*")] == [
        "* environment",
        "* table",
        "* box",
    ]
    assert publisher.parameters["robot_description_semantic"] == (CONFIG / "arm.srdf").read_text()
    assert launch.interrupt() == 0
    assert not file.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["moveit_config:=/missing"], "moveit_config:=/missing has 0 files *.srdf; it needs one"),
        (["octomap:=true"], "needs the ROS package 'moveit_ros_perception', which is not"),
        (["scene:=armm"], "scene 'armm' not found (did you mean 'arm'?)"),
    ],
)
def test_an_invalid_argument_is_one_clear_error(ros2_launch, stand_ins, arguments, message):
    launch = ros2_launch(MOVEIT, *arguments, environment=stand_ins)
    assert launch.wait() == 1
    assert message in launch.output
    assert "Traceback" not in launch.output
    assert not list(launch.notes.iterdir())


def test_missing_packages_are_one_clear_error(ros2_launch, stand_ins_without):
    environment = stand_ins_without("moveit_ros_move_group", "moveit_kinematics")
    launch = ros2_launch(MOVEIT, environment=environment)
    assert launch.wait() == 1
    needed = "'moveit_kinematics', 'moveit_ros_move_group', which are not installed"
    assert f"moveit.launch.py needs the ROS packages {needed}" in launch.output
    assert not list(launch.notes.iterdir())
