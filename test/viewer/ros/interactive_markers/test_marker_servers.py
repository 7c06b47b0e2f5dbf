"""Servers of interactive markers on the graph, over the middleware."""

import time
from typing import Any

import numpy as np
import pytest
from geometry_msgs.msg import Point
from geometry_msgs.msg import Pose as PoseMessage
from marker_server_node import MarkerServer, goal_marker, marker
from visualization_msgs.msg import InteractiveMarkerFeedback, InteractiveMarkerUpdate

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.viewer.marker_descriptions import InteractionMode, MarkerKey
from mujoco_ros.viewer.message_shapes import ShapeKind
from mujoco_ros.viewer.ros.drawn_topics import DrawnTopics
from mujoco_ros.viewer.ros.interactive_markers.marker_servers import MarkerServers
from mujoco_ros.viewer.ros.requests import Requests
from mujoco_ros.wire.service_caller import ServiceCaller

NAMESPACE, TOPIC = "/planner", "/planner/update"
GOAL = MarkerKey(NAMESPACE, "goal")
DOWN, UP = InteractiveMarkerFeedback.MOUSE_DOWN, InteractiveMarkerFeedback.MOUSE_UP
MOVED = InteractiveMarkerFeedback.POSE_UPDATE


class CountingCaller(ServiceCaller):
    """Counts calls; on a busy machine one is several requests."""

    calls = 0

    def call(self, *args: Any, **options: Any) -> None:
        self.calls += 1
        super().call(*args, **options)


class Client:
    """The client as in the viewer."""

    def __init__(self, node: Any, spin_until: Any) -> None:
        endpoints, self._caller = Endpoints(node), CountingCaller(node)
        self.requests = Requests(node)
        self.servers = MarkerServers(self._caller, self.requests, endpoints)
        self.drawings = DrawnTopics(endpoints, lambda: 0.0, self.servers)
        self._spin_until = spin_until

    def until(self, condition: Any) -> bool:
        def ticked() -> bool:
            now = time.monotonic()
            for each in (self._caller, self.drawings, self.servers):
                each.tick(now)
            return bool(condition())

        return bool(self._spin_until(ticked))

    @property
    def calls(self) -> int:
        return self._caller.calls

    @property
    def markers(self) -> Any:
        known = self.servers.known.get(NAMESPACE)
        return {} if known is None else known.markers

    @property
    def problems(self) -> str:
        known = self.servers.known.get(NAMESPACE)
        return "" if known is None else "\n".join(known.problems)


@pytest.fixture
def client(ros_node, spin_until) -> Client:
    return Client(ros_node, spin_until)


@pytest.fixture
def server(ros_node) -> MarkerServer:
    server = MarkerServer(ros_node, NAMESPACE)
    server.add(goal_marker())
    return server


def at(x: float) -> PoseMessage:
    return PoseMessage(position=Point(x=x))


def drag(client: Client, x: float) -> bool:
    """Move the goal; a repeated call only keeps the motion alive."""
    client.servers.drag(GOAL, "move_x", Pose(position=np.array([x, 0.1, 0.4])))
    return True


def x_of(client: Client, name: str) -> float | None:
    found = client.markers.get(name)
    return None if found is None else float(found.pose.position[0])


def test_markers_from_before_are_requested_and_drawn(client, server):
    assert client.until(lambda: "goal" in client.markers)
    goal = client.markers["goal"]
    assert (goal.description, goal.frame) == ("Goal of the gripper", "world")
    assert goal.pose.position.tolist() == [0.45, 0.1, 0.4]
    assert goal.controls[1].mode is InteractionMode.MOVE_AXIS
    assert [it.title for it in goal.menu] == ["Speed", "Run a program"]
    assert [it.title for it in goal.menu[0].entries] == ["Slow", "Fast"]
    assert not goal.menu[1].is_selectable, "the viewer runs no commands"
    assert client.drawings.topics[TOPIC] == "visualization_msgs/msg/InteractiveMarkerUpdate"
    assert client.until(lambda: client.drawings.shapes().get(TOPIC))
    shapes = client.drawings.shapes()[TOPIC]
    (box,) = (it for it in shapes if it.kind is ShapeKind.BOX)
    assert (box.frame, box.position.tolist()) == ("world", [0.45, 0.1, 0.4])
    assert [it.text for it in shapes if it.kind is ShapeKind.TEXT] == ["Goal of the gripper"]
    assert sum(it.kind is ShapeKind.ARROW for it in shapes) == 6, "of controls without shapes"


def test_what_servers_describe_is_drawn_before_arrows_and_circles(client, server):
    server.add(marker("via"))
    assert client.until(lambda: "via" in client.markers)
    assert client.until(lambda: len(client.drawings.shapes().get(TOPIC, ())) > 4)
    kinds = [it.kind for it in client.drawings.shapes()[TOPIC]]
    assert kinds[:4] == [ShapeKind.BOX, ShapeKind.TEXT] * 2


