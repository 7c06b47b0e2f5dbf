from collections.abc import Callable, Iterator

import mujoco
import numpy as np
import pytest
from branching_models import branching_model

from mujoco_ros.sim.state.state_vector import set_state, state_vector
from mujoco_ros.sim.stepping import sparse_newton
from mujoco_ros.sim.stepping.sparse_newton import SolverCheck, SparseNewton, check_solver

Forward = Callable[[mujoco.MjData, np.ndarray], None]
WRONG = (3, 25, 56)
"""Seeds of models that the engine solves wrongly."""


def moving_states(model: mujoco.MjModel) -> Iterator[tuple[mujoco.MjData, np.ndarray]]:
    """Yield some states of a model that falls to the ground; the data may be changed."""
    data, scratch, newton = mujoco.MjData(model), mujoco.MjData(model), SparseNewton(model)
    for step in range(60):
        state = state_vector(model, data)
        if step % 6 == 5:
            set_state(model, scratch, state)
            yield scratch, state
        newton.step(data, state)


def solve_tightly(model: mujoco.MjModel) -> None:
    model.opt.tolerance, model.opt.iterations = 1e-14, 200


def difference(model: mujoco.MjModel, forward: Forward, dense: mujoco.MjModel) -> float:
    """Return the largest relative difference of accelerations to those of dense matrices."""
    dense.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    dense.opt.tolerance, dense.opt.iterations = model.opt.tolerance, model.opt.iterations
    other, largest = mujoco.MjData(dense), 0.0
    for data, state in moving_states(model):
        forward(data, state)
        set_state(dense, other, state)
        mujoco.mj_forward(dense, other)
        error = np.linalg.norm(data.qacc - other.qacc) / np.linalg.norm(other.qacc)
        largest = max(largest, float(error))
    return largest


def test_the_engine_has_the_defect_that_the_module_corrects() -> None:
    assert mujoco.mj_version() == sparse_newton.AFFECTED_VERSION, "delete sparse_newton.py"


@pytest.mark.parametrize("seed", [*WRONG, 17, 22, 36])
def test_accelerations_are_those_of_dense_matrices(seed: int) -> None:
    model = branching_model(seed)
    solve_tightly(model)
    newton = SparseNewton(model)
    assert difference(model, newton.forward, branching_model(seed)) < 1e-8
    assert newton.repeated


@pytest.mark.parametrize("seed", WRONG)
def test_the_engine_alone_is_wrong(seed: int) -> None:
    model = branching_model(seed)
    solve_tightly(model)

    def forward(data: mujoco.MjData, _state: np.ndarray) -> None:
        mujoco.mj_forward(model, data)

    assert difference(model, forward, branching_model(seed)) > 0.1


def test_steps_are_those_of_dense_matrices() -> None:
    model, dense = branching_model(56), branching_model(56)
    dense.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data, other, newton = mujoco.MjData(model), mujoco.MjData(dense), SparseNewton(model)
    for _ in range(60):
        newton.step(data, state_vector(model, data))
        mujoco.mj_step(dense, other)
    assert newton.repeated
    assert data.time == other.time
    np.testing.assert_allclose(data.qpos, other.qpos, atol=1e-9)


def test_right_steps_are_not_repeated() -> None:
    model = branching_model(0)
    model.opt.iterations = 2  # does not suffice, as the user wants
    newton = SparseNewton(model)
    for data, state in moving_states(model):
        newton.step(data, state)
        assert data.nefc
    assert not newton.repeated


def test_all_steps_of_runge_kutta_use_dense_matrices() -> None:
    model = branching_model(0)
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    newton = SparseNewton(model)
    data = mujoco.MjData(model)
    newton.step(data, state_vector(model, data))
    assert newton.repeated == 1
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    newton.configure()
    newton.step(data, state_vector(model, data))
    assert newton.repeated == 1


