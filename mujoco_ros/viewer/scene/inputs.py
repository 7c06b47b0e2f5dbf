"""What a page sends: acknowledgements, its camera, and what the user does in the scene."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import mujoco

LARGEST = 4096
"""Most bytes of a message."""
_FAR = 1e6  # largest coordinate [m]
_LONGEST = 200  # characters of a name

Vector = tuple[float, ...]


class DragPhase(StrEnum):
    """Part of a drag."""

    BEGIN = "begin"
    MOVE = "move"
    END = "end"


@dataclass(frozen=True, kw_only=True, slots=True)
class PageCamera:
    """The camera of a page, with the pixel that was clicked, if any."""

    position: Vector  # [m] (3,)
    forward: Vector  # unit vector (3,)
    up: Vector  # unit vector (3,)
    frustum: Vector  # centre, half width, bottom, top, near and far: as of ``mjvGLCamera`` (6,)
    is_orthographic: bool
    pixel: Vector  # from the left and from the bottom, in 0..1 (2,)


@dataclass(frozen=True, kw_only=True, slots=True)
class Picked:
    """A double click."""

    body: int  # that was hit; 0 is the world, -1 nothing
    geom: int  # that was hit; -1 for a flex, a skin or nothing
    point: Vector  # in the world [m] (3,)
    local: Vector  # the same point in the frame of the body [m] (3,)
    button: str  # "left", or "right", which moves the camera
    with_ctrl: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Pulled:
    """A drag of the selected body with Ctrl: a pull, or a motion while the simulation is paused."""

    body: int
    phase: DragPhase
    rotates: bool
    local: Vector  # the point that is pulled, in the frame of the body [m] (3,)
    position: Vector  # where to, in the world [m] (3,)
    quat_wxyz: Vector  # wanted orientation of the body (4,)


@dataclass(frozen=True, kw_only=True, slots=True)
class HandleDragged:
    """A drag of a handle."""

    frame: str  # name of the `HandleEntry`
    handle: str  # name of the handle
    phase: DragPhase
    position: Vector  # of the frame after the drag [m] (3,)
    quat_wxyz: Vector  # its orientation (4,)


@dataclass(frozen=True, kw_only=True, slots=True)
class KeyPressed:
    """A key that acts on the simulation, as in MuJoCo's program ``simulate``."""

    key: str  # one of `KEYS`


