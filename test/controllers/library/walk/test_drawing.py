"""What a walking robot displays is where its feet, its landing and its balance are."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.interface.inputs import DRAW, Drawing
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


class DrawnWalk:
    """A walk, and its drawings in ``world`` of the simulation."""

    def __init__(self) -> None:
        self.simulation = Simulation(load_scene("humanoid"))
        settings = {"WALK": {"velocity_x": 0.2}}
        self.host = ControllerHost(self.simulation, load("walk", settings=settings))

    def run(self, seconds: float) -> None:
        for _ in range(round(seconds * 1000)):
            assert self.host.step()

    def drawing(self) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
        """Return the points of lines, and the points, by their names."""
        drawing: Drawing = self.host.supervised.controller.store.get(DRAW)()
        base = self.simulation.data.body("humanoid/pelvis")
        axes = base.xmat.reshape(3, 3)
        return (
            {it.name: it.points @ axes.T + base.xpos for it in drawing.lines},
            {it.name: it.position @ axes.T + base.xpos for it in drawing.points},
        )


@pytest.fixture(scope="module")
def walk() -> DrawnWalk:
    return DrawnWalk()


def test_a_standing_robot_displays_its_soles_and_their_hull(walk):
    walk.run(1.0)
    lines, points = walk.drawing()
    assert set(lines) == {"left_foot", "right_foot", "support"}
    for foot in ("left_foot", "right_foot"):
        geom = walk.simulation.data.geom(f"humanoid/{foot}_col")
        middle = geom.xpos - (0.0, 0.0, 0.0175)
        np.testing.assert_allclose(lines[foot][:4].mean(axis=0), middle, atol=0.006)
        assert np.ptp(lines[foot], axis=0)[0] == pytest.approx(0.23, abs=0.005)
    soles = np.concatenate([lines["left_foot"], lines["right_foot"]])[:, :2]
    assert ConvexHull(lines["support"][:, :2]).volume == pytest.approx(ConvexHull(soles).volume)
    for name in ("dcm", "dcm_reference", "zmp"):
        np.testing.assert_allclose(points[name][:2], soles.mean(axis=0), atol=0.03)
        assert abs(points[name][2]) < 0.01, "on the ground"
    com = walk.simulation.data.subtree_com[walk.simulation.data.body("humanoid/pelvis").id]
    np.testing.assert_allclose(points["com"], com, atol=0.01)


def test_a_walking_robot_displays_where_its_foot_lands(walk):
    walk.host.supervised.request("walk")
    landing = None
    for _ in range(600):
        walk.run(0.01)
        lines, _ = walk.drawing()
        if "landing" in lines:
            landing = lines["landing"][:4].mean(axis=0)
            loaded = lines["support"]
        elif landing is not None:
            break
    assert landing is not None
    feet = [lines[it][:4].mean(axis=0) for it in ("left_foot", "right_foot")]
    assert min(np.linalg.norm((foot - landing)[:2]) for foot in feet) < 0.02
    assert ConvexHull(loaded[:, :2]).volume == pytest.approx(0.23 * 0.12, rel=0.1), "of one foot"
