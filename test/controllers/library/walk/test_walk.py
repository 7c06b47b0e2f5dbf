"""`walk` moves the humanoid, on the signals of the robot alone."""

from collections.abc import Sequence
from dataclasses import replace

import mujoco
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
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

LEG = ("hip_yaw", "hip_roll", "hip_pitch", "knee", "ankle_pitch", "ankle_roll")
LEGS = tuple(f"{side}_{joint}" for side in ("left", "right") for joint in LEG)


class WalkingRobot(MovingRobot):
    """The humanoid that `walk` controls."""

    def __init__(self, world: str = "", joints: Sequence[str] = (), **velocity: float) -> None:
        scene = load_scene("humanoid")
        simulation = Simulation(replace(scene, world=world) if world else scene)
        settings = {"WALK": velocity, "STAND": {"joints": list(joints)}}
        super().__init__(simulation, load("walk", settings=settings))

    def walk(self, seconds: float) -> np.ndarray:
        """Stand, walk for some time, and return the positions of the base."""
        standing = self.run(1.0)
        self.host.supervised.request("walk")
        return np.concatenate((standing, self.run(seconds)))


def feet_middle(robot: WalkingRobot) -> np.ndarray:
    """Return x, y and yaw of the middle between the soles.  # (3,)"""
    prefix, poses = robot.simulation.layout.robots[0].prefix, []
    for name in ("left_foot", "right_foot"):
        foot = robot.simulation.data.body(prefix + name)
        axes = foot.xmat.reshape(3, 3)
        x, y, _ = foot.xpos + axes @ (0.03, 0.0, 0.0)  # the middle of the sole
        poses.append((x, y, np.arctan2(axes[1, 0], axes[0, 0])))
    return np.mean(poses, axis=0)


def up(robot: WalkingRobot) -> float:
    """Return the vertical component of the base's vertical axis."""
    return float(robot.simulation.data.xmat[robot.base][8])


def test_a_robot_walks_stops_with_feet_together_and_walks_the_same_way_again():
    robot = WalkingRobot(velocity_x=0.25)
    walking = robot.walk(7.0)
    robot.host.supervised.request("stop")
    places = np.concatenate((walking, robot.run(3.0)))
    assert robot.went() == ["WALK", "STOP", "STAND"]
    moved = places[-1] - places[0]
    assert moved[0] == pytest.approx(0.25 * 7.0, rel=0.1)
    assert abs(moved[1]) < 0.05
    assert places[:, 2].min() > 0.9 * places[0, 2]
    assert up(robot) > 0.999
    feet = [robot.simulation.layout.robots[0].prefix + it for it in ("left_foot", "right_foot")]
    left, right = (robot.simulation.data.body(it).xpos for it in feet)
    assert abs(left[0] - right[0]) < 0.01
    assert np.ptp(places[-100:], axis=0).max() < 0.005, "it does not move"
    again = WalkingRobot(velocity_x=0.25).walk(1.5)
    np.testing.assert_array_equal(again, places[: len(again)])


def test_a_changed_velocity_acts_while_the_robot_walks():
    robot = WalkingRobot(velocity_x=0.2)
    robot.run(0.5)
    robot.host.supervised.request("walk")
    robot.run(1.8)
    robot.machine.configure("WALK", {"velocity_x": 0.0, "velocity_yaw": 0.3})
    robot.run(2.4)
    turned = robot.simulation.data.xmat[robot.base].reshape(3, 3)
    before = np.arctan2(turned[1, 0], turned[0, 0])
    places = robot.run(2.4)
    after = np.arctan2(turned[1, 0], turned[0, 0])
    assert after - before == pytest.approx(0.3 * 2.4, rel=0.2)
    assert np.hypot(*(places[-1] - places[0])[:2]) < 0.1
    robot.machine.configure("WALK", {"velocity_yaw": 0.0})
    robot.run(3.0)
    assert np.ptp(robot.run(0.5), axis=0).max() < 0.005, "a zero velocity is a stop"
    assert robot.state == "WALK"
    assert up(robot) > 0.999


