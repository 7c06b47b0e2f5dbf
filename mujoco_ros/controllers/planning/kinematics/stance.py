"""Postures of a robot that stands: its feet stay where they are, its base and weight move."""

from collections.abc import Sequence
from typing import NamedTuple

import mink
import mujoco
import numpy as np
import qpsolvers

from mujoco_ros.model.errors import UserInputError

_TOLERANCE = 1e-4
"""So far may a foot, the base or the centre of mass be from where it shall be [m or rad]."""
_ITERATIONS = 60
_POSTURE_COST = 1e-3
_DAMPING = 1e-6
_SCALAR = int(mujoco.mjtJoint.mjJNT_SLIDE)
"""Joints of this and the next type, the hinge, have one position each."""
_FLAT = 2
"""Up to so many feet have soles that must stay flat; more only have to stay where they are."""


class Shift(NamedTuple):
    """How a posture differs from the one it began with.

    Attributes:
        down: By how much the base is lower [m].
        aside: By how much the centre of mass is further to the left [m].
    """

    down: float = 0.0
    aside: float = 0.0


class _Weight(mink.ComTask):
    """Where the centre of mass of one robot is, of however many there are in the model."""

    def __init__(self, body: int) -> None:
        super().__init__(cost=[1.0, 1.0, 0.0])
        self._body = body

    def compute_error(self, configuration: mink.Configuration) -> np.ndarray:
        error: np.ndarray = configuration.data.subtree_com[self._body] - self.target_com
        return error

    def compute_jacobian(self, configuration: mink.Configuration) -> np.ndarray:
        jacobian = np.empty((3, configuration.nv))
        mujoco.mj_jacSubtreeCom(configuration.model, configuration.data, jacobian, self._body)
        return jacobian


class Stance:
    """Feet on level ground, and what is above them; the base is upright, and stays so.

    Attributes:
        height: Of the base above the lowest foot's frame [m].
        half_width: Half the distance from the rightmost to the leftmost foot [m].
        legs: Which of the robot's joints carry the base: those between it and the feet.  # (k,)
    """

    def __init__(
        self,
        model: mujoco.MjModel,
        qpos: np.ndarray,
        dof: np.ndarray,
        posture: np.ndarray,
        feet: Sequence[str],
    ) -> None:
        """Stand.

        Args:
            model: Holds the robot.
            qpos: Addresses of its joints in the positions.  # (n,)
            dof: Addresses of its joints in the velocities.  # (n,)
            posture: The joints' positions to begin with.  # (n,)
            feet: Bodies that stand on the ground.

        Raises:
            ModelError: They stand on no floating base, or not on the same.
        """
        bodies = [int(model.body(foot).id) for foot in feet]
        base, *apart = {int(model.body_rootid[body]) for body in bodies}
        joint = int(model.body_jntadr[base])
        if apart or joint < 0 or model.jnt_type[joint] != int(mujoco.mjtJoint.mjJNT_FREE):
            raise UserInputError(f"{', '.join(feet)} carry no floating base: nothing to balance")
        carrying = np.zeros(model.nv, dtype=bool)
        for body in bodies:
            carrying |= _moves(model, body)
        carrying[model.jnt_dofadr[joint] :][:6] = True
        self.legs = np.flatnonzero(carrying[dof])
        self._qpos = qpos[self.legs]
        start = _within_limits(model)
        start[model.jnt_qposadr[joint] + 3 :][:4] = 1.0, 0.0, 0.0, 0.0
        start[qpos] = posture
        self._configuration = mink.Configuration(model, start)
        data = self._configuration.data
        places = data.xpos[bodies]
        self.height = float(data.xpos[base, 2] - places[:, 2].min())
        self.half_width = float(np.ptp(places[:, 1])) / 2.0
        self._start = start
        self._base = mink.FrameTask(base, "body", [0.0, 0.0, 1.0], 1.0)
        self._weight = _Weight(base)
        self._feet = [
            mink.FrameTask(foot, "body", 1.0, 1.0 if len(feet) <= _FLAT else 0.0) for foot in bodies
        ]
        for foot in self._feet:
            foot.set_target_from_configuration(self._configuration)
        self._base_at = self._configuration.get_transform_frame_to_world(base, "body")
        self._weight_at = data.subtree_com[base].copy()
        self._weight.set_target(self._weight_at)
        self._posture = mink.PostureTask(model, _POSTURE_COST)
        self._posture.set_target(start)
        self._limits = [mink.ConfigurationLimit(model)]
        others = np.flatnonzero(~carrying).tolist()
        self._frozen = [mink.DofFreezingTask(model, others)] if others else None

    def sweep(self, shifts: Sequence[Shift]) -> np.ndarray:
        """Return the postures of shifts that lie close to each other, up to the last reachable one.

        Returns:
            Positions of the legs' joints.  # (m, k), m <= len(shifts)
        """
        self._configuration.update(self._start)
        postures = []
        for shift in shifts:
            if not self._reach(shift):
                break
            postures.append(self._configuration.q[self._qpos])
        return np.array(postures).reshape(-1, len(self._qpos))

    def _reach(self, shift: Shift) -> bool:
        down = mink.SE3.from_translation(np.array([0.0, 0.0, -shift.down]))
        self._base.set_target(down @ self._base_at)
        self._weight.set_target(self._weight_at + np.array([0.0, shift.aside, 0.0]))
        tasks = [self._base, self._weight, *self._feet]
        for _ in range(_ITERATIONS):
            if max(_off(task, self._configuration) for task in tasks) < _TOLERANCE:
                return True
            problem = mink.build_ik(
                self._configuration,
                [*tasks, self._posture],
                1.0,
                damping=_DAMPING,
                limits=self._limits,
                constraints=self._frozen,
            )
            step = qpsolvers.solve_problem(problem, solver="daqp")
            if step.x is None:
                return False
            self._configuration.integrate_inplace(step.x, 1.0)
        return False


def _off(task: mink.Task, configuration: mink.Configuration) -> float:
    """Return how far a task is from its target, in what it cares for [m or rad]."""
    return float(np.abs(task.compute_error(configuration)[task.cost > 0.0]).max())


def _moves(model: mujoco.MjModel, body: int) -> np.ndarray:
    """Return which velocities move a body.  # (nv,) bool"""
    moved, turned = np.zeros((2, 3, model.nv))
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_jacBody(model, data, moved, turned, body)
    moves: np.ndarray = moved.any(axis=0) | turned.any(axis=0)
    return moves


def _within_limits(model: mujoco.MjModel) -> np.ndarray:
    """Return the initial positions, each joint of which is within its limits."""
    positions: np.ndarray = model.qpos0.copy()
    for joint in np.flatnonzero(model.jnt_limited & (model.jnt_type >= _SCALAR)):
        address = model.jnt_qposadr[joint]
        positions[address] = np.clip(positions[address], *model.jnt_range[joint])
    return positions
