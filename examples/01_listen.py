"""Look at a running simulator: its topics, how fast they flow, and what they say.

Start one with `make sim` and, in a second terminal, .venv/bin/python examples/01_listen.py
"""

import sys
from importlib import import_module
from itertools import pairwise
from statistics import median
from time import monotonic, sleep
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile

LISTEN_S, ENOUGH = 2.2, 100  # to each topic for so long, or until so many messages have come
CONTROLLERS = "_controller/"  # their topics say what they were told, not what the robot feels
INTERNAL = ("/rosout", "/parameter_events")


def find_topics(node: Node) -> dict[str, str]:
    """Return the names and types of all topics, none if there is no /clock."""
    deadline = monotonic() + 5.0
    while not node.count_publishers("/clock") and monotonic() < deadline:
        sleep(0.1)
    sleep(0.5)  # the others are found within a moment
    every = [(name, types[0]) for name, types in node.get_topic_names_and_types()]
    every = [(name, kind) for name, kind in every if name not in INTERNAL and "/_" not in name]
    found = {name: kind for name, kind in every if node.count_publishers(name)}  # "/_" is hidden
    return found if "/clock" in found else {}


def listen(node: Node, topic: str, kind: str) -> list[tuple[float, Any]]:
    """Return the next messages of a topic, each with the wall time at which it came [s]."""
    package, _, name = kind.split("/")
    cls = getattr(import_module(f"{package}.msg"), name)
    offered = node.get_publishers_info_by_topic(topic)[0].qos_profile
    # Who asks for more than the publisher offers gets nothing at all.
    qos = QoSProfile(depth=1000, reliability=offered.reliability, durability=offered.durability)
    heard: list[tuple[float, Any]] = []
    inlet = node.create_subscription(cls, topic, lambda m: heard.append((monotonic(), m)), qos)
    deadline = monotonic() + LISTEN_S
    enough = 1 if offered.durability == DurabilityPolicy.TRANSIENT_LOCAL else ENOUGH
    while len(heard) < enough and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
    node.destroy_subscription(inlet)
    return heard


def seconds(message: Any) -> float:
    """Return the stamp of a message in seconds of simulated time; 0 if it has none."""
    first = message.transforms[0] if getattr(message, "transforms", None) else message
    stamp = first.header.stamp if hasattr(first, "header") else getattr(first, "clock", None)
    return stamp.sec + 1e-9 * stamp.nanosec if stamp else 0.0


def rate(times: list[float]) -> str:
    """Return how often something happened at `times` [s], in Hz, not counting gaps."""
    gaps = [later - earlier for earlier, later in pairwise(times) if later > earlier]
    return f"{1 / median(gaps):.1f}" if gaps else "-"


rclpy.init()
node = rclpy.create_node("listen")
topics = find_topics(node)
if not topics:
    sys.exit("no simulator found: start `make sim`, with the same ROS_DOMAIN_ID as here")
if node.count_publishers("/clock") > 1:
    print("more than one simulator is running in this ROS domain: what follows is a mixture")
print(f"{'Hz by stamps':>12} {'by wall clock':>14}  topic [type]")
first: dict[str, Any] = {}
for topic, kind in sorted(topics.items()):
    heard = listen(node, topic, kind)
    stamps, arrivals = [seconds(m) for _, m in heard], [t for t, _ in heard]
    print(f"{rate(stamps):>12} {rate(arrivals):>14}  {topic} [{kind}]")
    if heard and CONTROLLERS not in topic:
        first.setdefault(kind, heard[0][1])
if joints := first.get("sensor_msgs/msg/JointState"):
    print(f"\njoint positions [rad or m] at {seconds(joints):.3f} s:")
    print("\n".join(f"{p:12.4f}  {n}" for n, p in zip(joints.name, joints.position, strict=True)))
if odom := first.get("nav_msgs/msg/Odometry"):
    print(f"{odom.child_frame_id} is {odom.pose.pose.position.z:.4f} m above the ground")
if imu := first.get("sensor_msgs/msg/Imu"):
    a = imu.linear_acceleration
    print(f"{imu.header.frame_id} feels ({a.x:.3f}, {a.y:.3f}, {a.z:.3f}) m/s²; at rest, g upwards")
