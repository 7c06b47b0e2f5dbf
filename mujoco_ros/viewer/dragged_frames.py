"""Frames with handles in the scene, and who is told when the user drags them."""

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.scene.entries import HandleEntry
from mujoco_ros.viewer.scene.inputs import HandleDragged


class HandleOwner(Protocol):
    """Has frames that can be dragged."""

    def entries(self) -> Iterator[HandleEntry]:
        """Yield the frames; called once a frame of the scene."""

    def drag(self, frame: str, handle: str, pose: Pose) -> None:
        """Move a frame by a handle, to a pose in the world; called again while it is held."""

    def release(self) -> None:
        """End the motion."""


class DraggedFrames:
    """The frames of all owners, and the drag of one of them."""

    def __init__(self, owners: Sequence[HandleOwner]) -> None:
        self._owners = owners
        self._of: dict[str, HandleOwner] = {}  # owner of each frame by its name
        self._held: tuple[HandleOwner, HandleDragged] | None = None

    def entries(self) -> list[HandleEntry]:
        """Return the frames with their handles."""
        found = {entry.name: (owner, entry) for owner in self._owners for entry in owner.entries()}
        self._of = {name: owner for name, (owner, _) in found.items()}
        return [entry for _, entry in found.values()]

    def drag(self, given: HandleDragged) -> None:
        """Move a frame; one that is not there any more is left alone."""
        owner = self._of.get(given.frame)
        if owner is None:
            self.release()
            return
        if self._held is not None and self._held[0] is not owner:
            self.release()
        self._held = owner, given
        self.repeat()

    def repeat(self) -> None:
        """Tell the owner of the frame that is held that it still is."""
        if self._held is not None:
            owner, given = self._held
            owner.drag(given.frame, given.handle, _pose(given))

    def release(self) -> None:
        """End the drag."""
        held, self._held = self._held, None
        if held is not None:
            held[0].release()


def _pose(given: HandleDragged) -> Pose:
    """Return the pose of the frame after a drag."""
    return Pose(position=np.array(given.position), quat_wxyz=np.array(given.quat_wxyz))
