"""Correct steps of models whose sparse Hessian MuJoCo 4.0.0 factorizes wrongly.

The Newton solver factorizes neighbouring rows together if the numbers of their entries match. It
does not compare which entries they have. Where these differ, the factor is wrong, and the solver
stops far from the solution. MuJoCo 4.0.1 corrects this (google-deepmind/mujoco#3767).

The entries follow from the kinematic tree and from the Jacobian of the constraints. So the affected
steps are known exactly; they are repeated with dense matrices. `check_solver` compares the solver
of a model with another one, which finds such defects.
"""

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from time import thread_time
from typing import Self

import mujoco
import numpy as np

from mujoco_ros.sim.state.state_vector import INTEGRATION, set_state, state_vector

AFFECTED_VERSION = 4_000_000
"""The ``mj_version`` with the wrong factorization."""
_NEWTON = int(mujoco.mjtSolver.mjSOL_NEWTON)
_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)
_MOST_ITERATIONS, _ISLANDS = mujoco.mjNSOLVER, mujoco.mjNISLAND
"""Numbers of iterations and islands of which the engine keeps statistics."""
_LIMIT = 50
"""Smallest iteration limit at which a solver that reaches it is considered not converged.

Lower limits are chosen for speed, and reached in most steps.
"""
_SMALL = 1e-2
"""Gradient of a solver that has converged, relative to the square root of the tolerance."""
_QUADRATIC = 0.03
"""Largest ratio of the last two gradients of a solver that converges as Newton's method does."""
_SHARE_OF_ARENA = 0.5  # largest part of the engine's memory that dense matrices may take
_KEPT_PATTERNS = 20_000
_KEPT_ORDERS = 100

Evaluation = Callable[[mujoco.MjModel, mujoco.MjData], object]
"""``mj_step`` or ``mj_forward``."""


class SparseNewton:
    """Steps a model, and repeats with dense matrices the steps whose sparse factor is wrong."""

    def __init__(self, model: mujoco.MjModel) -> None:
        self.repeated = 0
        """Number of repeated steps and evaluations."""
        self._model = model
        self._is_wrong: dict[int, bool] = {}
        """Whether the factor is wrong, by the pattern of the constraint Jacobian."""
        self._data: mujoco.MjData | None = None
        self._inertia: dict[bytes, list[int]] = {}
        """Rows of the inertia matrix as bits, by the order of the degrees of freedom."""
        self._ancestors = np.zeros((0, 0), bool)
        self.configure()

    def configure(self) -> None:
        """Adapt to changed options of the model."""
        option = self._model.opt
        self._is_affected = (
            mujoco.mj_version() == AFFECTED_VERSION
            and option.solver == _NEWTON
            and bool(mujoco.mj_isSparse(self._model))
        )
        # The improvement that is still possible is in the order of the gradient's square.
        self._small = _SMALL * math.sqrt(max(option.tolerance, 0.0))
        self._limit = option.iterations if option.iterations >= _LIMIT else math.inf
        # The stages of Runge-Kutta overwrite what would be checked or sensed.
        self.is_staged = option.integrator == _RK4
        self._is_wrong.clear()
        if self._is_affected and not len(self._ancestors):
            self._ancestors = _ancestors(self._model.dof_parentid)

    @property
    def limits(self) -> tuple[bool, float, float]:
        """Whether steps are checked, then the largest gradient and number of iterations.

        Steps below both have converged.
        """
        return self._is_affected, self._small, self._limit

    def step(self, data: mujoco.MjData, state: np.ndarray) -> None:
        """Advance by one timestep, as ``mj_step``, from a state of `state_vector`.  # (nstate,)"""
        self._evaluate(mujoco.mj_step, data, state)

    def forward(self, data: mujoco.MjData, state: np.ndarray) -> None:
        """Evaluate the state, as ``mj_forward``; with the arguments of `step`."""
        self._evaluate(mujoco.mj_forward, data, state)

    def _evaluate(self, evaluate: Evaluation, data: mujoco.MjData, state: np.ndarray) -> None:
        if self._is_affected and self.is_staged:
            self._evaluate_densely(evaluate, data)
            return
        evaluate(self._model, data)
        self.check(evaluate, data, state)

    def check(self, evaluate: Evaluation, data: mujoco.MjData, state: np.ndarray) -> None:
        """Repeat an evaluation that was made from a state, if its factor was wrong."""
        if self._is_affected and data.nefc and not self._is_solved(data):
            set_state(self._model, data, state)
            self._evaluate_densely(evaluate, data)

    def _evaluate_densely(self, evaluate: Evaluation, data: mujoco.MjData) -> None:
        """Evaluate with dense matrices, or by conjugate gradients if these would be too large."""
        option = self._model.opt
        if fits_dense(self._model, data):
            name, value = "jacobian", int(mujoco.mjtJacobian.mjJAC_DENSE)
        else:
            name, value = "solver", int(mujoco.mjtSolver.mjSOL_CG)
        configured = getattr(option, name)
        setattr(option, name, value)
        try:
            evaluate(self._model, data)
        finally:
            setattr(option, name, configured)
        self.repeated += 1

    def _is_solved(self, data: mujoco.MjData) -> bool:
        """Return whether the solver converged in the last step, or had a right factor."""
        if data is not self._data:
            self._data, self._counts = data, data.solver_niter
            self._gradient = data.solver.gradient.item
        islands = data.nisland or 1
        gradient, last = self._gradient, -1
        for count in self._counts[:islands].tolist():
            if count >= self._limit:
                return False
            if count > _MOST_ITERATIONS:
                break
            if count and gradient(last + count) > self._small:
                before = gradient(last + count - 1) if count > 1 else 0.0
                if gradient(last + count) > _QUADRATIC * before:
                    break
            last += _MOST_ITERATIONS
        else:
            if islands <= _ISLANDS:
                return True
        pattern = hash((islands, data.efc_J_rownnz.tobytes(), data.efc_J_colind.tobytes()))
        is_wrong = self._is_wrong.get(pattern)
        if is_wrong is None:
            if len(self._is_wrong) >= _KEPT_PATTERNS:
                self._is_wrong.clear()
            is_wrong = self._is_wrong[pattern] = self._has_wrong_factor(data)
        return not is_wrong

    def _has_wrong_factor(self, data: mujoco.MjData) -> bool:
        """Return whether the engine joins neighbouring rows of the Hessian that differ."""
        size = self._model.nv
        order = data.map_idof2dof if data.nisland else np.arange(size)
        place = np.empty(size, np.intp)
        place[order] = np.arange(size)
        # All rows of a constraint have the same columns.
        kind, number = data.efc_type, data.efc_id
        is_first = np.append(True, (kind[1:] != kind[:-1]) | (number[1:] != number[:-1]))
        lengths = data.efc_J_rownnz
        columns = place[data.efc_J_colind[np.repeat(is_first, lengths)]]
        lengths = lengths[is_first]
        jacobian = np.zeros((len(lengths), size), bool)
        jacobian[np.repeat(np.arange(len(lengths)), lengths), columns] = True
        return _joins_different_rows(_factor(self._inertia_rows(order), _integers(jacobian)))

    def _inertia_rows(self, order: np.ndarray) -> list[int]:
        """Return the rows of the inertia matrix of degrees of freedom in an order, as bits."""
        key = order.tobytes()
        if key not in self._inertia:
            if len(self._inertia) >= _KEPT_ORDERS:
                self._inertia.clear()
            self._inertia[key] = _integers(self._ancestors[order][:, order])
        return self._inertia[key]


