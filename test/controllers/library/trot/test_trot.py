"""`trot` moves the quadruped, on the signals of the robot alone."""

from dataclasses import replace

import numpy as np
import pytest
from moving_robot import MovingRobot

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.interface.inputs import (
    GOAL_INPUT,
    VELOCITY_INPUT,
    BodyVelocity,
    GoalInput,
    PlanarGoal,
    PlanarPose,
    VelocityInput,
)
from mujoco_ros.controllers.library.walk.walk_states import WALKER
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation


class TrottingRobot(MovingRobot):
    """The quadruped that `trot` controls."""

    def __init__(self, world: str = "", **velocity: float) -> None:
        scene = load_scene("quadruped")
        simulation = Simulation(replace(scene, world=world) if world else scene)
        super().__init__(simulation, load("trot", settings={"TROT": velocity}))
        self.store = self.host.supervised.controller.store

    @property
    def axes(self) -> np.ndarray:
        return self.simulation.data.xmat[self.base].reshape(3, 3)

    @property
    def yaw(self) -> float:
        return float(np.arctan2(self.axes[1, 0], self.axes[0, 0]))

    def trot(self, seconds: float) -> np.ndarray:
        """Stand, trot for some time, and return the positions of the base."""
        standing = self.run(1.0)
        self.host.supervised.request("trot")
        return np.concatenate((standing, self.run(seconds)))


def test_a_robot_trots_stops_and_trots_the_same_path_again():
    robot = TrottingRobot(velocity_x=0.4)
    trotting = robot.trot(5.0)
    robot.host.supervised.request("stop")
    places = np.concatenate((trotting, robot.run(4.0)))
    assert robot.went() == ["TROT", "STOP", "STAND"]
    moved = places[-1] - places[0]
    assert moved[0] == pytest.approx(0.4 * 5.0, rel=0.1)
    assert abs(moved[1]) < 0.08
    assert places[:, 2].min() > 0.9 * places[0, 2]
    assert robot.axes[2, 2] > 0.999
    assert np.ptp(places[-100:], axis=0).max() < 0.005, "it does not move"
    feet = robot.store.get(WALKER).legs
    assert all(leg.is_down for leg in feet)
    again = TrottingRobot(velocity_x=0.4).trot(1.5)
    np.testing.assert_array_equal(again, places[: len(again)])


def test_diagonal_pairs_of_feet_leave_the_ground():
    robot = TrottingRobot(velocity_x=0.3)
    robot.run(1.0)
    robot.host.supervised.request("trot")
    robot.run(1.0)
    names = ("FL_foot", "FR_foot", "RL_foot", "RR_foot")
    model, data = robot.simulation.model, robot.simulation.data
    sensors = [int(model.sensor(f"quadruped/{name}").adr[0]) for name in names]
    lifted = set()
    for _ in range(1000):
        robot.run(0.001)
        lifted.add(tuple(bool(data.sensordata[at] == 0.0) for at in sensors))
    assert (True, False, False, True) in lifted
    assert (False, True, True, False) in lifted
    assert (True, True, True, True) not in lifted


def test_a_changed_velocity_acts_while_the_robot_trots():
    robot = TrottingRobot(velocity_y=0.1)
    robot.run(0.5)
    robot.host.supervised.request("trot")
    places = robot.run(3.0)
    assert places[-1][1] - places[0][1] == pytest.approx(0.3, abs=0.075)
    robot.machine.configure("TROT", {"velocity_y": 0.0, "velocity_yaw": 0.4})
    before = robot.yaw
    robot.run(1.0)
    places = robot.run(2.0)
    assert robot.yaw - before == pytest.approx(0.4 * 3.0, rel=0.15)
    assert np.hypot(*(places[-1] - places[0])[:2]) < 0.1
    robot.machine.configure("TROT", {"velocity_yaw": 0.0})
    robot.run(4.0)
    assert np.ptp(robot.run(0.5), axis=0).max() < 0.005, "a zero velocity is a stop"
    assert robot.state == "TROT"


def test_a_commanded_velocity_starts_a_trot_and_ends_without_further_commands():
    robot, commands = TrottingRobot(), VelocityInput()
    robot.store.provide(VELOCITY_INPUT, commands)
    robot.run(0.5)
    commands.receive(BodyVelocity(9.0, 0.0, 0.0), robot.simulation.time)  # clamped to 0.6 m/s
    start = robot.run(0.1)[-1]
    assert robot.state == "TROT"
    for _ in range(15):
        commands.receive(BodyVelocity(9.0, 0.0, 0.0), robot.simulation.time)
        places = robot.run(0.2)
    assert 0.7 * 0.6 * 3.0 < places[-1][0] - start[0] < 1.05 * 0.6 * 3.0
    robot.run(4.0)
    assert np.ptp(robot.run(0.5), axis=0).max() < 0.005, "a command ends after its timeout"
    assert robot.state == "TROT"


