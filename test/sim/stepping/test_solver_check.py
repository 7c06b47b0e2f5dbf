import mujoco
import pytest
from branching_models import branching_model

from mujoco_ros.sim.state.state_vector import state_vector
from mujoco_ros.sim.stepping import sparse_newton
from mujoco_ros.sim.stepping.solver_check import SolverCheck, check_solver


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
