"""Random numbers of elements, drawn from ranges by name or pattern of parameters."""

import logging
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import NamedTuple

import mujoco

from mujoco_ros.model.errors import UserInputError, counted
from mujoco_ros.model.naming import matches
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

_LOG = logging.getLogger(__name__)
_MOST_NAMED = 10


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
    where: str,
) -> tuple[Draw, ...]:
    """Return what is drawn from ranges by name or pattern of parameters, in any thread.

    Raises:
        UserInputError: A name is unknown, or a number could be invalid; `where` begins the message.
    """
    if not ranges:
        return ()
    try:
        draws = _checked_draws(model, layout, drives, ranges)
    except UserInputError as error:
        raise UserInputError(f"{where}: randomize: {error}") from error
    names = ", ".join(draw.label for draw in draws[:_MOST_NAMED])
    more = ", …" if len(draws) > _MOST_NAMED else ""
    _LOG.info(
        "%s: %s drawn now and at each reset: %s%s",
        *(where, counted(len(draws), "random number"), names, more),
    )
    return draws


def _checked_draws(
    model: mujoco.MjModel, layout: ModelLayout, drives: Drives, ranges: Mapping[str, RandomRange]
) -> tuple[Draw, ...]:
    chosen: dict[Property, Draw] = {}  # of several ranges for a property, the last one counts
    names = PropertyNames(model, layout, drives)
    for pattern, random in ranges.items():
        found = [name for name in names if matches(name, pattern)]
        if not found:
            close = get_close_matches(pattern, names, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise UserInputError(f"no parameter is named '{pattern}'{hint}")
        for name in found:
            names.check_name(name)
            which = names[name]
            chosen[which] = Draw(which, name, get_property(model, which), random)
    draws = tuple(chosen.values())
    lowest, highest = ({draw.which: drawn(draw, end)[0] for draw in draws} for end in (min, max))
    for draw in draws:
        low, high = lowest[draw.which], highest[draw.which]
        for end in (low, high):
            _check_range(draw, end)
        if draw.which.row.limited and draw.base != low == high and len({*low}) == 1:
            raise UserInputError(
                f"parameter '{draw.label}' would always be {list(low)}, and two "
                "equal numbers are no limit; give a range of different numbers"
            )
    for ends in (lowest, highest):
        check_properties(model, ends, {draw.which: draw.label for draw in draws})
    for which, label, *_ in draws:
        times = [ends[which][0] > 0.0 for ends in (lowest, highest)]
        if which.attribute.startswith("solref") and times[0] != times[1]:
            raise UserInputError(
                f"parameter '{label}' could be a time constant and a damping ratio, or "
                "-stiffness and -damping; give ranges of one of both"
            )
    return draws


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
            f"parameter '{draw.label}' is drawn by 'scale' only: of three moments of "
            "inertia, none exceeds the sum of the others"
        )
    if not all(row.low <= number <= row.high for number in value):
        raise UserInputError(
            f"parameter '{draw.label}' could be {[float(f'{n:g}') for n in value]}; it "
            f"is from {row.low:g} to {row.high:g}"
        )
