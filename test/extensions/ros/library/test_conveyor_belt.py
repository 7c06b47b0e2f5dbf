"""The conveyor belt carries what lies on it."""

from pathlib import Path

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from belt_scene import write_belt_scene
from std_srvs.srv import SetBool

from mujoco_ros.extensions.extension_set import ExtensionSet
from mujoco_ros.model.scene.config import read_scene
from mujoco_ros.sim.simulation import Simulation

BELT = """
extensions:
  - {use: conveyor_belt, name: belt, robot: line, settings: {speed: 0.5, acceleration: 2.0}}
"""


class Line:
    """The belt with the box."""

    def __init__(self, folder: Path) -> None:
        self.simulation = Simulation(read_scene(write_belt_scene(folder, BELT)))
        self.set = ExtensionSet(self.simulation)

    def run(self, seconds: float) -> tuple[float, float]:
        """Return the position [m] and velocity [m/s] of the box along the belt."""
        for _ in range(round(seconds / 0.002)):
            self.set.before_step()
            assert self.simulation.step()
        box = self.simulation.data.body("box/box")
        return float(box.xpos[0]), float(self.simulation.data.qvel[1])


def test_a_box_moves_with_the_belt_and_stops_with_it(tmp_path: Path) -> None:
    line = Line(tmp_path)
    (runner,) = line.set.runners
    start, _ = line.run(1.0)
    position, speed = line.run(2.0)
    assert speed == pytest.approx(0.5, abs=0.005)
    assert position - start == pytest.approx(1.0, rel=0.02)
    # A ramp of 0.25 s to 0.5 m/s, and then 2.75 s.
    assert runner.extension.state["distance"][0] == pytest.approx(0.0625 + 1.375, abs=0.003)
    assert abs(line.simulation.data.qpos[0]) < 0.002, "the belt stays in place"
    response = SetBool.Response()
    runner.extension.run(SetBool.Request(data=False), response)
    assert (response.success, response.message) == (True, "stopped")
    stopped, _ = line.run(1.0)
    last, speed = line.run(1.0)
    assert abs(speed) < 1e-3
    assert last - stopped == pytest.approx(0.0, abs=0.002)
    line.simulation.reset()
    assert runner.extension.state["distance"][0] == 0.0
    assert line.run(1.0)[0] == pytest.approx(start, abs=1e-9), "a reset starts it again"


def test_a_belt_that_is_disabled_stops(tmp_path: Path) -> None:
    line = Line(tmp_path)
    line.run(1.0)
    line.set.runners[0].enable(enabled=False)
    place = float(line.simulation.data.qpos[0])
    _, speed = line.run(1.0)
    assert abs(speed) < 1e-3
    assert line.simulation.data.qpos[0] == pytest.approx(place, abs=0.05)


def test_a_belt_without_its_joint_is_named(tmp_path: Path) -> None:
    path = write_belt_scene(tmp_path, BELT.replace("acceleration: 2.0", "joint: band"))
    with pytest.raises(
        ValueError, match=r"extension 'line/belt': .*joint 'band' not found; there are: belt"
    ):
        ExtensionSet(Simulation(read_scene(path)))