def test_a_commanded_velocity_starts_a_walk_and_ends_without_further_commands():
    robot = WalkingRobot()
    commands = VelocityInput()
    robot.host.supervised.controller.store.provide(VELOCITY_INPUT, commands)
    robot.run(0.5)
    commands.receive(BodyVelocity(0.0, 0.0, 0.0), robot.simulation.time)
    robot.run(0.2)
    assert robot.state == "STAND", "the commanded velocity is zero"
    commands.receive(BodyVelocity(9.0, 0.0, 0.0), robot.simulation.time)  # clamped to 0.3 m/s
    start = robot.run(0.1)[-1]
    assert robot.state == "WALK"
    for _ in range(12):
        commands.receive(BodyVelocity(9.0, 0.0, 0.0), robot.simulation.time)
        places = robot.run(0.2)
    assert 0.5 * 0.3 * 2.4 < places[-1][0] - start[0] < 0.3 * 2.4
    robot.run(3.0)
    assert np.ptp(robot.run(0.5), axis=0).max() < 0.005, "a command ends after its timeout"
    assert robot.state == "WALK"
    with pytest.raises(UserInputError, match="velocity yaw must be a finite number, got nan"):
        commands.receive(BodyVelocity(0.1, 0.0, float("nan")), robot.simulation.time)


def test_feet_that_land_on_the_edges_of_unknown_plates_turn_onto_the_ground():
    plates = "package://mujoco_ros/urdf_mjcf/worlds/plates.xml"
    robot = WalkingRobot(world=plates, velocity_y=0.1)
    robot.run(1.0)
    robot.host.supervised.request("walk")
    places = robot.run(6.0)
    assert robot.went() == ["WALK"]
    assert up(robot) > 0.99
    assert places[-1][1] - places[0][1] > 0.3


def test_a_robot_goes_to_a_goal_and_stops_within_two_centimetres_and_two_degrees():
    robot, goals = WalkingRobot(), GoalInput()
    robot.host.supervised.controller.store.provide(GOAL_INPUT, goals)
    robot.run(0.5)
    start = feet_middle(robot)
    goals.receive(PlanarGoal(PlanarPose(0.3, 0.15, 0.4), is_relative=True), robot.simulation.time)
    for _ in range(30):
        robot.run(0.5)
        if robot.state == "STAND":
            break
    assert robot.went() == ["GO", "STAND"]
    assert robot.host.supervised.log.since(0)[-1].transition.label == "reached"
    end = feet_middle(robot)
    assert np.hypot(end[0] - start[0] - 0.3, end[1] - start[1] - 0.15) < 0.02
    assert abs(end[2] - 0.4) < np.deg2rad(2.0)
    with pytest.raises(UserInputError, match="goal yaw must be a finite number, got nan"):
        goals.receive(PlanarGoal(PlanarPose(0.1, 0.0, float("nan"))), robot.simulation.time)


def test_a_button_of_the_panel_sends_a_standing_robot_ahead():
    robot = WalkingRobot()
    robot.run(0.5)
    state = robot.machine.instances["STAND"]
    (left, load), (right, other) = state.feet()
    assert (left, right) == ("left_foot", "right_foot")
    weight = robot.simulation.model.body_subtreemass[robot.base] * 9.81
    assert load + other == pytest.approx(weight, rel=0.1), "without what is below the sensors"
    assert np.abs(state.dcm_error()).max() < 0.02
    assert state.position() == pytest.approx((0.0, 0.0), abs=0.02)
    robot.machine.press("STAND", "walk_ahead")
    robot.run(2.5)
    assert robot.went() == ["GO"]
    assert robot.run(0.005)[-1][0] > 0.1
    with pytest.raises(UserInputError, match="'STAND' is not active; GO is"):
        robot.machine.press("STAND", "walk_ahead")


def test_a_pushed_robot_steps_in_place_until_it_is_steady():
    robot = WalkingRobot()
    robot.machine.configure("STAND", {"recover_above": 0.03})
    robot.run(0.5)
    robot.simulation.data.xfrc_applied[robot.base, :3] = 150.0, 0.0, 0.0
    robot.run(0.1)
    robot.simulation.data.xfrc_applied[robot.base, :3] = 0.0
    robot.run(0.4)
    assert robot.state == "RECOVER"
    assert "beside its reference" in robot.host.supervised.log.since(0)[-1].reason
    for _ in range(30):
        robot.run(0.5)
        if robot.state == "STAND":
            break
    assert robot.went() == ["RECOVER", "STOP", "STAND"]
    assert up(robot) > 0.999


def test_a_walk_continues_after_it_has_recovered():
    robot = WalkingRobot(velocity_x=0.15)
    robot.machine.configure("RECOVER", {"steady_for": 0.2})
    robot.run(0.5)
    robot.host.supervised.request("walk")
    robot.run(1.5)
    robot.host.supervised.request("recover")
    robot.run(1.5)
    assert robot.went() == ["WALK", "RECOVER", "WALK"]
    assert not robot.machine.has_failed


