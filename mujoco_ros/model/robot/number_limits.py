"""Numbers that MuJoCo's compiler accepts, but that no robot has."""

from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.scope import ROW_ELEMENTS

_LARGEST = 1e15
"""Largest mass, inertia, size and so on (SI units). Joints are disabled by a damping of 1e11."""
_UNBOUNDED = ("range", "user", "invweight0", "acc0", "M0")
"""Ends of the names of arrays whose numbers may be larger: no limit, the user's, derived ones."""
_KIND_NAMES = {"v": "joint", "q": "joint", "ctrl": "actuator", "output": "actuator"}
_FIRST_ROWS = {
    "v": "jnt_dofadr",
    "q": "jnt_qposadr",
    "mesh_vert": "mesh_vertadr",
    "hfield_data": "hfield_adr",
    "flex_vert": "flex_vertadr",
}
"""Arrays with the first row of each element."""
_ASSETS = ("mesh_vert", "mesh_scale", "hfield_size", "hfield_data", "flex_vert", "flex_radius")
_ENDS = (
    *(f"actuator_{name}range" for name in ("ctrl", "force", "act")),
    *("jnt_range", "jnt_actfrcrange", "tendon_range", "tendon_actfrcrange"),
)
"""Ranges, which have no effect in MuJoCo if their first end is the larger one."""
_ORDER = sorted(
    (*ROW_ELEMENTS, *_ASSETS), key=lambda name: (name.startswith("body_"), name != "body_mass")
)
"""The numbers of bodies follow from those of their geoms, and inertias from masses."""
END_OF_TIME_S = 2.0**31
"""First time that a ROS stamp cannot represent."""
_LATEST_S = 2e9
"""Latest time that is set: the clock then runs for years until the end of time."""


def check_numbers(model: mujoco.MjModel) -> None:
    """Reject numbers that messages cannot contain, or with which a step would fail.

    Limits may be infinite.

    Raises:
        UserInputError: There is such a number; the message names its element.
    """
    for array in _ORDER:
        numbers = getattr(model, array)
        if numbers.dtype.kind == "f" and numbers.size:
            _check_array(model, array, numbers)
    for array in _ENDS:
        _check_ends(model, array, getattr(model, array))
    for name in dir(model.opt):
        value = np.asarray(getattr(model.opt, name)) if not name.startswith("_") else np.zeros(1)
        if value.dtype.kind == "f" and not np.all(np.abs(value) <= _LARGEST):
            raise UserInputError(
                f"option '{name}' of the model is {_shown(value)}; numbers of at most "
                f"{_LARGEST:g} are allowed"
            )
    if not model.opt.timestep > 0.0:
        raise UserInputError(
            f"option 'timestep' of the model is {model.opt.timestep:g}; it must be positive"
        )
    for key, time in enumerate(model.key_time.tolist()):
        check_time(f"key '{model.key(key).name}' of the model", time)


def check_time(what: str, time: float, latest: float = _LATEST_S) -> None:
    """Check a time to which the simulated clock is set [s]; `what` has it, at most `latest`.

    Raises:
        UserInputError: The clock would be outside of ROS time, or soon.
    """
    if not 0.0 <= time <= latest:
        raise UserInputError(
            f"{what} has the time {time:.10g} s; a time is from 0 to {latest:.10g} s, as ROS time "
            "ends at 2^31 s"
        )


def _check_array(model: mujoco.MjModel, array: str, numbers: np.ndarray) -> None:
    bad = np.isnan(numbers) if array.endswith("range") else ~np.isfinite(numbers)
    if bad.any():
        element = _element(model, array, int(np.argwhere(bad)[0, 0]))
        raise UserInputError(f"{element} of the model has a number that is not finite")
    if array.endswith(_UNBOUNDED) or array == "key_time":
        return
    if max(numbers.max(), -numbers.min()) > _LARGEST:
        row = int(np.argwhere(np.abs(numbers) > _LARGEST)[0, 0])
        raise UserInputError(
            f"{array.partition('_')[2] or array} of {_element(model, array, row)} is "
            f"{np.abs(numbers[row]).max():g}; at most {_LARGEST:g} is allowed"
        )


def _check_ends(model: mujoco.MjModel, array: str, ends: np.ndarray) -> None:
    for row in np.flatnonzero(ends[:, 0] > ends[:, 1]).tolist():
        raise UserInputError(
            f"{array.partition('_')[2]} of {_element(model, array, row)} is from "
            f"{ends[row, 0]:g} to {ends[row, 1]:g}; the first end must be the smaller one"
        )


def _element(model: mujoco.MjModel, array: str, row: int) -> str:
    """Return the kind and name of the element that has a row of an array."""
    kind = ROW_ELEMENTS.get(array, array.partition("_")[0])
    first = _FIRST_ROWS.get(array) or _FIRST_ROWS.get(kind)
    if first is not None:
        row = int(np.searchsorted(getattr(model, first), row, side="right")) - 1
    kind = _KIND_NAMES.get(kind, kind)
    find = getattr(model, kind, None)
    count = getattr(model, f"n{array.partition('_')[0]}", None)
    if find is None or (first is None and count is not None and row >= count):
        return f"{array}[{row}]"
    return f"{kind} '{find(row).name}'"


def _shown(value: Any) -> str:
    return " ".join(f"{number:g}" for number in np.atleast_1d(value))
