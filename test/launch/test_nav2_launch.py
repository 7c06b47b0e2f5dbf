"""Processes and arguments of nav2.launch.py, with stand-in executables."""

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
NAV2 = str(ROOT / "launch" / "nav2.launch.py")
PARAMETERS = ROOT / "config" / "nav2" / "rover.yaml"
NAVIGATION = ["controller_server", "planner_server", "behavior_server", "bt_navigator"]

pytest.importorskip("launch_ros", reason="no ROS 2 launch system (package 'launch')")


def own(started: Any) -> dict[str, Any]:
    """Return the parameters that the launch file gives a node beside the params_file."""
    found: dict[str, Any] = {}
    for file in started.parameter_files[1:]:
        for node in file.values():
            found |= node["ros__parameters"]
    return found


def test_on_a_map_amcl_localizes_the_rover(ros2_launch, stand_ins):
    launch = ros2_launch(NAV2, environment=stand_ins)
    names = ["map_server", "amcl", *NAVIGATION]
    started = launch.started(len(names) + 2)
    assert set(started) == {*names, "lifecycle_manager", "sim"}
    (sim,) = started.pop("sim")
    assert own(sim) == {"scene": "office", "tf": "all", "clock_rate": 100.0}
    for name, (node,) in started.items():
        assert node.parameter_files[0] == yaml.safe_load(PARAMETERS.read_text())
        assert own(node)["use_sim_time"] is True
        assert (node.remapped("__node"), node.remapped("/scan")) == (name, "/lidar/lidar/scan")
    assert own(started["lifecycle_manager"][0])["node_names"] == names
    description = Path(own(started["map_server"][0])["yaml_filename"])
    assert (description.parent / yaml.safe_load(description.read_text())["image"]).is_file()
    assert launch.interrupt() == 0
    assert not description.parent.exists()
    assert launch.processes() == []


def test_slam_toolbox_replaces_the_map_and_docking_is_added(ros2_launch, stand_ins, tmp_path):
    file = tmp_path / "my.yaml"
    file.write_text("amcl: {ros__parameters: {max_beams: 30}}")
    launch = ros2_launch(
        NAV2,
        "slam:=true",
        "docking:=true",
        "scene:=warehouse",
        f"params_file:={file}",
        "scan_topic:=/front/scan",
        "use_sim_time:=false",
        "real_time_factor:=0",
        environment=stand_ins,
    )
    names = ["slam_toolbox", *NAVIGATION, "docking_server"]
    started = launch.started(len(names) + 2)
    assert started["sim"][0].parameters["scene"] == "warehouse"
    assert started["sim"][0].parameters["real_time_factor"] == 0.0
    (manager,) = started["lifecycle_manager"]
    assert own(manager)["node_names"] == names
    (slam,) = started["async_slam_toolbox_node"]
    assert slam.parameter_files[0] == yaml.safe_load(file.read_text())
    assert own(slam) == {"use_sim_time": False}
    assert slam.remapped("/scan") == "/front/scan"


def test_a_node_that_fails_ends_all_processes_with_an_error(ros2_launch, stand_ins):
    ends = {"planner_server_ends_with": "3", "once_started": "8"}
    launch = ros2_launch(NAV2, environment=stand_ins | ends)
    assert launch.wait() == 1
    assert "planner_server failed with exit code 3" in launch.output
    assert "Traceback" not in launch.output
    assert launch.processes() == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["scene:=offise"], "scene 'offise' not found (did you mean 'office'?)"),
        (["scene:=handover"], "Nav2 drives one robot; scene 'handover' has: left_arm, right_arm"),
        (["map:=/missing.yaml"], "map:=/missing.yaml does not exist"),
        (["params_file:=/missing.yaml"], "params_file:=/missing.yaml does not exist"),
    ],
)
def test_an_invalid_argument_is_one_clear_error(ros2_launch, stand_ins, arguments, message):
    launch = ros2_launch(NAV2, *arguments, environment=stand_ins)
    assert launch.wait() == 1
    assert message in launch.output
    assert "Traceback" not in launch.output
    assert not list(launch.notes.iterdir())


@pytest.mark.parametrize(
    ("arguments", "missing", "message"),
    [
        ([], ["nav2_amcl"], "package 'nav2_amcl', which is not installed"),
        (["slam:=true"], ["slam_toolbox"], "package 'slam_toolbox', which is not installed"),
        (
            ["docking:=true"],
            ["opennav_docking", "nav2_navfn_planner"],
            "packages 'opennav_docking', 'nav2_navfn_planner', which are not installed",
        ),
    ],
)
def test_packages_that_are_not_installed_are_one_clear_error(
    ros2_launch, stand_ins_without, arguments, missing, message
):
    launch = ros2_launch(NAV2, *arguments, environment=stand_ins_without(*missing))
    assert launch.wait() == 1
    assert f"nav2.launch.py needs the ROS {message}" in launch.output
    assert "Traceback" not in launch.output
    assert not list(launch.notes.iterdir())


def test_packages_that_are_not_used_can_be_missing(ros2_launch, stand_ins_without):
    environment = stand_ins_without("slam_toolbox", "opennav_docking")
    assert "bt_navigator" in ros2_launch(NAV2, environment=environment).started(8)
