"""Look through a camera: how often a picture comes, and how far away what is in its middle is.

Run it in a second terminal while `make sim SCENE=arm` runs; --save pictures keeps the last ones.
For a robot in a namespace, add --ros-args -r __ns:=/left_arm
"""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import cv2
import numpy as np
import rclpy
from cv_bridge import CvBridge
from rclpy.node import Node
from rclpy.qos import qos_profile_sensor_data
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import Image

COLOUR, DEPTH, IMAGE = "image_raw", "depth/image_rect_raw", "sensor_msgs/msg/Image"
NOT_FOUND = "no camera found: start `make sim SCENE=arm`, with the same ROS_DOMAIN_ID as here"
NO_PICTURE = "no picture came; what /mujoco_cameras says on /diagnostics tells why"
PATIENCE_S = 10.0


def options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--camera", help="default: the first one")
    add("--seconds", type=float, default=3.0, help="how long to look, default: %(default)s")
    add("--save", type=Path, metavar="FOLDER", help="where to keep the last pictures, as PNG")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = PATIENCE_S) -> bool:
    """Spin until a condition holds; return whether it did within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
    return bool(condition())


def cameras(node: Node) -> dict[str, str]:
    """Return the cameras in the namespace of a node: where their topics are, by their names."""
    prefix = f"{node.get_namespace().rstrip('/')}/camera/"
    images = [name for name, kinds in node.get_topic_names_and_types() if IMAGE in kinds]
    found = [t.removesuffix(f"/{COLOUR}") for t in images if t.startswith(prefix)]
    return {topic.removeprefix(prefix): topic for topic in found if "/" not in topic[len(prefix) :]}


class Look:
    """What a camera shows: every picture's time, and the last picture of each kind."""

    def __init__(self, node: Node, camera: str) -> None:
        """Listen to a camera."""
        self.node = node
        self.bridge = CvBridge()
        self.stamps: list[float] = []  # of simulated time [s]
        self.arrivals: list[float] = []
        self.last: dict[str, np.ndarray] = {}
        for kind in (COLOUR, DEPTH):
            # As sensors do, cameras publish without making sure that every picture arrives.
            node.create_subscription(
                Image,
                f"{camera}/{kind}",
                lambda m, k=kind: self._see(k, m),
                qos_profile_sensor_data,
            )

    def _see(self, kind: str, message: Image) -> None:
        if kind == COLOUR:
            self.stamps.append(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)
            self.arrivals.append(monotonic())
        self.last[kind] = self.bridge.imgmsg_to_cv2(message)

    def middle(self) -> float:
        """Return the distance along the optical axis of what is in the middle [m]; inf if none."""
        depth = self.last[DEPTH]
        distance = depth[depth.shape[0] // 2, depth.shape[1] // 2]
        if depth.dtype == np.uint16:  # millimetres, 0 where there is nothing
            return float(distance) / 1000 if distance else float("inf")
        return float(distance)

    def save(self, folder: Path) -> list[Path]:
        """Write the last pictures; depth in millimetres, as depth images usually are."""
        folder.mkdir(parents=True, exist_ok=True)
        colour, depth = folder / "colour.png", folder / "depth.png"
        cv2.imwrite(str(colour), cv2.cvtColor(self.last[COLOUR], cv2.COLOR_RGB2BGR))
        distances = self.last[DEPTH]
        if distances.dtype != np.uint16:
            near = np.isfinite(distances) & (distances < 65.5)
            distances = np.where(near, 1000 * distances, 0).round().astype(np.uint16)
        cv2.imwrite(str(depth), distances)
        return [colour, depth]


def rate(times: list[float]) -> float:
    """Return how often something happened per second; 0 if only once."""
    duration = times[-1] - times[0]
    return (len(times) - 1) / duration if duration > 0 else 0.0


def look(node: Node, wanted: argparse.Namespace) -> str:
    """Look for a while, and say what there is to see; return what went wrong, or nothing."""
    if not spin_until(node, lambda: cameras(node)):
        return NOT_FOUND
    # Others are found a bit later.
    spin_until(node, lambda: wanted.camera in cameras(node), 5.0 if wanted.camera else 1.0)
    found = cameras(node)
    name = wanted.camera or min(found)
    if name not in found:
        return f"no camera '{name}' here; --camera is one of: {', '.join(sorted(found))}"
    eye = Look(node, found[name])
    if not spin_until(node, lambda: len(eye.last) == 2):
        return NO_PICTURE
    spin_until(node, lambda: False, wanted.seconds)
    height, width = eye.last[COLOUR].shape[:2]
    print(f"{found[name]}: {width}x{height}")
    print(
        f"{rate(eye.stamps):.1f} pictures per second of simulated time, "
        f"{rate(eye.arrivals):.1f} by the wall clock"
    )
    print(f"in the middle, something is {eye.middle():.3f} m away")
    if wanted.save:
        print(f"saved {', '.join(str(path) for path in eye.save(wanted.save))}")
    return ""


if __name__ == "__main__":
    asked = options()
    rclpy.init()
    try:
        sys.exit(look(rclpy.create_node("look"), asked) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
