"""Images of a robot's cameras for its controller: the next one after a request."""

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
from mujoco_ros.cameras.ros.camera import camera_topics
from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.interface.observation import Observation, Pose
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.ros.node.inbox import Inbox
from mujoco_ros.controllers.runtime.robot_cameras import (
    optical_pose,
    robot_cameras,
    unknown_camera,
)
from mujoco_ros.model.naming import within
from mujoco_ros.model.robot.layout import FloatingBase, ModelLayout
from mujoco_ros.model.sensors.cameras import Camera

_NS = 1_000_000_000
_MAX_OBSERVATIONS = 1000
"""Number of stored observations, to find the one at an image's stamp."""
_IDLE_S = 10.0
"""Wall time after the last request until the subscriptions of a camera are closed."""
_DEPTH_TYPES: dict[str, tuple[Any, float]] = {
    "32FC1": (np.float32, 1.0),
    "16UC1": (np.uint16, 1e-3),
}
"""Encodings of depth: type of the numbers and their unit [m]."""
_TO_RGB: dict[str, int | None] = {
    "rgb8": None,
    "bgr8": cv2.COLOR_BGR2RGB,
    "rgba8": cv2.COLOR_RGBA2RGB,
    "bgra8": cv2.COLOR_BGRA2RGB,
}
"""Encodings of colour and their conversion to RGB."""


@dataclass(eq=False)
class _Subscribed:
    """A camera with its subscriptions, and the requests: time [ns] and image."""

    camera: Camera
    info: Inbox
    depth: Inbox
    colour: Inbox
    pending: list[tuple[int, "Future[Image]"]] = field(default_factory=list)
    requests: int = 0


class ImageRequests:
    """Subscribes to cameras while images are requested.

    The pose of a camera follows from the joints at the time of its image and from the model, whose
    cameras have the same poses as those of the robot.
    """

    def __init__(
        self, endpoints: Endpoints, layout: ModelLayout, index: int, robot: RobotModel
    ) -> None:
        """Serve the robot with an index, by its own cameras and those of the scene."""
        own = layout.robots[index]
        self._cameras = robot_cameras(layout, index)
        self._endpoints, self._robot = endpoints, robot
        self._base = own.bases[0] if own.bases else None
        self._data = mujoco.MjData(robot.model)
        self._observations: deque[Observation] = deque(maxlen=_MAX_OBSERVATIONS)
        self._subscribed: dict[str, _Subscribed] = {}

    def observe(self, observation: Observation) -> None:
        """Store the configuration of the robot."""
        self._observations.append(observation)

    def reset(self) -> None:
        """Cancel all requests and clear the observations."""
        self._observations.clear()
        for subscribed in self._subscribed.values():
            for _, future in subscribed.pending:
                future.cancel()
            subscribed.pending.clear()

    def request(self, camera: str) -> "Future[Image]":
        """Request the next image; it fails with LookupError for an unknown camera."""
        if camera not in self._cameras:
            return unknown_camera(camera, self._cameras)
        future: Future[Image] = Future()
        subscribed = self._subscribed.get(camera) or self._subscribe(self._cameras[camera])
        since = round(self._observations[-1].time * _NS) if self._observations else 0
        subscribed.pending.append((since, future))
        subscribed.requests += 1
        number = subscribed.requests
        self._endpoints.later(_IDLE_S, lambda: self._close_idle(camera, number))
        return future

    def _subscribe(self, camera: Camera) -> _Subscribed:
        topics = camera_topics(camera)

        def received() -> None:
            self._complete(subscribed)

        info, depth, colour = (
            Inbox(self._endpoints, kind, within(topics, topic), SENSOR, received)
            for topic, kind in (
                ("camera_info", CameraInfo),
                ("depth/image_rect_raw", ImageMessage),
                ("image_raw", ImageMessage),
            )
        )
        subscribed = _Subscribed(camera=camera, info=info, depth=depth, colour=colour)
        self._subscribed[camera.name] = subscribed
        return subscribed

    def _close_idle(self, camera: str, number: int) -> None:
        """Close the subscriptions of a camera, unless there was a request after that number."""
        subscribed = self._subscribed.get(camera)
        if subscribed is not None and subscribed.requests == number:
            for inbox in (subscribed.info, subscribed.depth, subscribed.colour):
                inbox.close()
            for _, future in subscribed.pending:
                future.set_exception(TimeoutError(f"camera '{camera}' published no image"))
            del self._subscribed[camera]

    def _complete(self, subscribed: _Subscribed) -> None:
        """Complete the requests that precede all messages of the newest image."""
        inboxes = (subscribed.depth, subscribed.colour, subscribed.info)
        newest = min(-1 if inbox.stamp is None else inbox.stamp for inbox in inboxes)
        ready = [future for since, future in subscribed.pending if since <= newest]
        if not ready:
            return
        subscribed.pending = [entry for entry in subscribed.pending if entry[0] > newest]
        image, failure = None, None
        try:
            image = self._image(subscribed)
        except Exception as error:
            failure = error
        for future in ready:
            if future.cancelled():
                continue
            if image is None:
                future.set_exception(failure)
            else:
                future.set_result(image)

    def _image(self, subscribed: _Subscribed) -> Image:
        time = (subscribed.depth.stamp or 0) / _NS
        return Image(
            time=time,
            depth=_depth(subscribed.depth.message),
            colour=_colour(subscribed.colour.message),
            matrix=np.array(subscribed.info.message.k).reshape(3, 3),
            pose=self._pose(subscribed.camera, time),
        )

    def _pose(self, camera: Camera, time: float) -> Pose:
        """Return the pose of the optical frame in the world at a time [s]."""
        model, data = self._robot.model, self._data
        data.qpos[:] = model.qpos0
        if self._observations:
            nearest = min(self._observations, key=lambda it: abs(it.time - time))
            data.qpos[self._robot.qpos] = nearest.q
            if self._base is not None and nearest.base is not None:
                _place(data, self._base, nearest.base.pose)
        mujoco.mj_kinematics(model, data)
        mujoco.mj_camlight(model, data)
        return optical_pose(data, camera.camera)


