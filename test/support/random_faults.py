"""An extension whose hooks and methods do something wrong, or unusual, at random."""

import time
from collections.abc import Callable
from typing import Any, ClassVar

import mujoco
import numpy as np
from every_hook import EveryHook

from mujoco_ros.model.errors import UserInputError

HOOKS = (
    "passive",
    "control",
    "sensor",
    "act_dyn",
    "act_gain",
    "act_bias",
    "contact_filter",
    "time",
)
METHODS = ("before_step", "after_step", "settings_changed", "reset")
SLEEP_S = 2e-4


class _BadReprError(Exception):
    def __repr__(self) -> str:
        raise SystemExit("in repr")


class _BadFloat(float):
    def __float__(self) -> float:
        raise RuntimeError("in float")

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("in eq")

    __hash__ = float.__hash__


def _raise(error: BaseException) -> None:
    raise error.with_traceback(None)  # each raise would append to it


_ERRORS = (
    *(RuntimeError("broken"), SystemExit(3), KeyboardInterrupt(), GeneratorExit(), MemoryError()),
    *(
        RecursionError(),
        StopIteration(),
        UserInputError("no"),
        _BadReprError(),
        UnicodeError("\\udcff"),
    ),
)
_RESULTS = (
    *(float("nan"), float("inf"), -float("inf"), 1e200, 10**400, "text", b"", np.zeros(3), [], {}),
    *(None, True, False, 0, -1, 1.5, np.float32("nan"), np.int64(2), np.bool_(True), 1j, object),
    *(_BadFloat(2.0), _BadFloat("nan"), Exception, np.array(1.0), np.array(np.nan), lambda: 1),
)
NUMBERS = (np.nan, np.inf, -np.inf, 1e160, -1e160, 1e308, 5e-324, 0.0, 1.0)


class RandomFaults(EveryHook):
    """Does in one of its methods what `fault` does there; the others have no effect."""

    initial_state: ClassVar = {"level": [0.0, 0.0]}
    where: ClassVar[str] = ""
    fault: ClassVar[Callable[["RandomFaults", Any], Any]] = lambda *_: None

    def do(self, where: str, array: Any = None) -> Any:
        return type(self).fault(self, array) if where == type(self).where else None

    def before_step(self) -> None:
        self.do("before_step")

    def after_step(self) -> None:
        self.do("after_step")

    def settings_changed(self) -> None:
        self.do("settings_changed")

    def reset(self) -> None:
        self.do("reset")


def random_fault(rng: np.random.Generator) -> Callable[[RandomFaults, Any], Any]:
    """Return something wrong or unusual to do, given the extension and the array of a hook."""
    number = NUMBERS[rng.integers(len(NUMBERS))]
    match rng.integers(9):
        case 0:
            return lambda *_: _raise(_ERRORS[rng.integers(len(_ERRORS))])
        case 1:
            return lambda *_: _RESULTS[rng.integers(len(_RESULTS))]
        case 2:
            return lambda _, array: (
                None if array is None else array.__setitem__(rng.integers(len(array)), number)
            )
        case 3:
            return lambda _, array: (
                None if array is None else array.__setitem__(slice(None), np.zeros(len(array) + 1))
            )
        case 4:
            name = ("qpos", "qvel", "act", "ctrl", "qfrc_applied", "xfrc_applied")[rng.integers(6)]
            return lambda it, _: getattr(it.data, name).reshape(-1).__setitem__(0, number)
        case 5:
            return lambda it, _: it.state["level"].__setitem__(rng.integers(2), number)
        case 6:
            return lambda *_: time.sleep(SLEEP_S)
        case 7:
            return _nested
        case _:
            return _nested_copy


def _nested(it: RandomFaults, _array: Any) -> None:
    """Evaluate parts of the own model within the hook."""
    mujoco.mj_passive(it.model, it.data)
    mujoco.mj_sensorVel(it.model, it.data)
    mujoco.mj_energyPos(it.model, it.data)


def _nested_copy(it: RandomFaults, _array: Any) -> None:
    """Step a copy of the state within the hook."""
    data = mujoco.MjData(it.model)
    data.qpos[:], data.qvel[:] = it.data.qpos, it.data.qvel
    mujoco.mj_step(it.model, data)
