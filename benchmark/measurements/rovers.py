"""Robots on wheels: cost and speed of controllers and of many rovers, and odometry."""

import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import yaml

from benchmark.durations import Durations
from benchmark.measurements.control_updates import fastest
from benchmark.processes.child_process import ROOT, Process, cpu_s, run_trial, running, simulator
from benchmark.processes.subscriber import load
from benchmark.report import Row, at_most, result
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.ros2_control.drive.drive_controller import DriveController
from mujoco_ros.ros2_control.drive.kinematics import Twist
from mujoco_ros.ros2_control.hardware import HardwareInterfaces
from mujoco_ros.ros2_control.manager import ControllerManager
from mujoco_ros.ros2_control.parameters import ControllerParameters
from mujoco_ros.ros2_control.types import TYPES
from mujoco_ros.sim.simulation import Simulation

_KEY = "rovers"
_FLEET = ROOT / "examples" / "fleet.yaml"
_TYPE = "diff_drive_controller/DiffDriveController"
_RATE_HZ = 100  # of the controllers
_UPDATE_US, _UNPACED, _FACTOR = 10.0, 20.0, (0.99, 1.01)
"""Limits: of an update, of the factor without pace, and of the factor of a fleet."""
_PATH_M, _SPEED_M_S, _ODOMETRY_M = 100.0, 1.0, 0.5
_TOPICS = {
    "lidar/lidar/scan": "sensor_msgs/msg/LaserScan",
    "odom": "nav_msgs/msg/Odometry",
    "joint_states": "sensor_msgs/msg/JointState",
}
_SETTLE_S, _TIMEOUT_S = 8.0, 60.0


