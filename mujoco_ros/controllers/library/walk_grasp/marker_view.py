"""Where an object with ArUco markers is, by the images of the head camera."""

from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import field
from functools import partial
from math import atan2, hypot
from typing import Any

import cv2
import mujoco
import numpy as np

from mujoco_ros.controllers.fsm.state import StateContext
from mujoco_ros.controllers.interface.host import IMAGE_GET, Image
from mujoco_ros.controllers.interface.inputs import PlanarPose
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.library.config_checks import CheckedConfig, Positive
from mujoco_ros.controllers.library.walk.walker import Walker
from mujoco_ros.controllers.planning.kinematics.floating_base_kinematics import (
    FloatingBaseKinematics,
)
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.pose import ORIGIN, Pose, PoseConfig, quaternion_wxyz

_CORNERS = np.array([(-1.0, 1.0, 0.0), (1.0, 1.0, 0.0), (1.0, -1.0, 0.0), (-1.0, -1.0, 0.0)])
"""Corners of a marker in their order in OpenCV, in half sides."""


class MarkerConfig(CheckedConfig):
    """A marker of the dictionary 4X4_50."""

    number: int
    size: Positive  # length of a side, with the black edge [m]
    # In the frame of the object: x to the right and y upwards on the label, z towards the viewer.
    pose: PoseConfig = field(default_factory=lambda: ORIGIN)

    def check(self) -> None:
        if not 0 <= self.number < 50:
            raise UserInputError(f"the number of a marker must be from 0 to 49, got {self.number}")


