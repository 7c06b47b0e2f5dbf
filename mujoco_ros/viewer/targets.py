"""Targets: named frames that are dragged in the scene and published."""

from collections.abc import Iterator

from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.clients import Request
from mujoco_ros.viewer.ros.commands import CommandPublisher
from mujoco_ros.viewer.scene.entries import HandleEntry

_PREFIX = "target/"  # of the names of their handles


class Targets:
    """The targets of a viewer; each has a topic of its own."""

    def __init__(self, commands: CommandPublisher) -> None:
        self.poses: dict[str, Pose] = {}  # pose of each target in the world by its name
        self.request: Request | None = None  # the last message
        self._commands = commands

    def put(self, name: str, pose: Pose) -> None:
        """Create or move a target, and publish it."""
        self.poses[name] = pose
        self.request = self._commands.publish_target(name, pose.position, pose.quat_wxyz)

    def remove(self, name: str) -> None:
        """Remove a target with its topic."""
        if self.poses.pop(name, None) is not None:
            self._commands.remove_target(name)

    def same_topic(self, name: str) -> str:
        """Return the target whose topic a target named `name` would share; empty if none."""
        token = topic_token(name)
        return next((other for other in self.poses if topic_token(other) == token), "")

    def next_name(self, name: str) -> str:
        """Return a free name with a number, after a name that is taken."""
        stem = name.rstrip("0123456789")
        number = 2
        while self.same_topic(f"{stem}{number}"):
            number += 1
        return f"{stem}{number}"

    def entries(self) -> Iterator[HandleEntry]:
        """Yield the frames with their handles."""
        for name, pose in self.poses.items():
            yield HandleEntry(name=f"{_PREFIX}{name}", label=name, pose=pose)

    def drag(self, frame: str, _handle: str, pose: Pose) -> None:
        """Move a target to where it is dragged."""
        name = frame.removeprefix(_PREFIX)
        if name in self.poses and not pose.equals(self.poses[name]):
            self.put(name, pose)

    def release(self) -> None:
        """Do nothing: a target stays where it is."""
