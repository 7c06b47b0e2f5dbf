"""MuJoCo's global callbacks, which serve only the models that are registered.

The engine has one callback of each kind for the whole process, without a model. Other models are
compiled and evaluated at the same time, in other threads; for those, each callback returns what the
engine does without it. So callbacks compare addresses, and touch no Python object of other models.

Callbacks exist in Python, and for hooks that are C functions in ``native/callbacks.c``. They live
as long as the process, since another thread may be in one of them.
"""

import ctypes
import logging
from collections.abc import Callable, Mapping, Sequence
from threading import get_ident
from typing import Any, NamedTuple, Protocol

import mujoco
import numpy as np

from mujoco_ros import native

_LOG = logging.getLogger(__name__)
_VOID, _INT, _LONG, _DOUBLE = ctypes.c_void_p, ctypes.c_int, ctypes.c_int64, ctypes.c_double
_Report = ctypes.CFUNCTYPE(None, _LONG, _INT, _DOUBLE)


class HookCell(ctypes.Structure):
    """What an extension shares with its C functions: whether they are called, and their time [s].

    This and the next two are the structures of ``native/callbacks.c``, which describes the fields.
    """

    _fields_ = (("is_enabled", _INT), ("spent", _DOUBLE))


class HookEntry(ctypes.Structure):
    """A C function as a hook."""

    _fields_ = (
        *((name, _VOID) for name in ("function", "cell", "own", "present", "array", "saved")),
        ("length", _LONG),
    )


class _Gate(ctypes.Structure):
    """The model that a C callback serves, and its hooks."""

    _fields_ = (
        *((name, _VOID) for name in ("model", "data", "busy", "slow", "report")),
        ("count", _LONG),
        ("entries", _VOID),
    )


class CCallback(NamedTuple):
    """A callback in C, and the gate that it reads."""

    address: int
    gate: _Gate


def c_callback(kind: str) -> CCallback | None:
    """Return the callback that calls C functions without Python, if the native part is compiled.

    There is none for ``time``, which the engine gives no model.
    """
    library = None if kind == "time" else native.library()
    if library is None:
        return None
    for name, at in zip(("contype_at", "conaffinity_at"), _MASKS, strict=True):
        _LONG.in_dll(library, name).value = at
    address = ctypes.cast(getattr(library, kind), _VOID).value
    assert address is not None
    return CCallback(address, _Gate.in_dll(library, f"{kind}_gate"))


class CHooks:
    """Serves a model by a callback in C while it is open."""

    def __init__(
        self,
        callback: CCallback,
        rejections: Sequence[Callable[[int, float], None]],
        entries: Sequence[HookEntry],
        parts: tuple[mujoco.MjModel, mujoco.MjData, ctypes.c_int],
    ) -> None:
        """Prepare to serve `entries`, in the order in which they are called.

        `rejections` are called, for each hook, with a stage in which it wrote, or an element for
        which it returned, no number, and the number. `parts` are the model, the stepped state, and
        a number that is not zero while a method or hook is called.
        """
        self.address = callback.address  # address of the callback, to install in the engine
        self._gate, self._parts, self._rejections = callback.gate, parts, rejections
        self._entries = (HookEntry * len(entries))(*entries)
        self._report = _Report(self._reject)

    def open(self, slow: Any) -> None:
        """Serve the model; `slow` is the callback for other data of it."""
        gate, (model, data, busy) = self._gate, self._parts
        gate.data, gate.busy = data._address, ctypes.addressof(busy)
        gate.slow = ctypes.cast(slow, ctypes.c_void_p)
        gate.report = ctypes.cast(self._report, ctypes.c_void_p)
        gate.count, gate.entries = len(self._entries), ctypes.addressof(self._entries)
        gate.model = model._address  # last: other threads compare it

    def close(self) -> None:
        """Serve no model; other threads may still read the rest of the gate."""
        self._gate.model = None

    def _reject(self, hook: int, index: int, number: float) -> None:
        try:
            self._rejections[hook](index, number)
        except BaseException:  # nothing leaves a callback
            _LOG.exception("an engine hook cannot be disabled")


_ONE_GEOM = "<mujoco><worldbody><geom size='1'/></worldbody></mujoco>"
_WORD = ctypes.sizeof(ctypes.c_void_p)
_ACT = ctypes.CFUNCTYPE(_DOUBLE, _VOID, _VOID, _INT)
SIGNATURES = {
    "control": ctypes.CFUNCTYPE(None, _VOID, _VOID),
    "passive": ctypes.CFUNCTYPE(None, _VOID, _VOID),
    "sensor": ctypes.CFUNCTYPE(None, _VOID, _VOID, _INT),
    "act_dyn": _ACT,
    "act_gain": _ACT,
    "act_bias": _ACT,
    "contact_filter": ctypes.CFUNCTYPE(_INT, _VOID, _VOID, _INT, _INT),
    "time": ctypes.CFUNCTYPE(_DOUBLE),
}
"""C signatures of the callbacks: model, data, and the stage, the actuator or two geoms."""
WITHOUT: dict[str, float | None] = {
    "control": None,
    "passive": None,
    "sensor": None,
    "act_dyn": 0.0,
    "act_gain": 1.0,
    "act_bias": 0.0,
    "contact_filter": 0,
    "time": 0.0,
}
"""What the engine uses without a callback."""


