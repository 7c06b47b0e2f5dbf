"""Images of a robot's cameras for its controller: the next one after a request."""

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import TypeVar

import cv2
import mujoco
import numpy as np
from rclpy.publisher import Publisher
from sensor_msgs.msg import CameraInfo
from sensor_msgs.msg import Image as ImageMessage
from std_msgs.msg import Empty

from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.interface.observation import Observation, Pose
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.ros.node.inbox import Inbox
from mujoco_ros.controllers.runtime import robot_model
from mujoco_ros.controllers.runtime.ticks import NANOSECONDS, stamp_of
from mujoco_ros.model.naming import in_namespace
from mujoco_ros.model.robot.layout import FloatingBase, ModelLayout
from mujoco_ros.model.sensors.cameras import Camera, compute_poses
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.rendering.depth import DEPTH_TYPES, from_encoding
from mujoco_ros.wire.names import CAMERA_TRIGGER, camera_topics
from mujoco_ros.wire.qos import RELIABLE, SENSOR

T = TypeVar("T")
_MAX_OBSERVATIONS = 1000  # number of stored observations, to find the one at an image's stamp
_IDLE_S = 10.0  # wall time after the last request until the subscriptions of a camera are closed
_LOCKSTEP_IDLE_S = 60.0
"""The same in lockstep, where nothing but the load of the machine delays an image."""
_TRIGGER_S = 0.3  # wall time after which an image of a stopped clock counts as lost
_TO_RGB: dict[str, int | None] = {
    "rgb8": None,
    "bgr8": cv2.COLOR_BGR2RGB,
    "rgba8": cv2.COLOR_RGBA2RGB,
    "bgra8": cv2.COLOR_BGRA2RGB,
}
"""Encodings of colour and their conversion to RGB."""


class _Request(robot_model.PendingImage):
    """A request at the tick of an observation; None before the first."""

    def __init__(self, observation: Observation | None) -> None:
        super().__init__(0.0 if observation is None else observation.time, Future())
        self.observation, self.stamp = observation, stamp_of(self.time)


@dataclass(eq=False)
class _Subscribed:
    """A camera with its subscriptions, and the requests."""

    camera: Camera
    info: Inbox
    depth: Inbox
    colour: Inbox
    trigger: Publisher | None
    pending: list[_Request] = field(default_factory=list)
    requests: int = 0

    def deliver(self, requests: Sequence[_Request]) -> None:
        self.pending = [request for request in self.pending if request not in requests]
        for request in requests:
            request.deliver()

    @property
    def inboxes(self) -> tuple[Inbox, Inbox, Inbox]:
        return self.depth, self.colour, self.info


