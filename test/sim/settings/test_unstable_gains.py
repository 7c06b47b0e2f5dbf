"""Gains of a scene that no timestep of it can damp."""

from pathlib import Path

import pytest

from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

INERTIA = 1e-3  # of the rod [kg m²]
TIMESTEP = 0.002
ROD = f"""<mujoco><option timestep="{TIMESTEP}" integrator="{{integrator}}" gravity="0 0 0"/>
<worldbody><body name="rod"><joint name="j" axis="0 1 0"/>
<inertial pos="0 0 0" mass="1" diaginertia="{INERTIA} {INERTIA} {INERTIA}"/></body></worldbody>
<actuator><motor joint="j"{{limit}}/></actuator></mujoco>"""
LIMIT = ' ctrllimited="true" ctrlrange="-1 1"'


@pytest.mark.parametrize("integrator", ["Euler", "implicitfast"])
@pytest.mark.parametrize("ratio", [0.5, 1.8, 2.5, 30.0])
def test_joints_that_will_shake_are_named_with_their_numbers(
    tmp_path: Path, caplog, integrator: str, ratio: float
):
    (tmp_path / "rod.xml").write_text(ROD.format(integrator=integrator, limit=LIMIT))
    kd = ratio * INERTIA / TIMESTEP
    (tmp_path / "world.xml").write_text(
        f'<mujoco><option timestep="{TIMESTEP}" integrator="{integrator}" gravity="0 0 0"/>'
        "</mujoco>"
    )
    scene = tmp_path / "scene.yaml"
    scene.write_text(
        "world: world.xml\n"
        f"robots: [{{name: r, model: rod.xml, joints: {{j: {{kp: 0.0, kd: {kd}}}}}}}]\n"
    )
    simulation = Simulation(load_scene(str(scene)))
    named = (
        f"will shake, because kd timestep / J is more than 2: j (kd {kd:.3g}, J 0.001, {ratio:g}"
    )
    assert (named in caplog.text) == (ratio > 2)
    simulation.data.qvel[0] = 20.9  # as after a push to the torque limit
    for _ in range(500):
        simulation.step()
    shakes = abs(simulation.data.qvel[0]) > 0.01
    assert shakes == (ratio > 2)


def test_without_a_torque_limit_an_implicit_integrator_damps_any_gain(tmp_path: Path, caplog):
    (tmp_path / "rod.xml").write_text(ROD.format(integrator="implicitfast", limit=""))
    scene = tmp_path / "scene.yaml"
    scene.write_text(
        "robots: [{name: r, model: rod.xml, joints: {j: {kd: 50.0}}}]\n"
        "physics: {integrator: implicitfast}\n"
    )
    Simulation(load_scene(str(scene)))
    assert "will shake" not in caplog.text
