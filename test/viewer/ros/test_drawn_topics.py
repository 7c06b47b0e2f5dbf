"""Topics on the graph whose messages are drawn."""

from math import inf
from typing import Any

import pytest
from builtin_interfaces.msg import Duration
from geometry_msgs.msg import (
    Point,
    Pose,
    PoseStamped,
    TransformStamped,
    Vector3,
    Wrench,
    WrenchStamped,
)
from nav_msgs.msg import Path
from rclpy.qos import qos_profile_sensor_data
from sensor_msgs.msg import LaserScan
from std_msgs.msg import String
from tf2_msgs.msg import TFMessage
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint
from visualization_msgs.msg import Marker, MarkerArray

from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.message_shapes import Shape
from mujoco_ros.viewer.ros import drawn_messages, drawn_topics
from mujoco_ros.viewer.ros.drawn_messages import marker_shapes
from mujoco_ros.viewer.ros.drawn_topics import DrawnTopics
from mujoco_ros.viewer.ros.interactive_markers.marker_servers import MarkerServers
from mujoco_ros.viewer.ros.requests import Requests
from mujoco_ros.wire.qos import LATCHED
from mujoco_ros.wire.service_caller import ServiceCaller


class Drawing:
    """Drawn topics of a node, with a time that tests set."""

    def __init__(self, node: Any, spin_until: Any) -> None:
        self.node, self.time, self.wall = node, 0.0, 0.0
        endpoints = Endpoints(node)
        servers = MarkerServers(ServiceCaller(node), Requests(node), endpoints)
        self.topics = DrawnTopics(endpoints, lambda: self.time, servers)
        self._spin_until = spin_until

    def until(self, condition: Any) -> bool:
        def ticked() -> bool:
            self.wall += 1.0
            self.topics.tick(self.wall)
            return bool(condition())

        return bool(self._spin_until(ticked))

    def drawn(self, topic: str) -> int:
        """Return the number of shapes of a topic."""
        return len(self.topics.shapes().get(topic, ()))

    def publisher(self, kind: Any, topic: str, qos: Any = 10) -> Any:
        publisher = self.node.create_publisher(kind, topic, qos)
        assert self.until(lambda: topic in self.topics.topics)
        return publisher


@pytest.fixture
def drawing(ros_node, spin_until) -> Drawing:
    return Drawing(ros_node, spin_until)


def cube(number: int, **fields: Any) -> Marker:
    return Marker(ns="test", id=number, type=Marker.CUBE, **fields)


def test_markers_stay_until_they_are_deleted_or_their_lifetime_ends(drawing):
    topic = "/plan/markers"
    publisher = drawing.publisher(MarkerArray, topic)
    assert drawing.topics.topics[topic] == "visualization_msgs/msg/MarkerArray"
    assert drawing.until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(MarkerArray(markers=[cube(1), cube(2, lifetime=Duration(sec=1))]))
    publisher.publish(MarkerArray(markers=[cube(3), cube(1)]))
    assert drawing.until(lambda: drawing.drawn(topic) == 3)
    drawing.time = 2.0
    assert drawing.until(lambda: drawing.drawn(topic) == 2)
    publisher.publish(MarkerArray(markers=[cube(3, action=Marker.DELETE)]))
    assert drawing.until(lambda: drawing.drawn(topic) == 1)
    publisher.publish(MarkerArray(markers=[cube(4), Marker(action=Marker.DELETEALL), cube(5)]))
    publisher.publish(MarkerArray(markers=[cube(6)]))
    assert drawing.until(lambda: drawing.drawn(topic) == 2)


