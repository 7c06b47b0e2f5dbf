"""A robot on wheels is driven by cmd_vel, and its odometry is of its wheels, without a file."""

from math import atan2
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Twist, TwistStamped
from nav_msgs.msg import Odometry
from sensor_msgs.msg import JointState
from simulators import Listener, Simulator, SimulatorLauncher
from tf2_msgs.msg import TFMessage

VELOCITY = "cmd_vel"


class Driver:
    """A client that drives a rover."""

    def __init__(self, start: SimulatorLauncher, **parameters: Any) -> None:
        self.simulator: Simulator = start.simulator(
            **({"scene": "rover", "viewer": "none"} | parameters)
        )
        self.simulator.wait_until_running()
        self.listener: Listener = start.listener(self.simulator)

    def latest(self, kind: Any, topic: str) -> Any:
        """Return a message that is published from now on."""
        found = self.listener.record(kind, topic)
        assert self.listener.spin_until(lambda: len(found) > 1)
        self.listener.forget_subscriptions(self.listener.recordings - 1)
        return found.latest

    def drive(self, message: TwistStamped | Twist, condition: Any, topic: str = VELOCITY) -> None:
        """Repeat a velocity until a condition holds."""
        publisher = self.listener.node.create_publisher(type(message), topic, 10)
        assert self.listener.spin_until(lambda: publisher.get_subscription_count() > 0)

        def repeat() -> None:
            publisher.publish(message)

        timer = self.listener.node.create_timer(0.05, repeat)
        assert self.listener.spin_until(condition)
        self.listener.node.destroy_timer(timer)
        self.listener.node.destroy_publisher(publisher)

    def parents(self) -> dict[str, set[str]]:
        """Return the parents of the frames on /tf in the next messages."""
        found = self.listener.record(TFMessage, "/tf")
        assert self.listener.spin_until(lambda: len(found) > 0)
        self.listener.spin_for(0.5)
        parents: dict[str, set[str]] = {}
        for message in found.messages:
            for transform in message.transforms:
                parents.setdefault(transform.child_frame_id, set()).add(transform.header.frame_id)
        self.listener.forget_subscriptions(self.listener.recordings - 1)
        return parents


def velocity(x: float = 0.0, turn: float = 0.0) -> TwistStamped:
    message = TwistStamped()
    message.twist.linear.x, message.twist.angular.z = x, turn
    return message


def planar(odometry: Odometry) -> np.ndarray:
    """Return x, y and heading [m, m, rad]."""
    pose = odometry.pose.pose
    heading = 2.0 * atan2(pose.orientation.z, pose.orientation.w)
    return np.array([pose.position.x, pose.position.y, heading])


@pytest.fixture(scope="module")
def driver(start_shared: SimulatorLauncher) -> Driver:
    return Driver(start_shared)


def test_odometry_agrees_with_the_truth_apart_from_slip(driver: Driver) -> None:
    odometry = driver.listener.record(Odometry, "odom")
    truth = driver.listener.record(Odometry, "ground_truth/odom")
    driver.drive(
        velocity(0.6, 0.5), lambda: len(odometry) > 0 and odometry.latest.pose.pose.position.x > 0.6
    )
    by_stamp = {(m.header.stamp.sec, m.header.stamp.nanosec): planar(m) for m in truth.messages}
    pairs = [
        (planar(m), by_stamp[key])
        for m in odometry.messages
        if (key := (m.header.stamp.sec, m.header.stamp.nanosec)) in by_stamp
    ]
    driver.listener.forget_subscriptions(driver.listener.recordings - 2)
    assert len(pairs) > 50
    wheels, base = pairs[-1]
    assert base[0] > 0.5
    assert wheels == pytest.approx(base, rel=0.03, abs=0.01)
    message = odometry.latest
    assert (message.header.frame_id, message.child_frame_id) == ("odom", "base_link")
    assert message.pose.covariance[35] == pytest.approx(0.01)
    assert truth.latest.header.frame_id == "world"


