"""A drone flies with thrusters."""

from collections.abc import Iterator
from math import exp

import pytest

pytest.importorskip("rclpy", reason="ROS 2 is not installed here")

from extension_runs import ExtensionRun
from std_msgs.msg import Float64

from mujoco_ros.model.errors import UserInputError

NAMES = ("front_left", "front_right", "rear_left", "rear_right")


class Drone(ExtensionRun):
    """The drone, in the air without gravity."""

    def __init__(self) -> None:
        super().__init__("thruster")
        self.mass = float(self.simulation.model.body_subtreemass[0])
        self.data.qpos[2] = 2.0
        self.simulation.model.opt.gravity[:] = 0.0

    def thrust(self, **thrusts: float) -> None:
        """Publish thrusts [N]."""
        for name, value in thrusts.items():
            self.extension(f"drone/{name}").command(Float64(data=value))


@pytest.fixture
def drone() -> Iterator[Drone]:
    run = Drone()
    yield run
    run.close()


def test_the_thrust_follows_the_command_with_a_lag(drone: Drone) -> None:
    drone.thrust(front_left=5.0)
    drone.step(0.05)
    assert drone.extension().thrust().data == pytest.approx(5.0 * (1.0 - exp(-1.0)))
    drone.thrust(front_left=50.0)
    drone.step(1.0)
    assert drone.extension().thrust().data == pytest.approx(10.0, abs=1e-6), "its limit"
    drone.thrust(front_left=-3.0)
    drone.step(1.0)
    assert drone.extension().thrust().data == pytest.approx(0.0, abs=1e-6)


def test_equal_thrusts_lift_the_drone_and_torques_balance(drone: Drone) -> None:
    drone.thrust(**dict.fromkeys(NAMES, 3.0))
    drone.step(1.0)
    before = float(drone.data.qvel[2])
    drone.step(0.5)
    acceleration = (drone.data.qvel[2] - before) / 0.5
    assert acceleration == pytest.approx(12.0 / drone.mass, rel=1e-3)
    assert abs(drone.data.qvel[3:]).max() < 1e-6


def test_a_diagonal_turns_the_drone_and_a_side_tilts_it(drone: Drone) -> None:
    drone.thrust(front_left=2.0, rear_right=2.0)
    drone.step(0.3)
    turned = drone.data.qvel[3:].copy()
    assert turned[2] > 0.05
    assert abs(turned[:2]).max() < 1e-3
    drone.thrust(front_left=0.0, rear_right=0.0)
    drone.step(1.0)
    drone.thrust(front_left=1.0, front_right=1.0)
    drone.step(0.1)
    assert drone.data.qvel[4] < -0.1, "the front rises"


def test_a_thrust_that_is_no_number_is_rejected(drone: Drone) -> None:
    with pytest.raises(UserInputError, match="the thrust must be a finite number, got nan"):
        drone.thrust(front_left=float("nan"))
    assert drone.extension().state["command"][0] == 0.0
