"""The planning scene: the environment of a chain."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldObject:
    """A free object in the hand, which moves with the tool.

    Attributes:
        object: Its name.
        pose: Its pose in the tool's frame.
    """

    object: str
    pose: Pose


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanningScene:
    """Poses of everything outside a chain, and the allowed collisions.

    Attributes:
        objects: Poses in ``world`` of free objects by name, as in an `Observation`. Other objects
            have the poses of the model.
        joints: Positions of joints outside the chain, such as fingers [rad or m].
        held: The object in the hand.
        allowed: Pairs that may touch: names of geoms, of bodies, or of robots and objects of the
            scene, which stand for all of their geoms.
        margin: Minimum distance of the chain and its held object to all other bodies [m], but not
            to each other.
    """

    objects: Mapping[str, Pose] = field(default_factory=dict)
    joints: Mapping[str, float] = field(default_factory=dict)
    held: HeldObject | None = None
    allowed: tuple[tuple[str, str], ...] = ()
    margin: float = 0.005

    def __post_init__(self) -> None:
        """Reject margins out of range, and NaN and infinity, which would disable collisions."""
        if not 0.0 < self.margin < 1.0:
            raise UserInputError(f"margin must be more than 0 and less than 1 m, got {self.margin}")
        for name, pose in self.objects.items():
            pose.check(f"'{name}'")
        if self.held is not None:
            self.held.pose.check(f"'{self.held.object}' in the hand")
        for name, position in self.joints.items():
            if not isfinite(position):
                raise UserInputError(f"joint '{name}' must be a finite number, got {position}")