def test_the_robot_stops_after_the_timeout(driver: Driver) -> None:
    states = driver.listener.record(JointState, "joint_states")

    def speed() -> float:
        return abs(states.latest.velocity[0]) if len(states) else 0.0

    driver.drive(velocity(0.5), lambda: speed() > 3.0)
    assert driver.listener.spin_until(lambda: speed() < 0.01)
    driver.listener.forget_subscriptions(driver.listener.recordings - 1)


def test_the_wheels_alone_place_the_base_in_tf(driver: Driver) -> None:
    assert driver.parents() == {"base_link": {"odom"}}


def test_an_old_velocity_is_refused_with_the_reason(driver: Driver) -> None:
    message = velocity(0.5)
    message.header.stamp.nanosec = 1
    driver.drive(message, lambda: "more than the time-out of 0.5 s" in driver.simulator.log)


def test_the_truth_can_place_the_base_and_commands_can_be_without_stamps(
    start: SimulatorLauncher,
) -> None:
    driver = Driver(start, odom_tf="ground_truth", cmd_vel_stamped=False)
    assert driver.parents() == {"base_link": {"world"}}
    message = Twist()
    message.angular.z = 1.0
    odometry = driver.listener.record(Odometry, "odom")
    driver.drive(message, lambda: len(odometry) > 0 and planar(odometry.latest)[2] > 0.3)


def test_robots_with_namespaces_have_frames_of_their_own(
    start: SimulatorLauncher, tmp_path: Any
) -> None:
    scene = tmp_path / "two.yaml"
    rover = "model: package://mujoco_ros/urdf_mjcf/rover/rover.xml"
    scene.write_text(
        "world: package://mujoco_ros/urdf_mjcf/worlds/ground.xml\n"
        "robots:\n"
        f"  - {{name: first, {rover}}}\n"
        f"  - {{name: second, {rover}, pose: {{xyz: [0.0, 2.0, 0.0]}}, drive: none}}\n"
    )
    driver = Driver(start, scene=scene)
    assert driver.parents() == {"first/base_link": {"first/odom"}, "second/base_link": {"world"}}
    odometry = driver.listener.record(Odometry, "first/odom")
    driver.drive(
        velocity(0.5),
        lambda: len(odometry) > 0 and planar(odometry.latest)[0] > 0.1,
        "first/cmd_vel",
    )
    message = driver.latest(Odometry, "second/odom")
    assert (message.header.frame_id, message.child_frame_id) == ("world", "second/base_link")


def test_a_planar_joint_is_driven_and_in_tf(start: SimulatorLauncher, tmp_path: Any) -> None:
    robot = tmp_path / "robot.urdf"
    robot.write_text(
        "<robot name='robot'><link name='floor'/><link name='base'><inertial><mass value='5'/>"
        "<inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link>"
        "<joint name='slide' type='planar'><parent link='floor'/><child link='base'/>"
        "<origin xyz='0 0 0.1'/><axis xyz='0 0 1'/></joint></robot>"
    )
    driver = Driver(start, scene=robot)
    assert driver.parents()["base"] == {"floor"}
    odometry = driver.listener.record(Odometry, "odom")
    driver.drive(velocity(0.5), lambda: len(odometry) > 0 and planar(odometry.latest)[0] > 0.3)
    message = odometry.latest
    assert (message.header.frame_id, message.child_frame_id) == ("floor", "base")
    # It brakes when the next command is late.
    fastest = max(message.twist.twist.linear.x for message in odometry.messages)
    assert fastest == pytest.approx(0.5, abs=0.05)


def test_a_parameter_that_the_drive_lacks_is_an_error(
    start: SimulatorLauncher, tmp_path: Any
) -> None:
    scene = tmp_path / "rover.yaml"
    scene.write_text(
        "robots:\n  - name: rover\n    model: package://mujoco_ros/urdf_mjcf/rover/rover.xml\n"
        "    drive_parameters: {linear.x.top_speed: 1.0}\n"
    )
    simulator = start.simulator(scene=scene, viewer="none")
    simulator.wait_for_log("has no parameter 'linear.x.top_speed'")