def test_only_the_newest_of_waiting_markers_is_computed(drawing, spin_until, monkeypatch):
    computed = []

    def shapes(marker: Marker) -> tuple[Shape, ...]:
        computed.append((marker.id, marker.pose.position.x))
        return marker_shapes(marker)

    monkeypatch.setattr(drawn_messages, "marker_shapes", shapes)
    monkeypatch.setattr(drawn_topics, "_BUDGET_S", inf)
    publisher = drawing.publisher(Marker, "/point")
    assert drawing.until(lambda: publisher.get_subscription_count() == 1)
    for x in range(4):
        publisher.publish(cube(1, pose=Pose(position=Point(x=float(x)))))
        publisher.publish(cube(2, action=Marker.DELETE if x == 3 else Marker.ADD))
    waiting = drawing.topics._drawn["/point"].waiting
    assert spin_until(lambda: len(waiting) == 8)
    assert drawing.until(lambda: drawing.drawn("/point") == 1)
    assert computed == [(1, 3.0)]


def test_a_topic_that_takes_long_is_drawn_less_often(drawing, monkeypatch):
    clock = [0.0]

    def shapes(marker: Marker) -> tuple[Shape, ...]:
        clock[0] += 10.0
        return marker_shapes(marker)

    monkeypatch.setattr(drawn_topics, "monotonic", lambda: clock[0])
    monkeypatch.setattr(drawn_messages, "marker_shapes", shapes)
    publisher = drawing.publisher(Marker, "/point")
    assert drawing.until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(cube(1))
    assert drawing.until(lambda: drawing.drawn("/point") == 1)
    assert drawing.topics._drawn["/point"].due_at == drawing.wall + 50.0


def test_a_part_of_the_waiting_messages_is_read_at_a_time(drawing, spin_until, monkeypatch):
    monkeypatch.setattr(drawn_topics, "_BUDGET_S", 0.0)
    publisher = drawing.publisher(Marker, "/point")
    assert drawing.until(lambda: publisher.get_subscription_count() == 1)
    for number in range(5):
        publisher.publish(cube(number))
    waiting = drawing.topics._drawn["/point"].waiting
    assert spin_until(lambda: len(waiting) == 5)
    drawing.wall += 1.0
    drawing.topics.tick(drawing.wall)
    assert (len(waiting), drawing.drawn("/point")) == (4, 1)
    assert drawing.until(lambda: drawing.drawn("/point") == 5)


def test_markers_with_a_lifetime_vanish_at_a_reset(drawing):
    drawing.time = 50.0
    publisher = drawing.publisher(Marker, "/point")
    assert drawing.until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(cube(1, lifetime=Duration(sec=10)))
    publisher.publish(cube(2))
    assert drawing.until(lambda: drawing.drawn("/point") == 2)
    drawing.time = 0.0
    assert drawing.until(lambda: drawing.drawn("/point") == 1)


def test_latched_messages_from_before_are_received(drawing):
    publisher = drawing.node.create_publisher(Path, "/path", LATCHED)
    places = [Pose(position=Point(x=float(x))) for x in range(3)]
    publisher.publish(Path(poses=[PoseStamped(pose=place) for place in places]))
    assert drawing.until(lambda: drawing.drawn("/path") == 2)


def test_scans_are_drawn_only_on_request_and_other_types_never(drawing):
    scans = drawing.publisher(LaserScan, "/scan", qos_profile_sensor_data)
    drawing.node.create_publisher(String, "/chatter", 10)
    assert not drawing.topics.is_shown("/scan")
    drawing.topics.show("/scan", True)
    assert drawing.until(lambda: scans.get_subscription_count() == 1)
    scans.publish(LaserScan(range_max=5.0, ranges=[1.0, 2.0]))
    assert drawing.until(lambda: drawing.drawn("/scan") == 2)
    drawing.topics.show("/scan", False)
    assert drawing.until(lambda: scans.get_subscription_count() == 0)
    assert drawing.drawn("/scan") == 0
    assert "/chatter" not in drawing.topics.topics


