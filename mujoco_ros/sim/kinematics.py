"""Poses, velocities and accelerations in the frames that ROS defines, true and measured."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import mujoco
import numpy as np

from mujoco_ros.control.cartesian import FixedFrame
from mujoco_ros.model.naming import OPTICAL_WXYZ
from mujoco_ros.model.robot.layout import FloatingBase
from mujoco_ros.model.sensors.robot_sensors import Distances
from mujoco_ros.sim.cartesian.controller import CartesianController
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.sample import Sample
from mujoco_ros.sim.stepping.compiled_topics import Updates

Poses: TypeAlias = "Sample | mujoco.MjData"
"""What has the poses of bodies and cameras."""


class BaseMotion:
    """Velocity and acceleration of floating bases in their own frame (REP-103 child frame)."""

    def __init__(
        self, bases: Sequence[FloatingBase], sample: Sample, *, measured: bool = False
    ) -> None:
        """Prepare the views into `sample`, whose arrays must stay the same objects.

        With `measured`, the orientation and the velocity are the measured ones.
        """
        qpos, qvel = sample.qpos, sample.qvel
        if measured:
            qpos, qvel = sample.measured_qpos, sample.measured_qvel
        # Linear velocity [m/s] and classical linear acceleration [m/s²] of the frame's origin,
        # gravity not subtracted (bases, 6)
        self.values = np.zeros((len(bases), 6))
        self._inverse = np.zeros(4)
        self._rows = [
            (
                qpos[base.qpos + 3 : base.qpos + 7],
                qvel[base.dof : base.dof + 3],
                sample.qacc[base.dof : base.dof + 3],
                self.values[row, :3],
                self.values[row, 3:],
            )
            for row, base in enumerate(bases)
        ]

    def update(self) -> None:
        """Compute `values` of the current sample.

        MuJoCo keeps a free joint's linear velocity in the world frame and its angular velocity in
        the body frame. The derivative of the linear velocity is the classical acceleration. The
        derivative of the angular velocity is the angular acceleration in the body frame, as the
        rotation adds ω x ω = 0.
        """
        rotate, inverse = mujoco.mju_rotVecQuat, self._inverse
        for quat, velocity, acceleration, linear, classical in self._rows:
            mujoco.mju_negQuat(inverse, quat)
            rotate(linear, velocity, inverse)
            rotate(classical, acceleration, inverse)

    def compile(self, updates: Updates) -> None:
        """Add what `update` does."""
        for quat, velocity, acceleration, linear, classical in self._rows:
            updates.rotate(quat, velocity, linear)
            updates.rotate(quat, acceleration, classical)


class RelativePoses:
    """Poses of bodies in the frames of their parents; body 0 is the world."""

    def __init__(self, bodies: Sequence[int], parents: Sequence[int], sample: Poses) -> None:
        self.values = np.zeros((len(bodies), 7))  # position [m] and quaternion wxyz (bodies, 7)
        self._bodies = np.array(bodies, dtype=np.intp)
        self._parents = np.array(parents, dtype=np.intp)
        self._sample = sample

    def update(self) -> None:
        """Compute `values` of the current sample."""
        xpos, xquat = self._sample.xpos, self._sample.xquat
        parent, child = xquat[self._parents], xquat[self._bodies]
        w, v = parent[:, :1], -parent[:, 1:]  # the inverse rotation
        offset = xpos[self._bodies] - xpos[self._parents]
        turn = 2.0 * _cross(v, offset)
        self.values[:, :3] = offset + w * turn + _cross(v, turn)
        child_w, child_v = child[:, :1], child[:, 1:]
        self.values[:, 3:4] = w * child_w - np.sum(v * child_v, axis=1, keepdims=True)
        self.values[:, 4:] = w * child_v + child_w * v + _cross(v, child_v)

    def compile(self, updates: Updates) -> None:
        """Add what `update` does."""
        xpos, xquat = self._sample.xpos, self._sample.xquat
        for parent, body, pose in zip(self._parents, self._bodies, self.values, strict=True):
            updates.relate((xpos[parent], xquat[parent]), (xpos[body], xquat[body]), pose)


_NEXT, _LAST = np.array([1, 2, 0]), np.array([2, 0, 1])


def _cross(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the cross products of rows, in a third of the time of `numpy.cross`.  # (n, 3)"""
    product: np.ndarray = first[:, _NEXT] * second[:, _LAST]
    product -= first[:, _LAST] * second[:, _NEXT]
    return product


class OpticalPoses:
    """Poses of the optical frames (REP-103) of cameras in the world."""

    def __init__(self, cameras: Sequence[int], sample: Poses) -> None:
        self.values = np.zeros((len(cameras), 7))  # position [m] and quaternion wxyz (cameras, 7)
        self._rows = [
            (sample.cam_xpos[camera], sample.cam_xmat[camera], row[:3], row[3:])
            for camera, row in zip(cameras, self.values, strict=True)
        ]
        self._quat, self._turn = np.zeros(4), np.array(OPTICAL_WXYZ)

    def update(self) -> None:
        """Compute `values` of the current sample."""
        for position, matrix, at, quat in self._rows:
            at[:] = position
            mujoco.mju_mat2Quat(self._quat, matrix)
            mujoco.mju_mulQuat(quat, self._quat, self._turn)

    def compile(self, updates: Updates) -> None:
        """Add what `update` does."""
        for (position, matrix, _, _), pose in zip(self._rows, self.values, strict=True):
            updates.face(position, matrix, self._turn, pose)


