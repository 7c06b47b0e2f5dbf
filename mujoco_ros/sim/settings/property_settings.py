"""Numbers of elements that were set while a model runs: names, originals, random draws."""

from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.scene.random_ranges import RandomRange
from mujoco_ros.sim.drives import Drives
from mujoco_ros.sim.settings.element_properties import (
    Property,
    Value,
    check_properties,
    element,
    elements,
    get_property,
)

_OF_MOTORS = ("kp", "kv", "gainprm", "biasprm", "ctrlrange")
"""Properties of actuators that torque motors lack, since they are PD servos in the engine."""


def element_parameter(layout: ModelLayout, kind: str, element: str, *rest: str) -> str:
    """Return the name of the parameter of an element, by its name in the model.

    Parameters of a robot begin with its namespace, parameters of an object with its name.
    """
    namespace, name = "", element
    for robot in layout.robots:
        if robot.prefix and element.startswith(robot.prefix):
            namespace, name = robot.namespace, element.removeprefix(robot.prefix)
    parts = (namespace, kind, name, *rest)
    return ".".join(name.replace("/", ".") for name in parts if name)


class PropertyNames(Mapping[str, Property]):
    """The properties of the elements of a model by the names of their parameters."""

    def __init__(self, model: mujoco.MjModel, layout: ModelLayout, drives: Drives) -> None:
        self.labels: dict[Property, str] = {}  # the names of their parameters
        self._found: dict[str, Property] = {}
        self._shared: dict[str, list[str]] = {}  # elements with one parameter, by its beginning
        motors = {model.actuator(a).name for j in drives.servo_joints for a in drives.actuators(j)}
        starts: dict[str, str] = {}
        for kind, name, names in elements(model):
            start = element_parameter(layout, kind, name)
            if start in starts:
                self._shared.setdefault(start, [starts[start]]).append(name)
            starts.setdefault(start, name)
            for attribute in names:
                if not (kind == "actuator" and name in motors and attribute in _OF_MOTORS):
                    which = Property(kind, name, attribute)
                    self.labels[which] = label = f"{start}.{attribute}"
                    self._found.setdefault(label, which)

    def __getitem__(self, name: str) -> Property:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def check_name(self, name: str) -> None:
        """Reject the parameter of several elements, whose names differ only by ``/`` and ``.``."""
        shared = self._shared.get(name.rpartition(".")[0])
        if shared is not None:
            listed = " and ".join(f"'{element}'" for element in shared)
            raise UserInputError(
                f"parameter '{name}' belongs to {len(shared)} elements of the model, {listed}; "
                "rename all but one of them"
            )


class Draw(NamedTuple):
    """A property, its parameter, its numbers in the scene, and how they are drawn."""

    which: Property
    label: str
    base: Value
    random: RandomRange


class PropertySettings:
    """The one owner of numbers of elements that differ from the scene, for the plant's thread.

    A reset draws the random ones again, and restores the others if `is_restored`.
    """

    def __init__(self, seed: int) -> None:
        """Draw random numbers by a seed."""
        self.is_restored = False
        # What was set, and the numbers before that, in the order of the first sets
        self.present: dict[Property, Value] = {}
        self.originals: dict[Property, Value] = {}
        # What a saved model has: in addition, what was set at the start
        self.saved: dict[Property, Value] = {}
        self.drawn: dict[str, float] = {}  # first number, or factor, of the last draw by parameter
        self.draws: tuple[Draw, ...] = ()  # of each reset
        self._random = np.random.default_rng((seed, 43))

    def note(self, model: mujoco.MjModel, values: Mapping[Property, Value]) -> None:
        """Note the numbers of properties of `model` before these values are set."""
        for which in values:
            if which not in self.originals and element(model, which) >= 0:
                self.originals[which] = get_property(model, which)
        self.present |= values

    def follow(self, model: mujoco.MjModel, *, fresh: bool) -> None:
        """Forget what another model lacks, or everything with `fresh`."""
        kept = [w for w in self.originals if not fresh and element(model, w) >= 0]
        self.originals = {which: self.originals[which] for which in kept}
        self.present = {which: self.present[which] for which in kept}
        self.saved = {
            which: value
            for which, value in self.saved.items()
            if not fresh and element(model, which) >= 0
        }
        self.draws = tuple(draw for draw in self.draws if element(model, draw.which) >= 0)

    def restored(self, saved: Mapping[Property, Value]) -> dict[Property, Value]:
        """Return what to set for a state that was saved; nothing unless `is_restored`."""
        return {**self.originals, **saved} if self.is_restored else {}

    def draw(self) -> dict[Property, Value]:
        """Return new random numbers."""
        values: dict[Property, Value] = {}
        for draw in self.draws:
            values[draw.which], self.drawn[draw.label] = _drawn(draw, self._random.uniform)
        return values


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
        found = [name for name in names if fnmatchcase(name, pattern)]
        if not found:
            close = get_close_matches(pattern, names, n=1)
            hint = f"; did you mean '{close[0]}'?" if close else ""
            raise UserInputError(f"randomize: no parameter is named '{pattern}'{hint}")
        for name in found:
            names.check_name(name)
            draws.append(Draw(names[name], name, get_property(model, names[name]), random))
    lowest, highest = ({draw.which: _drawn(draw, end)[0] for draw in draws} for end in (min, max))
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


def _drawn(draw: Draw, uniform: Callable[[float, float], float]) -> tuple[Value, float]:
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