def test_more_servers_than_are_followed_are_counted(client):
    topics = [f"/s{it:02}/update" for it in range(23)]
    client.servers.follow(topics)
    client.servers.tick(0.0)
    assert client.servers.left_out == 3
    assert list(client.servers.known) == [it.removesuffix("/update") for it in topics[:20]]
    client.servers.follow([])
    assert client.servers.left_out == 0


def test_updates_add_move_and_erase_markers(client, server):
    assert client.until(lambda: "goal" in client.markers)
    calls = client.calls
    server.add(marker("via"))
    server.move("goal", at(0.7))
    server.keep_alive()
    assert client.until(lambda: x_of(client, "goal") == 0.7)
    assert "via" in client.markers
    server.erase("goal")
    assert client.until(lambda: "goal" not in client.markers)
    assert client.calls == calls, "no update was missing"


def test_after_a_lost_update_all_markers_are_requested_again(client, server):
    assert client.until(lambda: "goal" in client.markers)
    server.add(marker("via"), lost=True)
    server.move("goal", at(0.7))
    assert client.until(lambda: "via" in client.markers)
    assert x_of(client, "goal") == 0.7


def test_a_keep_alive_message_reveals_a_lost_update(client, server):
    assert client.until(lambda: "goal" in client.markers)
    server.add(marker("via"), lost=True)
    server.keep_alive()
    assert client.until(lambda: "via" in client.markers)


def test_markers_vanish_with_their_server_and_return_with_another_one(client, server, ros_node):
    assert client.until(lambda: "goal" in client.markers)
    server.move("goal", at(0.7))
    assert client.until(lambda: x_of(client, "goal") == 0.7)
    server.close()
    assert client.until(lambda: not client.servers.known)
    assert client.until(lambda: TOPIC not in client.drawings.shapes())
    again = MarkerServer(ros_node, NAMESPACE)
    again.add(marker("other"))  # with the number of an update that is known already
    assert client.until(lambda: "other" in client.markers)
    assert "goal" not in client.markers


def test_a_server_that_is_switched_off_is_not_followed(client, server):
    assert client.until(lambda: "goal" in client.markers)
    client.drawings.show(TOPIC, False)
    assert client.until(lambda: not client.servers.known)
    client.drawings.show(TOPIC, True)
    assert client.until(lambda: "goal" in client.markers)


def test_a_motion_is_feedback_in_the_frame_of_the_marker(client, server):
    assert client.until(lambda: "goal" in client.markers)
    for x in (0.5, 0.6):
        assert drag(client, x)
        assert x_of(client, "goal") == x, "at once"
        assert client.until(
            lambda x=x: (
                drag(client, x)
                and server.feedback[-1:]
                and server.feedback[-1].pose.position.x == x
            )
        )
    client.servers.release()
    assert client.until(lambda: UP in server.events())
    assert server.events() == [DOWN, MOVED, MOVED, UP]
    for it in server.feedback:
        assert (it.marker_name, it.control_name) == ("goal", "move_x")
        assert (it.header.frame_id, it.header.stamp.sec) == ("world", 0)
    (client_id,) = {it.client_id for it in server.feedback}
    assert client_id.startswith("/test_node-")
    assert server.feedback[-1].pose.position.x == 0.6
    assert client.until(lambda: x_of(client, "goal") == 0.6)


def test_a_pose_in_numbers_a_button_and_an_entry_are_sent_in_their_order(client, server):
    assert client.until(lambda: "goal" in client.markers)
    pose = Pose(position=np.array([0.5, 0.1, 0.4]))
    client.servers.place(GOAL, "move_x", pose)
    client.servers.click(GOAL, "go")
    client.servers.select(GOAL, "menu", 3)
    click, chosen = InteractiveMarkerFeedback.BUTTON_CLICK, InteractiveMarkerFeedback.MENU_SELECT
    assert client.until(lambda: chosen in server.events())
    assert server.events() == [DOWN, MOVED, UP, click, chosen]
    assert server.feedback[-2].control_name == "go"
    assert (server.feedback[-1].control_name, server.feedback[-1].menu_entry_id) == ("menu", 3)


def test_a_motion_without_calls_is_kept_alive_and_then_ends(client, server):
    assert client.until(lambda: "goal" in client.markers)
    client.servers.drag(GOAL, "move_x", Pose(position=np.array([0.5, 0.1, 0.4])))
    assert client.until(lambda: UP in server.events())
    assert InteractiveMarkerFeedback.KEEP_ALIVE in {it.event_type for it in server.feedback}
    assert not client.servers.is_sending


def test_a_pose_of_the_server_applies_after_the_motion(client, server):
    assert client.until(lambda: "goal" in client.markers)
    assert client.until(lambda: drag(client, 0.5) and MOVED in server.events())
    server.move("goal", at(0.9))
    server.add(marker("via"))
    assert client.until(lambda: drag(client, 0.5) and "via" in client.markers)
    assert x_of(client, "goal") == 0.5
    client.servers.release()
    assert client.until(lambda: x_of(client, "goal") == 0.9)


