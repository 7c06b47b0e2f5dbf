"""Cameras: their configuration, their edits of a model, and the cameras of a compiled model."""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

import mujoco
import numpy as np

from mujoco_ros.model.errors import NameTakenError, UserInputError, unknown
from mujoco_ros.model.naming import CAMERA_WXYZ, check_name, optical_frame
from mujoco_ros.model.pose import ORIGIN, PoseConfig, quaternion_wxyz
from mujoco_ros.model.ranged_settings import check_settings
from mujoco_ros.model.realism_config import AT_ONCE, Delivery

_MIN_RATE_HZ = 0.001
_MAX_RATE_HZ = 1000.0


def check_rate(where: str, rate: float) -> None:
    """Reject a rate that is neither 0 (off) nor from `_MIN_RATE_HZ` to `_MAX_RATE_HZ`."""
    if not (rate == 0 or _MIN_RATE_HZ <= rate <= _MAX_RATE_HZ):
        raise UserInputError(
            f"{where}: 'rate' must be 0 (off), or from {_MIN_RATE_HZ:g} to {_MAX_RATE_HZ:g} Hz, "
            f"got {rate:g}"
        )


def find_body(spec: mujoco.MjSpec, name: str, where: str) -> mujoco.MjsBody:
    """Return the body with a name; an error if there is none."""
    body = spec.body(name)
    if body is None:
        raise unknown("body", name, [body.name for body in spec.bodies], where=where)
    return body


DepthEncoding = Literal["32FC1", "16UC1"]

MAX_SIDE = 8192
"""Pixels; the usual limit of offscreen buffers of graphics drivers."""
DEFAULT_RESOLUTION = (320, 240)
DEFAULT_RATE_HZ = 30.0
_PIXEL = 1e-5
"""Side of a pixel [m] in the model: MuJoCo takes lengths, but only their ratios matter."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Intrinsics:
    """Projection of a pinhole camera without distortion, in pixels.

    The point (x, y, z) of the optical frame is imaged at u = fx x/z + cx, v = fy y/z + cy. As in
    OpenCV and CameraInfo, the centre of the upper left pixel is at (0, 0), and the centre of the
    image at ((width - 1) / 2, (height - 1) / 2).
    """

    fx: float
    fy: float
    cx: float
    cy: float

    def __post_init__(self) -> None:
        for name in ("fx", "fy"):
            if getattr(self, name) <= 0:
                raise UserInputError(f"'{name}' must be positive, got {getattr(self, name):g}")


@dataclass(frozen=True, kw_only=True, slots=True)
class CameraNoise:
    """Standard deviations: colour [grey levels], depth [m at 1 m, growing with its square]."""

    colour: float = 0.0
    depth: float = 0.0

    def __post_init__(self) -> None:
        for name, largest in (("colour", 255.0), ("depth", 1.0)):
            if not 0 <= getattr(self, name) <= largest:
                raise UserInputError(
                    f"noise '{name}' must be from 0 to {largest:g}, got {getattr(self, name):g}"
                )


@dataclass(frozen=True, kw_only=True, slots=True)
class CameraConfig:
    """A camera that a scene adds (with `body`), or settings of a camera of the model.

    `pose` is the pose of the camera link in the frame of `body`: x forward, z up. None keeps the
    value of the model.
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
    delivery: Delivery = AT_ONCE

    def __post_init__(self) -> None:
        where = f"camera '{self.name}'"
        if self.body is not None:
            check_name(self.name)
        elif self.pose is not None:
            raise UserInputError(f"{where}: a 'pose' needs the 'body' that it is relative to")
        if self.fovy is not None and self.intrinsics is not None:
            raise UserInputError(f"{where}: give either 'fovy' or 'intrinsics', not both")
        if self.fovy is not None and not 0 < self.fovy < 180:
            raise UserInputError(
                f"{where}: 'fovy' must be between 0 and 180 degrees, got {self.fovy:g}"
            )
        if self.resolution is not None:
            _check_resolution(where, *self.resolution)
        check_rate(where, self.rate)
        check_settings(self.delivery, f"{where}: delivery")


