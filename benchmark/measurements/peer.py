"""Comparison with mujoco_ros2_control, whose simulator is written in C++."""

import os
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from pathlib import Path
from subprocess import PIPE, STDOUT, Popen
from tempfile import TemporaryDirectory

import numpy as np
import yaml

from benchmark.durations import Durations
from benchmark.processes.child_process import environment, run_trial, simulator
from benchmark.report import Row, percentiles, result
from mujoco_ros.model.robot.description import describe
from mujoco_ros.model.robot.layout import lay_out
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.urdf.exporting.ros2_control import HardwareJoint, write_ros2_control

VARIABLE = "MUJOCO_ROS2_CONTROL"
"""Environment variable with the path of the peer's ``ros2_control_node``."""
_PLUGIN = "mujoco_ros2_control/MujocoSystemInterface"
_SCENE, _RATE_HZ, _TIMEOUT_S = "humanoid", 1000, 120.0
_BROADCASTER = "joint_state_broadcaster"


def peer(durations: Durations) -> list[Row]:
    """(peer) The humanoid at 1 kHz with one subscriber of joint_states, here and in the peer."""
    binary = os.environ.get(VARIABLE, "")
    if not os.access(binary, os.X_OK):
        named = f"{VARIABLE} names '{binary}'" if binary else f"{VARIABLE} is not set"
        return [result("peer", f"skipped: {named}, no ros2_control_node of the peer", 0.0, "", 0)]
    seconds = durations.publishing
    with TemporaryDirectory() as name:
        folder = Path(name)
        with simulator(_SCENE, folder, {"publish_rate.joint_states": _RATE_HZ}) as own:
            ours = rows("ours", run_trial("states", folder, _TIMEOUT_S + seconds, seconds, own.pid))
        settings = folder / "peer.yaml"
        settings.write_text(yaml.safe_dump(peer_parameters(_SCENE)), encoding="utf-8")
        command = [binary, "--ros-args", "--params-file", str(settings)]
        with Popen(command, env=environment(), stdout=PIPE, stderr=STDOUT) as process:
            try:
                arguments = (seconds, process.pid, _BROADCASTER)
                records = run_trial("states", folder, _TIMEOUT_S + seconds, *arguments)
            finally:
                process.kill()
    return [*ours, *rows("peer", records)]


def peer_parameters(scene: str) -> dict[str, object]:
    """Return the parameters of the peer for the single robot of a scene."""
    config = load_scene(scene)
    layout, (described,) = lay_out(assemble(config)), describe(scene)
    robot = ET.fromstring(described.urdf)
    joints = [
        HardwareJoint(name=name, takes=frozenset({"effort"}), position=0.0)
        for name in layout.robots[0].joints.names
    ]
    write_ros2_control(robot, joints, commands_topic="unused", states_topic="unused")
    for hardware in robot.iterfind("ros2_control/hardware"):
        hardware.clear()
        ET.SubElement(hardware, "plugin").text = _PLUGIN
        path = config.path(config.robots[0].model)
        ET.SubElement(hardware, "param", name="mujoco_model").text = str(path)
    manager = {
        "update_rate": _RATE_HZ,
        "robot_description": ET.tostring(robot, encoding="unicode"),
        _BROADCASTER: {"type": f"{_BROADCASTER}/JointStateBroadcaster"},
    }
    return {"controller_manager": {"ros__parameters": manager}}


def rows(name: str, records: Mapping[str, np.ndarray]) -> list[Row]:
    """Return the rows of one simulator from the records of the trial ``states``."""
    arrivals, stamps = records["states"].T
    wall_s, gaps = (arrivals[-1] - arrivals[0]) / 1e9, np.diff(stamps) / 1e6
    return [
        result("peer", f"{name}: joint_states received", (len(stamps) - 1) / wall_s, "/s"),
        *percentiles("peer", f"{name}: between two stamps", gaps, 99, 100, unit="ms"),
        result("peer", f"{name}: processor", 100 * float(records["cpu_s"]) / wall_s, "% of a core"),
        result("peer", f"{name}: PSS", float(records["pss_mb"]), "MB"),
    ]
