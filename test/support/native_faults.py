"""An extension whose C functions do something wrong, or unusual, at random."""

import ctypes
import time
from collections.abc import Callable
from typing import Any, ClassVar

import mujoco
import numpy as np
from random_faults import HOOKS, NUMBERS, SLEEP_S

from mujoco_ros.extensions.interface import Extension

Fault = Callable[[mujoco.MjModel, mujoco.MjData], float]
_WRITTEN = {"passive": "qfrc_passive", "control": "ctrl", "sensor": "sensordata"}
_WORD, _INT, _DOUBLE = ctypes.c_void_p, ctypes.c_int, ctypes.c_double
_ARGUMENTS = {
    **dict.fromkeys(("passive", "control"), (None, _WORD, _WORD)),
    "sensor": (None, _WORD, _WORD, _INT),
    **dict.fromkeys(("act_dyn", "act_gain", "act_bias"), (_DOUBLE, _WORD, _WORD, _INT)),
    "contact_filter": (_INT, _WORD, _WORD, _INT, _INT),
    "time": (_DOUBLE,),
}


class NativeFaults(Extension):
    """Its C function `where` does what `fault` does; the others have no effect."""

    where: ClassVar[str] = ""
    fault: ClassVar[Fault | None] = None
    find: ClassVar[Callable[[int], mujoco.MjData]]
    """Returns the data of the simulation at an address."""

    def set_up(self) -> None:
        self.native = {kind: _function(kind, self.model) for kind in HOOKS}


def _function(kind: str, model: mujoco.MjModel) -> Any:
    result, *arguments = _ARGUMENTS[kind]

    def act(*given: int) -> Any:
        fault, value = NativeFaults.fault, 0.0
        if kind == NativeFaults.where and fault is not None:
            value = fault(model, NativeFaults.find(given[1] if given else 0))
        if result is _INT:
            return int(np.clip(np.nan_to_num(value), -(2**31), 2**31 - 1))
        return value if result else None

    return ctypes.CFUNCTYPE(result, *arguments)(act)


def native_fault(kind: str, rng: np.random.Generator) -> Fault:
    """Return something wrong or unusual that a C function of that kind does."""
    number, place = NUMBERS[rng.integers(len(NUMBERS))], rng.random()
    array = _WRITTEN.get(kind, "")

    def write(data: mujoco.MjData) -> float:
        values = getattr(data, array)
        values[int(place * len(values))] = number
        return number

    match rng.integers(4):
        case 0:
            return lambda _, data: write(data) if array else number
        case 1:
            return lambda *_: time.sleep(SLEEP_S) or 0.0
        case 2:
            return _nested
        case _:
            return lambda *_: number


def _nested(model: mujoco.MjModel, data: mujoco.MjData) -> float:
    """Evaluate parts of the own model within the hook."""
    mujoco.mj_passive(model, data)
    mujoco.mj_sensorVel(model, data)
    return 0.0