@dataclass(frozen=True, kw_only=True)
class Camera:
    """A camera of a compiled model."""

    name: str  # name in topics
    namespace: str
    frame: str  # TF frame of the images (optical frame)
    camera: int
    body: int
    width: int
    height: int
    intrinsics: Intrinsics
    rate: float = DEFAULT_RATE_HZ  # images per second of simulated time; 0 is none
    depth_encoding: DepthEncoding = "32FC1"
    noise: CameraNoise = CameraNoise()
    delivery: Delivery = AT_ONCE


def _check_resolution(where: str, width: int, height: int) -> None:
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE):
        raise UserInputError(
            f"{where}: the sides of its 'resolution' must be from 1 to {MAX_SIDE} "
            f"pixels, got {width} x {height}"
        )


def edit_cameras(spec: mujoco.MjSpec, cameras: Iterable[CameraConfig], owner: str) -> None:
    """Add cameras to the model of a robot or world, and change the cameras that it has.

    `owner`, the robot or world, begins error messages.
    """
    for config in cameras:
        where = f"{owner}: camera '{config.name}'"
        camera = spec.camera(config.name)
        if camera is not None and config.body is not None:
            raise NameTakenError(
                f"{where}: the model has one of that name, on body '{camera.parent.name}'; "
                "leave out 'body' and 'pose', or choose another name"
            )
        _write_optics(camera or _add(spec, config, where), config)


def _add(spec: mujoco.MjSpec, config: CameraConfig, where: str) -> mujoco.MjsCamera:
    if config.body is None:
        cameras = ", ".join(camera.name for camera in spec.cameras) or "none"
        raise UserInputError(
            f"{where}: the model has no such camera (it has: {cameras}); "
            "to add a camera, set its 'body'"
        )
    pose, quat = config.pose or ORIGIN, np.zeros(4)
    mujoco.mju_mulQuat(quat, quaternion_wxyz(pose), np.array(CAMERA_WXYZ))
    body = find_body(spec, config.body, where)
    return body.add_camera(name=config.name, pos=pose.xyz, quat=quat)


def _write_optics(camera: mujoco.MjsCamera, config: CameraConfig) -> None:
    """Write resolution and projection; the compiler derives the field of view from intrinsics."""
    if config.resolution is not None:
        # Intrinsics of the model in pixels keep the field of view.
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
        # MuJoCo's offset leads from the axis to the image centre, x right and y down.
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
    """Return a camera of a compiled model with its name in topics and its settings."""
    width, height = _resolution(model.cam_resolution[camera])
    _check_resolution(f"camera '{name}'", width, height)
    config = next((entry for entry in configs if entry.name == name), CameraConfig(name=name))
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
        delivery=config.delivery,
    )


def intrinsics_of(model: mujoco.MjModel, camera: int, width: int, height: int) -> Intrinsics:
    """Return the projection of a camera of a compiled model onto an image of a size."""
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


def with_present_optics(camera: Camera, model: mujoco.MjModel) -> Camera:
    """Return a camera with the present angle of view of its model."""
    optics = intrinsics_of(model, camera.camera, camera.width, camera.height)
    return camera if optics == camera.intrinsics else replace(camera, intrinsics=optics)


def _resolution(given: Iterable[int]) -> tuple[int, int]:
    """Return a resolution, or the default for MuJoCo's default of 1 x 1."""
    width, height = (int(side) for side in given)
    return DEFAULT_RESOLUTION if (width, height) == (1, 1) else (width, height)


def compute_poses(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Compute the poses that images and scans need, from joint positions and mocap poses."""
    for compute in (
        mujoco.mj_kinematics,
        mujoco.mj_comPos,
        mujoco.mj_camlight,
        mujoco.mj_flex,
        mujoco.mj_tendon,
    ):
        compute(model, data)
