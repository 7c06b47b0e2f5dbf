"""Random numbers of elements, drawn from ranges by name or pattern of parameters."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import NamedTuple

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.scene.random_ranges import RandomRange
from mujoco_ros.sim.drives import Drives
from mujoco_ros.sim.settings.element_properties import (
    Property,
    Value,
    check_properties,
    get_property,
)
from mujoco_ros.sim.settings.property_names import PropertyNames


class Draw(NamedTuple):
    """A property, its parameter, its numbers in the scene, and how they are drawn."""

    which: Property
    label: str
    base: Value
    random: RandomRange


def random_draws(
    model: mujoco.MjModel,
    layout: ModelLayout,
    drives: Drives,
    ranges: Mapping[str, RandomRange],
) -> tuple[Draw, ...]:
    """Return what is drawn from ranges by name or pattern of parameters, in any thread.

    Raises:
        UserInputError: A name is unknown, or a number could be invalid.
    """
    if not ranges:
        return ()
    draws: list[Draw] = []
    names = PropertyNames(model, layout, drives)
    for pattern, random in ranges.items():
        # A name may have brackets, which are a set of characters in a pattern.
        found = [name for name in names if name == pattern or fnmatchcase(name, pattern)]
        if not found:
            close = get_close_matches(pattern, names, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise UserInputError(f"randomize: no parameter is named '{pattern}'{hint}")
        for name in found:
            names.check_name(name)
            draws.append(Draw(names[name], name, get_property(model, names[name]), random))
    lowest, highest = ({draw.which: drawn(draw, end)[0] for draw in draws} for end in (min, max))
    for draw in draws:
        low, high = lowest[draw.which], highest[draw.which]
        for end in (low, high):
            _check_range(draw, end)
        if draw.which.row.limited and draw.base != low == high and len({*low}) == 1:
            raise UserInputError(
                f"randomize: parameter '{draw.label}' would always be {list(low)}, and two "
                "equal numbers are no limit; give a range of different numbers"
            )
    for ends in (lowest, highest):
        check_properties(model, ends, {draw.which: draw.label for draw in draws})
    for which, label, *_ in draws:
        times = [ends[which][0] > 0.0 for ends in (lowest, highest)]
        if which.attribute.startswith("solref") and times[0] != times[1]:
            raise UserInputError(
                f"randomize: parameter '{label}' could be a time constant and a damping ratio, or "
                "-stiffness and -damping; give ranges of one of both"
            )
    return tuple(draws)


def drawn(draw: Draw, uniform: Callable[[float, float], float]) -> tuple[Value, float]:
    """Return the numbers, and the one that tells the most about them."""
    random, base = draw.random, draw.base
    if draw.which.row.limited and base[0] == base[1] and random.range is None:
        return base, base[0]  # what has no limits gets none
    if random.scale is not None:
        factor = float(uniform(*random.scale))
        return tuple(factor * number for number in base), factor
    if random.range is not None:
        value = tuple(float(uniform(*random.range)) for _ in base)
    else:
        assert random.add is not None
        value = tuple(number + float(uniform(*random.add)) for number in base)
    if draw.which.row.limited:
        value = tuple(sorted(value))
    return value, value[0]


def _check_range(draw: Draw, value: Value) -> None:
    row = draw.which.row
    if draw.which.attribute == "inertia" and draw.random.scale is None:
        raise UserInputError(
            f"randomize: parameter '{draw.label}' is drawn by 'scale' only: of three moments of "
            "inertia, none exceeds the sum of the others"
        )
    if not all(row.low <= number <= row.high for number in value):
        raise UserInputError(
            f"randomize: parameter '{draw.label}' could be {[float(f'{n:g}') for n in value]}; it "
            f"is from {row.low:g} to {row.high:g}"
        )
