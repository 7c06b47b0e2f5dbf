"""Look at a running simulator: its topics, how fast they flow, and what they say.

Start one with `make sim`, then, in a second terminal: .venv/bin/python examples/01_listen.py
"""

import sys
import time
from importlib import import_module
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy

DISCOVERY_S = 5.0
LISTEN_S, ENOUGH = 1.2, 100  # to each topic for so long, or until so many messages have come
INTERNAL = ("/rosout", "/parameter_events")


def find_topics(node: Node) -> dict[str, str]:
    """Return the names and types of all topics that someone publishes; none without /clock."""
    deadline = time.monotonic() + DISCOVERY_S
    while time.monotonic() < deadline and not node.count_publishers("/clock"):
        time.sleep(0.1)
    if not node.count_publishers("/clock"):
        return {}
    time.sleep(0.5)
    found = {name: types[0] for name, types in node.get_topic_names_and_types()}
    return {n: kind for n, kind in found.items() if n not in INTERNAL and node.count_publishers(n)}


def listen(node: Node, topic: str, kind: str) -> list[tuple[float, Any]]:
    """Return the next messages of a topic, each with the wall time at which it came [s]."""
    package, _, name = kind.split("/")
    # A subscription gets nothing if it asks for more than the publisher offers, so ask for as much.
    qos = node.get_publishers_info_by_topic(topic)[0].qos_profile
    heard: list[tuple[float, Any]] = []
    subscription = node.create_subscription(
        getattr(import_module(f"{package}.msg"), name),
        topic,
        lambda message: heard.append((time.monotonic(), message)),
        qos,
    )
    enough = 1 if qos.durability == DurabilityPolicy.TRANSIENT_LOCAL else ENOUGH
    deadline = time.monotonic() + LISTEN_S
    while len(heard) < enough and time.monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
    node.destroy_subscription(subscription)
    return heard


def seconds(message: Any) -> float:
    """Return the stamp of a message in seconds of simulated time; NaN if it has none."""
    first = message.transforms[0] if getattr(message, "transforms", None) else message
    stamp = first.header.stamp if hasattr(first, "header") else getattr(first, "clock", None)
    return stamp.sec + 1e-9 * stamp.nanosec if stamp else float("nan")


def rate(times: list[float]) -> str:
    """Return how often something happened at `times` [s], in Hz."""
    return f"{(len(times) - 1) / (times[-1] - times[0]):7.1f}" if len(times) > 1 else "      -"


def main() -> int:
    """Print every topic with its rate, then the first joint states, odometry and IMU."""
    rclpy.init()
    node = rclpy.create_node("listen")
    topics = find_topics(node)
    if not topics:
        print("No simulator found: nobody publishes /clock. Start one with `make sim`.")
        print("If one is running, check that ROS_DOMAIN_ID is the same in both terminals.")
        return 1
    print("  Hz (stamps)   Hz (wall)  topic [type]")
    first: dict[str, Any] = {}
    for topic, kind in sorted(topics.items()):
        heard = listen(node, topic, kind)
        by_stamp, by_wall = (rate([seconds(m) for _, m in heard]), rate([t for t, _ in heard]))
        print(f"      {by_stamp}     {by_wall}  {topic} [{kind}]")
        if heard:
            first.setdefault(kind, heard[0][1])
    if (joints := first.get("sensor_msgs/msg/JointState")) is not None:
        print(f"\njoint positions [rad or m] at {seconds(joints):.3f} s")
        for name, position in zip(joints.name, joints.position, strict=True):
            print(f"  {name:24s} {position:9.4f}")
    if (odom := first.get("nav_msgs/msg/Odometry")) is not None:
        print(f"\nheight of {odom.child_frame_id}: {odom.pose.pose.position.z:.4f} m")
    if (imu := first.get("sensor_msgs/msg/Imu")) is not None:
        a = imu.linear_acceleration
        print(f"\n{imu.header.frame_id} feels {a.x:.3f} {a.y:.3f} {a.z:.3f} m/s²; gravity reads +g")
    node.destroy_node()
    rclpy.shutdown()
    return 0


if __name__ == "__main__":
    sys.exit(main())
