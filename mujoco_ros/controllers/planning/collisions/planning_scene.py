"""What is around a chain when it moves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isfinite

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.pose import Pose


@dataclass(frozen=True, kw_only=True, slots=True)
class HeldObject:
    """A free object in the hand, which goes where the tool goes.

    Attributes:
        object: Its name.
        pose: Where it is in the tool's frame.
    """

    object: str
    pose: Pose


@dataclass(frozen=True, kw_only=True, slots=True)
class PlanningScene:
    """Where everything else is, and what may touch.

    Attributes:
        objects: Poses in ``world`` of free objects by name, as an `Observation` has them. Others
            are where the model puts them.
        joints: Positions of joints outside the chain, such as fingers [rad or m].
        held: What is in the hand.
        allowed: Pairs that may touch. A name is that of a geom, of a body, or of a robot or object
            of the scene, which stands for all of it.
        margin: Distance that the chain and what it holds keep from everything else [m]. To itself
            it keeps none.
    """

    objects: Mapping[str, Pose] = field(default_factory=dict)
    joints: Mapping[str, float] = field(default_factory=dict)
    held: HeldObject | None = None
    allowed: tuple[tuple[str, str], ...] = ()
    margin: float = 0.005

    def __post_init__(self) -> None:
        """Refuse a margin that is none, and what is nowhere: it would be in nobody's way."""
        if not 0.0 < self.margin < 1.0:
            raise UserInputError(f"margin must be more than 0 and less than 1 m, got {self.margin}")
        for name, pose in self.objects.items():
            pose.check(f"'{name}'")
        if self.held is not None:
            self.held.pose.check(f"'{self.held.object}' in the hand")
        for name, position in self.joints.items():
            if not isfinite(position):
                raise UserInputError(f"joint '{name}' must be a finite number, got {position}")