class MarkerDetector:
    """Finds an object in images."""

    def __init__(self, markers: Sequence[MarkerConfig]) -> None:
        self._points: dict[int, np.ndarray] = {}
        for marker in markers:
            if marker.number in self._points:
                raise UserInputError(f"two markers have the number {marker.number}")
            pose = Pose(position=np.array(marker.pose.xyz), quat_wxyz=quaternion_wxyz(marker.pose))
            corners = 0.5 * marker.size * _CORNERS
            self._points[marker.number] = corners @ pose.matrix.T + pose.position
        if not self._points:
            raise UserInputError("an object needs at least one marker")
        self._detect = _detector()

    def detect(self, image: Image) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return positions (3,) and axes (3, 3) that the object can have in the optical frame.

        Several markers give one pose. A single one can give two, the likelier first: the image of a
        small flat square is nearly the same if it is tilted to either side.
        """
        if image.colour is None:
            raise UserInputError("markers need an image with colour")
        corners, numbers, _ = self._detect(cv2.cvtColor(image.colour, cv2.COLOR_RGB2GRAY))
        if numbers is None:
            return []
        seen = [
            (self._points[number], found.reshape(4, 2))
            for number, found in zip(numbers.ravel().tolist(), corners, strict=True)
            if number in self._points
        ]
        if not seen:
            return []
        points = np.concatenate([corner for corner, _ in seen])
        pixels = np.concatenate([found for _, found in seen]).astype(float)
        _, turns, positions, _ = cv2.solvePnPGeneric(
            *(points, pixels, image.matrix, None), flags=cv2.SOLVEPNP_SQPNP
        )
        poses = []
        for turn, position in zip(turns, positions, strict=True):
            turn, position = cv2.solvePnPRefineLM(
                points, pixels, image.matrix, None, turn, position
            )
            poses.append((position.ravel(), cv2.Rodrigues(turn)[0]))
        return poses


def _detector() -> Callable[[np.ndarray], Any]:
    """Return a function that finds the corners and numbers of markers in a grey image."""
    aruco: Any = cv2.aruco
    dictionary = aruco.getPredefinedDictionary(aruco.DICT_4X4_50)
    is_new = hasattr(aruco, "ArucoDetector")  # since OpenCV 4.7; Ubuntu 24.04 has 4.6
    parameters = aruco.DetectorParameters() if is_new else aruco.DetectorParameters_create()
    parameters.cornerRefinementMethod = aruco.CORNER_REFINE_SUBPIX
    if is_new:
        detect: Callable[[np.ndarray], Any] = aruco.ArucoDetector(
            dictionary, parameters
        ).detectMarkers
        return detect
    return partial(aruco.detectMarkers, dictionary=dictionary, parameters=parameters)


_OPTICAL = np.diag((1.0, -1.0, -1.0))  # axes of an optical frame, along the axes of a MuJoCo camera
_UPRIGHT = 0.9  # least cosine of the tilt of the object, beyond which a detection is wrong
_REMEMBERED = 400  # ticks for which the pose of the camera is known after a request
_DETECTION_S = 0.04
"""Time after which the markers of an image are used, so that a tick need not wait for them [s]."""
_AIMED = 0.05  # largest difference of a joint of the neck from its target [rad]


class MarkerView:
    """Searches for an object that stands upright, and measures its pose.

    All poses are in the frame of the estimated base.

    Attributes:
        place: Place and yaw of the object at the last measurement; None before.
        problem: Why the last image that failed has none, after a colon; empty if none failed.
        count: Number of images with the object since `look`.
    """

    def __init__(
        self,
        robot: RobotModel,
        camera: str,  # name of the camera
        neck: Sequence[str],  # names of the joints that turn it left and down
        markers: Sequence[MarkerConfig],  # markers of the object
        moved: np.ndarray,  # indices of the joints that the controller moves
    ) -> None:
        for name in neck:
            if name not in robot.joints:
                raise unknown("neck: joint", name, robot.joints)
        if len(neck) != 2:
            raise UserInputError("neck must be two joints, which turn the camera left and down")
        if not np.isin([robot.joints.index(name) for name in neck], moved).all():
            raise UserInputError(f"neck: the joints {', '.join(neck)} must be among 'joints'")
        model = robot.model
        self._camera, self._detector = camera, MarkerDetector(markers)
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_CAMERA, robot.prefix + camera)
        if number < 0:
            prefix = robot.prefix
            names = [model.camera(each).name for each in range(model.ncam)]
            raise unknown("camera", camera, [name.removeprefix(prefix) for name in names])
        self._body = int(model.cam_bodyid[number])
        self._offset = model.cam_pos[number].copy()
        axes = np.zeros(9)
        mujoco.mju_quat2Mat(axes, model.cam_quat[number])
        self._axes = axes.reshape(3, 3) @ _OPTICAL
        self._neck = [robot.joints.index(name) for name in neck]
        joint = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_JOINT, robot.prefix + neck[0])
        self._trunk = int(model.body_parentid[model.jnt_bodyid[joint]])
        self._thread = ThreadPoolExecutor(1, "markers")
        self._limits = robot.lower[self._neck], robot.upper[self._neck]
        # Downwards angle of the optical axis in the zero position of the neck.
        self._tilt = float(np.arcsin(np.clip(-self._axes[2, 2], -1.0, 1.0)))
        self.reset()

    def reset(self) -> None:
        self._request: Future[Image] | None = None
        self._detection: Future[list[tuple[np.ndarray, np.ndarray]]] | None = None
        self._due = 0.0
        self._poses: deque[tuple[float, np.ndarray, np.ndarray]] = deque(maxlen=_REMEMBERED)
        self.place: PlanarPose | None = None
        self.height = 0.0
        self.look()

    def forget(self) -> None:
        self.place = None

    def look(self) -> None:
        """Begin a new measurement, of which `place` will be the mean."""
        self._request = self._detection = None
        self.problem = ""
        self._sum, self.count, self.images = np.zeros(5), 0, 0

    def aim(self, walker: Walker, left: float, down: float) -> None:
        """Turn the camera to angles about the vertical and downwards, within the limits [rad]."""
        targets = np.clip((left, down - self._tilt), *self._limits)
        for joint, target in zip(self._neck, targets, strict=True):
            walker.home[np.flatnonzero(walker.joints == joint)] = target

    def aim_at_object(self, walker: Walker) -> None:
        if self.place is None:
            return
        origin, _ = self._camera_pose(walker.estimator.robot)
        trunk = walker.estimator.robot.data.xmat[self._trunk].reshape(3, 3)
        x, y, z = (np.array([self.place.x, self.place.y, self.height]) - origin) @ trunk
        self.aim(walker, atan2(y, x), atan2(-z, hypot(x, y)))

    def is_aimed(self, walker: Walker, q: np.ndarray) -> bool:
        """Return whether the neck is at its targets, given the joint positions."""
        targets = [
            walker.home[np.flatnonzero(walker.joints == joint)].item() for joint in self._neck
        ]
        return bool(np.abs(q[self._neck] - targets).max() < _AIMED)

    def step(self, context: StateContext, walker: Walker) -> None:
        origin, axes = self._camera_pose(walker.estimator.robot)
        self._poses.append((context.time, origin, axes))
        self._take(context)
        request = self._request
        if request is not None and request.done() and self._detection is None:
            self._request = None
            try:
                image = request.result()
            except Exception as error:  # of the camera; a robot that walks continues without it
                self._fail(error)
                return
            _, *pose = min(self._poses, key=lambda known: abs(known[0] - image.time))
            # In a thread: it takes longer than a tick, and without Python's lock.
            self._detection = self._thread.submit(self._detect, image, *pose)
            self._due = context.time + _DETECTION_S
        if self._request is None:
            self._request = context.store.get(IMAGE_GET)(self._camera)

    def _camera_pose(self, body: FloatingBaseKinematics) -> tuple[np.ndarray, np.ndarray]:
        """Return origin (3,) and axes (3, 3) of the optical frame."""
        axes = body.data.xmat[self._body].reshape(3, 3)
        return body.data.xpos[self._body] + axes @ self._offset, axes @ self._axes

    def _detect(
        self, image: Image, origin: np.ndarray, axes: np.ndarray
    ) -> list[tuple[np.ndarray, np.ndarray]]:
        """Return the poses that the object can have; runs in a thread of its own."""
        found = self._detector.detect(image)
        return [(origin + axes @ position, axes @ turn) for position, turn in found]

    def _take(self, context: StateContext) -> None:
        """Use the result of a detection when it is due; a simulator waits for it then."""
        pending, rounding = self._detection, 0.5 * context.period
        if pending is None:
            return
        if not (pending.done() and context.time > self._due - rounding):
            if context.time + context.period > self._due - rounding:
                context.awaited.append(pending)
            return
        self._detection = None
        try:
            found = pending.result()
        except Exception as error:  # of OpenCV
            self._fail(error)
            return
        self.images += 1
        for position, turn in found:
            if turn[2, 2] > _UPRIGHT:
                self.count += 1
                self._sum += (*position, turn[0, 0], turn[1, 0])
                x, y, z, cos, sin = (self._sum / self.count).tolist()
                self.place, self.height = PlanarPose(x, y, atan2(sin, cos)), z
                return

    def _fail(self, error: Exception) -> None:
        """Count an image that failed as one without the object."""
        self.images += 1
        self.problem = f": {error}"
