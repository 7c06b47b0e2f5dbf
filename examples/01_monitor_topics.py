"""Monitor a running simulator: its topics, their rates, and the first joint states and IMU data.

Start one with `make sim` and, in a second terminal, .venv/bin/python examples/01_monitor_topics.py
For the topics of a robot in a namespace alone, add --ros-args -r __ns:=/left_arm
"""

import argparse
import signal
import sys
from importlib import import_module
from itertools import pairwise
from statistics import median
from time import monotonic, sleep
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

ENOUGH = 500  # messages of a topic
# Parts of topics whose joint states and wrenches are commanded, or true values, not measured ones
NOT_MEASURED = ("_controller/", "joint_references", "joint_commands", "ground_truth/")
INTERNAL = ("/rosout", "/parameter_events")


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--seconds",
        type=float,
        default=3.0,
        help="wait for further topics after each first message, default: %(default)s",
    )
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def find_topics(node: Node) -> dict[str, str]:
    """Return the names and types of all published topics; none without /clock."""
    deadline = monotonic() + 5.0
    while not node.count_publishers("/clock") and monotonic() < deadline:
        sleep(0.1)
    if not node.count_publishers("/clock"):
        return {}
    topics: list[tuple[str, str]] = []
    newest = monotonic()
    while monotonic() < newest + 2.0:  # until topics of cameras and viewer are discovered, too
        if len(topics) < len(found := node.get_topic_names_and_types()):
            newest = monotonic()
            topics = [(name, types[0]) for name, types in found]
        sleep(0.1)
    # Names with "/_" are hidden.
    topics = [(name, kind) for name, kind in topics if name not in INTERNAL and "/_" not in name]
    own = node.get_namespace().rstrip("/") + "/"
    own_topics = [(name, kind) for name, kind in topics if name.startswith(own)]
    return {name: kind for name, kind in own_topics if node.count_publishers(name)}


class Monitor:
    """Subscription to a topic: its first message, reception times and stamps [s]."""

    def __init__(self, node: Node, topic: str, kind: str) -> None:
        """Subscribe."""
        package, _, name = kind.split("/")
        cls = getattr(import_module(f"{package}.msg"), name)
        offered = node.get_publishers_info_by_topic(topic)[0].qos_profile
        # A subscription that requests more than the publisher offers receives no messages.
        qos = QoSProfile(depth=1000, reliability=offered.reliability, durability=offered.durability)
        self.topic, self.kind = topic, kind
        self.arrivals: list[float] = []
        self.stamps: list[float] = []
        self.first: Any = None
        self.subscription = node.create_subscription(cls, topic, self.receive, qos)

    def receive(self, message: Any, info: dict[str, int]) -> None:
        """Keep the first message, and the times of all."""
        self.first = self.first or message
        self.arrivals.append(1e-9 * info["received_timestamp"])  # before the executor's queue
        self.stamps.append(seconds(message))


def monitor(node: Node, topics: dict[str, str], wait: float) -> list[Monitor]:
    """Subscribe to all topics until no further topic has sent its first message for a while."""
    monitors = [Monitor(node, *topic) for topic in sorted(topics.items())]
    silent, active, newest = set(monitors), set(monitors), monotonic()
    while monotonic() < newest + wait:
        rclpy.spin_once(node, timeout_sec=0.1)
        if started := {topic for topic in silent if topic.arrivals}:
            silent, newest = silent - started, monotonic()
        for topic in [topic for topic in active if len(topic.arrivals) >= ENOUGH]:
            node.destroy_subscription(topic.subscription)  # leaves time for the slow topics
            active.remove(topic)
    return monitors


def seconds(message: Any) -> float:
    """Return the stamp of a message in seconds of simulated time; 0 without one."""
    first = message.transforms[0] if getattr(message, "transforms", None) else message
    stamp = first.header.stamp if hasattr(first, "header") else getattr(first, "clock", None)
    return stamp.sec + 1e-9 * stamp.nanosec if stamp else 0.0


def stamp_rate(times: list[float]) -> str:
    """Return the rate by stamps [Hz], independent of lost messages."""
    gaps = [later - earlier for earlier, later in pairwise(times) if later > earlier]
    return f"{1 / median(gaps):.1f}" if gaps else "-"


def arrival_rate(times: list[float]) -> str:
    """Return the mean rate of reception [Hz]."""
    span = times[-1] - times[0] if times else 0.0
    return f"{(len(times) - 1) / span:.1f}" if span else "-"


def main() -> None:
    """Print all topics with their rates, then the state of the robot."""
    wait = options().seconds
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # ends quietly in a pipe to `head`
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # rclpy's handlers would invalidate the node in the middle of a call.
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    node = rclpy.create_node("monitor_topics")
    topics = find_topics(node)
    if not topics:
        sys.exit("no simulator found: start `make sim`, with the same ROS_DOMAIN_ID as here")
    if node.count_publishers("/clock") > 1:
        print("several simulators run in this ROS domain: their messages are mixed")
    print(f"monitoring {len(topics)} topics for about {wait:.0f} s", flush=True)
    print(f"{'Hz by stamps':>12} {'by wall clock':>14}  topic [type]")
    first: dict[str, Any] = {}
    for topic in monitor(node, topics, wait):
        rates = f"{stamp_rate(topic.stamps):>12} {arrival_rate(topic.arrivals):>14}"
        print(f"{rates}  {topic.topic} [{topic.kind}]")
        if topic.first and not any(part in topic.topic for part in NOT_MEASURED):
            first.setdefault(topic.kind, topic.first)
    if joints := first.get("sensor_msgs/msg/JointState"):
        print(f"\nmeasured joint positions [rad or m] at {seconds(joints):.3f} s:")
        rows = zip(joints.name, joints.position, strict=True)
        print("\n".join(f"{position:12.4f}  {name}" for name, position in rows))
    if odom := first.get("nav_msgs/msg/Odometry"):
        print(f"{odom.child_frame_id} is {odom.pose.pose.position.z:.4f} m above the ground")
    if imu := first.get("sensor_msgs/msg/Imu"):
        a = imu.linear_acceleration
        print(f"{imu.header.frame_id} measures ({a.x:.3f}, {a.y:.3f}, {a.z:.3f}) m/s²")
        print("at rest, this specific force is g upwards")


if __name__ == "__main__":
    main()
