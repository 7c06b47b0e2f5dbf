"""MuJoCo's physics options by the names in a scene, made from the engine's own struct.

Options and flags of a later MuJoCo appear by themselves.
"""

from collections.abc import Iterator, Mapping
from dataclasses import fields, make_dataclass
from types import GenericAlias
from typing import Any, Literal

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.limits import MAX_ITERATIONS

FLAG = "flag"
GROUPS = "actuatorgroupdisable"
_GROUPS_FIELD = "disableactuator"
_LAST_GROUP = 30

_SPELLING = {word.upper(): word for word in ("Euler", "RK4", "PGS", "CG", "Newton")}


def _choices(enum: Any) -> dict[str, int]:
    """Return the values of an enum by their words in MJCF."""
    words = ((name.partition("_")[2], value) for name, value in enum.__members__.items())
    return {_SPELLING.get(word, word.lower()): int(value) for word, value in words}


CHOICES: dict[str, dict[str, int]] = {
    "integrator": _choices(mujoco.mjtIntegrator),
    "cone": _choices(mujoco.mjtCone),
    "solver": _choices(mujoco.mjtSolver),
    "jacobian": _choices(mujoco.mjtJacobian),
}
"""MuJoCo's value of each choice of an option."""


def _bits(field: str, enum: Any, prefix: str) -> dict[str, tuple[str, int]]:
    return {
        name.removeprefix(prefix).lower(): (field, int(value))
        for name, value in enum.__members__.items()
        if name.startswith(prefix)
    }


_DISABLED, _ENABLED = "disableflags", "enableflags"
FLAGS: dict[str, tuple[str, int]] = {
    **_bits(_DISABLED, mujoco.mjtDisableBit, "mjDSBL_"),
    **_bits(_ENABLED, mujoco.mjtEnableBit, "mjENBL_"),
}
"""Field and bit of each flag."""
del FLAGS["autoreset"]  # the simulator resets to the keyframe and reports it

_DEFAULTS = mujoco.MjSpec().option
_NUMBERS = [
    name
    for name in dir(_DEFAULTS)
    if not name.startswith("_") and name not in (*CHOICES, _DISABLED, _ENABLED, _GROUPS_FIELD)
]
UNITS = {
    "timestep": "s",
    "gravity": "m/s²",
    "wind": "m/s",
    "density": "kg/m³; air has 1.2, water 1000",
    "viscosity": "kg/(ms); air has 1.8e-5, water 9e-4",
    "magnetic": "unit of the magnetometers",
    "o_margin": "m",
    "sleep_tolerance": "m/s",
}
_LARGEST = 1e9
_BOUNDS = {"timestep": (1e-5, 0.1), "impratio": (1e-9, _LARGEST)}


def bounds(name: str) -> tuple[float, float]:
    """Return the smallest and the largest value of an option, or of each of its numbers."""
    value = getattr(_DEFAULTS, name)
    if isinstance(value, int):
        return 0, MAX_ITERATIONS
    return _BOUNDS.get(name, (0.0 if isinstance(value, float) else -_LARGEST, _LARGEST))


def _check(physics: "PhysicsConfig") -> None:
    """Reject values that the engine does not check."""
    for name in _NUMBERS:
        value = getattr(physics, name)
        if value is None:
            continue
        low, high = bounds(name)
        numbers = value if isinstance(value, tuple) else (value,)
        if not all(low <= number <= high for number in numbers):
            shown = list(value) if isinstance(value, tuple) else value
            unit = f" [{UNITS[name]}]" if name in UNITS else ""
            raise UserInputError(f"'{name}' must be from {low:g} to {high:g}{unit}, got {shown}")
    _mask(physics.actuatorgroupdisable or "")


def _mask(groups: str) -> int:
    """Return the bits of groups of actuators."""
    numbers = groups.split()
    if any(number not in map(str, range(_LAST_GROUP + 1)) for number in numbers):
        raise UserInputError(
            f"'{GROUPS}' must be numbers of groups from 0 to {_LAST_GROUP} with spaces, "
            f"such as '1 4', got '{groups}'"
        )
    return sum(1 << number for number in {int(number) for number in numbers})


def _kind(name: str) -> Any:
    value = getattr(_DEFAULTS, name)
    return (
        GenericAlias(tuple, (float,) * len(value)) if isinstance(value, np.ndarray) else type(value)
    )


_FlagConfig: Any = make_dataclass(
    "FlagConfig",
    [(name, bool | None, None) for name in FLAGS],
    frozen=True,
    kw_only=True,
    slots=True,
)
_Options: Any = make_dataclass(
    "PhysicsConfig",
    [
        *((name, _kind(name) | None, None) for name in _NUMBERS),
        *((name, Literal[tuple(words)] | None, None) for name, words in CHOICES.items()),
        (GROUPS, str | None, None),
        (FLAG, _FlagConfig, _FlagConfig()),
    ],
    namespace={"__post_init__": _check},
    frozen=True,
    kw_only=True,
    slots=True,
)


class PhysicsConfig(_Options):
    """MuJoCo options that override the options of the world; None keeps the world's value.

    Fields are the attributes of MJCF's ``option``; ``flag`` has a bool for each flag.
    """

    __slots__ = ()

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> "PhysicsConfig":
        """Return the options with values by name, such as ``"flag.contact"``."""
        start = f"{FLAG}."
        flags = {
            name.removeprefix(start): v for name, v in values.items() if name.startswith(start)
        }
        others = {name: v for name, v in values.items() if not name.startswith(start)}
        return cls(**others, flag=_FlagConfig(**flags))

    def values(self) -> dict[str, Any]:
        """Return the values that are not None, by name, as for `of`."""
        return dict(self._items())

    def _items(self) -> Iterator[tuple[str, Any]]:
        for field in fields(self):
            if field.name != FLAG and (value := getattr(self, field.name)) is not None:
                yield field.name, value
        for name in FLAGS:
            if (value := getattr(self.flag, name)) is not None:
                yield f"{FLAG}.{name}", value


def read_options(option: Any) -> PhysicsConfig:
    """Return all options of ``MjModel.opt`` or ``MjSpec.option``."""
    values = {name: _plain(getattr(option, name)) for name in _NUMBERS}
    for name, words in CHOICES.items():
        values[name] = next(w for w, value in words.items() if value == int(getattr(option, name)))
    groups = range(_LAST_GROUP + 1)
    mask = getattr(option, _GROUPS_FIELD)
    values[GROUPS] = " ".join(str(group) for group in groups if mask & 1 << group)
    for name, (field, bit) in FLAGS.items():
        values[f"{FLAG}.{name}"] = bool(getattr(option, field) & bit) == (field == _ENABLED)
    return PhysicsConfig.of(values)


def write_options(option: Any, physics: PhysicsConfig) -> None:
    """Write the options that are not None to ``MjModel.opt`` or ``MjSpec.option``."""
    for name, value in physics.values().items():
        flag = name.removeprefix(f"{FLAG}.")
        if name in CHOICES:
            setattr(option, name, CHOICES[name][value])
        elif name == GROUPS:
            setattr(option, _GROUPS_FIELD, _mask(value))
        elif flag != name:
            field, bit = FLAGS[flag]
            bits = getattr(option, field)
            setattr(option, field, bits | bit if value == (field == _ENABLED) else bits & ~bit)
        else:
            setattr(option, name, value)


def _plain(value: Any) -> Any:
    return tuple(map(float, value)) if isinstance(value, np.ndarray) else value
