"""A server of interactive markers that serves the protocol of the package interactive_markers.

Run as a program it spins until a signal: ``python marker_server_node.py --ros-args …``.
"""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any

import rclpy
import signalled_program
from geometry_msgs.msg import Point, Pose, Quaternion
from rclpy.node import Node
from visualization_msgs.msg import (
    InteractiveMarker,
    InteractiveMarkerControl,
    InteractiveMarkerFeedback,
    InteractiveMarkerPose,
    InteractiveMarkerUpdate,
    Marker,
    MenuEntry,
)
from visualization_msgs.srv import GetInteractiveMarkers

HALF = 0.5**0.5
QUEUE = 10
"""Depth of the queue of feedback: by default it is 1, which loses messages on a busy machine."""


class MarkerServer:
    """Markers with a sequence number; poses of feedback are published again.

    Attributes:
        markers: The markers by name.
        sequence: Number of the last update.
        feedback: What was received, oldest first.
        requests: Number of requests for all markers.
    """

    def __init__(self, node: Node, namespace: str) -> None:
        self.markers: dict[str, InteractiveMarker] = {}
        self.sequence = 0
        self.feedback: list[InteractiveMarkerFeedback] = []
        self.requests = 0
        self._node = node
        self._updates = node.create_publisher(InteractiveMarkerUpdate, f"{namespace}/update", 100)
        self._service = node.create_service(
            GetInteractiveMarkers, f"{namespace}/get_interactive_markers", self._respond
        )
        self._feedback = node.create_subscription(
            InteractiveMarkerFeedback, f"{namespace}/feedback", self._receive, QUEUE
        )

    def close(self) -> None:
        """End without an update, as a killed node does."""
        self._node.destroy_publisher(self._updates)
        self._node.destroy_service(self._service)
        self._node.destroy_subscription(self._feedback)

    def events(self) -> list[int]:
        """Return the types of the feedback without those that keep a motion alive."""
        alive = InteractiveMarkerFeedback.KEEP_ALIVE
        return [it.event_type for it in self.feedback if it.event_type != alive]

    def add(self, *markers: InteractiveMarker, lost: bool = False) -> None:
        """Add or replace markers; a lost update is not published."""
        self.markers |= {it.name: it for it in markers}
        self._update(lost=lost, markers=list(markers))

    def move(self, name: str, pose: Pose) -> None:
        """Move a marker."""
        marker = self.markers[name]
        marker.pose = pose
        self._update(poses=[InteractiveMarkerPose(header=marker.header, pose=pose, name=name)])

    def erase(self, *names: str) -> None:
        """Remove markers."""
        for name in names:
            self.markers.pop(name, None)
        self._update(erases=list(names))

    def keep_alive(self) -> None:
        """Publish the number of the last update."""
        self._updates.publish(InteractiveMarkerUpdate(server_id="s", seq_num=self.sequence))

    def publish(self, message: InteractiveMarkerUpdate) -> None:
        """Publish any update."""
        self._updates.publish(message)

    def _update(self, *, lost: bool = False, **fields: Any) -> None:
        self.sequence += 1
        if not lost:
            kind = InteractiveMarkerUpdate.UPDATE
            self._updates.publish(
                InteractiveMarkerUpdate(
                    server_id="s", seq_num=self.sequence, type=kind, **deepcopy(fields)
                )
            )

    def _respond(
        self, _: GetInteractiveMarkers.Request, response: GetInteractiveMarkers.Response
    ) -> GetInteractiveMarkers.Response:
        self.requests += 1
        response.sequence_number = self.sequence
        response.markers = list(self.markers.values())
        return response

    def _receive(self, message: InteractiveMarkerFeedback) -> None:
        self.feedback.append(message)
        is_pose = message.event_type == InteractiveMarkerFeedback.POSE_UPDATE
        if is_pose and message.marker_name in self.markers:
            self.move(message.marker_name, message.pose)


def marker(name: str, *controls: InteractiveMarkerControl, **fields: Any) -> InteractiveMarker:
    """Return a marker in ``world`` with a box of 10 cm."""
    box = Marker(type=Marker.CUBE)
    box.scale.x = box.scale.y = box.scale.z = 0.1
    box.color.r = box.color.a = 1.0
    shown = InteractiveMarkerControl(name="box", always_visible=True, markers=[box])
    made = InteractiveMarker(name=name, scale=0.3, controls=[shown, *controls], **fields)
    made.header.frame_id = made.header.frame_id or "world"
    return made


def control(name: str, mode: int, turn: Sequence[float] = (), **fields: Any) -> Any:
    """Return a control whose x axis is turned by a quaternion xyzw."""
    x, y, z, w = turn or (0.0, 0.0, 0.0, 1.0)
    orientation = Quaternion(x=x, y=y, z=z, w=w)
    return InteractiveMarkerControl(
        name=name, interaction_mode=mode, orientation=orientation, **fields
    )


def six_axes() -> list[InteractiveMarkerControl]:
    """Return controls that move along and rotate about three axes."""
    turns = {"x": (), "z": (0.0, -HALF, 0.0, HALF), "y": (0.0, 0.0, HALF, HALF)}
    modes = {
        "move": InteractiveMarkerControl.MOVE_AXIS,
        "rotate": InteractiveMarkerControl.ROTATE_AXIS,
    }
    return [
        control(f"{verb}_{axis}", mode, turn)
        for verb, mode in modes.items()
        for axis, turn in turns.items()
    ]


def goal_marker() -> InteractiveMarker:
    """Return a marker as of a goal of planning: six axes, a button and a menu."""
    press = control("go", InteractiveMarkerControl.BUTTON, description="Plan and go")
    return marker(
        "goal",
        *six_axes(),
        press,
        control("menu", InteractiveMarkerControl.MENU),
        description="Goal of the gripper",
        pose=Pose(position=Point(x=0.45, y=0.1, z=0.4)),
        menu_entries=[
            MenuEntry(id=1, title="Speed"),
            MenuEntry(id=2, parent_id=1, title="Slow"),
            MenuEntry(id=3, parent_id=1, title="Fast"),
            MenuEntry(id=4, title="Run a program", command_type=MenuEntry.ROSRUN, command="a b"),
        ],
    )


def planner() -> Node:
    """Return a node that serves the marker of a goal."""
    node = rclpy.create_node("planner")
    MarkerServer(node, "/planner").add(goal_marker())
    return node


if __name__ == "__main__":
    signalled_program.run(planner)
