"""Markers on a box give its pose in the optical frame."""

import cv2
import numpy as np
import pytest

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.interface.host import Image
from mujoco_ros.controllers.library.walk_grasp.marker_view import MarkerConfig, MarkerDetector
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose, PoseConfig, quaternion_wxyz

MATRIX = np.array([(579.0, 0.0, 319.5), (0.0, 579.0, 239.5), (0.0, 0.0, 1.0)])
WHITE = 255
MARKERS = load("walk_grasp").machine.instances["BEGIN"].config.markers
FRONT, TOP = MARKERS
# The front of an upright box faces the robot: its x axis points away.
AHEAD = np.array([(0.0, -1.0, 0.0), (0.0, 0.0, -1.0), (1.0, 0.0, 0.0)])


def turned(yaw: float, down: float) -> np.ndarray:
    """Return the axes of an upright box in the optical frame of a camera that is tilted down."""
    cos, sin = np.cos(yaw), np.sin(yaw)
    box = np.array([(cos, -sin, 0.0), (sin, cos, 0.0), (0.0, 0.0, 1.0)])
    cos, sin = np.cos(down), np.sin(down)
    tilt = np.array([(1.0, 0.0, 0.0), (0.0, cos, -sin), (0.0, sin, cos)])
    return tilt @ AHEAD @ box


def image_of(markers: list[MarkerConfig], position: np.ndarray, axes: np.ndarray) -> Image:
    """Return an image of markers on white labels, each drawn by a homography."""
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_50)
    colour = np.full((480, 640, 3), 160, dtype=np.uint8)
    for marker in markers:
        label = cv2.aruco.generateImageMarker(dictionary, marker.number, 240)
        label = np.pad(label, 24, constant_values=WHITE)
        pose = Pose(position=np.array(marker.pose.xyz), quat_wxyz=quaternion_wxyz(marker.pose))
        half = 0.5 * marker.size * label.shape[0] / 240
        corners = half * np.array([(-1, 1, 0), (1, 1, 0), (1, -1, 0), (-1, -1, 0)])
        seen = (corners @ pose.matrix.T + pose.position) @ axes.T + position
        pixels = seen @ MATRIX.T
        pixels = (pixels[:, :2] / pixels[:, 2:]).astype(np.float32)
        size = label.shape[0] - 0.5
        edges = np.array([(-0.5, -0.5), (size, -0.5), (size, size), (-0.5, size)], dtype=np.float32)
        change = cv2.getPerspectiveTransform(edges, pixels)
        for channel in range(3):
            plane = np.ascontiguousarray(colour[:, :, channel])
            cv2.warpPerspective(
                *(label, change, (640, 480)),
                dst=plane,
                flags=cv2.INTER_AREA,
                borderMode=cv2.BORDER_TRANSPARENT,
            )
            colour[:, :, channel] = plane
    depth = np.ones((480, 640), dtype=np.float32)
    return Image(time=0.0, depth=depth, colour=colour, matrix=MATRIX, pose=Pose())


@pytest.mark.parametrize(
    ("distance", "yaw", "down", "precision"),
    [(0.6, 0.0, 0.7, 0.002), (0.6, 0.26, 0.7, 0.002), (1.2, -0.2, 0.4, 0.008)],
)
def test_two_markers_give_the_pose_of_the_box(distance, yaw, down, precision):
    position, axes = np.array([0.05, 0.02, distance]), turned(yaw, down)
    found = MarkerDetector(MARKERS).detect(image_of(list(MARKERS), position, axes))
    assert len(found) == 1
    np.testing.assert_allclose(found[0][0], position, atol=precision)
    np.testing.assert_allclose(found[0][1], axes, atol=0.03)


def test_one_marker_that_is_far_gives_the_place_of_the_box():
    position, axes = np.array([0.1, -0.1, 3.0]), turned(0.0, 0.2)
    found = MarkerDetector(MARKERS).detect(image_of([FRONT], position, axes))
    assert found
    np.testing.assert_allclose(found[0][0], position, atol=0.06)


def test_an_image_without_its_markers_has_no_box():
    other = MarkerConfig(number=7, size=0.15, pose=FRONT.pose)
    image = image_of([other], np.array([0.0, 0.0, 0.8]), turned(0.0, 0.3))
    assert MarkerDetector(MARKERS).detect(image) == []
    assert len(MarkerDetector([other]).detect(image)) >= 1


def test_wrong_markers_are_named():
    with pytest.raises(UserInputError, match="must be from 0 to 49, got 50"):
        MarkerConfig(number=50, size=0.1)
    with pytest.raises(UserInputError, match="size must be positive, got 0"):
        MarkerConfig(number=1, size=0.0)
    with pytest.raises(UserInputError, match="two markers have the number 1"):
        MarkerDetector([FRONT, MarkerConfig(number=1, size=0.1, pose=PoseConfig())])
    with pytest.raises(UserInputError, match="at least one marker"):
        MarkerDetector([])
    grey = image_of([], np.zeros(3), np.eye(3))._replace(colour=None)
    with pytest.raises(UserInputError, match="need an image with colour"):
        MarkerDetector(MARKERS).detect(grey)
