"""Springs and dampers that pull and turn bodies, as the mouse does."""

import math

import mujoco
import numpy as np

from mujoco_ros.control.pull import Pull
from mujoco_ros.model.robot.body_frames import BodyFrame

_LARGEST_SWING = 0.15
"""Largest phase of the spring in a step [rad], far below the limit of stability."""
_LONGEST = 10.0
"""Length beyond which the force of a spring stays constant [m]."""


class Spring:
    """The force and the torque of a pull, computed for each step.

    The point accelerates by w² distance - 2 w velocity where joints allow it: critically damped,
    whatever its mass. Beyond 10 m the force stays constant. MuJoCo calls w²
    ``visual/map/stiffness``, and ``stiffnessrot`` for turning. While a body is pulled at a point,
    its rotation is damped.

    Attributes:
        place: The frame.
        pull: Its target.
        end: Simulated time at which it ends [s].
    """

    pull: Pull

    def __init__(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        place: BodyFrame,
        pull: Pull,
        end: float = np.inf,
    ) -> None:
        self.place, self.end = place, end
        self._model, self._data, body = model, data, place.body
        self._xpos, self._xquat, self._com = data.xpos[body], data.xquat[body], data.xipos[body]
        row = data.xfrc_applied[body]
        self._force_row, self._torque_row = row[:3], row[3:]
        self._jacobian, self._solved = np.zeros((2, 6, model.nv))
        self._moved, self._turned = self._jacobian[:3], self._jacobian[3:]
        self._mass = _Inertia(self._moved, self._solved[:3])
        self._inertia = _Inertia(self._turned, self._solved[3:])
        self._is_bounded = False
        twist = np.zeros(6)
        self._twist, self._velocity, self._turning = twist, twist[:3], twist[3:]
        self._point, self._at, self._acceleration, self._moment = np.zeros((4, 3))
        self._quat, self._back, self._missing = np.zeros((3, 4))
        self.aim(pull)

    def aim(self, pull: Pull) -> None:
        """Set another target."""
        self.pull, place, visual = pull, self.place, self._model.vis.map
        stiffness = visual.stiffnessrot if pull.turns else visual.stiffness
        self._w = min(math.sqrt(stiffness), _LARGEST_SWING / self._model.opt.timestep)
        mujoco.mju_rotVecQuat(self._point, pull.point, place.quat_wxyz)
        self._point += place.position
        mujoco.mju_negQuat(self._back, place.quat_wxyz)
        mujoco.mju_mulQuat(self._quat, pull.quat_wxyz, self._back)

    def add(self) -> None:
        """Add force and torque to the wrench on the body, whose pose is up to date."""
        model, data, at = self._model, self._data, self._at
        mujoco.mju_rotVecQuat(at, self._point, self._xquat)
        at += self._xpos
        mujoco.mj_comPos(model, data)
        mujoco.mj_makeM(model, data)
        mujoco.mj_factorM(model, data)
        if not self._is_bounded:
            self._bound()
        mujoco.mj_jac(model, data, self._moved, self._turned, at, self.place.body)
        mujoco.mj_solveM(model, data, self._solved, self._jacobian)
        np.dot(self._jacobian, data.qvel, out=self._twist)
        if self.pull.turns:
            self._turn()
        else:
            self._move()

    def _bound(self) -> None:
        """Bound inertias by that of the whole kinematic tree as one rigid body."""
        data, root = self._data, int(self._model.body_rootid[self.place.body])
        mass, lever = self._model.body_subtreemass[root], data.subtree_com[root] - data.xpos[root]
        self._mass.bound(float(mass))
        self._inertia.bound(float(np.sum(data.crb[root, :3]) + 2.0 * mass * np.dot(lever, lever)))
        self._is_bounded = True

    def _move(self) -> None:
        acceleration, at = self._acceleration, self._at
        np.subtract(self.pull.position, at, out=acceleration)
        length = math.sqrt(np.dot(acceleration, acceleration))
        acceleration *= self._w**2 * min(1.0, _LONGEST / max(length, mujoco.mjMINVAL))
        self._velocity *= 2.0 * self._w
        acceleration -= self._velocity
        force = self._mass.times(acceleration)
        self._force_row += force
        at -= self._com
        mujoco.mju_cross(self._moment, at, force)
        self._torque_row += self._moment
        self._turning *= self._w
        self._torque_row -= self._inertia.times(self._turning)

    def _turn(self) -> None:
        acceleration = self._acceleration
        mujoco.mju_negQuat(self._back, self._xquat)
        mujoco.mju_mulQuat(self._missing, self._quat, self._back)
        mujoco.mju_quat2Vel(acceleration, self._missing, 1.0)
        acceleration *= self._w**2
        self._turning *= 2.0 * self._w
        acceleration -= self._turning
        self._torque_row += self._inertia.times(acceleration)


class _Inertia:
    """The effective inertia of a point, or of the rotation of a body, in each direction."""

    def __init__(self, jacobian: np.ndarray, solved: np.ndarray) -> None:
        """Use a Jacobian.

        Args:
            jacobian: From joint velocities to the velocity.  # (3, nv)
            solved: Its rows times the inverse of the joint-space inertia.  # (3, nv)
        """
        self._jacobian, self._solved, self._least = jacobian, solved.T, mujoco.mjMINVAL
        self._yielding, self._axes = np.zeros((2, 3, 3))
        self._row, self._columns = self._yielding.reshape(9), self._axes.reshape(9)
        self._turn = np.zeros(4)
        self._values, self._along, self._product = np.zeros((3, 3))

    def bound(self, most: float) -> None:
        """Set an upper bound, for directions that joints block [kg or kg m²]."""
        self._least = 1.0 / max(most, mujoco.mjMINVAL)

    def times(self, acceleration: np.ndarray) -> np.ndarray:
        """Return the force or torque for an acceleration, valid until the next call.  # (3,)"""
        np.dot(self._jacobian, self._solved, out=self._yielding)
        mujoco.mju_eig3(self._values, self._columns, self._turn, self._row)
        np.maximum(self._values, self._least, out=self._values)
        np.dot(acceleration, self._axes, out=self._along)
        self._along /= self._values
        return np.dot(self._axes, self._along, out=self._product)
