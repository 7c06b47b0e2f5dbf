"""Reads messages about interactive markers, and refuses what cannot be drawn or moved."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from visualization_msgs.msg import InteractiveMarker, InteractiveMarkerControl, MenuEntry

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose
from mujoco_ros.viewer.marker_descriptions import (
    ControlOrientation,
    InteractionMode,
    InteractiveMarkerInfo,
    MarkerControl,
    MarkerMenuEntry,
    default_count,
)
from mujoco_ros.viewer.message_shapes import Attachment, Shape, printable
from mujoco_ros.viewer.ros.drawn_messages import marker_shapes, pose_of

_MOST_CONTROLS, _MOST_ENTRIES, _MOST_SHAPES = 50, 200, 500
"""Controls, entries of the menu and shapes of a marker."""
_DEEPEST = 10  # levels of a menu
_LONGEST_NAME, _LONGEST_TEXT = 200, 300
"""Most characters of a name, and of a text that is shown."""
_LARGEST = 1e6  # largest coordinate and scale [m]


def marker_info(message: InteractiveMarker) -> InteractiveMarkerInfo:
    """Return the description of a marker, if its name, frame, pose, scale and size are valid."""
    name = message.name
    if not 0 < len(name) <= _LONGEST_NAME:
        raise UserInputError(f"a marker needs a name of 1 to {_LONGEST_NAME} characters")
    what = f"marker '{shown_text(name)}'"
    pose = checked_pose(message, what)
    scale = float(message.scale) or 1.0
    if not 0.0 < scale <= _LARGEST:
        raise UserInputError(f"{what} needs a scale of up to {_LARGEST:g}, got {scale}")
    for count, most, items in (
        (len(message.controls), _MOST_CONTROLS, "controls"),
        (len(message.menu_entries), _MOST_ENTRIES, "entries in its menu"),
    ):
        if count > most:
            raise UserInputError(f"{what} has {count} {items}; at most {most} are possible")
    attachment = Attachment(frame=message.header.frame_id, pose=pose)
    controls = tuple(_control(control, attachment, what) for control in message.controls)
    count = sum(
        default_count(control) + len(control.shapes) + len(control.placed) for control in controls
    )
    if count > _MOST_SHAPES:
        raise UserInputError(f"{what} has {count} shapes; at most {_MOST_SHAPES} are possible")
    return InteractiveMarkerInfo(
        name=name,
        description=shown_text(message.description),
        frame=message.header.frame_id,
        pose=pose,
        initial_quat=pose.quat_wxyz,
        scale=scale,
        controls=controls,
        menu=_menu(message.menu_entries, what),
    )


def checked_pose(message: Any, what: str) -> Pose:
    """Return the pose of a message with a header; an error begins with `what`."""
    if not 0 < len(message.header.frame_id) <= _LONGEST_NAME:
        raise UserInputError(f"{what} needs a frame of 1 to {_LONGEST_NAME} characters")
    pose = pose_of(message.pose)
    pose.check(what)
    if np.abs(pose.position).max() > _LARGEST:
        raise UserInputError(f"{what} is farther than {_LARGEST:g} m away")
    return replace(pose, quat_wxyz=pose.quat_wxyz / np.linalg.norm(pose.quat_wxyz))


def shown_text(text: str) -> str:
    """Return a text as it is displayed, on one or more lines, and not too long."""
    return printable(text[:_LONGEST_TEXT], keep="\n")


def _control(message: InteractiveMarkerControl, attachment: Attachment, what: str) -> MarkerControl:
    name = f"control '{shown_text(message.name)}' of {what}"
    if len(message.name) > _LONGEST_NAME:
        raise UserInputError(f"{what} has a control whose name is too long")
    try:
        mode = InteractionMode(message.interaction_mode)
        orientation = ControlOrientation(message.orientation_mode)
    except ValueError as error:
        raise UserInputError(f"{name} has an unknown mode: {error}") from None
    q = message.orientation
    quat = np.array([q.w, q.x, q.y, q.z])
    axes = Pose(quat_wxyz=quat if quat.any() else Pose().quat_wxyz)
    axes.check(name)
    shapes: list[Shape] = []
    placed: list[Shape] = []
    for marker in message.markers:
        frame = marker.header.frame_id
        found = marker_shapes(marker)
        if not frame:
            shapes += found
        elif frame.removeprefix("/") == attachment.frame.removeprefix("/"):
            inverse = attachment.pose.inverse()
            shapes += (each.turned(inverse.matrix, inverse.position, "") for each in found)
        else:
            placed += found
        if len(shapes) + len(placed) > _MOST_SHAPES:
            raise UserInputError(f"{what} has more than {_MOST_SHAPES} shapes")
    return MarkerControl(
        name=message.name,
        description=shown_text(message.description),
        mode=mode,
        orientation=orientation,
        quat_wxyz=axes.quat_wxyz / np.linalg.norm(axes.quat_wxyz),
        shapes=tuple(shapes),
        placed=tuple(placed),
        attachment=attachment,
        is_bare=not message.markers,
    )


def _menu(entries: Sequence[MenuEntry], what: str) -> tuple[MarkerMenuEntry, ...]:
    """Return the entries at the top of a menu, with those below them."""
    numbers = [entry.id for entry in entries]
    if 0 in numbers or len(set(numbers)) < len(numbers):
        raise UserInputError(f"{what} has entries in its menu with the same id, or with id 0")
    children: dict[int, list[MenuEntry]] = {}
    for entry in entries:
        children.setdefault(entry.parent_id, []).append(entry)
    count = 0

    def below(parent: int, depth: int) -> Iterator[MarkerMenuEntry]:
        nonlocal count
        for child in children.get(parent, ()) if depth else ():
            count += 1
            yield MarkerMenuEntry(
                number=child.id,
                title=shown_text(child.title),
                is_selectable=child.command_type == MenuEntry.FEEDBACK,
                entries=tuple(below(child.id, depth - 1)),
            )

    menu = tuple(below(0, _DEEPEST))
    if count < len(entries):
        raise UserInputError(
            f"{what} has entries in its menu whose parents are unknown, or deeper than {_DEEPEST}"
        )
    return menu