SceneInput = Picked | Pulled | HandleDragged | KeyPressed
KEYS = ("Space", "ArrowRight", "ArrowLeft", "Backspace", "Minus", "Equal", "Escape")
LEAVE = KeyPressed(key="Escape")
"""The key that needs no control: it closes what is open on the page."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Watched:
    """What a page shows that is no geom: the poses that it follows. 0 or -1 is none."""

    followed: int = 0  # body whose centre of mass the camera follows
    selected: int = 0  # body
    camera: int = -1  # camera of the model


@dataclass(frozen=True, kw_only=True, slots=True)
class PictureRequest:
    """The camera and size of the pictures that a page wants instead of geoms."""

    camera: PageCamera
    width: int  # [px]
    height: int  # [px]
    render: tuple[bool, ...]  # MuJoCo's flags of rendering


def decode(text: str) -> dict[str, Any]:
    """Return the members of a message; raise `ValueError` if it is not valid."""
    if len(text) > LARGEST:
        raise ValueError(f"a message has more than {LARGEST} bytes")
    message = json.loads(text)
    if not isinstance(message, dict):
        raise ValueError("a message is not a JSON object")
    return message


def page_camera(message: Mapping[str, Any]) -> PageCamera:
    """Return the camera in a message; raise `ValueError` if it is not valid."""
    frustum = _vector(message, "frustum", 6)
    if not 0.0 < frustum[4] < frustum[5] or frustum[1] <= 0.0 or frustum[3] <= frustum[2]:
        raise ValueError("the frustum of the camera is empty")
    return PageCamera(
        position=_vector(message, "position", 3),
        forward=_vector(message, "forward", 3),
        up=_vector(message, "up", 3),
        frustum=frustum,
        is_orthographic=message.get("orthographic") is True,
        pixel=_vector(message, "pixel", 2) if "pixel" in message else (0.5, 0.5),
    )


def pulled(message: Mapping[str, Any]) -> Pulled:
    """Return the pull in a message; raise `ValueError` if it is not valid."""
    return Pulled(
        body=_integer(message, "body", 1, 1 << 24),
        phase=DragPhase(str(message.get("phase"))),
        rotates=message.get("rotates") is True,
        local=_vector(message, "local", 3),
        position=_vector(message, "position", 3),
        quat_wxyz=_quat(message),
    )


def handle_dragged(message: Mapping[str, Any]) -> HandleDragged:
    """Return the drag in a message; raise `ValueError` if it is not valid."""
    return HandleDragged(
        frame=_name(message, "frame"),
        handle=_name(message, "handle"),
        phase=DragPhase(str(message.get("phase"))),
        position=_vector(message, "position", 3),
        quat_wxyz=_quat(message),
    )


def key_pressed(message: Mapping[str, Any]) -> KeyPressed:
    """Return the key in a message; raise `ValueError` if it is not valid."""
    key = _name(message, "key")
    if key not in KEYS:
        raise ValueError(f"the key '{key}' has no effect; those that have are: {', '.join(KEYS)}")
    return KeyPressed(key=key)


def watched(message: Mapping[str, Any]) -> Watched:
    """Return what a page follows; raise `ValueError` if it is not valid."""
    return Watched(
        followed=_integer(message, "followed", 0, 1 << 24),
        selected=_integer(message, "selected", 0, 1 << 24),
        camera=_integer(message, "camera", -1, 1 << 24),
    )


def picture_request(message: Mapping[str, Any]) -> PictureRequest:
    """Return the request in a message; raise `ValueError` if it is not valid."""
    return PictureRequest(
        camera=page_camera(message),
        width=_integer(message, "width", 16, 4096),
        height=_integer(message, "height", 16, 4096),
        render=render_flags(dict(message.get("render", {}))),
    )


def render_flags(switches: Mapping[str, Any]) -> tuple[bool, ...]:
    """Return MuJoCo's flags of rendering, with some switched by their names."""
    names = [name for name, _default, _key in mujoco.mjRNDSTRING]
    if unknown := switches.keys() - set(names):
        raise ValueError(f"'{min(unknown)}' is no flag; there are: {', '.join(names)}")
    return tuple(
        bool(switches.get(name, default == "1")) for name, default, _key in mujoco.mjRNDSTRING
    )


_GESTURES: dict[str, Callable[[Mapping[str, Any]], SceneInput]] = {
    "pull": pulled,
    "handle": handle_dragged,
    "key": key_pressed,
}


def gesture(message: Mapping[str, Any]) -> SceneInput | None:
    """Return what the user does, if that is in a message; raise `ValueError` if it is not valid."""
    for name, read in _GESTURES.items():
        if isinstance(content := message.get(name), dict):
            return read(content)
    return None


def _vector(message: Mapping[str, Any], name: str, length: int) -> Vector:
    values = message.get(name)
    if not isinstance(values, list) or len(values) != length:
        raise ValueError(f"'{name}' is not a list of {length} numbers")
    if not all(isinstance(value, (int, float)) and abs(value) <= _FAR for value in values):
        raise ValueError(f"'{name}' has values that are no numbers up to {_FAR:g}")
    return tuple(float(value) for value in values)


def _quat(message: Mapping[str, Any]) -> Vector:
    quat = _vector(message, "quat", 4)
    length = math.hypot(*quat)
    if not 0.5 < length < 2.0:
        raise ValueError("'quat' is no unit quaternion")
    return tuple(value / length for value in quat)


def _integer(message: Mapping[str, Any], name: str, low: int, high: int) -> int:
    value = message.get(name, low)
    if not isinstance(value, int) or not low <= value <= high:
        raise ValueError(f"'{name}' is no integer from {low} to {high}")
    return value


def _name(message: Mapping[str, Any], name: str) -> str:
    value = message.get(name)
    if not isinstance(value, str) or len(value) > _LONGEST:
        raise ValueError(f"'{name}' is no text of at most {_LONGEST} characters")
    return value
