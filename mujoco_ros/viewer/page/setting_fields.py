"""Fields for parameters: of the panel "Parameters", and of the panels that nodes declare."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from math import floor, isfinite, log10
from typing import Any

from nicegui.element import Element

from mujoco_ros.viewer.clients import ParameterInfo
from mujoco_ros.viewer.entered_angles import EnteredAngles
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.pose_fields import PoseFields
from mujoco_ros.viewer.page.widgets import Widget

Change = Callable[[Any], object]
Show = Callable[[Any], object]
_WIDEST_SLIDER = 1e4  # difference of limits; the numbers of a wider one would jump
_POSE = 7  # numbers of a pose: position and quaternion (xyzw)
_MOST_NUMBERS = 12


class SettingElements:
    """The elements for a parameter, which show what was entered until there is time to arrive."""

    def __init__(
        self, controls: Sequence[Widget], show: Show, choices: list[str] | None = None
    ) -> None:
        """Show values by a function, which may read the `choices`."""
        self.controls, self._show, self._choices = controls, show, choices

    def show(self, value: Any) -> None:
        """Show a value, unless a number of it has just been entered: others may follow."""
        if not any(control.is_held for control in self.controls):
            self._show(value)

    def set_choices(self, choices: Sequence[str]) -> None:
        """Set the alternatives of a choice, which the next `show` offers."""
        if self._choices is not None:
            self._choices[:] = choices

    def enable(self, condition: bool, tip: str = "") -> None:
        """Enable it if the condition holds; `tip` says why it does not."""
        for control in self.controls:
            control.enable(condition)
            if tip:
                control.set(tip=tip)


def setting_field(
    kind: str,
    name: str,
    info: ParameterInfo,
    change: Change,
    *,
    tip: str = "",
    choices: Sequence[str] = (),
    with_slider: bool = True,
) -> SettingElements | None:
    """Create the field of a parameter; None if its kind or the type of its value has none.

    Args:
        kind: As in `FieldInfo`.
        name: Its name for screen readers.
        info: The parameter as it is now.
        change: Gets the value that was entered.
        tip: What it is.
        choices: Alternatives of a choice.
        with_slider: Whether a number between two limits gets a slider.
    """
    build, accepted = _KINDS.get(kind, (None, ()))
    if build is None or not isinstance(info.value, accepted):
        return None
    return build(_Wanted(name, info, change, tip, tuple(choices), with_slider))


def kind_of(info: ParameterInfo) -> str:
    """Return the kind of the field of a parameter that no panel declares; empty without one."""
    value = info.value
    if info.choices:
        return "choice"
    if isinstance(value, tuple):
        return "vector" if value and all(type(number) is float for number in value) else ""
    kinds = {bool: "check_box", int: "integer", float: "number", str: "text"}
    return kinds.get(type(value), "")


@dataclass(frozen=True)
class _Wanted:
    """What the field of a parameter is to be; see `setting_field`."""

    name: str
    info: ParameterInfo
    change: Change
    tip: str
    choices: tuple[str, ...]
    with_slider: bool

    @property
    def limits(self) -> tuple[float, float] | None:
        """The limits of its slider; None if it gets none."""
        low, high = self.info.low, self.info.high
        if not self.with_slider or low is None or high is None:
            return None
        return (low, high) if 0.0 < high - low <= _WIDEST_SLIDER else None


def _check_box(wanted: _Wanted) -> SettingElements:
    value = bool(wanted.info.value)
    control = widgets.check("", value, wanted.change, name=wanted.name, tip=wanted.tip)
    return SettingElements([control], lambda value: control.set(value=bool(value)))


def _choice(wanted: _Wanted) -> SettingElements:
    value, choices = wanted.info.value, list(wanted.choices)
    items = _items(choices, value)
    control = widgets.choice(wanted.name, items, value, wanted.change, tip=wanted.tip)

    def show(value: str) -> None:
        control.set(items=_items(choices, value), value=value)

    return SettingElements([control], show, choices)


def _text(wanted: _Wanted) -> SettingElements:
    value = wanted.info.value
    control = widgets.text_field(wanted.name, wanted.change, value=value, tip=wanted.tip)
    return SettingElements([control], lambda value: control.set(value=value))


def _integer(wanted: _Wanted) -> SettingElements:
    def change(value: float) -> None:
        wanted.change(int(_within(round(value), wanted.info)))

    return _number_of(wanted, change, digits=0, step=1.0)


def _number(wanted: _Wanted) -> SettingElements:
    def change(value: float) -> None:
        wanted.change(_within(value, wanted.info))

    digits, step = 3, _step(wanted.info.value)
    if wanted.limits is not None:
        low, high = wanted.limits
        magnitude = floor(log10(high - low))
        digits, step = min(max(3 - magnitude, 0), 9), 10.0 ** (magnitude - 1)
    return _number_of(wanted, change, digits=digits, step=step)


def _number_of(wanted: _Wanted, change: Change, *, digits: int, step: float) -> SettingElements:
    name, info = wanted.name, wanted.info
    if wanted.limits is not None:
        low, high = wanted.limits
        slider = widgets.slider(
            name,
            info.value,
            change,
            low=low,
            high=high,
            digits=digits,
            step=step,
            late=True,
            tip=wanted.tip,
        )
        return SettingElements([slider], slider.show)
    field = widgets.number_field(
        name, info.value, change, low=info.low, high=info.high, step=step, tip=wanted.tip
    )
    return SettingElements([field], field.show)


def _vector(wanted: _Wanted) -> SettingElements | None:
    numbers = list(wanted.info.value)
    if len(numbers) > _MOST_NUMBERS or not all(isinstance(each, int | float) for each in numbers):
        return None

    def change(index: int, number: float) -> None:
        numbers[index] = number
        wanted.change(tuple(numbers))

    with Element("div").classes("numbers"):
        controls = [
            widgets.number_field(
                f"{wanted.name}[{index}]",
                number,
                partial(change, index),
                step=_step(number),
                tip=wanted.tip,
            )
            for index, number in enumerate(numbers)
        ]

    def show(present: Sequence[float]) -> None:
        numbers[:] = present
        for control, number in zip(controls, numbers, strict=False):
            control.show(number)

    return SettingElements(controls, show)


def _pose(wanted: _Wanted) -> SettingElements | None:
    """Create the fields of a pose, as position [m] and angles [deg]."""
    if len(wanted.info.value) != _POSE:
        return _vector(wanted)
    entered, quat, numbers = EnteredAngles(), list[float](), list[float]()

    def change(index: int, number: float) -> None:
        numbers[index] = number
        roll, pitch, yaw = numbers[3:]
        if (roll, pitch, yaw) != entered.angles(quat):
            quat[:] = entered.enter((roll, pitch, yaw))
        wanted.change((*numbers[:3], *quat))

    fields = PoseFields(change, name=wanted.name)

    def show(pose: Sequence[float]) -> None:
        quat[:] = pose[3:]
        numbers[:] = *pose[:3], *entered.angles(quat)
        fields.show(numbers)

    show(wanted.info.value)
    return SettingElements(fields.fields, show)


_KINDS: dict[str, tuple[Callable[[_Wanted], SettingElements | None], tuple[type, ...]]] = {
    "check_box": (_check_box, (bool,)),
    "choice": (_choice, (str,)),
    "text": (_text, (str,)),
    "integer": (_integer, (int,)),
    "number": (_number, (int, float)),
    "vector": (_vector, (tuple,)),
    "pose": (_pose, (tuple,)),
}


def _items(choices: Sequence[str], value: Any) -> list[str]:
    return list(choices) if value in choices else [str(value), *choices]


def _within(value: float, info: ParameterInfo) -> float:
    if info.low is not None:
        value = max(value, info.low)
    return value if info.high is None else min(value, info.high)


def _step(value: float) -> float:
    """Return a tenth of the magnitude of a number."""
    size = abs(value)
    return 10.0 ** (floor(log10(size)) - 1) if size > 1e-9 and isfinite(size) else 0.01
