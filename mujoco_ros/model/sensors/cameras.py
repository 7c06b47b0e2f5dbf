"""Cameras: what a scene says of them, what becomes of the model, and what is known of each."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import mujoco
import numpy as np

from mujoco_ros.model.errors import NameTakenError, UserInputError, unknown
from mujoco_ros.model.naming import check_name
from mujoco_ros.model.robot.frame_names import CAMERA_WXYZ, optical_frame
from mujoco_ros.model.scene.pose_config import ORIGIN, PoseConfig, quaternion_wxyz

DepthEncoding = Literal["32FC1", "16UC1"]

LARGEST_SIDE = 8192
"""Pixels; as far as offscreen buffers of graphics drivers usually go."""
DEFAULT_RESOLUTION = (320, 240)
DEFAULT_RATE_HZ = 30.0
SLOWEST_HZ = 0.001
FASTEST_HZ = 1000.0
_PIXEL = 1e-5
"""Side of a pixel [m] in the model: the engine wants lengths, of which only ratios count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Intrinsics:
    """A pinhole camera without distortion, in pixels.

    The point (x, y, z) of the optical frame is seen at u = fx x/z + cx, v = fy y/z + cy. The middle
    of the upper left pixel is at (0, 0), as OpenCV and CameraInfo have it: the middle of a picture
    is at ((width - 1) / 2, (height - 1) / 2).
    """

    fx: float
    fy: float
    cx: float
    cy: float

    def __post_init__(self) -> None:
        """Refuse a focal length that is none."""
        for name in ("fx", "fy"):
            if getattr(self, name) <= 0:
                raise UserInputError(f"'{name}' must be positive, got {getattr(self, name):g}")


@dataclass(frozen=True, kw_only=True, slots=True)
class CameraNoise:
    """Gaussian noise: of colours [grey levels], of depth [m at 1 m, growing with its square]."""

    colour: float = 0.0
    depth: float = 0.0

    def __post_init__(self) -> None:
        """Refuse deviations that are negative or drown everything."""
        for name, most in (("colour", 255.0), ("depth", 1.0)):
            if not 0 <= getattr(self, name) <= most:
                raise UserInputError(
                    f"noise '{name}' must be from 0 to {most:g}, got {getattr(self, name):g}"
                )


@dataclass(frozen=True, kw_only=True, slots=True)
class CameraConfig:
    """A camera that a scene adds, or one of the model that it says more about.

    `body` and `pose` are of an added one: the pose is that of a camera link in the body's frame,
    which looks along x with z up. None leaves what the model has; the others hold for both.
    """

    name: str
    body: str | None = None
    pose: PoseConfig | None = None
    resolution: tuple[int, int] | None = None
    fovy: float | None = None
    intrinsics: Intrinsics | None = None
    rate: float = DEFAULT_RATE_HZ
    depth_encoding: DepthEncoding = "32FC1"
    noise: CameraNoise = CameraNoise()

    def __post_init__(self) -> None:
        """Refuse names that ROS could not use, and pictures that nobody could take."""
        if self.body is not None:
            check_name(self.name)
        elif self.pose is not None:
            raise UserInputError(
                f"camera '{self.name}': a 'pose' needs the 'body' that it is relative to"
            )
        if self.fovy is not None and self.intrinsics is not None:
            raise UserInputError(
                f"camera '{self.name}': give either 'fovy' or 'intrinsics', not both"
            )
        if self.fovy is not None and not 0 < self.fovy < 180:
            raise UserInputError(
                f"camera '{self.name}': 'fovy' must be between 0 and 180 degrees, got {self.fovy:g}"
            )
        if self.resolution is not None:
            check_resolution(self.name, *self.resolution)
        check_rate(f"camera '{self.name}'", self.rate)


@dataclass(frozen=True, kw_only=True)
class Camera:
    """A camera of a model.

    Attributes:
        name: What topics call it.
        namespace: That of its robot; empty for one of the scene.
        frame: Its optical frame in TF.
        camera: Its number in the model.
        body: The body it is on.
        width: Of its pictures [pixels].
        height: Of its pictures [pixels].
        intrinsics: How it projects.
        rate: Pictures per second of simulated time; 0 is none.
        depth_encoding: Metres (32FC1) or millimetres (16UC1).
        noise: Of its pictures.
    """

    name: str
    namespace: str
    frame: str
    camera: int
    body: int
    width: int
    height: int
    intrinsics: Intrinsics
    rate: float = DEFAULT_RATE_HZ
    depth_encoding: DepthEncoding = "32FC1"
    noise: CameraNoise = CameraNoise()


def check_resolution(camera: str, width: int, height: int) -> None:
    """Refuse pictures without pixels, and such as no memory holds.

    Raises:
        ModelError: A side is not from 1 to `LARGEST_SIDE`.
    """
    if not (1 <= width <= LARGEST_SIDE and 1 <= height <= LARGEST_SIDE):
        raise UserInputError(
            f"camera '{camera}': the sides of its 'resolution' must be from 1 to {LARGEST_SIDE} "
            f"pixels, got {width} x {height}"
        )


