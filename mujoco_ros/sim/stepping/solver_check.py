"""Comparison of the configured solver with another one, which finds defects of the engine."""

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from time import thread_time
from typing import Self

import mujoco
import numpy as np

from mujoco_ros.sim.state.state_vector import INTEGRATION, set_state, state_vector
from mujoco_ros.sim.stepping.sparse_newton import SparseNewton, fits_dense

_STATES = 6
_STEPS = 5
"""Steps between two states."""
_SECONDS = 0.2
"""Processor time after which no further state is compared [s]."""
_SPEED = 0.5
"""Standard deviation of the velocities that are added at the start [rad/s, m/s]."""
_TOLERANCE = 1e-13
_ITERATIONS = 200
_NEGLIGIBLE = 1e-6
"""Norm of the accelerations of a model at rest."""
_LARGEST_DENSE = 300
"""Degrees of freedom up to which a dense solution takes less than 0.1 s."""
_DIFFERENT = 1e-3
"""Relative difference of accelerations above which one of the solvers is wrong.

Conjugate gradients leave 1e-5 in stiff models.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class SolverCheck:
    """A comparison of accelerations."""

    solver: str  # the solver of the simulation
    other: str  # the solver that it is compared with
    states: int  # number of states in which the other solver converged
    difference: float  # largest difference, relative to the accelerations
    # Why the solver may stop before the solution without a defect; empty if it may not
    unsolved: str = ""

    @property
    def is_passed(self) -> bool:
        """Whether the solvers agree."""
        return self.difference <= _DIFFERENT

    @property
    def remedy(self) -> str:
        """What to do if they do not."""
        if self.unsolved:
            return "Choose Newton or CG with physics.solver"
        return "Choose another one with physics.solver or physics.jacobian, and report the model"

    def __str__(self) -> str:
        """Return the result as a sentence."""
        if not self.states:
            return f"the solver {self.solver} was not compared: {self.other} does not converge"
        verdict = "agrees with" if self.is_passed else "DIFFERS FROM"
        if self.unsolved and not self.is_passed:
            verdict = f"{self.unsolved}, unlike"
        return (
            f"the solver {self.solver} {verdict} {self.other}: accelerations differ by "
            f"{self.difference:.1g} of their norm in {self.states} states"
        )


def check_solver(model: mujoco.MjModel, state: np.ndarray) -> SolverCheck:
    """Compare the solver of a model with another one in a few states, in 0.2 s of processor time.

    Both solve to a tight tolerance. States in which the other solver reaches its iteration limit do
    not count. The model is not changed; `state` from `state_vector` is where it begins.
    """
    model = copy.copy(model)
    model.opt.tolerance, model.opt.iterations = _TOLERANCE, _ITERATIONS
    solver = other = _Solver.configured(model)
    data, twin, newton = mujoco.MjData(model), mujoco.MjData(model), SparseNewton(model)
    differences, reaches_limit = [], False
    for _ in _states(newton, model, data, state):
        mujoco.mj_copyState(model, data, twin, INTEGRATION)
        newton.forward(data, state_vector(model, data))
        reaches_limit |= not _has_converged(data)
        other = solver.other(dense=model.nv <= _LARGEST_DENSE and fits_dense(model, data))
        other.choose(model)
        mujoco.mj_forward(model, twin)
        solver.choose(model)
        if _has_converged(twin):
            norms = (twin.qacc, twin.qacc_smooth, _NEGLIGIBLE)
            scale = max(float(np.linalg.norm(vector)) for vector in norms)
            differences.append(float(np.linalg.norm(data.qacc - twin.qacc)) / scale)
    return SolverCheck(
        solver=str(solver),
        other=str(other),
        states=len(differences),
        difference=max(differences, default=0.0),
        unsolved=_unsolved(model, reaches_limit),
    )


def _has_converged(data: mujoco.MjData) -> bool:
    return bool(np.all(data.solver_niter[: max(data.nisland, 1)] < _ITERATIONS))


def _unsolved(model: mujoco.MjModel, reaches_limit: bool) -> str:
    """Say why projected Gauss-Seidel, which improves one contact at a time, may stop early.

    A contact at the apex of an elliptic cone can be stuck there.
    """
    if model.opt.solver != mujoco.mjtSolver.mjSOL_PGS:
        return ""
    if model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC:
        return "stops before the solution with elliptic cones"
    return f"stops at the limit of {_ITERATIONS} iterations" if reaches_limit else ""


@dataclass(frozen=True, slots=True)
class _Solver:
    solver: mujoco.mjtSolver
    is_sparse: bool

    @classmethod
    def configured(cls, model: mujoco.MjModel) -> Self:
        return cls(mujoco.mjtSolver(model.opt.solver), bool(mujoco.mj_isSparse(model)))

    def other(self, *, dense: bool) -> "_Solver":
        """Return the solver to compare with: Newton with dense matrices, where that is possible."""
        newton = _Solver(mujoco.mjtSolver.mjSOL_NEWTON, is_sparse=False)
        if dense and self != newton:
            return newton
        return _Solver(mujoco.mjtSolver.mjSOL_CG, self.is_sparse)

    def choose(self, model: mujoco.MjModel) -> None:
        kinds = mujoco.mjtJacobian
        model.opt.solver = self.solver
        model.opt.jacobian = kinds.mjJAC_SPARSE if self.is_sparse else kinds.mjJAC_DENSE

    def __str__(self) -> str:
        name = self.solver.name.removeprefix("mjSOL_").replace("NEWTON", "Newton")
        return f"{name} ({'sparse' if self.is_sparse else 'dense'})"


def _states(
    newton: SparseNewton, model: mujoco.MjModel, data: mujoco.MjData, state: np.ndarray
) -> Iterator[None]:
    """Yield after each state that `data` is set to: the given one, then moving ones."""
    deadline = thread_time() + _SECONDS
    set_state(model, data, state)
    yield
    data.qvel += np.random.default_rng(0).normal(0.0, _SPEED, model.nv)
    for _ in range(_STATES - 1):
        for _ in range(_STEPS):
            newton.step(data, state_vector(model, data))
            if thread_time() > deadline:
                return
        yield
