"""MuJoCo's global callbacks, which serve only the models that are registered here.

The engine has one callback of each kind for the whole process, without a model. Other models are
compiled and evaluated at the same time, in other threads; for those, each callback returns what the
engine does without it. So callbacks compare addresses, and touch no Python object of other models.
"""

import ctypes
from collections.abc import Callable
from typing import Any, Protocol

import mujoco

_VOID, _INT = ctypes.c_void_p, ctypes.c_int
_ACT = ctypes.CFUNCTYPE(ctypes.c_double, _VOID, _VOID, _INT)
SIGNATURES = {
    "control": ctypes.CFUNCTYPE(None, _VOID, _VOID),
    "passive": ctypes.CFUNCTYPE(None, _VOID, _VOID),
    "sensor": ctypes.CFUNCTYPE(None, _VOID, _VOID, _INT),
    "act_dyn": _ACT,
    "act_gain": _ACT,
    "act_bias": _ACT,
}
"""C signatures of the callbacks: model, data, and the stage or the actuator."""
WITHOUT: dict[str, float | None] = {
    "control": None,
    "passive": None,
    "sensor": None,
    "act_dyn": 0.0,
    "act_gain": 1.0,
    "act_bias": 0.0,
}
"""What the engine uses without a callback."""


class HookedModel(Protocol):
    """Serves the callbacks of one model.

    Attributes:
        kinds: The callbacks that it needs.
        model: The model.
        data: Its state.
    """

    kinds: frozenset[str]
    model: mujoco.MjModel
    data: mujoco.MjData

    def evaluate(self, kind: str, model: int, data: int, index: int) -> float | None:
        """Evaluate the hooks of a kind, given the addresses of model and data."""


_of_data: dict[int, HookedModel] = {}
_of_model: dict[int, HookedModel] = {}
_installed: set[str] = set()


def register(hooked: HookedModel) -> None:
    """Serve a model."""
    _of_data[hooked.data._address] = hooked
    _of_model[hooked.model._address] = hooked
    _install()


def unregister(hooked: HookedModel) -> None:
    """Serve a model no longer."""
    for table in (_of_data, _of_model):
        for address in [address for address, it in table.items() if it is hooked]:
            del table[address]
    _install()


def _install() -> None:
    """Install the callbacks that the registered models need, and remove the others."""
    needed = set[str]().union(*(it.kinds for it in _of_model.values()))
    for kind in needed ^ _installed:
        getattr(mujoco, f"set_mjcb_{kind}")(_CALLBACKS[kind] if kind in needed else None)
    _installed.clear()
    _installed.update(needed)


def _callback(kind: str) -> Any:
    without = WITHOUT[kind]

    def call(model: int, data: int, index: int = 0) -> float | None:
        # By model as well: Runge-Kutta evaluates sensors on other data of the same model.
        hooked = _of_data.get(data) or _of_model.get(model)
        if hooked is None:
            return without
        value = hooked.evaluate(kind, model, data, index)
        return without if value is None else value

    return SIGNATURES[kind](call)


_CALLBACKS: dict[str, Callable[..., Any]] = {kind: _callback(kind) for kind in SIGNATURES}
"""They live as long as the process: another thread may be in one of them."""
