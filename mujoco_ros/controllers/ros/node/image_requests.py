"""The cameras of a robot, for its controller: the next image after it was asked for."""

from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any

import cv2
import mujoco
import numpy as np
from sensor_msgs.msg import CameraInfo
from sensor_msgs.msg import Image as ImageMessage

from mujoco_ros.bridge.publishing.topics import SENSOR
from mujoco_ros.bridge.rclpy_ext.endpoints import Endpoints
from mujoco_ros.bridge.topic_names import within
from mujoco_ros.cameras.ros.camera import camera_topics
from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.interface.observation import Observation, Pose
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.ros.node.inbox import Inbox
from mujoco_ros.controllers.runtime.camera_pose import optical_pose
from mujoco_ros.model.errors import unknown
from mujoco_ros.model.robot.layout import FloatingBase, ModelLayout
from mujoco_ros.model.sensors.cameras import Camera

_NS = 1_000_000_000
_KEPT = 1000
"""So many past ticks an image can be of."""
_IDLE_S = 10.0
"""Wall time after the last request at which a camera is listened to no more."""
_DEPTHS: dict[str, tuple[Any, float]] = {"32FC1": (np.float32, 1.0), "16UC1": (np.uint16, 1e-3)}
"""Encodings of depth: the numbers, and a unit of them [m]."""
_COLOURS: dict[str, int | None] = {
    "rgb8": None,
    "bgr8": cv2.COLOR_BGR2RGB,
    "rgba8": cv2.COLOR_RGBA2RGB,
    "bgra8": cv2.COLOR_BGRA2RGB,
}
"""Encodings of colour, and how they become RGB."""


@dataclass(eq=False)
class _Open:
    """A camera that is listened to, and who waits for it: since when [ns], and for what."""

    camera: Camera
    info: Inbox
    depth: Inbox
    colour: Inbox
    waiting: list[tuple[int, "Future[Image]"]] = field(default_factory=list)
    requests: int = 0


class ImageRequests:
    """Listens to cameras while somebody wants an image.

    Where a camera was when it took a picture follows from the joints at that time and the model,
    whose cameras are where the robot's are.
    """

    def __init__(
        self, endpoints: Endpoints, layout: ModelLayout, index: int, robot: RobotModel
    ) -> None:
        """Look with the cameras of the robot with an index, and those that are nobody's."""
        own = layout.robots[index]
        self._cameras = {camera.name: camera for camera in layout.every_camera}
        self._cameras |= {camera.name: camera for camera in own.cameras}
        self._endpoints, self._robot = endpoints, robot
        self._base = own.bases[0] if own.bases else None
        self._data = mujoco.MjData(robot.model)
        self._past: deque[Observation] = deque(maxlen=_KEPT)
        self._open: dict[str, _Open] = {}

    def note(self, observation: Observation) -> None:
        """Remember where the robot is."""
        self._past.append(observation)

    def forget(self) -> None:
        """Give up all images, and forget where the robot was."""
        self._past.clear()
        for opened in self._open.values():
            for _, future in opened.waiting:
                future.cancel()
            opened.waiting.clear()

    def look(self, camera: str) -> "Future[Image]":
        """Ask for the next image; it fails with LookupError if there is no such camera."""
        future: Future[Image] = Future()
        if camera not in self._cameras:
            future.set_exception(LookupError(str(unknown("camera", camera, self._cameras))))
            return future
        opened = self._open.get(camera) or self._listen(self._cameras[camera])
        since = round(self._past[-1].time * _NS) if self._past else 0
        opened.waiting.append((since, future))
        opened.requests += 1
        number = opened.requests
        self._endpoints.later(_IDLE_S, lambda: self._close_idle(camera, number))
        return future

    def _listen(self, camera: Camera) -> _Open:
        topics = camera_topics(camera)

        def heard() -> None:
            self._heard(opened)

        info, depth, colour = (
            Inbox(self._endpoints, kind, within(topics, topic), SENSOR, heard)
            for topic, kind in (
                ("camera_info", CameraInfo),
                ("depth/image_rect_raw", ImageMessage),
                ("image_raw", ImageMessage),
            )
        )
        opened: _Open = _Open(camera=camera, info=info, depth=depth, colour=colour)
        self._open[camera.name] = opened
        return opened

    def _close_idle(self, camera: str, number: int) -> None:
        opened = self._open.get(camera)
        if opened is not None and opened.requests == number:
            for box in (opened.info, opened.depth, opened.colour):
                box.close()
            for _, future in opened.waiting:
                future.set_exception(TimeoutError(f"camera '{camera}' sent no image"))
            del self._open[camera]

    def _heard(self, opened: _Open) -> None:
        """Hand the image over to those for whom all of it is new enough."""
        stamps = [box.stamp for box in (opened.depth, opened.colour, opened.info)]
        newest = min(-1 if stamp is None else stamp for stamp in stamps)
        ready = [future for since, future in opened.waiting if since <= newest]
        if not ready:
            return
        opened.waiting = [(since, future) for since, future in opened.waiting if since > newest]
        image, failure = None, None
        try:
            image = self._image(opened)
        except Exception as error:
            failure = error
        for future in ready:
            if future.cancelled():
                continue
            if image is None:
                future.set_exception(failure)
            else:
                future.set_result(image)

    def _image(self, opened: _Open) -> Image:
        depth, colour = opened.depth.message, opened.colour.message
        time = (opened.depth.stamp or 0) / _NS
        return Image(
            time=time,
            depth=_depth(depth),
            colour=_colour(colour),
            matrix=np.array(opened.info.message.k).reshape(3, 3),
            pose=self._pose(opened.camera, time),
        )

    def _pose(self, camera: Camera, time: float) -> Pose:
        """Return the optical frame of a camera in the world at a time [s]."""
        model, data = self._robot.model, self._data
        data.qpos[:] = model.qpos0
        if self._past:
            then = min(self._past, key=lambda seen: abs(seen.time - time))
            data.qpos[self._robot.qpos] = then.q
            if self._base is not None and then.base is not None:
                _place(data, self._base, then.base.pose)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        return optical_pose(data, camera.camera)


def _place(data: mujoco.MjData, base: FloatingBase, pose: Pose) -> None:
    data.qpos[base.qpos : base.qpos + 3] = pose.position
    data.qpos[base.qpos + 3 : base.qpos + 7] = pose.quat_wxyz


def _depth(message: ImageMessage) -> np.ndarray:
    """Return distances [m], inf where there is none.  # (h, w)"""
    if message.encoding not in _DEPTHS:
        raise ValueError(f"a depth image is {message.encoding}, not {' or '.join(_DEPTHS)}")
    kind, unit = _DEPTHS[message.encoding]
    size = np.dtype(kind).itemsize
    rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)
    pixels = np.ascontiguousarray(rows[:, : size * message.width]).view(kind)
    distances = pixels.astype(np.float32) * np.float32(unit)
    nothing = (pixels == 0) | ~np.isfinite(distances)  # as REP 118 has it
    return np.where(nothing, np.float32(np.inf), distances)


def _colour(message: ImageMessage) -> np.ndarray:
    """Return RGB.  # (h, w, 3)"""
    if message.encoding not in _COLOURS:
        raise ValueError(f"a picture is {message.encoding}, not {' or '.join(_COLOURS)}")
    channels = 4 if "a" in message.encoding else 3
    rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)
    pixels = np.ascontiguousarray(rows[:, : channels * message.width])
    pixels = pixels.reshape(message.height, message.width, channels)
    conversion = _COLOURS[message.encoding]
    return pixels if conversion is None else np.asarray(cv2.cvtColor(pixels, conversion))
