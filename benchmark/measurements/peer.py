"""Comparison with mujoco_ros2_control, whose simulator is written in C++."""

import os
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from subprocess import STDOUT, Popen
from tempfile import TemporaryDirectory

import mujoco
import numpy as np
import yaml

from benchmark.durations import Durations
from benchmark.processes.child_process import environment, run_trial, simulator
from benchmark.report import Row, percentiles, result
from mujoco_ros.model.pose import quaternion_wxyz
from mujoco_ros.model.robot.description import describe
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.scene.asset_snapshot import restore_files
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.scene.mjcf_files import silence_compiler
from mujoco_ros.model.urdf.exporting.ros2_control import HardwareJoint, write_ros2_control
from mujoco_ros.sim.plant import Plant

VARIABLE = "MUJOCO_ROS2_CONTROL"
"""Environment variable with the path of the peer's ``ros2_control_node``."""
_PLUGIN = "mujoco_ros2_control/MujocoSystemInterface"
_SCENE, _RATE_HZ, _TIMEOUT_S = "humanoid", 1000, 120.0
_FLAT_OUT = 50.0  # real-time factor
_BROADCASTER = "joint_state_broadcaster"


def peer(durations: Durations) -> list[Row]:
    """(peer) The humanoid at 1 kHz with one subscriber of joint_states, here and in the peer.

    Both simulate the same compiled model, whose servos hold the start of the scene: in real time,
    then asked for a multiple of it that neither reaches.
    """
    binary = os.environ.get(VARIABLE, "")
    if not os.access(binary, os.X_OK):
        named = f"{VARIABLE} names '{binary}'" if binary else f"{VARIABLE} is not set"
        return [result("peer", f"skipped: {named}, no ros2_control_node of the peer", 0.0, "", 0)]
    return [
        row
        for factor in (1.0, _FLAT_OUT)
        for row in (*_ours(factor, durations), *_peers(binary, factor, durations))
    ]


def _ours(factor: float, durations: Durations) -> list[Row]:
    seconds = durations.publishing
    parameters = {"publish_rate.joint_states": _RATE_HZ, "real_time_factor": factor}
    with TemporaryDirectory() as name, simulator(_SCENE, Path(name), parameters) as process:
        records = run_trial("states", Path(name), _TIMEOUT_S + seconds, seconds, process.pid)
    return rows(f"ours, asked {factor:g}×", records)


def _peers(binary: str, factor: float, durations: Durations) -> list[Row]:
    seconds = durations.publishing
    with TemporaryDirectory() as name:
        folder = Path(name)
        settings, description = write_peer(_SCENE, folder, factor)
        command = [binary, "--ros-args", "--params-file", str(settings)]
        # A pipe that nobody reads would stop the peer once it is full.
        with (
            (folder / "peer.log").open("wb") as log,
            Popen(command, env=environment(), stdout=log, stderr=STDOUT) as process,
        ):
            try:
                arguments = (seconds, process.pid, _BROADCASTER, description)
                records = run_trial("states", folder, _TIMEOUT_S + seconds, *arguments)
            finally:
                process.kill()
    return rows(f"peer, asked {factor:g}×", records)


def write_peer(scene: str, folder: Path, factor: float) -> tuple[Path, Path]:
    """Write the parameters of the peer for the single robot of a scene, and its description.

    As in the demonstrations of the peer, without its window: its loop wakes in simulated
    time.
    """
    plant = Plant(without_prefix(assemble(load_scene(scene))), emit=lambda _event: None)
    robot = ET.fromstring(describe(scene)[0].urdf)
    names = plant.layout.robots[0].joints.names
    joints = [
        HardwareJoint(name=name, takes=frozenset({"position"}), position=float(plant.data.qpos[at]))
        for name, at in zip(names, plant.layout.robots[0].joints.qpos, strict=True)
    ]
    write_ros2_control(robot, joints, commands_topic="unused", states_topic="unused")
    model, start = write_model(plant, folder)
    parameters = {
        "mujoco_model": str(model),
        "override_start_position_file": str(start),
        "sim_speed_factor": str(factor),
        "headless": "true",
        "auto_register_cameras": "false",
    }
    for hardware in robot.iterfind("ros2_control/hardware"):
        hardware.clear()
        ET.SubElement(hardware, "plugin").text = _PLUGIN
        for name, value in parameters.items():
            ET.SubElement(hardware, "param", name=name).text = value
    manager = {
        "update_rate": _RATE_HZ,
        "use_sim_time": True,
        _BROADCASTER: {"type": f"{_BROADCASTER}/JointStateBroadcaster"},
    }
    settings, description = folder / "peer.yaml", folder / "robot.urdf"
    content = {"controller_manager": {"ros__parameters": manager}}
    settings.write_text(yaml.safe_dump(content), encoding="utf-8")
    description.write_text(ET.tostring(robot, encoding="unicode"), encoding="utf-8")
    return settings, description


def without_prefix(assembly: Assembly) -> Assembly:
    """Return a scene of one robot whose elements have their own names; the peer looks for those."""
    (part,) = assembly.parts
    assert assembly.base is not None
    assert part.spec is not None
    spec = assembly.base.copy()
    restore_files(spec, assembly.base_files)
    restore_files(part.spec, part.files)
    pose = part.config.pose
    frame = spec.worldbody.add_frame(pos=pose.xyz, quat=quaternion_wxyz(pose))
    with silence_compiler():
        spec.attach(part.spec, prefix="", frame=frame)
        model = spec.compile()
    return Assembly(
        config=replace(assembly.config, merged=False),
        model=model,
        base=spec,
        parts=(replace(part, prefix=""),),
    )


def write_model(plant: Plant, folder: Path) -> tuple[Path, Path]:
    """Write the compiled model of a plant for the peer, and its start as a keyframe of the peer.

    The servos have the same gains, and take positions of the joints, as the peer expects.
    """
    model, data = plant.model, plant.data
    gears = model.actuator_gear[model.actuator_outadr, 0]
    model.actuator_gainprm[:, 0] = -gears * model.actuator_biasprm[:, 1]
    file, start = folder / "scene.mjb", folder / "start.xml"
    mujoco.mj_saveModel(model, str(file))
    targets = data.qpos[model.jnt_qposadr[model.actuator_trnid[:, 0]]]
    key = {"qpos": data.qpos, "qvel": data.qvel, "ctrl": targets}
    text = {name: " ".join(map(repr, values.tolist())) for name, values in key.items()}
    start.write_text(ET.tostring(ET.Element("key", text), encoding="unicode"), encoding="utf-8")
    return file, start


def rows(name: str, records: Mapping[str, np.ndarray]) -> list[Row]:
    """Return the rows of one simulator from the records of the trial ``states``."""
    arrivals, stamps = records["states"].T
    wall_s, gaps = (arrivals[-1] - arrivals[0]) / 1e9, np.diff(stamps) / 1e6
    simulated_s, received = (stamps[-1] - stamps[0]) / 1e9, len(stamps) - 1
    return [
        result("peer", f"{name}: real-time factor", simulated_s / wall_s, "×", 2),
        result("peer", f"{name}: joint_states received", received / wall_s, "/s"),
        result("peer", f"{name}: share of the messages at 1 kHz", received / simulated_s / 10, "%"),
        *percentiles("peer", f"{name}: between two stamps", gaps, 99, 100, unit="ms"),
        result("peer", f"{name}: processor", 100 * float(records["cpu_s"]) / wall_s, "% of a core"),
        result("peer", f"{name}: PSS", float(records["pss_mb"]), "MB"),
    ]