def rovers(durations: Durations) -> list[Row]:
    """(rovers) Update of a drive, odometry over 100 m, speed, and fleets in the warehouse."""
    costs = {count: _step_us(count, durations.raw_steps // 5) for count in durations.rovers}
    update, of_step = _update_us(durations.updates)
    return [
        at_most(_KEY, f"diff_drive at {_RATE_HZ} Hz: an update", update, _UPDATE_US, "µs"),
        result(_KEY, f"diff_drive at {_RATE_HZ} Hz: per step", of_step, "µs"),
        *_odometry(min(_PATH_M, durations.scale * _PATH_M)),
        *_with_file(durations.lockstep),
        *(result(_KEY, f"{n} rovers: a step", us, "µs") for n, us in costs.items()),
        *(row for n in durations.rovers for row in _fleet(n, durations)),
    ]


class _Driven(NamedTuple):
    simulation: Simulation
    drive: DriveController


def _driven() -> _Driven:
    """Return a rover with a diff_drive_controller that runs in its simulation."""
    simulation = Simulation(load_scene("rover"))
    control, robot = simulation.controls[0], simulation.layout.robots[0]
    assert robot.drive is not None
    manager = ControllerManager(control, HardwareInterfaces(control), TYPES, _RATE_HZ)
    manager.load("drive", _TYPE)
    drive = manager.configure("drive", ControllerParameters(robot.drive.parameters, "drive"))
    assert isinstance(drive, DriveController)
    manager.switch(("drive",), ())
    control.managed = manager
    return _Driven(simulation, drive)


def _update_us(updates: int) -> tuple[float, float]:
    """Return the duration of an update on the way, and its mean per step of 1 ms [µs].

    Each is from the fastest of ten loops; the second one includes the controller_manager.
    """
    simulation, drive = _driven()
    control, timestep = simulation.controls[0], float(simulation.model.opt.timestep)
    now = 0.0

    def update() -> None:
        drive.update(now, 1.0 / _RATE_HZ)

    def step() -> None:
        nonlocal now
        now += timestep
        control.update(now)

    drive.command(Twist(_SPEED_M_S, 0.0, 0.3), now, now)
    alone = fastest(update, updates)
    return alone, fastest(step, updates)


def _odometry(path: float) -> list[Row]:
    """Return how far the odometry is from the truth after a straight path [m]."""
    simulation, drive = _driven()
    at = simulation.layout.robots[0].bases[0].qpos
    start = simulation.data.qpos[at : at + 2].copy()
    while drive.odometry.x < path:
        now = simulation.time
        drive.command(Twist(_SPEED_M_S), now, now)
        simulation.advance(100)
    truth = simulation.data.qpos[at : at + 2] - start
    error = float(np.hypot(drive.odometry.x - truth[0], drive.odometry.y - truth[1]))
    return [
        at_most(
            _KEY,
            f"odometry after {path:g} m: distance from the truth",
            error,
            _ODOMETRY_M * path / _PATH_M,
            "m",
            3,
        )
    ]


def _with_file(seconds: float) -> list[Row]:
    """Return the factor of a rover with the controllers of a parameter file, in lockstep."""
    robot = Simulation(load_scene("rover")).layout.robots[0]
    assert robot.drive is not None
    types = {
        "joint_state_broadcaster": "joint_state_broadcaster/JointStateBroadcaster",
        "drive": _TYPE,
    }
    manager = {name: {"type": kind} for name, kind in types.items()}
    nodes = {
        "controller_manager": {"update_rate": _RATE_HZ, **manager},
        "drive": dict(robot.drive.parameters),
    }
    with TemporaryDirectory() as name:
        folder = Path(name)
        path = folder / "controllers.json"
        path.write_text(json.dumps({k: {"ros__parameters": v} for k, v in nodes.items()}))
        parameters = {
            "controllers_file": path,
            "mode": "lockstep",
            "lockstep_sources": f"joint_commands@{_RATE_HZ}",
            "real_time_factor": 0.0,
        }
        with simulator("rover", folder, parameters) as sim:
            client = Process(
                "benchmark.processes.lockstep_client", ["nothing"], folder / "client.log"
            )
            with running(client):
                timeout = seconds + _TIMEOUT_S
                records = run_trial("ticks", folder, timeout, "joint_commands", seconds, sim.pid)
    factor = float(records["ticks"]) / float(records["wall_s"]) / _RATE_HZ
    name = f"diff_drive and joint_state_broadcaster of a file, in lockstep at {_RATE_HZ} Hz"
    name = f"{name}: real-time factor"
    limit = f"≥ {_UNPACED:g}"
    return [result(_KEY, name, factor, "×", limit=limit, keeps=lambda it: it >= _UNPACED)]


def _fleet_scene(count: int, folder: Path) -> str:
    """Write the first rovers of the example; return the path of the scene."""
    scene = yaml.safe_load(_FLEET.read_text(encoding="utf-8"))
    scene["robots"] = scene["robots"][:count]
    path = folder / f"fleet{count}.yaml"
    path.write_text(yaml.safe_dump(scene), encoding="utf-8")
    return str(path)


def _step_us(count: int, steps: int) -> float:
    """Return the mean processor time of a step of a fleet at rest [µs]."""
    with TemporaryDirectory() as name:
        simulation = Simulation(load_scene(_fleet_scene(count, Path(name))))
    simulation.advance(500)
    begun = time.process_time()
    for _ in range(steps):
        simulation.step()
    return (time.process_time() - begun) / steps * 1e6


def _fleet(count: int, durations: Durations) -> list[Row]:
    """Return the rows of a fleet at factor 1 whose scans, odometry and TF are subscribed."""
    namespaces = [f"rover{number}/" if count > 1 else "" for number in range(1, count + 1)]
    topics = [f"{ns}{topic}={kind}" for topic, kind in _TOPICS.items() for ns in namespaces]
    with TemporaryDirectory() as name:
        folder = Path(name)
        arguments = [str(folder / "records.npz"), *topics, "/tf=tf2_msgs/msg/TFMessage"]
        reader = Process("benchmark.processes.unread_topics", arguments, folder / "reader.log")
        with running(reader):
            reader.wait_for("ready")
            scene = _fleet_scene(count, folder)
            with simulator(scene, folder, {"cameras": "true"}) as sim:
                reader.wait_for(topics[0].partition("=")[0])
                sim.sleep(min(_SETTLE_S, durations.settle))
                family, begun = sim.family(), time.monotonic()
                before = {pid: cpu_s(pid) for pid in family}
                sim.sleep(durations.scale)
                wall = time.monotonic() - begun
                cpu = {family[pid]: 100 * (cpu_s(pid) - before[pid]) / wall for pid in family}
                own = 100 * (cpu_s(sim.pid) - before[sim.pid]) / wall
        (scans,) = load(folder / "records.npz").values()
    settled = scans[scans[:, 0] >= begun * 1e9]
    arrival, stamps = (settled[-1] - settled[0]).tolist()
    title, (low, high) = f"{count} rovers in the warehouse", _FACTOR
    return [
        result(_KEY, f"{title}: processor of the simulator", own, "% of a core"),
        result(_KEY, f"{title}: processor of the lidars", cpu["cameras"], "% of a core"),
        result(
            _KEY,
            f"{title}: real-time factor",
            stamps / arrival,
            "×",
            3,
            limit=f"{low:g} to {high:g}",
            keeps=lambda factor: low <= factor <= high,
        ),
        result(_KEY, f"{title}: scans of one", 1e9 * (len(settled) - 1) / stamps, "Hz", 2),
    ]