class MarkedDistances:
    """Sensor readings with +inf for distances that are out of range."""

    def __init__(self, model: mujoco.MjModel, readings: np.ndarray) -> None:
        self._distances, self._readings = Distances(model), readings
        self.values = np.zeros_like(readings)  # (nsensordata,)

    def update(self) -> None:
        """Compute `values` of the current sample."""
        np.copyto(self.values, self._readings)
        self._distances.mark(self.values)

    def compile(self, updates: Updates) -> None:
        """Add what `update` does."""
        updates.copy(self._readings, self.values)
        farthest = self._distances.farthest
        for index, address in enumerate(self._distances.addresses):
            updates.mark(farthest[index : index + 1], self.values[address : address + 1])


_BODY = int(mujoco.mjtObj.mjOBJ_XBODY)


FramePair = tuple[FixedFrame, FixedFrame]
"""A frame, and the frame that it is measured in."""


class ControlledFrames:
    """The controlled frame of each robot, and its base."""

    def __init__(self, plant: Plant) -> None:
        self.count = len(plant.controls)  # number of robots
        controllers = [control.cartesian for control in plant.controls]
        self._controllers = {
            index: controller
            for index, controller in enumerate(controllers)
            if isinstance(controller, CartesianController) and controller.chain is not None
        }
        # TF frame of the base by index of the robot, for robots with a controlled frame
        self.bases = {index: base.name for index, (_, base) in self.pairs().items()}

    @property
    def chains(self) -> tuple[object, ...]:
        """The chain of each robot, which settings replace."""
        return tuple([controller.chain for controller in self._controllers.values()])

    def pairs(self) -> dict[int, FramePair]:
        """Return the controlled frame and the base by index of the robot."""
        chains = {index: each.chain for index, each in self._controllers.items()}
        return {index: (chain.frame, chain.base) for index, chain in chains.items() if chain}


class FrameMotions:
    """Poses and velocities of frames, each relative to another frame."""

    def __init__(
        self, plant: Plant, count: int, pairs: Callable[[], Mapping[int, FramePair]]
    ) -> None:
        """Prepare `count` rows; `pairs` returns the present frames by row."""
        self._pairs = pairs
        # Position [m], quaternion wxyz, velocity of the origin [m/s], angular velocity [rad/s]; all
        # along the axes of the other frame (count, 13)
        self.values = np.zeros((count, 13))
        self.values[:, 3] = 1.0
        self._plant, self._sample = plant, plant.sample
        self._poses, self._velocities = np.zeros((2, 7)), np.zeros((2, 6))
        self._inverse, self._offset, self._turn = np.zeros(7), np.zeros(3), np.zeros(3)

    def compile(self, updates: Updates) -> None:
        """Add what `update` does, for the present frames."""
        xpos, xquat = self._sample.xpos, self._sample.xquat
        for row, pair in self._pairs().items():
            motions = np.zeros((2, 13))
            for frame, motion in zip(pair, motions, strict=True):
                body, own = frame.body, np.array([*frame.position, *frame.quat_wxyz], dtype=float)
                updates.move(body, (xpos[body], xquat[body]), (own[:3], own[3:]), motion)
            updates.carry(motions[0], motions[1], self.values[row])

    def update(self) -> None:
        """Compute `values` of the current sample."""
        inverse, offset, turn = self._inverse, self._offset, self._turn
        for index, pair in self._pairs().items():
            (frame, base), (moving, carried) = self._poses, self._velocities
            self._measure(pair[0], frame, moving)
            self._measure(pair[1], base, carried)
            row = self.values[index]
            mujoco.mju_negPose(inverse[:3], inverse[3:], base[:3], base[3:])
            mujoco.mju_mulPose(row[:3], row[3:7], inverse[:3], inverse[3:], frame[:3], frame[3:])
            np.subtract(frame[:3], base[:3], out=offset)
            mujoco.mju_cross(turn, carried[:3], offset)
            turn += carried[3:]
            np.subtract(moving[3:], turn, out=offset)
            mujoco.mju_rotVecQuat(row[7:10], offset, inverse[3:])
            np.subtract(moving[:3], carried[:3], out=offset)
            mujoco.mju_rotVecQuat(row[10:], offset, inverse[3:])

    def _measure(self, frame: FixedFrame, pose: np.ndarray, velocity: np.ndarray) -> None:
        """Write the pose (7,) of a frame in the world, and its angular and linear velocity (6,)."""
        sample, body = self._sample, frame.body
        position, quat = sample.xpos[body], sample.xquat[body]
        mujoco.mju_mulPose(pose[:3], pose[3:], position, quat, frame.position, frame.quat_wxyz)
        plant = self._plant
        mujoco.mj_objectVelocity(plant.model, plant.evaluated, _BODY, body, velocity, 0)
        np.subtract(pose[:3], position, out=self._offset)
        mujoco.mju_cross(self._turn, velocity[:3], self._offset)
        velocity[3:] += self._turn


class MeasuredPoses:
    """Evaluates the kinematics of the positions that encoders and odometry measure."""

    def __init__(self, plant: Plant) -> None:
        self._plant = plant
        # Has the poses ``xpos``, ``xquat``, ``cam_xpos`` and ``cam_xmat``
        self.data = mujoco.MjData(plant.model)

    def update(self) -> None:
        """Compute the poses of the current sample."""
        model, data, now = self._plant.model, self.data, self._plant.data
        data.qpos[:] = self._plant.sample.measured_qpos
        data.mocap_pos[:], data.mocap_quat[:] = now.mocap_pos, now.mocap_quat
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_camlight(model, data)