class ImageRequests:
    """Subscribes to cameras while images are requested.

    A camera's pose follows from the joints at the time of its image and from the model. In
    lockstep, an image shows the tick that requested it: the clock waits while the camera is
    triggered. It is delivered at the same tick as by a simulator that hosts the controller.
    """

    def __init__(
        self,
        endpoints: Endpoints,
        layout: ModelLayout,
        index: int,
        robot: RobotModel,
        *,
        lockstep: bool = False,
        changed: Callable[[], object] = lambda: None,
    ) -> None:
        """Serve the robot with an index, by its own cameras and the scene's cameras.

        In `lockstep`, the clock waits; `changed` is called when `busy` may have ended.
        """
        own = layout.robots[index]
        self._cameras = robot_model.robot_cameras(layout, index)
        self._endpoints, self._robot = endpoints, robot
        self._lockstep, self._changed = lockstep, changed
        self._base = own.base
        self._objects = dict(layout.free_objects)
        self._data = mujoco.MjData(robot.model)
        self._idle_s = _LOCKSTEP_IDLE_S if lockstep else _IDLE_S
        self._observations: deque[Observation] = deque(maxlen=_MAX_OBSERVATIONS)
        self._subscribed: dict[str, _Subscribed] = {}

    @property
    def busy(self) -> bool:
        """Whether the image of a request in lockstep has not been received."""
        return self._lockstep and any(
            not request.received.done()
            for camera in self._subscribed.values()
            for request in camera.pending
        )

    def observe(self, observation: Observation) -> None:
        """Store the configuration of the robot."""
        self._observations.append(observation)

    def reset(self) -> None:
        """Cancel all requests and clear the observations."""
        self._observations.clear()
        for subscribed in self._subscribed.values():
            for request in subscribed.pending:
                request.delivered.cancel()
            subscribed.pending.clear()

    def request(self, camera: str) -> "Future[Image]":
        """Request the next image; it fails with LookupError for an unknown camera."""
        if camera not in self._cameras:
            return robot_model.unknown_camera(camera, self._cameras)
        subscribed = self._subscribed.get(camera) or self._subscribe(self._cameras[camera])
        request = _Request(self._observations[-1] if self._observations else None)
        subscribed.pending.append(request)
        subscribed.requests += 1
        number = subscribed.requests
        self._endpoints.later(self._idle_s, lambda: self._close_idle(camera, number))
        if self._lockstep:
            self._trigger(subscribed, request)
        return request.delivered

    def deliver(self, time: float, awaited: Sequence[object]) -> None:
        """Deliver the images of lockstep that are due at a tick at a time [s], or awaited."""
        for subscribed in self._subscribed.values() if self._lockstep else ():
            due = [request for request in subscribed.pending if request.is_due(time, awaited)]
            subscribed.deliver(due)

    def _subscribe(self, camera: Camera) -> _Subscribed:
        topics = camera_topics(camera.namespace, camera.name)

        def received() -> None:
            self._receive(subscribed)

        info, depth, colour = (
            Inbox(self._endpoints, kind, in_namespace(topics, topic), SENSOR, received)
            for topic, kind in (
                ("camera_info", CameraInfo),
                ("depth/image_rect_raw", ImageMessage),
                ("image_raw", ImageMessage),
            )
        )
        trigger = None
        if self._lockstep:
            trigger = self._endpoints.publisher(
                Empty, in_namespace(topics, CAMERA_TRIGGER), RELIABLE
            )
        subscribed = _Subscribed(camera, info, depth, colour, trigger)
        self._subscribed[camera.name] = subscribed
        return subscribed

    def _trigger(self, subscribed: _Subscribed, request: _Request) -> None:
        """Trigger the camera until the image of a request is received; messages may be lost."""
        if request in subscribed.pending and not request.received.done():
            assert subscribed.trigger is not None
            subscribed.trigger.publish(Empty())
            self._endpoints.later(_TRIGGER_S, lambda: self._trigger(subscribed, request))

    def _close_idle(self, camera: str, number: int) -> None:
        """Close the subscriptions of a camera, unless there was a request after that number."""
        subscribed = self._subscribed.get(camera)
        if subscribed is None or subscribed.requests != number:
            return
        silent = [request for request in subscribed.pending if not request.received.done()]
        for request in silent:
            request.received.set_exception(TimeoutError(f"camera '{camera}' published no image"))
        if self._lockstep and silent:
            self._changed()
        if self._lockstep and subscribed.pending:  # they are not due yet
            self._endpoints.later(self._idle_s, lambda: self._close_idle(camera, number))
            return
        for inbox in subscribed.inboxes:
            inbox.close()
        if subscribed.trigger is not None:
            self._endpoints.close(subscribed.trigger)
        subscribed.deliver(subscribed.pending)
        del self._subscribed[camera]

    def _receive(self, subscribed: _Subscribed) -> None:
        """Complete the requests that precede all messages of the newest image."""
        stamps = [-1 if inbox.stamp is None else inbox.stamp for inbox in subscribed.inboxes]
        unanswered = [request for request in subscribed.pending if not request.received.done()]
        if self._lockstep:
            ready = [
                request
                for request in unanswered
                if all(abs(stamp - request.stamp) <= 1 for stamp in stamps)
            ]
        else:
            ready = [request for request in unanswered if request.stamp <= min(stamps)]
        if not ready:
            return
        image = self._image(subscribed, ready[0])
        for request in ready:
            request.received = image
        if self._lockstep:
            self._changed()
        else:
            subscribed.deliver(ready)

    def _image(self, subscribed: _Subscribed, request: _Request) -> Future[Image]:
        stamp = subscribed.depth.stamp or 0
        time, observation = stamp / NANOSECONDS, request.observation
        if self._lockstep and observation is not None:
            time = observation.time
        else:
            at = time
            observation = min(
                self._observations, key=lambda seen: abs(seen.time - at), default=None
            )
        future: Future[Image] = Future()
        try:
            image = Image(
                time=time,
                depth=_depth(subscribed.depth.message),
                colour=_colour(subscribed.colour.message),
                matrix=np.array(subscribed.info.message.k).reshape(3, 3),
                pose=self._pose(subscribed.camera, observation),
            )
            future.set_result(image)
        except Exception as error:
            future.set_exception(error)
        return future

    def _pose(self, camera: Camera, observation: Observation | None) -> Pose:
        """Return the pose of the optical frame in the world in an observation."""
        model, data = self._robot.model, self._data
        data.qpos[:] = model.qpos0
        if observation is not None:
            data.qpos[self._robot.qpos] = observation.q
            if self._base is not None and observation.base is not None:
                _place(data, self._base, observation.base.pose)
            for name, pose in observation.objects.items():
                _place(data, self._objects[name], pose)
        compute_poses(model, data)
        return robot_model.optical_pose(data, camera.camera)


def _place(data: mujoco.MjData, base: FloatingBase, pose: Pose) -> None:
    data.qpos[base.qpos : base.qpos + 3] = pose.position
    data.qpos[base.qpos + 3 : base.qpos + 7] = pose.quat_wxyz


def _depth(message: ImageMessage) -> np.ndarray:
    """Return distances [m], inf without a surface.  # (h, w)"""
    kind, unit = _encoding(message, DEPTH_TYPES, "depth")
    return from_encoding(_pixels(message, np.dtype(kind).itemsize).view(kind), unit)


def _colour(message: ImageMessage) -> np.ndarray:
    conversion = _encoding(message, _TO_RGB, "colour")
    channels = 4 if "a" in message.encoding else 3
    pixels = _pixels(message, channels).reshape(message.height, message.width, channels)
    return pixels if conversion is None else np.asarray(cv2.cvtColor(pixels, conversion))


def _encoding(message: ImageMessage, known: Mapping[str, T], what: str) -> T:
    if message.encoding not in known:
        raise ValueError(
            f"the encoding of a {what} image is {message.encoding}, not {' or '.join(known)}"
        )
    return known[message.encoding]


def _pixels(message: ImageMessage, size: int) -> np.ndarray:
    """Return the bytes of an image without the padding of its rows.  # (h, w * size)"""
    rows = np.frombuffer(message.data, np.uint8).reshape(message.height, message.step)
    return np.ascontiguousarray(rows[:, : size * message.width])
