"""The topics between a controller and its clients."""

from concurrent.futures import Future

import numpy as np
import pytest
from geometry_msgs.msg import PoseStamped, TwistStamped
from nav_msgs.msg import Odometry
from simulators import Listener
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.controllers.catalogue import load
from mujoco_ros.controllers.interface.inputs import (
    DRAW,
    ESTIMATED_BASE,
    GOAL_INPUT,
    VELOCITY_INPUT,
    BodyVelocity,
    Drawing,
    DrawnLine,
    DrawnPoint,
    GoalInput,
    PlanarGoal,
    PlanarPose,
    VelocityInput,
)
from mujoco_ros.controllers.interface.observation import BaseReading, Pose
from mujoco_ros.controllers.ros.controller_topics import ControllerTopics, DrawingTopic
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.sim.simulation import Simulation


def call(function):
    future = Future()
    future.set_result(function())
    return future


def test_a_walk_receives_velocities_and_publishes_the_estimated_base(listener: Listener):
    controller = load("walk")
    (robot,) = Simulation(load_scene("humanoid")).layout.robots
    topics = ControllerTopics(Endpoints(listener.node), controller, robot, call, now=lambda: 0.0)
    velocities = controller.store.get(VELOCITY_INPUT)
    client = listener.node.create_publisher(TwistStamped, "cmd_vel", 10)
    message = TwistStamped()
    message.twist.linear.x, message.twist.linear.y, message.twist.angular.z = 0.2, -0.1, 0.3

    def is_received() -> bool:
        client.publish(message)
        return velocities.read(0.0, 1.0) is not None

    assert listener.spin_until(is_received)
    assert velocities.read(0.0, 1.0) == BodyVelocity(0.2, -0.1, 0.3)
    odometry = listener.record(Odometry, "odom_estimated", reliable=True)
    quat = np.array([0.5, 0.5, -0.5, 0.5])

    def is_published() -> bool:
        base = BaseReading(
            pose=Pose(position=np.array([1.0, 2.0, 3.0]), quat_wxyz=quat),
            linear=np.array([4.0, 5.0, 6.0]),
            angular=np.array([7.0, 8.0, 9.0]),
        )
        controller.store.set(ESTIMATED_BASE, base)
        topics.publish(12.25)
        topics.publish(12.5)  # the same estimate is not published twice
        return len(odometry) > 0

    assert listener.spin_until(is_published)
    received = odometry.messages[0]
    assert (received.header.frame_id, received.child_frame_id) == ("odom", "pelvis")
    assert (received.header.stamp.sec, received.header.stamp.nanosec) == (12, 250_000_000)
    pose, twist = received.pose.pose, received.twist.twist
    assert (pose.position.x, pose.position.z, pose.orientation.w) == (1.0, 3.0, 0.5)
    assert (pose.orientation.y, twist.linear.y, twist.angular.z) == (-0.5, 5.0, 9.0)
    assert all(it.header.stamp.nanosec == 250_000_000 for it in odometry.messages)


def test_a_drawing_is_published_as_markers_that_vanish(listener: Listener):
    controller = load("walk")
    (robot,) = Simulation(load_scene("humanoid")).layout.robots
    topics = ControllerTopics(Endpoints(listener.node), controller, robot, call, now=lambda: 0.0)
    line = DrawnLine(
        "landing", np.array([(0.0, 0.0, -1.0), (0.5, 0.0, -1.0)]), (0.0, 0.5, 1.0, 1.0)
    )
    point = DrawnPoint("dcm", np.array([0.1, 0.2, -1.0]), (1.0, 0.5, 0.0, 1.0), 0.04)
    controller.store.set(DRAW, lambda: Drawing((line,), (point,)))
    received = listener.record(MarkerArray, f"/{listener.node.get_name()}/markers", reliable=True)
    times = iter(range(1, 10000))

    def is_published() -> bool:
        time = 0.02 * next(times)
        topics.publish(time)
        return len(received) > 1

    assert listener.spin_until(is_published)
    first, second = received.messages[:2]
    strip, sphere = first.markers
    assert (strip.ns, strip.type, strip.header.frame_id) == ("landing", Marker.LINE_STRIP, "pelvis")
    assert [(it.x, it.z) for it in strip.points] == [(0.0, -1.0), (0.5, -1.0)]
    assert (sphere.ns, sphere.type, sphere.scale.y) == ("dcm", Marker.SPHERE, 0.04)
    assert (sphere.pose.position.y, sphere.pose.orientation.w) == (0.2, 1.0)
    assert 0 < strip.lifetime.nanosec < 1_000_000_000
    stamps = [it.markers[0].header.stamp for it in (first, second)]
    begin, end = (it.sec + 1e-9 * it.nanosec for it in stamps)
    assert end - begin >= 0.05 - 1e-9, "twenty times a second"


