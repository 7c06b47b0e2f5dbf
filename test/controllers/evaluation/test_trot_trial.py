"""The conditions of the trial of trot, which is that of walk with another robot."""

import numpy as np
import pytest

from mujoco_ros.controllers.evaluation.bounds import ACCEPTANCE, ESTIMATE
from mujoco_ros.controllers.evaluation.trials import trial
from mujoco_ros.controllers.evaluation.trials.legged import TROTS, TrotTrial
from mujoco_ros.controllers.evaluation.variations import free_base
from mujoco_ros.model.scene.assembly import assemble
from mujoco_ros.sim.simulation import Simulation


def test_the_quadruped_is_requested_to_trot_and_to_stop():
    tried, requested = TrotTrial(), []
    simulation, conditions = Simulation(tried.scene_config()), tried.conditions(3)
    base, impulse = free_base(simulation.model), 0.0
    for step in range(20000):
        assert simulation.step()
        if step % 5 == 4:
            tried.act(simulation, requested.append, conditions)
        impulse += float(np.hypot(*simulation.data.xfrc_applied[base, :2])) * 0.001
        if simulation.time > 16.5:
            break
    assert requested == ["trot", "stop"]
    pushes = sum(conditions[f"push_{number}"] for number in range(5))
    assert impulse == pytest.approx(
        pushes * float(simulation.model.body_subtreemass[base]), rel=0.06
    )


def test_velocities_are_settings_of_the_state_that_trots():
    tried = TrotTrial(ranges=TROTS["fast"])
    assert tried.settings(tried.conditions(0))["TROT"] == {
        "velocity_x": 0.6,
        "velocity_y": 0.0,
        "velocity_yaw": 0.0,
    }


def test_plates_are_between_the_feet():
    model = assemble(trial("trot", "turning_on_plates").scene_config()).model
    assert model.geom("across00").size[2] == 0.005
    start = Simulation(trial("trot", "turning_on_plates").scene_config())
    assert start.step()
    assert start.data.ncon == 4, "the feet stand on the ground"


def test_the_acceptance_has_conditions_that_exist():
    checks = {check.conditions: check.bounds for check in ACCEPTANCE["trot"]}
    assert checks.keys() < TROTS.keys()
    assert set(ESTIMATE) < set(checks["sideways_on_slope"])
    assert set(ESTIMATE) - set(checks["turning_on_slope"]) == {ESTIMATE[0]}, "it has no path"


def test_a_file_changes_the_conditions_of_the_quadruped(tmp_path):
    file = tmp_path / "short.yaml"
    file.write_text("duration: 5.0\n")
    ranges = trial("trot", str(file)).ranges
    assert (ranges.scene, ranges.duration, ranges.x) == ("quadruped", 5.0, TROTS["pushed"].x)
