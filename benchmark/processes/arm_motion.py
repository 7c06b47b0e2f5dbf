"""Motion of the arm in a pick and place, and the feed-forward torques of a controller for it.

Gains, limits and positions are from the grasping lab ("MuJoCo Robotics Lab, Part 9: Grasping
and Manipulation"): kp 200 and 100 Nm/rad, kd 2·sqrt(kp), 3.14 and 6.28 rad/s, 8 and 16 rad/s²; the
cube moves from (0.35, 0.2, 0.335) to (0.35, -0.2, 0.335), approached from 0.15 m above.
"""

import math
from dataclasses import dataclass
from pathlib import Path

import mujoco
import numpy as np

from mujoco_ros.model.uri import resolve

JOINTS = (
    "shoulder_pan_joint",
    "shoulder_lift_joint",
    "elbow_joint",
    "wrist_1_joint",
    "wrist_2_joint",
    "wrist_3_joint",
)
STIFFNESS = (200.0, 200.0, 200.0, 100.0, 100.0, 100.0)  # Nm/rad
DAMPING = tuple(2 * math.sqrt(kp) for kp in STIFFNESS)  # Nms/rad
LARGEST_VELOCITY = np.array([3.14] * 3 + [6.28] * 3)  # rad/s
LARGEST_ACCELERATION = np.array([8.0] * 3 + [16.0] * 3)  # rad/s²

_HOME = (0.0, -1.75, 1.35, -1.17079633, -1.57079633, -1.57079633)  # the keyframe
# Joint positions by inverse kinematics, the tool pointing down as in the keyframe.
_ABOVE_PICK = (0.18213, -1.79595, 1.50415, -1.27899, -1.5708, -1.38867)
_PICK = (0.18213, -1.8327, 1.91798, -1.65608, -1.5708, -1.38867)
_ABOVE_PLACE = (-0.85617, -1.79595, 1.50415, -1.27899, -1.5708, -2.42696)
_PLACE = (-0.85617, -1.8327, 1.91798, -1.65608, -1.5708, -2.42696)
PATH = np.array([_HOME, _ABOVE_PICK, _PICK, _ABOVE_PICK, _ABOVE_PLACE, _PLACE, _ABOVE_PLACE, _HOME])
"""Begin and end of each motion.  # (motions + 1, 6)"""

_POINTS_S = 0.01  # time between two waypoints
# Largest derivatives of the profile s = 10u³ - 15u⁴ + 6u⁵, at u = 1/2 and u = 1/2 ± sqrt(3)/6.
_PEAK_VELOCITY, _PEAK_ACCELERATION = 15 / 8, 10 / math.sqrt(3)


@dataclass(frozen=True, kw_only=True)
class Motion:
    """Desired joint motion.

    Attributes:
        times: Times from the begin of the first motion [s].  # (m,)
        q: Positions [rad].  # (m, 6)
        dq: Velocities [rad/s].  # (m, 6)
        ddq: Accelerations [rad/s²].  # (m, 6)
    """

    times: np.ndarray
    q: np.ndarray
    dq: np.ndarray
    ddq: np.ndarray


def motion(path: np.ndarray, share: float) -> Motion:
    """Return motions from rest to rest along `path`, as waypoints.

    Args:
        path: Begin and end of each motion.  # (motions + 1, 6)
        share: Fraction of the largest acceleration; the largest velocity is used in full.
    """
    times, points = [0.0], [np.stack([path[0], np.zeros(6), np.zeros(6)])]
    for begin, step in zip(path[:-1], np.diff(path, axis=0), strict=True):
        reach = np.abs(step)
        duration = max(
            (_PEAK_VELOCITY * reach / LARGEST_VELOCITY).max(),
            np.sqrt(_PEAK_ACCELERATION * reach / (share * LARGEST_ACCELERATION)).max(),
        )
        count = math.ceil(duration / _POINTS_S)
        duration = count * _POINTS_S
        start = times[-1]
        for u in np.arange(1, count + 1) / count:
            times.append(start + u * duration)
            points.append(
                np.stack(
                    [
                        begin + step * (10 * u**3 - 15 * u**4 + 6 * u**5),
                        step * (30 * u**2 - 60 * u**3 + 30 * u**4) / duration,
                        step * (60 * u - 180 * u**2 + 120 * u**3) / duration**2,
                    ]
                )
            )
    q, dq, ddq = np.stack(points, axis=1)
    return Motion(times=np.array(times), q=q, dq=dq, ddq=ddq)


class ArmModel:
    """The controller's own model of the arm."""

    def __init__(self) -> None:
        path = resolve("package://mujoco_ros/urdf_mjcf/arm/arm.xml", Path.cwd())
        self._model = mujoco.MjModel.from_xml_path(str(path))
        self._data = mujoco.MjData(self._model)
        mujoco.mj_resetDataKeyframe(self._model, self._data, 0)
        joints = [self._model.joint(name) for name in JOINTS]
        self._qpos = np.array([joint.qposadr[0] for joint in joints])
        self._dof = np.array([joint.dofadr[0] for joint in joints])

    def torques(self, q: np.ndarray, dq: np.ndarray, ddq: np.ndarray) -> np.ndarray:
        """Return the joint torques of a motion by inverse dynamics.  # (6,)."""
        data = self._data
        data.qpos[self._qpos], data.qvel[self._dof], data.qacc[self._dof] = q, dq, ddq
        mujoco.mj_inverse(self._model, data)
        return np.array(data.qfrc_inverse[self._dof])

    def tool(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return position and rotation matrix of the site between the pads.  # (3,), (3, 3)."""
        data = self._data
        data.qpos[self._qpos] = q
        mujoco.mj_kinematics(self._model, data)
        grasp = data.site("grasp")
        return np.array(grasp.xpos), np.array(grasp.xmat).reshape(3, 3)
