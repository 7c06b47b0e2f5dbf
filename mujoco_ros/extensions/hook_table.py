"""The hooks of all extensions of one model, in the order of the scene."""

import math
from collections.abc import Iterable, Iterator, Mapping
from ctypes import PYFUNCTYPE, addressof, c_void_p, cast
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.control.references import as_slice
from mujoco_ros.extensions.callbacks import SIGNATURES, WITHOUT, CHooks, HookEntry, c_callback
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.runner import ExtensionRunner, WriteGuard, finite_check, raised
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.sim.plant import Plant

_ARRAYS = {"control": "ctrl", "passive": "qfrc_passive", "sensor": "sensordata"}
"""The array of MjData that a hook writes; the others return a number."""
_STAGES = (1, 2, 3)
_LARGEST = 1e150
"""Numbers of hooks are smaller, as those that methods write; their squares are finite."""


class HookTable:
    """Evaluates the hooks of a plant's extensions; see `HookedModel`."""

    def __init__(
        self,
        plant: Plant,
        bound: Iterable[tuple[ExtensionRunner, Extension]],
        guard: WriteGuard,
    ) -> None:
        """Find the hooks of extensions, in the order in which they are evaluated."""
        self._plant = plant
        self.model, self.data = plant.model, plant.data
        self._address = plant.data._address
        self._hooks: dict[str, list[_Hook]] = {}
        self._busy = guard.busy
        for runner, extension in bound:
            try:
                for hook in _hooks(runner, extension):
                    self._hooks.setdefault(hook.kind, []).append(hook)
            except UserInputError as error:
                raise UserInputError(f"extension '{runner.key}': {error}") from error
        self.kinds = frozenset(self._hooks)  # the kinds of hooks that there are
        in_c: dict[str, CHooks] = {}
        for kind, hooks in self._hooks.items():
            entries = [entry for each in hooks if (entry := each.entry()) is not None]
            callback = c_callback(kind) if len(entries) == len(hooks) else None
            if callback is not None:
                parts = (self.model, self.data, guard.busy)
                in_c[kind] = CHooks(callback, [each.reject for each in hooks], entries, parts)
        # The hooks by kind, of the kinds whose hooks are all C functions
        self.in_c: Mapping[str, CHooks] = in_c

    def evaluate(self, kind: str, model: int, data: int, *indices: int) -> float | None:
        """Evaluate the hooks of a kind; the first result counts, or a filter's first `True`."""
        owner = self._data_at(data)
        # A method or hook that evaluates the model does so without hooks.
        if owner is None or self._busy.value:
            return None
        for hook in self._hooks.get(kind, ()):
            if hook.runner.is_enabled:
                value = hook.evaluate(owner, (model, data), *indices)
                if value is not None:
                    return value
        return None

    def _data_at(self, address: int) -> mujoco.MjData | None:
        """Return the data that a step uses at an address; None if it uses none there."""
        if address == self._address:
            return self.data
        twin = self._plant.twin
        return twin if twin is not None and address == twin._address else None


class _Hook:
    """A hook of an extension, which is a method or a C function."""

    def __init__(self, kind: str, runner: ExtensionRunner, extension: Extension) -> None:
        self.runner, self.kind = runner, kind
        self._method, self._native = getattr(extension, kind), _native(extension, kind)

    def entry(self) -> HookEntry | None:
        if self._native is None:
            return None
        function, cell = cast(self._native, c_void_p), addressof(self.runner.cell)
        return HookEntry(function=function, cell=cell, **self._memory())

    def _memory(self) -> dict[str, int]:
        """Return the other fields of the entry."""
        raise NotImplementedError

    def reject(self, index: int, number: float) -> None:
        """Handle a stage in which it wrote, or an element for which it returned, no number."""
        raise NotImplementedError

    def evaluate(
        self, owner: mujoco.MjData, addresses: tuple[int, int], *indices: int
    ) -> float | None:
        """Call it for the data with the addresses of model and data."""
        raise NotImplementedError


class _ArrayHook(_Hook):
    """A hook that writes the own elements of an array."""

    def __init__(self, kind: str, runner: ExtensionRunner, extension: Extension) -> None:
        super().__init__(kind, runner, extension)
        self._array = _ARRAYS[kind]
        self._adds = kind == "passive" and self._native is None
        self._is_finite = finite_check()
        self._by_stage: dict[int, _OwnValues] = {}
        if kind == "sensor":
            slots = extension.elements.sensor_slots
            self._by_stage = {stage: _OwnValues(*slots(stage)) for stage in _STAGES}
        else:
            self._by_stage[0] = _OwnValues(*getattr(extension.elements, f"{kind}_slots")())
        self._data, self._current = extension.data, getattr(extension.data, self._array)
        self._before = self._current.copy()
        stages = max(self._by_stage) + 1
        self._own = np.zeros((stages, len(self._current)), dtype=np.uint8)
        for stage, own in self._by_stage.items():
            self._own[stage, own.slots] = 1
        self._present = np.array(self._own.any(axis=1))

    def _memory(self) -> dict[str, int]:
        names = "own", "present", "array", "saved"
        arrays = self._own, self._present, self._current, self._before
        memory = {name: array.ctypes.data for name, array in zip(names, arrays, strict=True)}
        return memory | {"length": len(self._current)}

    def reject(self, index: int, number: float) -> None:
        own = self._by_stage[index]
        own.values[:] = self._current[own.slots]
        self._current[own.slots] = self._before[own.slots]
        self.runner.fail(self.kind, f"wrote {own.culprit()}")

    def evaluate(self, owner: mujoco.MjData, addresses: tuple[int, int], *stage: int) -> None:
        own, runner = self._by_stage.get(stage[0] if stage else 0), self.runner
        array = self._current if owner is self._data else getattr(owner, self._array)
        if own is None or not len(own.values):
            return
        if self._native is not None:
            self._before[:] = array
            result = runner.call(self.kind, self._native, *addresses, *stage)
            own.values[:] = array[own.slots]
            array[:] = self._before
        else:
            own.values[:] = 0.0 if self._adds else array[own.slots]
            written = own.views if stage else own.values
            result = runner.call(self.kind, self._method, owner, *stage, written)
        if not runner.is_enabled:
            return
        if result is not None:
            runner.fail(self.kind, f"returned {type(result).__name__}; it must write to its array")
        elif not self._is_finite(own.values):
            runner.fail(self.kind, f"wrote {own.culprit()}")
        elif self._adds:
            array[own.slots] += own.values
        else:
            array[own.slots] = own.values