def test_a_topic_without_a_publisher_is_not_drawn_any_more(drawing):
    publisher = drawing.publisher(Marker, "/point")
    assert drawing.until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(cube(1))
    assert drawing.until(lambda: drawing.drawn("/point") == 1)
    drawing.node.destroy_publisher(publisher)
    assert drawing.until(lambda: "/point" not in drawing.topics.topics)
    assert drawing.drawn("/point") == 0
    again = drawing.publisher(Marker, "/point", qos_profile_sensor_data)
    assert drawing.until(lambda: again.get_subscription_count() == 1)
    again.publish(cube(2))
    assert drawing.until(lambda: drawing.drawn("/point") == 1)


def test_static_frames_are_known(drawing):
    publisher = drawing.node.create_publisher(TFMessage, "/tf_static", LATCHED)
    transform = TransformStamped(child_frame_id="lens")
    transform.header.frame_id = "head"
    transform.transform.translation.x, transform.transform.rotation.w = 0.5, 1.0
    publisher.publish(TFMessage(transforms=[transform]))
    assert drawing.until(lambda: "lens" in drawing.topics.frames)
    frame = drawing.topics.frames["lens"]
    assert (frame.parent, frame.pose.position.tolist()) == ("head", [0.5, 0.0, 0.0])


def test_frames_of_tf_are_received_while_they_are_needed(drawing):
    publisher = drawing.node.create_publisher(TFMessage, "/tf", 10)

    def publish(name: str, x: float) -> None:
        transform = TransformStamped(child_frame_id=name)
        transform.header.frame_id = "map"
        transform.transform.translation.x, transform.transform.rotation.w = x, 1.0
        publisher.publish(TFMessage(transforms=[transform]))

    def place(name: str) -> float | None:
        frame = drawing.topics.frames.get(name)
        return None if frame is None else float(frame.pose.position[0])

    drawing.topics.need_frames({"drone"})
    assert drawing.until(lambda: publisher.get_subscription_count() == 1)
    publish("drone", float("nan"))
    publish("drone", 1.0)
    assert drawing.until(lambda: place("drone") == 1.0)
    publish("drone", 2.0)
    assert drawing.until(lambda: place("drone") == 2.0)
    drawing.topics.need_frames({"map"})  # the frames below it may have a body
    publish("other", 3.0)
    assert drawing.until(lambda: place("other") == 3.0)
    assert place("drone") is not None
    drawing.topics.need_frames(set())
    assert drawing.until(lambda: publisher.get_subscription_count() == 0)
    assert place("drone") is None, "it would be out of date"


def test_a_frame_of_tf_that_is_not_received_any_more_is_dropped(drawing):
    publisher = drawing.node.create_publisher(TFMessage, "/tf", 10)
    transform = TransformStamped(child_frame_id="drone")
    transform.header.frame_id, transform.transform.rotation.w = "map", 1.0
    drawing.topics.need_frames({"drone"})
    assert drawing.until(lambda: publisher.get_subscription_count() == 1)
    publisher.publish(TFMessage(transforms=[transform]))
    assert drawing.until(lambda: "drone" in drawing.topics.frames)
    for wall in (1e3, 2e3):
        drawing.topics.tick(wall)
    assert "drone" in drawing.topics.frames, "the simulation is paused"
    for wall, is_known in ((2e3 + 3.0, True), (2e3 + 4.9, True), (2e3 + 5.1, False)):
        drawing.time += 0.1
        drawing.topics.tick(wall)
        assert ("drone" in drawing.topics.frames) is is_known
    drawing.wall = 2e3 + 5.1
    publisher.publish(TFMessage(transforms=[transform]))
    assert drawing.until(lambda: "drone" in drawing.topics.frames)


def test_tf_is_not_subscribed_for_a_static_frame(drawing):
    static = drawing.node.create_publisher(TFMessage, "/tf_static", LATCHED)
    moving = drawing.node.create_publisher(TFMessage, "/tf", 10)
    transform = TransformStamped(child_frame_id="lens")
    transform.header.frame_id, transform.transform.rotation.w = "head", 1.0
    static.publish(TFMessage(transforms=[transform]))
    drawing.topics.need_frames({"lens"})
    assert drawing.until(lambda: "lens" in drawing.topics.frames)
    assert drawing.until(lambda: moving.get_subscription_count() == 0)


