import logging
import threading
from types import SimpleNamespace

import pytest
from branching_models import branching_spec

from mujoco_ros.bridge.diagnostics.solver_comparison import SolverComparison
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.stepping import sparse_newton


@pytest.fixture
def simulation(tmp_path):
    spec = branching_spec(25)
    spec.compile()
    (tmp_path / "tree.xml").write_text(spec.to_xml())
    return Simulation(load_scene(str(tmp_path / "tree.xml")))


def compare(simulation):
    logger = logging.getLogger("solver")
    node = SimpleNamespace(get_logger=lambda: logger)
    component = SolverComparison(SimpleNamespace(node=node, simulation=simulation))
    component.start()
    for thread in threading.enumerate():
        if thread.name == "solver check":
            thread.join()


def test_a_solver_that_agrees_is_not_mentioned(simulation, caplog):
    compare(simulation)
    assert not caplog.records


def test_a_wrong_solver_is_named_with_the_scene(simulation, caplog, monkeypatch):
    monkeypatch.setattr(sparse_newton, "AFFECTED_VERSION", 0)
    compare(simulation)
    assert "scene 'tree': the solver Newton (sparse) DIFFERS FROM" in caplog.text


def test_a_model_that_is_not_taken_is_not_compared(simulation, caplog):
    component = SolverComparison(SimpleNamespace(node=None, simulation=simulation))
    component.prepare(simulation.plant)
    component.rollback()
    component.finish()
    assert "solver check" not in {thread.name for thread in threading.enumerate()}


def test_steps_of_the_comparison_that_diverge_are_no_warning_of_the_simulation(tmp_path):
    # The comparison begins with random speeds, for which this friction is too stiff.
    (tmp_path / "lugre.xml").write_text(
        """<mujoco><worldbody><body><joint name="j"/><geom size=".03"/></body></worldbody>
          <actuator><dcmotor joint="j" motorconst="0.05" resistance="2" damping="0.001"
            lugre="1e4 100 0.005 0.008 0.1"/></actuator></mujoco>"""
    )
    simulation = Simulation(load_scene(str(tmp_path / "lugre.xml")))
    compare(simulation)
    assert simulation.engine_messages.total == 0
