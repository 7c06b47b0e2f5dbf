"""What a trotting robot displays is where its feet and its balance are."""

import numpy as np
import pytest

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.interface.inputs import DRAW, Drawing
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


def test_feet_landings_and_balance_are_drawn():
    simulation = Simulation(load_scene("quadruped"))
    host = ControllerHost(simulation, load("trot", settings={"TROT": {"velocity_x": 0.3}}))

    def drawing() -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        drawn: Drawing = host.supervised.controller.store.get(DRAW)()
        base = simulation.data.body("quadruped/trunk")
        axes = base.xmat.reshape(3, 3)
        return (
            {it.name: it.points @ axes.T + base.xpos for it in drawn.lines},
            {it.name: it.position @ axes.T + base.xpos for it in drawn.points},
        )

    for _ in range(800):
        assert host.step()
    lines, points = drawing()
    assert set(lines) == {"support"}
    assert len(lines["support"]) == 5
    for foot in ("FL_foot", "FR_foot", "RL_foot", "RR_foot"):
        at = simulation.data.geom(f"quadruped/{foot}").xpos - (0.0, 0.0, 0.0265)
        np.testing.assert_allclose(points[foot], at, atol=0.01)
    com = simulation.data.subtree_com[simulation.data.body("quadruped/trunk").id]
    np.testing.assert_allclose(points["com"], com, atol=0.01)
    assert points["dcm"][2] == pytest.approx(0.0, abs=0.01), "on the ground"
    host.supervised.request("trot")
    for _ in range(1120):  # a swing has begun
        assert host.step()
    lines, points = drawing()
    landings = [name for name in lines if name.startswith("landing")]
    assert len(landings) == 4
    assert len(lines["support"]) == 2
