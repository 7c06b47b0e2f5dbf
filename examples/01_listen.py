"""Look at a running simulator: its topics, how fast they flow, and what they say.

Start one with `make sim` and, in a second terminal, .venv/bin/python examples/01_listen.py
"""

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

LISTEN_S = 3.0  # after the last topic has begun to speak: some say something once a second
ENOUGH = 500  # messages of a topic
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


class Heard:
    """What comes on a topic: the first message, and when each came and was stamped [s]."""

    def __init__(self, node: Node, topic: str, kind: str) -> None:
        """Begin to listen."""
        package, _, name = kind.split("/")
        cls = getattr(import_module(f"{package}.msg"), name)
        offered = node.get_publishers_info_by_topic(topic)[0].qos_profile
        # Who asks for more than the publisher offers gets nothing at all.
        qos = QoSProfile(depth=1000, reliability=offered.reliability, durability=offered.durability)
        self.topic, self.kind = topic, kind
        self.arrivals: list[float] = []
        self.stamps: list[float] = []
        self.first: Any = None
        self.inlet = node.create_subscription(cls, topic, self.hear, qos)

    def hear(self, message: Any, info: dict[str, int]) -> None:
        """Note a message; of many, the times do."""
        self.first = self.first or message
        self.arrivals.append(1e-9 * info["received_timestamp"])  # it may have waited since
        self.stamps.append(seconds(message))


def listen(node: Node, topics: dict[str, str]) -> list[Heard]:
    """Listen to all topics at once, until none of them has begun to speak for a while."""
    everything = [Heard(node, *topic) for topic in sorted(topics.items())]
    silent, fast, newest = set(everything), set(everything), monotonic()
    while monotonic() < newest + LISTEN_S:
        rclpy.spin_once(node, timeout_sec=0.1)
        if begun := {it for it in silent if it.arrivals}:
            silent, newest = silent - begun, monotonic()
        for it in [it for it in fast if len(it.arrivals) >= ENOUGH]:
            node.destroy_subscription(it.inlet)  # the slow ones would be drowned by it
            fast.remove(it)
    return everything


def seconds(message: Any) -> float:
    """Return the stamp of a message in seconds of simulated time; 0 if it has none."""
    first = message.transforms[0] if getattr(message, "transforms", None) else message
    stamp = first.header.stamp if hasattr(first, "header") else getattr(first, "clock", None)
    return stamp.sec + 1e-9 * stamp.nanosec if stamp else 0.0


def by_stamps(times: list[float]) -> str:
    """Return how often something was stamped [Hz], whatever was lost on the way."""
    gaps = [later - earlier for earlier, later in pairwise(times) if later > earlier]
    return f"{1 / median(gaps):.1f}" if gaps else "-"


def by_clock(times: list[float]) -> str:
    """Return how often something came [Hz], over the whole time in which it did."""
    span = times[-1] - times[0] if times else 0.0
    return f"{(len(times) - 1) / span:.1f}" if span else "-"


signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `| head` ends it without a word
rclpy.init()
node = rclpy.create_node("listen")
topics = find_topics(node)
if not topics:
    sys.exit("no simulator found: start `make sim`, with the same ROS_DOMAIN_ID as here")
if node.count_publishers("/clock") > 1:
    print("more than one simulator is running in this ROS domain: what follows is a mixture")
print(f"listening to {len(topics)} topics, for some {LISTEN_S:.0f} s", flush=True)
print(f"{'Hz by stamps':>12} {'by wall clock':>14}  topic [type]")
first: dict[str, Any] = {}
for it in listen(node, topics):
    print(f"{by_stamps(it.stamps):>12} {by_clock(it.arrivals):>14}  {it.topic} [{it.kind}]")
    if it.first and CONTROLLERS not in it.topic:
        first.setdefault(it.kind, it.first)
if joints := first.get("sensor_msgs/msg/JointState"):
    print(f"\njoint positions [rad or m] at {seconds(joints):.3f} s:")
    print("\n".join(f"{p:12.4f}  {n}" for n, p in zip(joints.name, joints.position, strict=True)))
if odom := first.get("nav_msgs/msg/Odometry"):
    print(f"{odom.child_frame_id} is {odom.pose.pose.position.z:.4f} m above the ground")
if imu := first.get("sensor_msgs/msg/Imu"):
    a = imu.linear_acceleration
    print(f"{imu.header.frame_id} feels ({a.x:.3f}, {a.y:.3f}, {a.z:.3f}) m/s²; at rest, g upwards")