def test_all_frames_of_tf_are_received_if_all_are_needed(drawing):
    publishers = [drawing.node.create_publisher(TFMessage, "/tf", 10) for _ in range(2)]
    drawing.topics.need_frames(None)
    assert drawing.until(lambda: publishers[0].get_subscription_count() == 1)
    assert drawing.until(lambda: publishers[1].get_subscription_count() == 1)
    for step in range(30):  # more than are kept of the one that is the first
        for publisher, name in zip(publishers, ("a", "another"), strict=True):
            transform = TransformStamped(child_frame_id=name)
            transform.header.frame_id, transform.header.stamp.sec = "world", step
            transform.transform.translation.x = float(step)
            transform.transform.rotation.w = 1.0
            publisher.publish(TFMessage(transforms=[transform]))

    def has_newest() -> bool:
        frames = drawing.topics.frames
        return all(it in frames and frames[it].pose.position[0] == 29.0 for it in ("a", "another"))

    assert drawing.until(has_newest)
    drawing.topics.need_frames(set())
    assert drawing.until(lambda: not drawing.topics.frames)


def test_a_trajectory_of_a_publisher_that_appears_with_it_is_received_until_its_end(drawing):
    topic = "/joint_trajectory_controller/joint_trajectory"
    drawing.node.create_subscription(JointTrajectory, topic, lambda _: None, 10)
    paths = drawing.topics.joint_paths
    assert drawing.until(lambda: topic in drawing.topics.topics)
    assert drawing.until(lambda: drawing.node.count_subscribers(topic) == 2)
    publisher = drawing.node.create_publisher(JointTrajectory, topic, 1)
    assert drawing.until(lambda: publisher.get_subscription_count() == 2)
    message = JointTrajectory(joint_names=["elbow"])
    message.points = [JointTrajectoryPoint(positions=[0.3], time_from_start=Duration(sec=2))]
    publisher.publish(message)
    assert drawing.until(lambda: topic in paths())
    assert paths()[topic].positions.tolist() == [[0.3]]
    drawing.time = 1.9
    assert drawing.until(lambda: True)
    assert topic in paths()
    drawing.time = 2.1
    assert drawing.until(lambda: topic not in paths())
    publisher.publish(message)
    assert drawing.until(lambda: topic in paths())
    drawing.time = 0.0  # a reset
    assert drawing.until(lambda: topic not in paths())
    publisher.publish(message)
    assert drawing.until(lambda: topic in paths())
    publisher.publish(JointTrajectory(joint_names=["elbow"]))  # stops the robot
    assert drawing.until(lambda: topic not in paths())
    publisher.publish(message)
    assert drawing.until(lambda: topic in paths())
    drawing.topics.show(topic, False)
    assert drawing.until(lambda: topic not in paths())


def test_a_wrench_is_drawn_when_it_is_chosen(drawing):
    publisher = drawing.publisher(WrenchStamped, "/estimated_wrench")
    assert publisher.get_subscription_count() == 0
    drawing.topics.show("/estimated_wrench", True)
    assert drawing.until(lambda: publisher.get_subscription_count() == 1)
    wrench = Wrench(force=Vector3(x=1.0), torque=Vector3(z=1.0))
    publisher.publish(WrenchStamped(wrench=wrench))
    assert drawing.until(lambda: drawing.drawn("/estimated_wrench") == 2)


def test_a_topic_of_trajectories_without_others_is_dropped(drawing):
    topic = "/joint_trajectory"
    other = drawing.node.create_subscription(JointTrajectory, topic, lambda _: None, 10)
    assert drawing.until(lambda: drawing.node.count_subscribers(topic) == 2)
    drawing.node.destroy_subscription(other)
    assert drawing.until(lambda: topic not in drawing.topics.topics)
    assert drawing.until(lambda: drawing.node.count_subscribers(topic) == 0)