class HookedModel(Protocol):
    """Serves the callbacks of one model."""

    kinds: frozenset[str]  # the callbacks that it needs
    model: mujoco.MjModel  # the model
    data: mujoco.MjData  # its state
    in_c: Mapping[str, CHooks]  # hooks that can be called without Python, by kind

    def evaluate(self, kind: str, model: int, data: int, *indices: int) -> float | None:
        """Evaluate the hooks of a kind, given the addresses of model and data."""


stepping: dict[int, HookedModel] = {}
"""The model that each thread steps: the engine gives its timer callback no model."""
_of_data: dict[int, HookedModel] = {}
_of_model: dict[int, HookedModel] = {}
_installed: dict[str, Any] = {}
_open: dict[str, CHooks] = {}


def register(hooked: HookedModel) -> None:
    """Serve a model."""
    _of_data[hooked.data._address] = hooked
    _of_model[hooked.model._address] = hooked
    _install()


def unregister(hooked: HookedModel) -> None:
    """Serve a model no longer."""
    for table in (_of_data, _of_model):
        for address in [address for address, other in table.items() if other is hooked]:
            del table[address]
    _install()


def _install() -> None:
    """Install the callbacks that the registered models need, and remove the others.

    If one model alone needs a kind, and all its hooks are C functions, it is called without Python.
    """
    for kind in WITHOUT:
        served = [model for model in _of_model.values() if kind in model.kinds]
        hooks = served[0].in_c.get(kind) if len(served) == 1 else None
        if kind in _open and _open[kind] is not hooks:
            _open.pop(kind).close()
        if hooks is not None and kind not in _open:
            hooks.open(_CALLBACKS[kind])
            _open[kind] = hooks
        wanted = None
        if served:
            wanted = _CALLBACKS[kind] if hooks is None else SIGNATURES[kind](hooks.address)
        if wanted is not None or kind in _installed:
            getattr(mujoco, f"set_mjcb_{kind.replace('contact_f', 'contactf')}")(wanted)
        _installed.pop(kind, None)
        if wanted is not None:
            _installed[kind] = wanted


def _callback(kind: str) -> Any:
    without = WITHOUT[kind]

    def call(model: int, data: int, *indices: int) -> float | None:
        # By model as well: Runge-Kutta evaluates sensors on other data of the same model.
        hooked = _of_data.get(data) or _of_model.get(model)
        if hooked is None:
            return without
        value = hooked.evaluate(kind, model, data, *indices)
        return without if value is None else value

    return SIGNATURES[kind](call)


def _word_of(array: str) -> int:
    """Return at which byte of ``mjModel`` the engine keeps the address of an array."""
    model = mujoco.MjModel.from_xml_string(_ONE_GEOM)
    address = getattr(model, array).ctypes.data
    # Each array has its address in the struct, so it has at least these bytes.
    arrays = sum(isinstance(getattr(model, name), np.ndarray) for name in dir(model))
    for word in range(0, arrays * _WORD, _WORD):
        if _VOID.from_address(model._address + word).value == address:
            return word
    raise RuntimeError(f"MuJoCo {mujoco.__version__}: mjModel has no address of '{array}'")


_MASKS = (_word_of("geom_contype"), _word_of("geom_conaffinity"))


def _contact_filter_callback() -> Any:
    """Return the callback that discards contacts; it applies the engine's own rule as well."""
    types, affinities = _MASKS
    pointer = ctypes.POINTER(_INT)

    def call(model: int, data: int, first: int, second: int) -> int:
        contype = pointer.from_address(model + types)
        conaffinity = pointer.from_address(model + affinities)
        if not (contype[first] & conaffinity[second] or contype[second] & conaffinity[first]):
            return 1
        hooked = _of_data.get(data)
        return int(
            hooked is not None
            and bool(hooked.evaluate("contact_filter", model, data, first, second))
        )

    return SIGNATURES["contact_filter"](call)


def _time_callback() -> Any:
    def call() -> float:
        hooked = stepping.get(get_ident())
        value = None if hooked is None else hooked.evaluate("time", 0, hooked.data._address)
        return 0.0 if value is None else value

    return SIGNATURES["time"](call)


_CALLBACKS: dict[str, Callable[..., Any]] = {
    **{kind: _callback(kind) for kind in SIGNATURES if kind not in ("contact_filter", "time")},
    "contact_filter": _contact_filter_callback(),
    "time": _time_callback(),
}