def check_rate(what: str, rate: float) -> None:
    """Refuse a rate that is neither 0 (off) nor possible.

    Raises:
        ModelError: It is not 0, nor from `SLOWEST_HZ` to `FASTEST_HZ`.
    """
    if not (rate == 0 or SLOWEST_HZ <= rate <= FASTEST_HZ):
        raise UserInputError(
            f"{what}: 'rate' must be 0 (off), or from {SLOWEST_HZ:g} to {FASTEST_HZ:g} Hz, "
            f"got {rate:g}"
        )


def edit_cameras(spec: mujoco.MjSpec, cameras: Iterable[CameraConfig], owner: str) -> None:
    """Add cameras to a model, and change those that it has.

    Args:
        spec: The model of a robot, or the world.
        cameras: What the scene says of them.
        owner: Whose they are, put in front of messages.

    Raises:
        ModelError: A body or camera does not exist, or one that is added does already.
    """
    for config in cameras:
        where = f"{owner}: camera '{config.name}'"
        found = spec.camera(config.name)
        if found is not None and config.body is not None:
            raise NameTakenError(
                f"{where}: the model has one of that name, on body '{found.parent.name}'; "
                "leave out 'body' and 'pose', or choose another name"
            )
        if found is None:
            found = _added(spec, config, where)
        _write_optics(found, config)


def _added(spec: mujoco.MjSpec, config: CameraConfig, where: str) -> mujoco.MjsCamera:
    if config.body is None:
        cameras = ", ".join(camera.name for camera in spec.cameras) or "none"
        raise UserInputError(
            f"{where}: the model has no such camera (it has: {cameras}); "
            "to add one, name its 'body'"
        )
    body = spec.body(config.body)
    if body is None:
        raise unknown("body", config.body, [body.name for body in spec.bodies], where=where)
    pose, quat = config.pose or ORIGIN, np.zeros(4)
    mujoco.mju_mulQuat(quat, quaternion_wxyz(pose), np.array(CAMERA_WXYZ))
    return body.add_camera(name=config.name, pos=pose.xyz, quat=quat)


def _write_optics(camera: mujoco.MjsCamera, config: CameraConfig) -> None:
    """Write resolution and projection; the compiler derives the field of view from intrinsics."""
    if config.resolution is not None:
        # What the model gives in pixels shall show the same part of the world.
        scale = np.array(config.resolution) / np.maximum(camera.resolution, 1)
        camera.focal_pixel = np.array(camera.focal_pixel) * scale
        camera.principal_pixel = np.array(camera.principal_pixel) * scale
        camera.resolution = config.resolution
    if config.fovy is not None:
        camera.sensor_size = (0.0, 0.0)
        camera.fovy = config.fovy
    if config.intrinsics is not None:
        optics = config.intrinsics
        width, height = resolution = _resolution(camera.resolution)
        camera.resolution = resolution
        camera.sensor_size = (width * _PIXEL, height * _PIXEL)
        camera.focal_pixel = (optics.fx, optics.fy)
        # The engine's offset is that of the picture's middle from the axis, x right and y down.
        camera.principal_pixel = ((width - 1) / 2 - optics.cx, (height - 1) / 2 - optics.cy)


def resolve_camera(
    model: mujoco.MjModel,
    camera: int,
    *,
    name: str,
    configs: Iterable[CameraConfig],
    namespace: str = "",
    frame_prefix: str = "",
) -> Camera:
    """Return what is known of a camera of a compiled model.

    Args:
        model: The model.
        camera: Its number.
        name: What topics call it.
        configs: What the scene says of the cameras of its owner.
        namespace: That of its robot.
        frame_prefix: What the TF frames of its robot carry.

    Raises:
        ModelError: Its resolution is impossible.
    """
    width, height = _resolution(model.cam_resolution[camera])
    check_resolution(name, width, height)
    config = next((it for it in configs if it.name == name), CameraConfig(name=name))
    return Camera(
        name=name,
        namespace=namespace,
        frame=frame_prefix + optical_frame(name),
        camera=camera,
        body=int(model.cam_bodyid[camera]),
        width=width,
        height=height,
        intrinsics=intrinsics_of(model, camera, width, height),
        rate=config.rate,
        depth_encoding=config.depth_encoding,
        noise=config.noise,
    )


def intrinsics_of(model: mujoco.MjModel, camera: int, width: int, height: int) -> Intrinsics:
    """Return how a camera of a compiled model projects onto a picture of that size."""
    sensor = model.cam_sensorsize[camera].astype(float)
    middle_x, middle_y = (width - 1) / 2, (height - 1) / 2
    if not sensor.all():
        focal = height / 2 / math.tan(math.radians(float(model.cam_fovy[camera])) / 2)
        return Intrinsics(fx=focal, fy=focal, cx=middle_x, cy=middle_y)
    focal_x, focal_y, offset_x, offset_y = model.cam_intrinsic[camera].astype(float).tolist()
    across, down = width / sensor[0], height / sensor[1]
    return Intrinsics(
        fx=float(focal_x * across),
        fy=float(focal_y * down),
        cx=float(middle_x - offset_x * across),
        cy=float(middle_y - offset_y * down),
    )


def _resolution(given: Iterable[int]) -> tuple[int, int]:
    """Return a resolution, or the default where the model leaves it at MuJoCo's 1 x 1."""
    width, height = (int(side) for side in given)
    return DEFAULT_RESOLUTION if (width, height) == (1, 1) else (width, height)