def test_a_motion_ends_with_its_marker(client, server):
    assert client.until(lambda: "goal" in client.markers)
    client.servers.drag(GOAL, "move_x", Pose(position=np.array([0.5, 0.1, 0.4])))
    server.erase("goal")
    assert client.until(lambda: "goal" not in client.markers)
    assert client.until(lambda: not client.servers.is_sending)
    client.servers.click(GOAL, "go")
    client.servers.drag(GOAL, "move_x", Pose())
    assert not client.servers.is_sending
    server.add(goal_marker())
    server.move("goal", at(0.8))
    assert client.until(lambda: x_of(client, "goal") == 0.8)


def test_a_motion_ends_when_its_server_is_switched_off(client, server):
    assert client.until(lambda: "goal" in client.markers)
    client.servers.drag(GOAL, "move_x", Pose(position=np.array([0.5, 0.1, 0.4])))
    client.drawings.show(TOPIC, False)
    assert client.until(lambda: not client.servers.known)
    assert client.until(lambda: UP in server.events())
    assert server.events() == [DOWN, MOVED, UP]


def test_a_server_with_broken_updates_has_no_effect_on_others(client, server, ros_node):
    other = MarkerServer(ros_node, "/other")
    other.add(goal_marker())
    assert client.until(lambda: "goal" in client.markers)
    assert client.until(lambda: "/other" in client.servers.known)
    assert client.until(lambda: client.servers.known["/other"].markers)
    server.publish(b"\0\1\0\0" + b"\xff" * 40)
    assert client.until(lambda: "an update cannot be read" in client.problems)
    client.servers.click(MarkerKey("/other", "goal"), "go")
    assert client.until(lambda: other.feedback)
    assert "goal" in client.markers


def test_feedback_of_a_marker_with_a_time_has_none(client, server):
    stamped = marker("stamped")
    stamped.header.stamp.sec = 3
    server.add(stamped)
    assert client.until(lambda: "stamped" in client.markers)
    client.servers.click(MarkerKey(NAMESPACE, "stamped"), "go")
    assert client.until(lambda: server.feedback)
    header = server.feedback[0].header
    assert (header.frame_id, header.stamp.sec, header.stamp.nanosec) == ("world", 0, 0)


def test_an_invalid_pose_is_no_feedback(client, server):
    assert client.until(lambda: "goal" in client.markers)
    with pytest.raises(UserInputError, match="marker 'goal' needs a valid pose"):
        client.servers.drag(GOAL, "move_x", Pose(position=np.array([np.nan, 0.0, 0.0])))
    assert not client.servers.is_sending


def test_more_markers_than_can_be_listed_are_refused(client, server):
    server.add(*(marker(f"m{it}") for it in range(230)))
    assert client.until(lambda: "more than 200 markers" in client.problems)
    assert len(client.markers) == 200
    server.erase(*list(server.markers)[50:])
    assert client.until(lambda: len(client.markers) <= 50)


def test_an_update_that_is_too_long_is_not_read(client, server):
    assert client.until(lambda: "goal" in client.markers)
    server.publish(
        InteractiveMarkerUpdate(
            type=InteractiveMarkerUpdate.UPDATE, seq_num=2, erases=["x" * (1 << 21)]
        )
    )
    assert client.until(lambda: "an update is longer than" in client.problems)
    assert "goal" in client.markers


def test_wrong_numbers_cause_no_more_than_a_request_each_second(client, server):
    assert client.until(lambda: "goal" in client.markers)
    start, before = time.monotonic(), client.calls
    for number in (7, 3, 3, 2**63, 1, 0, 9, 9, 9):
        server.publish(InteractiveMarkerUpdate(type=1, seq_num=number))
    assert client.until(lambda: client.calls > before)
    server.add(marker("via"))
    assert client.until(lambda: "via" in client.markers)
    assert client.calls - before <= 2.0 + (time.monotonic() - start)


def test_a_drag_is_one_request_and_each_button_another(client, server):
    assert client.until(lambda: "goal" in client.markers)
    client.requests.note_image_age(1.2)
    drag(client, 0.6)
    first = client.requests.latest
    assert first.name == f"move marker {NAMESPACE}: goal, on an image 1.2 s old"
    drag(client, 0.7)
    assert client.requests.latest is first
    assert first.command.startswith(
        f"ros2 topic pub --once {NAMESPACE}/feedback "
        "visualization_msgs/msg/InteractiveMarkerFeedback "
    )
    assert "position: {x: 0.7, y: 0.1, z: 0.4}" in first.command
    client.servers.release()
    drag(client, 0.8)
    assert client.requests.latest is not first
    client.servers.release()
    client.servers.select(GOAL, "menu", 3)
    assert client.requests.latest.name.startswith(f"select entry 3 of marker {NAMESPACE}: goal")
    assert "menu_entry_id: 3" in client.requests.latest.command
