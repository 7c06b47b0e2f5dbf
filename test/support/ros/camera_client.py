"""A scene for cameras, and a client that records what they publish."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import CameraInfo, CompressedImage, Image, LaserScan, PointCloud2
from simulator_client import SimulatorClient
from simulators import Recording, SimulatorLauncher, Stamp, stamps_of
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage

from mujoco_ros.wire.names import WORLD
from mujoco_ros.wire.qos import LATCHED

MARKER = np.array([1.5, 0.1, 0.9])
CRATE = np.array([1.0, 0.0, 0.2])
CRATE_HALF = np.array([0.2, 0.15, 0.2])
PRODUCTS: dict[str, type] = {
    "image_raw": Image,
    "camera_info": CameraInfo,
    "depth/image_rect_raw": Image,
    "depth/camera_info": CameraInfo,
    "segmentation/image_raw": Image,
    "depth/points": PointCloud2,
    "image_raw/compressed": CompressedImage,
}

# The head never comes to rest: a frame of delay shifts the image by some pixels.
_ROBOT = """
<mujoco model="looker">
  <option timestep="0.002"/>
  <worldbody>
    <body name="head" pos="0 0 0.8">
      <joint name="pan" axis="0 0 1" stiffness="0.2" springref="11.5"/>
      <geom type="box" size="0.03 0.03 0.03" pos="-0.1 0 0" mass="2"/>
      <camera name="front" pos="0.05 0 0" xyaxes="0 -1 0 0.2 0 1" fovy="60" resolution="160 120"/>
      <camera name="spare" xyaxes="0 -1 0 0 0 1"/>
    </body>
  </worldbody>
</mujoco>
"""
_WORLD = f"""
<mujoco>
  <asset><material name="glow" rgba="1 0 0 1" emission="1" specular="0" shininess="0"/></asset>
  <worldbody>
    <light pos="0 0 4"/>
    <geom name="floor" type="plane" size="5 5 0.1" rgba="0.4 0.5 0.6 1"/>
    <body name="marker" pos="{" ".join(map(str, MARKER))}">
      <geom size="0.03" material="glow" contype="0" conaffinity="0"/>
    </body>
    <body name="crate" pos="{" ".join(map(str, CRATE))}">
      <geom type="box" size="{" ".join(map(str, CRATE_HALF))}" rgba="0.1 0.7 0.2 1"/>
    </body>
    <body name="ball" pos="-1 0 0.1"><freejoint/><geom size="0.1"/></body>
  </worldbody>
</mujoco>
"""
_SCENE = """
world: world.xml
robots:
  - name: looker
    model: looker.xml
    lidars:
      - {name: belt, body: head, pose: {xyz: [0.0, 0.0, -0.6]}, horizontal: {samples: 90}, rate: 20}
cameras:
  - name: oblique
    body: world
    pose: {xyz: [0.2, 0.5, 0.75], rpy: [0.0, 0.6, -0.6]}
    resolution: [160, 120]
    intrinsics: {fx: 130.0, fy: 128.0, cx: 75.0, cy: 62.0}
    rate: 10
    depth_encoding: 16UC1
