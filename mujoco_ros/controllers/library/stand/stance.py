"""Configurations of a standing robot: fixed feet, moving base and centre of mass."""

from collections.abc import Sequence
from typing import NamedTuple

import mink
import mujoco
import numpy as np
import qpsolvers

from mujoco_ros.controllers.planning.kinematics.kinematics import moving_dofs, within_limits
from mujoco_ros.model.body_tree import free_joint
from mujoco_ros.model.errors import UserInputError

_TOLERANCE = 1e-4  # largest error of the feet, the base and the centre of mass [m or rad]
_ITERATIONS = 60
_INITIAL_COST = 1e-3
_DAMPING = 1e-6
_FLAT_FEET = 2
"""Up to this number of feet, soles stay flat on the ground; more feet only keep their position."""


class Shift(NamedTuple):
    """Displacement from the initial configuration."""

    down: float = 0.0  # of the base, downwards [m]
    aside: float = 0.0  # of the centre of mass, to the left [m]


class _SubtreeComTask(mink.ComTask):
    """Centre of mass of one of the robots in the model."""

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
    """Inverse kinematics of a robot that stands on level ground with an upright base."""

    def __init__(
        self,
        model: mujoco.MjModel,
        qpos: np.ndarray,
        dof: np.ndarray,
        initial: np.ndarray,
        feet: Sequence[str],
    ) -> None:
        """Set the initial positions of joints at addresses (n,), with feet on the ground."""
        bodies = [int(model.body(foot).id) for foot in feet]
        base, *others = {int(model.body_rootid[body]) for body in bodies}
        joint = free_joint(model, base)
        if others or joint is None:
            raise UserInputError(f"{', '.join(feet)} do not belong to one floating base")
        carrying = np.zeros(model.nv, dtype=bool)
        for body in bodies:
            carrying |= moving_dofs(model, body)
        carrying[model.jnt_dofadr[joint] :][:6] = True
        # Indices of the robot's joints between the base and the feet (k,)
        self.legs = np.flatnonzero(carrying[dof])
        self._qpos = qpos[self.legs]
        start = within_limits(model, model.qpos0)
        start[model.jnt_qposadr[joint] + 3 :][:4] = 1.0, 0.0, 0.0, 0.0
        start[qpos] = initial
        self._configuration = mink.Configuration(model, start)
        data = self._configuration.data
        positions = data.xpos[bodies]
        # Height of the base above the lowest foot's frame [m]
        self.height = float(data.xpos[base, 2] - positions[:, 2].min())
        # Half the distance from the rightmost to the leftmost foot [m]
        self.half_width = float(np.ptp(positions[:, 1])) / 2.0
        self._start = start
        self._base = mink.FrameTask(base, "body", [0.0, 0.0, 1.0], 1.0)
        self._com = _SubtreeComTask(base)
        self._feet = [
            mink.FrameTask(foot, "body", 1.0, 1.0 if len(feet) <= _FLAT_FEET else 0.0)
            for foot in bodies
        ]
        for foot in self._feet:
            foot.set_target_from_configuration(self._configuration)
        self._initial_base = self._configuration.get_transform_frame_to_world(base, "body")
        self._initial_com = data.subtree_com[base].copy()
        self._com.set_target(self._initial_com)
        self._initial = mink.PostureTask(model, _INITIAL_COST)
        self._initial.set_target(start)
        self._limits = [mink.ConfigurationLimit(model)]
        fixed = np.flatnonzero(~carrying).tolist()
        self._frozen = [mink.DofFreezingTask(model, fixed)] if fixed else None

    def sweep(self, shifts: Sequence[Shift]) -> np.ndarray:
        """Return the configurations of closely spaced shifts, up to the last reachable one.  # (m,
        k)

        They are positions of the joints in `legs`, with m <= len(shifts).
        """
        self._configuration.update(self._start)
        configurations = []
        for shift in shifts:
            if not self._reach(shift):
                break
            configurations.append(self._configuration.q[self._qpos])
        return np.array(configurations).reshape(-1, len(self._qpos))

    def _reach(self, shift: Shift) -> bool:
        down = mink.SE3.from_translation(np.array([0.0, 0.0, -shift.down]))
        self._base.set_target(down @ self._initial_base)
        self._com.set_target(self._initial_com + np.array([0.0, shift.aside, 0.0]))
        tasks = [self._base, self._com, *self._feet]
        for _ in range(_ITERATIONS):
            if max(_error(task, self._configuration) for task in tasks) < _TOLERANCE:
                return True
            problem = mink.build_ik(
                self._configuration,
                [*tasks, self._initial],
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


def _error(task: mink.Task, configuration: mink.Configuration) -> float:
    """Return the error of a task in its components with a cost [m or rad]."""
    return float(np.abs(task.compute_error(configuration)[task.cost > 0.0]).max())
