"""Values of `MjData` by expressions as ``qpos``, ``xpos[3]`` or ``sensordata[0]``."""

import re
from collections.abc import Iterator

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError

_EXPRESSION = re.compile(r"\s*(\w+)\s*((?:\[\s*\d+\s*\]\s*)*)$")
_INDEX = re.compile(r"\d+")
_MOST = 12  # values that are written


def field_names(data: mujoco.MjData) -> list[str]:
    """Return the names of the fields with numbers."""
    return [name for name in dir(data) if not name.startswith("_") and _is_shown(data, name)]


def value_of(data: mujoco.MjData, expression: str) -> np.ndarray:
    """Return the values of an expression; raise `UserInputError` if there are none."""
    matched = _EXPRESSION.match(expression)
    if matched is None:
        raise UserInputError(f"'{expression}' is not written as qpos, xpos[3] or xpos[3][0]")
    name, indices = matched[1], [int(index) for index in _INDEX.findall(matched[2])]
    if name.startswith("_") or not _is_shown(data, name):
        raise UserInputError(f"MjData has no field '{name}' with numbers")
    value = np.asarray(getattr(data, name))
    for index in indices:
        if value.ndim == 0 or index >= len(value):
            raise UserInputError(f"'{name}' has the shape {np.shape(getattr(data, name))}")
        value = value[index]
    return np.asarray(value)


def written(value: np.ndarray, digits: int = 4) -> str:
    """Return the first values as text, and how many more there are."""
    flat = value.ravel()
    text = " ".join(_number(each, digits) for each in flat[:_MOST])
    left = flat.size - _MOST
    return f"{text} … and {left} more" if left > 0 else text or "empty"


def sensors(
    model: mujoco.MjModel, data: mujoco.MjData
) -> Iterator[tuple[str, str, np.ndarray, str]]:
    """Yield name, kind and values of each sensor, and its largest value as a share of its cutoff.

    The share is a text [%], which is empty without a cutoff.
    """
    for sensor in range(model.nsensor):
        kind = mujoco.mjtSensor(int(model.sensor_type[sensor])).name.removeprefix("mjSENS_")
        first, count = model.sensor_adr[sensor], model.sensor_dim[sensor]
        name = model.sensor(sensor).name or f"sensor {sensor}"
        values, cutoff = data.sensordata[first : first + count], float(model.sensor_cutoff[sensor])
        share = f"{100.0 * np.abs(values).max() / cutoff:.0f}" if cutoff > 0.0 else ""
        yield name, kind.lower(), values, share


def _is_shown(data: mujoco.MjData, name: str) -> bool:
    value = getattr(data, name, None)
    if isinstance(value, (bool, int, float)):
        return True
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf"


def _number(value: float, digits: int) -> str:
    if value == int(value) if np.isfinite(value) else False:
        return str(int(value)).replace("-", "−")
    text = f"{value:.{digits}g}" if abs(value) >= 10.0**-digits else f"{value:.{digits}f}"
    return ("0" if float(text) == 0.0 else text).replace("-", "−")
