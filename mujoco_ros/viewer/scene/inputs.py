"""What a page sends: acknowledgements, its camera, and what the user does in the scene."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

import mujoco
from pydantic import AfterValidator, BeforeValidator, Field, TypeAdapter

LARGEST = 4096
"""Most bytes of a message."""
_FAR = 1e6  # largest coordinate [m]

T = TypeVar("T")
Number = Annotated[float, Field(ge=-_FAR, le=_FAR, allow_inf_nan=False)]
Vector = tuple[Number, Number, Number]
Index = Annotated[int, Field(ge=0, le=1 << 24)]
Pixels = Annotated[int, Field(ge=16, le=4096)]
Name = Annotated[str, Field(max_length=200)]


def _normalized(quat: tuple[float, ...]) -> tuple[float, ...]:
    length = math.hypot(*quat)
    if not 0.5 < length < 2.0:
        raise ValueError("it is no unit quaternion")
    return tuple(value / length for value in quat)


def _checked(frustum: tuple[float, ...]) -> tuple[float, ...]:
    _, half_width, bottom, top, near, far = frustum
    if not 0.0 < near < far or half_width <= 0.0 or top <= bottom:
        raise ValueError("it is empty")
    return frustum


def render_flags(switches: Mapping[str, Any]) -> tuple[bool, ...]:
    """Return MuJoCo's flags of rendering, with some switched by their names."""
    names = [name for name, _default, _key in mujoco.mjRNDSTRING]
    if unknown := switches.keys() - set(names):
        raise ValueError(f"'{min(unknown)}' is no flag; there are: {', '.join(names)}")
    return tuple(
        bool(switches.get(name, default == "1")) for name, default, _key in mujoco.mjRNDSTRING
    )


_DEFAULT_FLAGS = render_flags({})
Quaternion = Annotated[tuple[Number, Number, Number, Number], AfterValidator(_normalized)]
Frustum = Annotated[tuple[Number, Number, Number, Number, Number, Number], AfterValidator(_checked)]
Flags = Annotated[tuple[bool, ...], BeforeValidator(render_flags)]


class DragPhase(StrEnum):
    """Part of a drag."""

    BEGIN = "begin"
    MOVE = "move"
    END = "end"


@dataclass(frozen=True, kw_only=True, slots=True)
class PageCamera:
    """The camera of a page, with the pixel that was clicked, if any."""

    position: Vector  # [m]
    forward: Vector  # unit vector
    up: Vector  # unit vector
    frustum: Frustum  # centre, half width, bottom, top, near and far: as of ``mjvGLCamera``
    is_orthographic: bool = False
    pixel: tuple[Number, Number] = (0.5, 0.5)  # from the left and from the bottom, in 0..1


@dataclass(frozen=True, kw_only=True, slots=True)
class Picked:
    """A double click."""

    body: int  # that was hit; 0 is the world, -1 nothing
    geom: int  # that was hit; -1 for a flex, a skin or nothing
    point: tuple[float, ...]  # in the world [m] (3,)
    local: tuple[float, ...]  # the same point in the frame of the body [m] (3,)
    button: str  # "left", or "right", which moves the camera
    with_ctrl: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Pulled:
    """A drag of the selected body with Ctrl: a pull, or a motion while the simulation is paused."""

    body: Annotated[Index, Field(ge=1)]
    phase: DragPhase
    rotates: bool = False
    local: Vector  # the point that is pulled, in the frame of the body [m]
    position: Vector  # where to, in the world [m]
    quat_wxyz: Quaternion  # wanted orientation of the body


@dataclass(frozen=True, kw_only=True, slots=True)
class HandleDragged:
    """A drag of a handle."""

    frame: Name  # name of the `HandleEntry`
    handle: Name  # name of the handle
    phase: DragPhase
    position: Vector  # of the frame after the drag [m]
    quat_wxyz: Quaternion  # its orientation


_Moves = Literal["Space", "ArrowRight", "ArrowLeft", "Backspace", "Minus", "Equal", "Escape"]
Key = _Moves | Literal["F2", "F3", "KeyA"]


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyPressed:
    """A key that acts on the simulation, as in MuJoCo's program ``simulate``."""

    key: Key


SceneInput = Picked | Pulled | HandleDragged | KeyPressed


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """What a page shows that is no geom: the poses that it follows. 0 or -1 is none."""

    followed: Index = 0  # body whose centre of mass the camera follows
    selected: Index = 0  # body
    camera: Annotated[int, Field(ge=-1, le=1 << 24)] = -1  # camera of the model


@dataclass(frozen=True, kw_only=True, slots=True)
class PictureRequest:
    """The camera and size of the pictures that a page wants instead of geoms."""

    camera: PageCamera
    width: Pixels
    height: Pixels
    render: Flags = _DEFAULT_FLAGS  # MuJoCo's flags of rendering


def decode(text: str) -> dict[str, Any]:
    """Return the members of a message; raise `ValueError` if it is not valid."""
    if len(text) > LARGEST:
        raise ValueError(f"a message has more than {LARGEST} bytes")
    message = json.loads(text)
    if not isinstance(message, dict):
        raise ValueError("a message is not a JSON object")
    return message


_reader: Callable[[Any], TypeAdapter[Any]] = cache(TypeAdapter)


def read(kind: type[T], content: Mapping[str, Any]) -> T:
    """Return a member of a message as a class of this module; raise `ValueError` if it is none."""
    value: T = _reader(kind).validate_python(content)
    return value


_GESTURES = {"pull": Pulled, "handle": HandleDragged, "key": KeyPressed}


def gesture(message: Mapping[str, Any]) -> SceneInput | None:
    """Return what the user does, if that is in a message; raise `ValueError` if it is not valid."""
    for name, kind in _GESTURES.items():
        if isinstance(content := message.get(name), dict):
            return read(kind, content)
    return None