"""


def write_camera_scene(folder: Path) -> Path:
    """Write the scene and return its file: a head that swings, a marker, a crate, and a ball."""
    (folder / "looker.xml").write_text(_ROBOT)
    (folder / "world.xml").write_text(_WORLD)
    scene = folder / "looker.yaml"
    scene.write_text(_SCENE)
    return scene


@dataclass
class CameraRecordings:
    """The recorded topics of a camera."""

    recordings: dict[str, Recording]
    _decoded: dict[tuple[str, int], Any] = field(default_factory=dict)

    def by_stamp(self, topic: str) -> dict[Stamp, Any]:
        """Return the messages of a topic by their stamps."""
        recording = self.recordings[topic]
        messages = [self._message(topic, recording, n) for n in range(len(recording))]
        return dict(zip(stamps_of(messages), messages, strict=True))

    def common(self) -> list[Stamp]:
        """Return the stamps of frames that arrived on all topics."""
        return sorted(set.intersection(*(set(self.by_stamp(t)) for t in self.recordings)))

    def _message(self, topic: str, recording: Recording, number: int) -> Any:
        if (topic, number) not in self._decoded:
            self._decoded[topic, number] = deserialize_message(
                recording.raw[number], recording.kind
            )
        return self._decoded[topic, number]


class CameraClient(SimulatorClient):
    """A client of a simulator with cameras."""

    def __init__(self, start: SimulatorLauncher, scene: Path, **parameters: Any) -> None:
        # Poses at every step, so that each image has the pose at its stamp.
        settings = {"cameras": "true", "tf": "all", "publish_rate__tf": 500.0}
        super().__init__(
            start, scene=scene, **settings, **{"cameras_at_start": "true"} | parameters
        )
        self.diagnostics = self.listener.record(DiagnosticArray, "/diagnostics", reliable=True)
        self._moving = self.listener.record(TFMessage, "/tf", reliable=True)
        self._static = self.listener.record(TFMessage, "/tf_static", qos=LATCHED)
        self._poses: dict[Stamp, list[Any]] = {}
        self._poses_read = 0
        self._permanent = self.listener.recordings
        self._parameters = AsyncParameterClient(self.listener.node, "/mujoco")

    def subscribe(self, camera: str, *topics: str) -> CameraRecordings:
        """Subscribe to topics of a camera, by default to all."""
        return CameraRecordings(
            {
                topic: self.listener.record(PRODUCTS[topic], f"{camera}/{topic}")
                for topic in topics or PRODUCTS
            }
        )

    def wait_for_frames(
        self, seen: CameraRecordings, frames: int = 1, timeout_s: float = 30.0
    ) -> bool:
        """Wait for complete frames; return whether they arrived."""
        return self.listener.spin_until(lambda: len(seen.common()) >= frames, timeout_s)

    def unsubscribe_images(self) -> None:
        """Unsubscribe from cameras and lidars."""
        self.listener.forget_subscriptions(self._permanent)

    def set_camera_parameters(self, values: dict[str, Any]) -> list[Any]:
        """Set parameters of cameras; return one result each."""
        assert self.listener.spin_until(self._parameters.services_are_ready)
        parameters = [Parameter(name, value=value) for name, value in values.items()]
        answer = self.listener.result(self._parameters.set_parameters(parameters))
        return list(answer.results)

    def legend(self, camera: str) -> Recording:
        return self.listener.record(String, f"{camera}/segmentation/legend", qos=LATCHED)

    def scan(self, lidar: str) -> Recording:
        return self.listener.record(LaserScan, f"{lidar}/scan")

    def pose(self, frame: str, stamp: Stamp) -> tuple[np.ndarray, np.ndarray]:
        """Return the rotation and position of a frame in the world at the time of an image."""

        def has_pose() -> bool:
            for raw in self._moving.raw[self._poses_read :]:
                transforms = deserialize_message(raw, TFMessage).transforms
                self._poses[stamps_of(transforms)[0]] = transforms
            self._poses_read = len(self._moving)
            return stamp in self._poses

        assert self.listener.spin_until(has_pose), f"no transform at {stamp}"
        fixed = [t for message in self._static.messages for t in message.transforms]
        found = {t.child_frame_id: t for t in (*fixed, *self._poses[stamp])}
        rotation, position = np.eye(3), np.zeros(3)
        while frame != WORLD:
            transform = found[frame].transform
            frame = found[frame].header.frame_id
            q, p = transform.rotation, transform.translation
            matrix = np.empty(9)
            mujoco.mju_quat2Mat(matrix, np.array([q.w, q.x, q.y, q.z]))
            turn = matrix.reshape(3, 3)
            rotation, position = turn @ rotation, turn @ position + [p.x, p.y, p.z]
        return rotation, position

    def row(self, name: str) -> dict[str, str]:
        """Return the next values of a row of /diagnostics, and its message under the key ``""``."""
        begun = len(self.diagnostics)
        found: dict[str, str] = {}

        def has_row() -> bool:
            for raw in self.diagnostics.raw[begun:]:
                for status in deserialize_message(raw, DiagnosticArray).status:
                    if status.name == name:
                        found.update({v.key: v.value for v in status.values})
                        found[""] = status.message
                        return True
            return False

        assert self.listener.spin_until(has_row), f"no row {name}"
        return found


def pixels(image: Image) -> np.ndarray:
    """Return the pixels of an image message.  # (h, w) or (h, w, 3)."""
    kind, channels = {"rgb8": (np.uint8, 3), "16UC1": (np.uint16, 1), "32FC1": (np.float32, 1)}[
        image.encoding
    ]
    array = np.frombuffer(image.data, kind).reshape(image.height, image.width, channels)
    return array if channels > 1 else array[:, :, 0]