def test_a_robot_goes_to_a_goal_and_stops_there():
    robot, goals = TrottingRobot(), GoalInput()
    robot.store.provide(GOAL_INPUT, goals)
    start = robot.run(0.5)[-1]
    goals.receive(PlanarGoal(PlanarPose(0.4, 0.2, 0.5), is_relative=True), robot.simulation.time)
    for _ in range(40):
        places = robot.run(0.5)
        if robot.state == "STAND":
            break
    assert robot.went() == ["GO", "STAND"]
    assert np.hypot(*(places[-1] - start - (0.4, 0.2, 0.0))[:2]) < 0.03
    assert robot.yaw == pytest.approx(0.5, abs=0.05)


def test_a_pushed_robot_steps_in_place_until_it_is_steady():
    robot = TrottingRobot()
    robot.machine.configure("STAND", {"recover_above": 0.05})
    robot.run(0.5)
    robot.simulation.data.xfrc_applied[robot.base, 1] = 130.0
    robot.run(0.1)
    robot.simulation.data.xfrc_applied[robot.base, 1] = 0.0
    robot.run(0.2)
    assert robot.state == "RECOVER"
    assert "beside its reference" in robot.host.supervised.log.since(0)[-1].reason
    for _ in range(20):
        robot.run(0.5)
        if robot.state == "STAND":
            break
    assert robot.went() == ["RECOVER", "STOP", "STAND"]
    assert robot.axes[2, 2] > 0.999


def test_a_trotting_robot_withstands_a_push_and_unknown_plates():
    plates = "package://mujoco_ros/urdf_mjcf/worlds/small_plates.xml"
    robot = TrottingRobot(world=plates, velocity_x=0.3)
    robot.run(1.0)
    robot.host.supervised.request("trot")
    robot.run(3.0)
    mass = float(robot.simulation.model.body_subtreemass[robot.base])
    robot.simulation.data.xfrc_applied[robot.base, 1] = mass  # for 0.1 s
    robot.run(0.1)
    robot.simulation.data.xfrc_applied[robot.base, 1] = 0.0
    places = robot.run(4.0)
    assert robot.state == "TROT"
    assert robot.axes[2, 2] > 0.99
    assert places[-1][0] - places[0][0] > 0.8


def test_a_robot_that_is_turned_over_has_fallen():
    robot = TrottingRobot()
    robot.run(0.5)
    robot.simulation.data.xfrc_applied[robot.base, 3] = 200.0
    for _ in range(20):
        robot.run(0.1)
        if robot.state == "FALLEN":
            break
    assert robot.state == "FALLEN"
    assert "the base is tilted by" in robot.host.supervised.log.since(0)[-1].reason
    robot.simulation.data.xfrc_applied[robot.base, 3] = 0.0
    robot.simulation.reset()
    robot.run(1.0)
    assert robot.state == "STAND"
    assert robot.axes[2, 2] > 0.999


def test_gains_are_those_of_the_settings_while_the_controller_is_active():
    robot = TrottingRobot()
    (before,) = robot.simulation.plant.gains.by_robot().values()
    robot.run(0.1)
    (during,) = robot.simulation.plant.gains.by_robot().values()
    np.testing.assert_array_equal(during.kp, 60.0)
    np.testing.assert_array_equal(during.kd, 4.0)
    robot.host.deactivate()
    (after,) = robot.simulation.plant.gains.by_robot().values()
    np.testing.assert_array_equal(after.kp, before.kp)


def test_four_feet_with_touch_sensors_are_required():
    table = {"STAND": {"feet": ["FL_foot", "FR_foot"]}}
    with pytest.raises(UserInputError, match="feet must be four names"):
        load("trot", settings=table)
    table = {"STAND": {"feet": ["FL_foot", "FR_foot", "RL_foot", "left_foot"]}}
    with pytest.raises(UserInputError, match="left_foot"):
        ControllerHost(Simulation(load_scene("quadruped")), load("trot", settings=table))


@pytest.mark.parametrize("gravity", [0.0, 9.81])
def test_a_world_whose_gravity_does_not_point_down_is_an_error(gravity):
    simulation = Simulation(load_scene("quadruped"))
    simulation.model.opt.gravity[2] = gravity
    with pytest.raises(UserInputError, match="trot: the gravity must be above zero"):
        ControllerHost(simulation, load("trot"))
