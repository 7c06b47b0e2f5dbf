"""Force closure and friction cones of a grasp with two parallel fingers."""

from dataclasses import dataclass
from math import acos, atan, degrees

import numpy as np

from mujoco_ros.controllers.library.pick_place.measuring.object_shape import ObjectShape
from mujoco_ros.model.pose import Pose

_LEAST_OVERLAP = 0.003
"""Smallest overlap of a pad with the side of the object, along both directions [m]."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Contact:
    """Contact of a finger with an object, in the tool's frame.

    Attributes:
        position: [m]  # (3,)
        normal: Unit vector into the object.  # (3,)
    """

    position: np.ndarray
    normal: np.ndarray


@dataclass(frozen=True, kw_only=True, slots=True)
class Grasp:
    """The contacts of both fingers, or the reason why there are none.

    Attributes:
        contacts: Contacts of both fingers; empty if a pad misses the object.
        missed: Distance by which the pads miss the object [m].
    """

    contacts: tuple[Contact, ...]
    missed: float = 0.0


def grasp_contacts(held: Pose, shape: ObjectShape, pad: np.ndarray) -> Grasp:
    """Return the contacts of two pads that close along the tool's y axis.

    Args:
        held: The object in the tool's frame.
        shape: Its bounding box.
        pad: Half of the size of a pad along the tool's x and z axes [m].  # (2,)
    """
    axes = held.matrix
    across = int(np.argmax(np.abs(axes[1])))  # of the object, most parallel to the fingers' motion
    along = [it for it in range(3) if it != across]
    centre = held.position + axes @ shape.centre
    # The line on which the pads close, in the frame of the bounding box.
    start, line = axes.T @ -centre, axes[1]
    contacts, missed = [], 0.0
    for sign in (1.0, -1.0):
        side = sign * shape.half[across]
        point = start + (side - start[across]) / line[across] * line
        nearest = np.clip(point[along], -shape.half[along], shape.half[along])
        beyond = np.abs(axes[:, along] @ (point[along] - nearest))[[0, 2]]
        missed = max(missed, float(np.max(beyond - pad + _LEAST_OVERLAP)))
        point[along] = nearest
        normal = -sign * axes[:, across]
        contacts.append(Contact(position=centre + axes @ point, normal=normal))
    return Grasp(contacts=() if missed > 0.0 else tuple(contacts), missed=missed)


def closure_flaw(grasp: Grasp, friction: float) -> str:
    """Return why a grasp is not a force closure; "" if it is.

    Two contacts of soft fingers on a convex object are a force closure if the line between them is
    inside of both friction cones.

    Args:
        grasp: The contacts.
        friction: Coefficient of sliding friction.
    """
    if not grasp.contacts:
        return f"the fingers miss the object by {grasp.missed * 1e3:.0f} mm"
    first, second = grasp.contacts
    line = second.position - first.position
    length = float(np.linalg.norm(line))
    if length == 0.0:
        return "both fingers touch the same point"
    cosines = (first.normal @ line / length, -(second.normal @ line) / length)
    angle = acos(min(1.0, max(-1.0, min(cosines))))
    if angle < atan(friction):
        return ""
    return (
        f"the line between the contacts is {degrees(angle):.0f}° from a normal, outside of the "
        f"friction cone of {degrees(atan(friction)):.0f}°"
    )


def cone_flaw(mass: float, acceleration: float, force: float, friction: float) -> str:
    """Return why the weight of an object leaves the friction cones; "" if it does not.

    Args:
        mass: Mass of the object [kg].
        acceleration: Upward acceleration, gravity included [m/s²].
        force: Force of both fingers together [N].
        friction: Coefficient of sliding friction.
    """
    tangential, largest = mass * acceleration, friction * force
    if tangential <= largest:
        return ""
    return f"{mass:.2f} kg need {tangential:.1f} N of friction, and {largest:.1f} N are available"