class _OwnValues:
    """Own elements of an array, at the indices `slots`."""

    def __init__(self, slots: np.ndarray, names: list[str]) -> None:
        self.slots, self._names = as_slice(slots), names
        self.values = np.zeros(len(slots))  # values to write, in the same order
        places = {name: [i for i, other in enumerate(names) if other == name] for name in names}
        # The values of each element by name
        self.views = {name: self.values[at[0] : at[-1] + 1] for name, at in places.items()}

    def culprit(self) -> str:
        """Return the first value that cannot be used, and the name of its element."""
        bad = int(np.flatnonzero(~(np.abs(self.values) < _LARGEST))[0])
        return f"{self.values[bad]} for {self._names[bad]}"


class _NumberHook(_Hook):
    """A hook that returns a number: for an actuator with the type ``user``, or two geoms."""

    def __init__(self, kind: str, runner: ExtensionRunner, extension: Extension) -> None:
        super().__init__(kind, runner, extension)
        elements = extension.elements
        self._own: Mapping[int, str] = {}
        if kind == "contact_filter":
            self._own = elements.geoms
        elif kind != "time":
            self._own = elements.user_actuators(kind)
        length = max(elements.model.ngeom, elements.model.nactuator)
        self._flags = np.zeros(length, dtype=np.uint8)
        self._flags[list(self._own)] = 1

    def _memory(self) -> dict[str, int]:
        return {"own": self._flags.ctypes.data}

    def reject(self, index: int, number: float) -> None:
        self.runner.fail(self.kind, f"returned {number}{self._for((index,))}")

    def evaluate(
        self, owner: mujoco.MjData, addresses: tuple[int, int], *indices: int
    ) -> float | None:
        """Return the number; None if the hook has none for the elements."""
        if indices and self._own.keys().isdisjoint(indices):
            return None
        data: tuple[Any, ...] = addresses if self._native is not None else (owner,)
        given = () if self.kind == "time" else data
        value = self.runner.call(self.kind, self._native or self._method, *given, *indices)
        if value is None:
            return None
        try:
            number, shown = _number(value)
        except BaseException as error:  # of methods of the value
            self.runner.fail(self.kind, raised(error) + self._for(indices))
            return None
        if not abs(number) < _LARGEST:
            self.runner.fail(self.kind, f"returned {shown}{self._for(indices)}")
            return None
        if self.kind == "contact_filter" and not number:
            return None  # the next extension decides
        return number

    def _for(self, indices: tuple[int, ...]) -> str:
        element = "geom" if self.kind == "contact_filter" else "actuator"
        named = [f"{element} '{self._own[index]}'" for index in indices if index in self._own]
        return f" for {' and '.join(named)}" if named else ""


def _number(value: Any) -> tuple[float, str]:
    """Return a number, NaN for what is none, or too large; and how to show it."""
    if not isinstance(value, (int, float, np.bool_, np.integer, np.floating)):
        return math.nan, type(value).__name__
    try:
        number = float(value)
    except OverflowError:  # an integer
        return math.inf, type(value).__name__
    return number, str(number) if isinstance(value, float) else type(value).__name__


def _hooks(runner: ExtensionRunner, extension: Extension) -> Iterator[_Hook]:
    for kind in extension.native:
        if kind not in WITHOUT:
            raise unknown("hook", kind, WITHOUT)
    for kind in WITHOUT:
        overridden = getattr(type(extension), kind) is not getattr(Extension, kind)
        if overridden or kind in extension.native:
            yield (_ArrayHook if kind in _ARRAYS else _NumberHook)(kind, runner, extension)


def _native(extension: Extension, kind: str) -> Any:
    """Return the native function of a hook; None if it is a Python function."""
    function = extension.native.get(kind)
    if function is None:
        return None
    if isinstance(function, int):
        address: int | None = function
    elif hasattr(function, "restype"):  # a function of ctypes
        address = cast(function, c_void_p).value
    else:
        raise UserInputError(f"native['{kind}'] is {function!r}, not a C function")
    if not address:
        raise UserInputError(f"native['{kind}'] is a null pointer")
    # It keeps the GIL: to release it would cost more than a short function.
    signature = SIGNATURES[kind]
    return PYFUNCTYPE(signature._restype_, *signature._argtypes_)(address)