def _place(data: mujoco.MjData, base: FloatingBase, pose: Pose) -> None:
    data.qpos[base.qpos : base.qpos + 3] = pose.position
    data.qpos[base.qpos + 3 : base.qpos + 7] = pose.quat_wxyz


def _depth(message: ImageMessage) -> np.ndarray:
    """Return distances [m], inf without a surface.  # (h, w)"""
    if message.encoding not in _DEPTH_TYPES:
        raise ValueError(
            f"the encoding of a depth image is {message.encoding}, not {' or '.join(_DEPTH_TYPES)}"
        )
    kind, unit = _DEPTH_TYPES[message.encoding]
    pixels = _pixels(message, np.dtype(kind).itemsize).view(kind)
    distances = pixels.astype(np.float32) * np.float32(unit)
    nothing = (pixels == 0) | ~np.isfinite(distances)  # REP 118
    return np.where(nothing, np.float32(np.inf), distances)


def _colour(message: ImageMessage) -> np.ndarray:
    """Return RGB.  # (h, w, 3)"""
    if message.encoding not in _TO_RGB:
        raise ValueError(
            f"the encoding of a colour image is {message.encoding}, not {' or '.join(_TO_RGB)}"
        )
    channels = 4 if "a" in message.encoding else 3
    pixels = _pixels(message, channels).reshape(message.height, message.width, channels)
    conversion = _TO_RGB[message.encoding]
    return pixels if conversion is None else np.asarray(cv2.cvtColor(pixels, conversion))


def _pixels(message: ImageMessage, size: int) -> np.ndarray:
    """Return the bytes of an image without the padding of its rows.  # (h, w * size)"""
    rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)
    return np.ascontiguousarray(rows[:, : size * message.width])