def test_joints_that_do_not_walk_are_left_to_others():
    robot = WalkingRobot(joints=LEGS, velocity_x=0.2)
    names = robot.simulation.layout.robots[0].joints.names
    elbows = [names.index(f"{side}_elbow") for side in ("left", "right")]
    start = robot.run(0.5)[-1]
    bent = robot.simulation.references.q[elbows] - 0.3
    robot.simulation.references.q[elbows] = bent
    robot.host.supervised.request("walk")
    places = robot.run(2.5)
    assert robot.state == "WALK"
    assert places[-1][0] - start[0] > 0.25
    np.testing.assert_array_equal(robot.simulation.references.q[elbows], bent)
    assert up(robot) > 0.99


def test_standing_begins_in_the_measured_pose():
    robot = WalkingRobot()
    (layout,) = robot.simulation.layout.robots
    elbow = robot.simulation.model.joint(f"{layout.prefix}right_elbow").qposadr[0]
    number = int(np.flatnonzero(layout.joints.qpos == elbow)[0])
    home = float(robot.simulation.data.qpos[elbow])
    robot.simulation.data.qpos[elbow] -= 0.2
    references = []
    for _ in range(2000):
        assert robot.host.step()
        references.append(robot.simulation.references.q[number])
    assert references[10] == pytest.approx(home - 0.2, abs=0.03)
    assert references[-1] == pytest.approx(home, abs=0.02)
    assert np.abs(np.diff(references[5:])).max() < 0.01
    assert robot.state == "STAND"


def test_a_fallen_robot_holds_its_joints():
    robot = WalkingRobot()
    robot.run(0.5)
    robot.simulation.data.xfrc_applied[robot.base, :3] = 0.0, 600.0, 0.0
    robot.run(1.0)
    robot.simulation.data.xfrc_applied[robot.base, :3] = 0.0
    robot.run(0.5)
    assert robot.machine.outcome == "fell"
    assert "the base is tilted by" in robot.host.supervised.log.since(0)[-1].reason
    references = robot.simulation.references.q.copy()
    robot.run(0.2)
    np.testing.assert_array_equal(robot.simulation.references.q, references)


@pytest.mark.parametrize(
    ("state", "settings", "message"),
    [
        ("WALK", {"velocity_x": 0.31}, r"velocity_x must be from -0\.3 to 0\.3, got 0\.31"),
        ("WALK", {"velocity_y": -0.2}, r"velocity_y must be from -0\.1 to 0\.1, got -0\.2"),
        ("WALK", {"velocity_yaw": 1.0}, r"velocity_yaw must be from -0\.35 to 0\.35, got 1"),
        ("STAND", {"single_support": 0.0}, r"single_support must be positive, got 0"),
        ("STAND", {"dcm_gain": -1.0}, r"dcm_gain must not be negative, got -1"),
        ("WALK", {"recover_above": 0.0}, r"recover_above must be positive, got 0"),
        ("GO", {"largest_distance": -1.0}, r"largest_distance must be positive, got -1"),
        ("RECOVER", {"steady_for": 0.0}, r"steady_for must be positive, got 0"),
        ("STAND", {"feet": ["left_foot"]}, r"feet must be two names"),
        ("STAND", {"joints": 1}, r"joints.*list"),
    ],
)
def test_a_setting_out_of_range_is_rejected(state, settings, message):
    with pytest.raises(UserInputError, match=message):
        load("walk", settings={state: settings})


@pytest.mark.parametrize(
    ("settings", "message"),
    [({"joints": ["left_toe"]}, r"joint 'left_toe' not found"), ({"imu": "head_imu"}, "head_imu")],
)
def test_a_wrong_name_of_the_robot_is_rejected(settings, message):
    simulation = Simulation(load_scene("humanoid"))
    with pytest.raises(UserInputError, match=message):
        ControllerHost(simulation, load("walk", settings={"STAND": settings}))


def test_a_foot_without_a_flat_sole_is_rejected():
    simulation = Simulation(load_scene("humanoid"))
    model = simulation.model
    foot = model.body(simulation.layout.robots[0].prefix + "right_foot").id
    model.geom_type[model.geom_bodyid == foot] = mujoco.mjtGeom.mjGEOM_SPHERE
    with pytest.raises(UserInputError, match="foot 'right_foot' has no flat sole"):
        ControllerHost(simulation, load("walk"))


def test_a_robot_without_the_feet_is_rejected():
    with pytest.raises(UserInputError, match="left_foot"):
        ControllerHost(Simulation(load_scene("arm")), load("walk"))