def test_a_drawing_that_fails_ends_and_the_controller_continues(listener: Listener, caplog):
    topic, calls = DrawingTopic(Endpoints(listener.node), "pelvis"), []
    received = listener.record(MarkerArray, f"/{listener.node.get_name()}/markers", reliable=True)
    times = iter(range(1, 10000))

    def fail() -> Drawing:
        calls.append(1)
        raise ValueError("no hull")

    def has_failed() -> bool:
        topic.publish(fail, 0.1 * next(times))
        return bool(calls)

    assert listener.spin_until(has_failed)
    topic.publish(fail, 0.1 * next(times))
    assert len(calls) == 1
    assert len(received) == 0
    assert "no hull" in caplog.text


@pytest.mark.parametrize(("frame", "is_relative"), [("odom", False), ("pelvis", True)])
def test_a_walk_receives_goals_in_the_frames_of_the_robot(listener: Listener, frame, is_relative):
    controller = load("walk")
    (robot,) = Simulation(load_scene("humanoid")).layout.robots
    ControllerTopics(Endpoints(listener.node), controller, robot, call, now=lambda: 0.0)
    goals = controller.store.get(GOAL_INPUT)
    client = listener.node.create_publisher(PoseStamped, "goal_pose", 10)
    unknown, message = PoseStamped(), PoseStamped()
    unknown.header.frame_id, message.header.frame_id = "world", frame
    message.pose.position.x, message.pose.position.y = 1.0, -2.0
    message.pose.orientation.z = message.pose.orientation.w = np.sqrt(0.5)
    received: list[PlanarGoal] = []

    def is_received() -> bool:
        client.publish(unknown)  # refused
        client.publish(message)
        goal = goals.take(0.0)
        received.extend(() if goal is None else (goal,))
        return len(received) > 2

    assert listener.spin_until(is_received)
    assert {it.is_relative for it in received} == {is_relative}
    assert received[0].pose == pytest.approx(PlanarPose(1.0, -2.0, np.pi / 2))


def test_a_goal_is_taken_once_and_forgotten_with_a_reset_of_time():
    goals, goal = GoalInput(), PlanarGoal(PlanarPose(1.0, 0.0, 0.0))
    goals.receive(goal, 5.0)
    assert goals.take(5.005) == goal
    assert goals.take(5.01) is None
    goals.receive(goal, 5.0)
    assert goals.take(0.0) is None
    goals.receive(goal, 5.0)
    assert goals.take(6.5) is None, "no state has taken it in time"


def test_a_controller_without_such_states_has_no_topics(listener: Listener):
    controller = load("stand")
    (robot,) = Simulation(load_scene("humanoid")).layout.robots
    ControllerTopics(Endpoints(listener.node), controller, robot, call, now=lambda: 0.0)
    assert VELOCITY_INPUT not in controller.store


def test_a_commanded_velocity_ends_after_its_timeout_and_with_a_reset_of_time():
    commands = VelocityInput()
    assert commands.read(0.0, 1.0) is None
    commands.receive(BodyVelocity(x=0.1), 5.0)
    assert commands.read(4.995, 1.0) == commands.read(5.9, 1.0) == BodyVelocity(x=0.1)
    assert commands.read(6.1, 1.0) is None
    commands.receive(BodyVelocity(x=0.1), 7.0)
    assert commands.read(7.0, 1.0) is not None
    assert commands.read(0.0, 1.0) is None
    commands.receive(BodyVelocity(x=0.1), 8.0)
    assert commands.read(9.1, 1.0) is None, "it was received long before it is read"
    with pytest.raises(UserInputError, match="velocity x must be a finite number, got inf"):
        commands.receive(BodyVelocity(x=float("inf")), 0.0)