def fits_dense(model: mujoco.MjModel, data: mujoco.MjData) -> bool:
    """Whether the engine has enough memory for dense matrices of the constraints of `data`."""
    needed = np.dtype(float).itemsize * 2 * (data.nefc + model.nv) * model.nv
    return bool(needed <= _SHARE_OF_ARENA * model.narena)


def _ancestors(parents: np.ndarray) -> np.ndarray:
    """Return which degrees of freedom each one moves with, itself included.  # (nv, nv)."""
    ancestors = np.eye(len(parents), dtype=bool)
    for dof, parent in enumerate(parents):
        if parent >= 0:
            ancestors[dof] |= ancestors[parent]
    return ancestors


def _factor(inertia: list[int], constraints: list[int]) -> list[int]:
    """Return the rows of L in H = L' L, as bits.

    `inertia` has the rows of the lower half of the inertia matrix, `constraints` the rows
    of the Jacobian, as bits.
    """
    rows = inertia.copy()
    # Elimination spreads the entries of a constraint from its last row to the others.
    for columns in constraints:
        rows[columns.bit_length() - 1] |= columns
    for row in range(len(rows) - 1, -1, -1):
        above = rows[row] & ((1 << row) - 1)
        if above:
            rows[above.bit_length() - 1] |= above
    return rows


def _joins_different_rows(factor: list[int]) -> bool:
    """Return whether the engine joins neighbouring rows of L, as bits, with other columns below.

    It joins rows of which the second has the columns of the first and its own, and that are used by
    the same number of rows below.
    """
    differ = 0  # bit of a column that differs, in a row below, from the next one
    for row in range(2, len(factor)):
        differ |= (factor[row] ^ factor[row] >> 1) & ((1 << row - 1) - 1)
    seconds = []
    while differ:
        second = differ.bit_length()
        differ ^= 1 << second - 1
        rows = factor[second - 1], factor[second]
        if rows[1] >> second - 1 & 1 and rows[1].bit_count() == rows[0].bit_count() + 1:
            seconds.append(second)
    if not seconds:
        return False
    size = (len(factor) + 7) // 8
    packed = np.frombuffer(b"".join([row.to_bytes(size, "little") for row in factor]), np.uint8)
    entries = np.unpackbits(packed.reshape(-1, size), axis=1, bitorder="little")
    users = entries.sum(axis=0)
    return any(users[second - 1] == users[second] + 1 for second in seconds)


def _integers(rows: np.ndarray) -> list[int]:
    """Return each row of bits as an integer, its first bit the lowest."""
    packed = np.packbits(rows, axis=1, bitorder="little")
    content, size = packed.tobytes(), packed.shape[1]
    starts = range(0, len(content), size)
    return [int.from_bytes(content[start : start + size], "little") for start in starts]


_STATES = 6
_STEPS = 5  # steps between two states
_SECONDS = 0.2  # processor time after which no further state is compared [s]
_SPEED = 0.5  # standard deviation of the velocities that are added at the start [rad/s, m/s]
_TOLERANCE = 1e-13
_ITERATIONS = 200
_NEGLIGIBLE = 1e-6  # norm of the accelerations of a model at rest
_LARGEST_DENSE = 300  # degrees of freedom up to which a dense solution takes less than 0.1 s
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
