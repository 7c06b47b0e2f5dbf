"""Cost against the number of robots, joints, sensors, topics and subscribers."""

import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from benchmark.durations import Durations
from benchmark.measurements.footprint import parts_mb
from benchmark.processes.child_process import Process, running, simulator
from benchmark.processes.subscriber import load
from benchmark.report import Row, result

STATES, IMU = "sensor_msgs/msg/JointState", "sensor_msgs/msg/Imu"
RATE_HZ = 1000
_ARM = "package://mujoco_ros/urdf_mjcf/arm/arm.xml"
_WORLD = "package://mujoco_ros/urdf_mjcf/worlds/ground.xml"
_JOINTS_OF_CHAIN, _COLUMNS, _DISTANCE_M = 6, 10, 2.0
_MODULE = "benchmark.processes.unread_topics"
_HUMANOID = {
    "joint_states": STATES,
    "imu/pelvis_imu": IMU,
    **{
        f"wrench/{side}_{part}_ft": "geometry_msgs/msg/WrenchStamped"
        for side in ("left", "right")
        for part in ("wrist", "ankle")
    },
    "odom": "nav_msgs/msg/Odometry",
}
"""Topics of the humanoid, and the types of their messages."""
_FOR_20, _FOR_50 = 45.0, 100.0
"""Largest processor time of 20 arms, and of 50 [% of a core]."""


class Case(NamedTuple):
    """A simulator, and what it is subscribed to."""

    title: str
    scene: str
    topics: Sequence[str]  # each as `unread_topics` takes it


def scale(durations: Durations) -> list[Row]:
    """(scale) Processor time, memory and start against the number of what is simulated and read.

    Every topic has 1 kHz; one process has all subscriptions.
    """
    with TemporaryDirectory() as name:
        found = cases(Path(name), durations.robots)
        return [row for case in found for row in _measure(case, durations.scale)]


def cases(folder: Path, robots: Sequence[int]) -> list[Case]:
    """Return the cases, whose scenes are written into a folder."""
    found = [
        Case(f"{n} arms", arms(folder, n), [f"{_arm(i, n)}joint_states={STATES}" for i in range(n)])
        for n in robots
    ]
    most = max(robots)
    joints, sensors = _JOINTS_OF_CHAIN * most, most
    title = f"one robot with {joints} joints"
    found.append(Case(title, chains(folder, most, 0), [f"joint_states={STATES}"]))
    imus = [f"imu/imu{i}={IMU}" for i in range(sensors)]
    found.append(Case(f"{title} and {sensors} IMUs", chains(folder, most, sensors), imus))
    humanoid = [f"{topic}={kind}" for topic, kind in _HUMANOID.items()]
    found.append(Case("humanoid, 1 topic", "humanoid", humanoid[:1]))
    found.append(Case(f"humanoid, {len(humanoid)} topics", "humanoid", humanoid))
    title = f"humanoid, 1 topic with {most} subscriptions"
    found.append(Case(title, "humanoid", humanoid[:1] * most))
    return found


def arms(folder: Path, count: int) -> str:
    """Write a scene of arms that stand apart; return its path."""
    robots = [
        {
            "name": f"arm{number}",
            "model": _ARM,
            "keyframe": "home",
            "gripper": "left_finger_joint",
            "pose": {
                "xyz": [_DISTANCE_M * (number % _COLUMNS), _DISTANCE_M * (number // _COLUMNS), 0.0]
            },
        }
        for number in range(count)
    ]
    path = folder / f"arms{count}.yaml"
    path.write_text(json.dumps({"world": _WORLD, "robots": robots}), encoding="utf-8")
    return str(path)


def chains(folder: Path, count: int, imus: int) -> str:
    """Write one robot of hanging chains with motors, and IMUs on their bases; return its path."""
    bodies, sensors, motors = [], [], []
    for chain in range(count):
        links, names = "", [f"c{chain}j{joint}" for joint in range(_JOINTS_OF_CHAIN)]
        for name in reversed(names):
            motors.append(f'<motor joint="{name}" ctrlrange="-50 50"/>')
            shape = '<geom type="capsule" size=".02" fromto="0 0 0 0 0 -.2" contype="0"/>'
            joint = f'<joint name="{name}" axis="0 1 0" damping="1" armature=".01"/>'
            links = f'<body name="{name}" pos="0 0 -.2">{joint}{shape}{links}</body>'
        bodies.append(f'<body pos="{chain} 0 2"><site name="imu{chain}"/>{links}</body>')
        if chain < imus:
            for kind in ("accelerometer", "gyro"):
                sensors.append(f'<{kind} name="imu{chain}_{kind}" site="imu{chain}"/>')
    text = (
        f"<mujoco><worldbody>{''.join(bodies)}</worldbody><actuator>{''.join(motors)}</actuator>"
        f"<sensor>{''.join(sensors)}</sensor></mujoco>"
    )
    path = folder / f"chains{count}_{imus}.xml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def rows(title: str, records: np.ndarray, cpu: float, memory: float, start: float) -> list[Row]:
    """Return the rows of a case.

    Args:
        title: The case.
        records: Arrivals and stamps of the messages of the first topic [ns].  # (n, 2)
        cpu: Processor time over wall time.
        memory: Proportional memory [MB].
        start: Time from the process start to the first message [s].
    """
    wall, simulated = (records[-1] - records[0]).tolist()
    limit = {"20 arms": _FOR_20, "50 arms": _FOR_50}.get(title, float("inf"))
    return [
        result(
            *("scale", f"{title}: processor, all threads", 100 * cpu, "% of a core"),
            limit="" if limit == float("inf") else f"≤ {limit:g}",
            keeps=None if limit == float("inf") else lambda percent: percent <= limit,
        ),
        result("scale", f"{title}: real-time factor", simulated / wall, "×", 3),
        result("scale", f"{title}: PSS", memory, "MB"),
        result("scale", f"{title}: start to the first message", start, "s", 2),
    ]


def _measure(case: Case, seconds: float) -> list[Row]:
    rates: Mapping[str, object] = {
        f"publish_rate.{topic}": RATE_HZ for topic in ("joint_states", "imu", "wrench", "odom")
    }
    with TemporaryDirectory() as name:
        folder = Path(name)
        records = folder / "records.npz"
        reader = Process(_MODULE, [str(records), *case.topics], folder / "reader.log")
        with running(reader):
            reader.wait_for("ready")
            with simulator(case.scene, folder, rates) as sim:
                first = int(reader.wait_for(case.topics[0].partition("=")[0]))
                sim.sleep(min(3.0, 1.0 + seconds))
                begun, before = time.monotonic(), sim.cpu_s()
                sim.sleep(seconds)
                cpu = (sim.cpu_s() - before) / (time.monotonic() - begun)
                memory = sum(parts_mb(sim.pid).values())
        (arrived,) = load(records).values()
        settled = arrived[arrived[:, 0] >= begun * 1e9]
        if len(settled) < 2:
            raise RuntimeError(f"{case.title}: no messages arrived on {case.topics[0]}")
        return rows(case.title, settled, cpu, memory, (first - sim.started_ns) / 1e9)


def _arm(number: int, count: int) -> str:
    """Return the namespace of an arm, with a slash; a single robot has none."""
    return f"arm{number}/" if count > 1 else ""