def test_a_model_with_little_memory_is_solved_by_conjugate_gradients() -> None:
    model = branching_model(25, memory_bytes=5 << 19)
    model.opt.iterations, model.opt.tolerance = 500, 1e-12
    newton = SparseNewton(model)
    assert difference(model, newton.forward, branching_model(25)) < 1e-3
    assert newton.repeated


def test_sleeping_bodies_stay_asleep_in_a_repeated_step() -> None:
    model = branching_model(56)
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    dense = branching_model(56)
    dense.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_SLEEP
    dense.opt.jacobian = mujoco.mjtJacobian.mjJAC_DENSE
    data, other, newton = mujoco.MjData(model), mujoco.MjData(dense), SparseNewton(model)
    for _ in range(60):
        newton.step(data, state_vector(model, data))
        mujoco.mj_step(dense, other)
    assert newton.repeated
    np.testing.assert_array_equal(data.tree_asleep, other.tree_asleep)
    np.testing.assert_allclose(data.qpos, other.qpos, atol=1e-9)


def test_options_are_as_before_after_a_repeated_step() -> None:
    model = branching_model(25)
    model.opt.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    newton = SparseNewton(model)
    for data, state in moving_states(model):
        newton.step(data, state)
    assert newton.repeated
    assert model.opt.jacobian == mujoco.mjtJacobian.mjJAC_SPARSE
    assert model.opt.solver == mujoco.mjtSolver.mjSOL_NEWTON


def check(model: mujoco.MjModel) -> SolverCheck:
    return check_solver(model, state_vector(model, mujoco.MjData(model)))


def test_a_sparse_solver_is_compared_with_dense_matrices() -> None:
    result = check(branching_model(0))
    assert (result.solver, result.other) == ("Newton (sparse)", "Newton (dense)")
    assert result.states > 0
    assert result.difference < 1e-8
    assert "Newton (sparse) agrees with Newton (dense)" in str(result)


def test_a_dense_solver_is_compared_with_conjugate_gradients() -> None:
    result = check(branching_model(0, dofs=20))
    assert (result.solver, result.other) == ("Newton (dense)", "CG (dense)")
    assert result.states > 0
    assert result.is_passed


def test_a_wrong_solver_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_newton, "AFFECTED_VERSION", 0)
    result = check(branching_model(25))
    assert not result.is_passed
    assert "DIFFERS FROM" in str(result)
    assert "report the model" in result.remedy


def test_gauss_seidel_that_sticks_in_elliptic_cones_is_no_defect_to_report() -> None:
    box = '<body pos="0 0 {}"><freejoint/><geom type="box" size=".05 .05 .05"/></body>'
    stack = "".join(box.format(0.0499 + 0.0999 * row) for row in range(3))
    for cone, verdict in (("elliptic", "stops before"), ("pyramidal", "agrees with")):
        result = check(
            mujoco.MjModel.from_xml_string(
                f'<mujoco><option cone="{cone}" solver="PGS" impratio="10"/><worldbody>'
                f'<geom type="plane" size="1 1 1"/>{stack}</worldbody></mujoco>'
            )
        )
        assert verdict in str(result), str(result)
        assert "report" not in result.remedy


def test_the_model_is_not_changed() -> None:
    model = branching_model(0, dofs=20)
    before = (model.opt.solver, model.opt.jacobian, model.opt.tolerance, model.opt.iterations)
    check(model)
    after = (model.opt.solver, model.opt.jacobian, model.opt.tolerance, model.opt.iterations)
    assert before == after


@pytest.mark.parametrize("kibibytes", [480, 720])
def test_no_constraint_is_lost_in_dense_matrices_that_exceed_the_memory(kibibytes: int) -> None:
    result = check(branching_model(0, dofs=150, memory_bytes=kibibytes << 10))
    assert (result.solver, result.other) == ("Newton (sparse)", "CG (sparse)")
    assert result.states > 0
    assert result.is_passed, str(result)


def test_without_a_converged_comparison_there_is_no_verdict() -> None:
    result = SolverCheck(solver="PGS (dense)", other="Newton (dense)", states=0, difference=0.0)
    assert "was not compared" in str(result)
