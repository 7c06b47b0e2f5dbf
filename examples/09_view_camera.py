"""View a camera: the rate of its images, and the distance of the object in the image centre.

Run it in a second terminal while `make sim SCENE=arm` runs; `--save FOLDER` saves the last images.
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

COLOUR, DEPTH, SEGMENTS = "image_raw", "depth/image_rect_raw", "segmentation/image_raw"
IMAGE = "sensor_msgs/msg/Image"
NOT_FOUND = "no camera found: start `make sim SCENE=arm`, with the same ROS_DOMAIN_ID as here"
NO_IMAGE = "no image received; /diagnostics has the reason"
TIMEOUT_S = 10.0


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--camera", help="default: the first one")
    add("--seconds", type=float, default=3.0, help="duration, default: %(default)s")
    add("--save", type=Path, metavar="FOLDER", help="folder for the last images, as PNG")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = TIMEOUT_S) -> bool:
    """Spin until a condition is met; return whether it was within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
    return bool(condition())


def cameras(node: Node) -> dict[str, str]:
    """Return the topic prefixes of the cameras in the node's namespace, by camera name."""
    prefix = f"{node.get_namespace().rstrip('/')}/camera/"
    images = [name for name, kinds in node.get_topic_names_and_types() if IMAGE in kinds]
    found = [t.removesuffix(f"/{COLOUR}") for t in images if t.startswith(prefix)]
    return {topic.removeprefix(prefix): topic for topic in found if "/" not in topic[len(prefix) :]}


class CameraView:
    """Subscriptions to a camera: the times of its images, and the last image of each kind."""

    def __init__(self, node: Node, camera: str) -> None:
        """Subscribe to colour, depth and segmentation images."""
        self.bridge = CvBridge()
        self.stamps: list[float] = []  # of simulated time [s]
        self.arrivals: list[float] = []
        self.last: dict[str, np.ndarray] = {}
        for kind in (COLOUR, DEPTH, SEGMENTS):
            # Sensor data: delivery is best effort.
            node.create_subscription(
                Image,
                f"{camera}/{kind}",
                lambda m, k=kind: self._receive(k, m),
                qos_profile_sensor_data,
            )

    def _receive(self, kind: str, message: Image) -> None:
        if kind == COLOUR:
            self.stamps.append(message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec)
            self.arrivals.append(monotonic())
        self.last[kind] = self.bridge.imgmsg_to_cv2(message)

    def distances(self) -> np.ndarray:
        """Return the last depth image [m]; inf without an object."""
        depth = self.last[DEPTH]
        if depth.dtype == np.uint16:  # millimetres, 0 without an object
            depth = np.where(depth, 1e-3 * depth, np.inf)
        return depth

    def centre_distance(self) -> float:
        """Return the depth at the image centre [m]; inf without an object."""
        height, width = self.last[DEPTH].shape
        return float(self.distances()[height // 2, width // 2])

    def save(self, folder: Path) -> list[Path]:
        """Write the last images: values of depth and segmentation, and both in colours."""
        folder.mkdir(parents=True, exist_ok=True)
        distances, segments = self.distances(), self.last[SEGMENTS]
        millimetres = np.where(distances < 65.5, 1000 * distances, 0).round().astype(np.uint16)
        images = {
            "colour.png": cv2.cvtColor(self.last[COLOUR], cv2.COLOR_RGB2BGR),
            "depth.png": millimetres,  # as usual for depth images
            "depth_coloured.png": depth_coloured(distances),
            "segmentation.png": segments,  # the numbers of segmentation/legend
            "segmentation_coloured.png": segmentation_coloured(segments),
        }
        for name, image in images.items():
            cv2.imwrite(str(folder / name), image)
        return [folder / name for name in images]


def depth_coloured(distances: np.ndarray) -> np.ndarray:
    """Return near pixels bright, far ones dark, black without an object.  # (h, w, 3) BGR."""
    hit = np.isfinite(distances)
    near, far = np.percentile(distances[hit], (1, 99)) if hit.any() else (0.0, 1.0)
    share = np.where(hit, (distances - near) / max(far - near, 1e-6), 1.0).clip(0.0, 1.0)
    coloured = cv2.applyColorMap((255 - 215 * share).astype(np.uint8), cv2.COLORMAP_VIRIDIS)
    coloured[~hit] = 0
    return coloured


def segmentation_coloured(segments: np.ndarray) -> np.ndarray:
    """Return each object in a colour of its own, black without an object.  # (h, w, 3) BGR."""
    levels = (segments.astype(np.uint32) * 97 % 256).astype(np.uint8)
    coloured = cv2.applyColorMap(levels, cv2.COLORMAP_HSV)
    coloured[segments == 0] = 0
    return coloured


def rate(times: list[float]) -> float:
    """Return the mean rate of events [Hz]; 0 for a single one."""
    duration = times[-1] - times[0]
    return (len(times) - 1) / duration if duration > 0 else 0.0


def view(node: Node, args: argparse.Namespace) -> str:
    """Receive images for some time and print their rates; return an error, empty without one."""
    if not spin_until(node, lambda: cameras(node)):
        return NOT_FOUND
    # Discovery of the other cameras takes a moment.
    spin_until(node, lambda: args.camera in cameras(node), 5.0 if args.camera else 1.0)
    found = cameras(node)
    name = args.camera or min(found)
    if name not in found:
        return f"no camera '{name}' here; --camera is one of: {', '.join(sorted(found))}"
    camera = CameraView(node, found[name])
    if not spin_until(node, lambda: len(camera.last) == 3):
        return NO_IMAGE
    spin_until(node, lambda: False, args.seconds)
    height, width = camera.last[COLOUR].shape[:2]
    print(f"{found[name]}: {width}x{height}")
    print(
        f"{rate(camera.stamps):.1f} images per second of simulated time, "
        f"{rate(camera.arrivals):.1f} by the wall clock"
    )
    print(f"distance at the image centre: {camera.centre_distance():.3f} m")
    if args.save:
        print(f"saved {', '.join(str(path) for path in camera.save(args.save))}")
    return ""


if __name__ == "__main__":
    args = options()
    rclpy.init()
    try:
        sys.exit(view(rclpy.create_node("view_camera"), args) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
