"""Ranges from which numbers of the elements of a scene are drawn, at the start and at resets."""

from dataclasses import dataclass, field

from mujoco_ros.model.errors import UserInputError


@dataclass(frozen=True, kw_only=True, slots=True)
class RandomRange:
    """How the numbers of a property are drawn, uniformly; exactly one key is given."""

    range: tuple[float, float] | None = None  # of each number itself
    scale: tuple[float, float] | None = None  # of one factor of all numbers
    add: tuple[float, float] | None = None  # of what is added to each number

    def __post_init__(self) -> None:
        given = [pair for pair in (self.range, self.scale, self.add) if pair is not None]
        if len(given) != 1:
            raise UserInputError("give one of 'range', 'scale' and 'add', e.g. scale: [0.8, 1.2]")
        low, high = given[0]
        if not low <= high:
            raise UserInputError(f"the range from {low:g} to {high:g} is reversed")


@dataclass(frozen=True, kw_only=True, slots=True)
class RandomRanges:
    """Ranges by name, or pattern of names, of parameters such as ``body.<name>.mass``."""

    randomize: dict[str, RandomRange] = field(default_factory=dict)
