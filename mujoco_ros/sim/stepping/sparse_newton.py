"""Correct steps of models whose sparse Hessian MuJoCo 4.0.0 factorizes wrongly.

The Newton solver factorizes neighbouring rows together if the numbers of their entries match. It
does not compare which entries they have. Where these differ, the factor is wrong, and the solver
stops far from the solution. MuJoCo 4.0.1 corrects this (google-deepmind/mujoco#3767).

The entries follow from the kinematic tree and from the Jacobian of the constraints. So the affected
steps are known exactly; they are repeated with dense matrices.
"""

import math
from collections.abc import Callable

import mujoco
import numpy as np

from mujoco_ros.sim.state.state_vector import set_state

AFFECTED_VERSION = 4_000_000
"""The ``mj_version`` with the wrong factorization."""
_NEWTON = int(mujoco.mjtSolver.mjSOL_NEWTON)
_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)
_ITERATIONS, _ISLANDS = mujoco.mjNSOLVER, mujoco.mjNISLAND
"""Numbers of iterations and islands of which the engine keeps statistics."""
_LIMIT = 50
"""Smallest iteration limit at which a solver that reaches it is considered not converged.

Lower limits are chosen for speed, and reached in most steps.
"""
_SMALL = 1e-2
"""Gradient of a solver that has converged, relative to the square root of the tolerance."""
_QUADRATIC = 0.03
"""Largest ratio of the last two gradients of a solver that converges as Newton's method does."""
_SHARE_OF_ARENA = 0.5
"""Largest part of the engine's memory that dense matrices may take."""
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
        # The stages of Runge-Kutta overwrite what would be checked.
        self._is_staged = option.integrator == _RK4
        self._is_wrong.clear()
        if self._is_affected and not len(self._ancestors):
            self._ancestors = _ancestors(self._model.dof_parentid)

    def step(self, data: mujoco.MjData, state: np.ndarray) -> None:
        """Advance by one timestep, as ``mj_step``, from a state of `state_vector`.  # (nstate,)"""
        self._evaluate(mujoco.mj_step, data, state)

    def forward(self, data: mujoco.MjData, state: np.ndarray) -> None:
        """Evaluate the state, as ``mj_forward``; with the arguments of `step`."""
        self._evaluate(mujoco.mj_forward, data, state)

    def _evaluate(self, evaluate: Evaluation, data: mujoco.MjData, state: np.ndarray) -> None:
        if self._is_affected and self._is_staged:
            self._evaluate_densely(evaluate, data)
            return
        evaluate(self._model, data)
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
            if count > _ITERATIONS:
                break
            if count and gradient(last + count) > self._small:
                before = gradient(last + count - 1) if count > 1 else 0.0
                if gradient(last + count) > _QUADRATIC * before:
                    break
            last += _ITERATIONS
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
