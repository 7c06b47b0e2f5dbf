"""Calls an extension: contains its errors, and undoes what it wrote wrongly."""

import logging
import math
import traceback
from collections.abc import Callable
from ctypes import c_int
from functools import cache
from time import perf_counter
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.extensions.callbacks import HookCell
from mujoco_ros.extensions.interface import Extension
from mujoco_ros.model.scene.config import ExtensionConfig
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.extension_states import ExtensionState
from mujoco_ros.sim.state.state_vector import state_fields
from mujoco_ros.sim.stepping.real_time import Histogram

_LOG = logging.getLogger(__name__)

_GAP = 64  # alignment of the arrays of MjData [bytes]


@cache
def finite_check() -> Callable[[np.ndarray], bool]:
    """Return the check of an array, contiguous and not empty: all finite, none above 1e150."""
    # Of BLAS: NumPy's takes twice as long, and warns of an overflow. The import takes 0.1 s.
    from scipy.linalg.blas import ddot

    def is_finite(array: np.ndarray) -> bool:
        # The square of a number that is not finite is not finite either.
        return math.isfinite(ddot(array, array))

    return is_finite


class WriteGuard:
    """Keeps a copy of what the next step reads, to undo what is not finite."""

    def __init__(self, data: mujoco.MjData) -> None:
        """Guard the state of a model, which must be finite now."""
        # What the next step reads, but the time, and what is no number but a switch.
        names = [
            state_field.name
            for state_field in state_fields(data.model, data)
            if state_field.bit and state_field.shape
        ]
        arrays = {name: getattr(data, name, None) for name in names}
        self._arrays = {
            name: array.reshape(-1)
            for name, array in arrays.items()
            if array is not None and array.dtype == np.float64
        }
        # Not zero while the copy is in use: a method of an extension is being called
        self.busy = c_int(0)
        spans = _spans([array for array in self._arrays.values() if array.size])
        self._is_finite = finite_check()
        self._spans = [(span, span.copy()) for span in spans]

    def save(self) -> None:
        """Keep the present state."""
        for span, saved in self._spans:
            saved[:] = span

    def restore(self) -> None:
        """Return to the state that was kept."""
        for span, saved in self._spans:
            span[:] = saved

    def is_finite(self) -> bool:
        """Whether all numbers are finite, and no larger than 1e150."""
        for span, _ in self._spans:  # noqa: SIM110 - a generator costs as much as the check
            if not self._is_finite(span):
                return False
        return True

    def was_finite(self) -> bool:
        """Whether all numbers that were kept are finite, and no larger than 1e150."""
        return all(self._is_finite(saved) for _, saved in self._spans)

    def culprit(self) -> str:
        """Return the first number that is not finite, as ``qpos[3] = nan``; empty for none."""
        for name, array in self._arrays.items():
            for index in np.flatnonzero(~np.isfinite(array) | (np.abs(array) > 1e150)):
                return f"{name}[{index}] = {array[index]}"
        return ""


def _spans(arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Return the memory of arrays, with those next to each other in one: fewer calls."""
    spans: list[np.ndarray] = []
    for array in sorted(arrays, key=_address):
        if spans and 0 <= _address(array) - _address(spans[-1]) - spans[-1].nbytes < _GAP:
            length = (_address(array) - _address(spans[-1])) // 8 + len(array)
            joined = np.lib.stride_tricks.as_strided(spans[-1], (length,), (8,))
            if np.isfinite(joined).all():  # also the bytes between them, which nothing writes
                spans[-1] = joined
                continue
        spans.append(array)
    return spans


def _address(array: np.ndarray) -> int:
    return int(array.ctypes.data)


class ExtensionRunner:
    """Calls one extension, over all models of a simulation; in the physics thread.

    `key` is its name, with the name of its robot as a prefix; `config` its entry in the scene.
    """

    def __init__(
        self, simulation: Simulation, key: str, namespace: str, config: ExtensionConfig
    ) -> None:
        """Call nothing before `bind`."""
        self.key, self.namespace, self.config = key, namespace, config
        self.extension: Extension  # the instance for the present model
        self.settings: Any = None  # the values of its settings
        self.is_enabled = True  # whether it is called
        self.cell = HookCell(is_enabled=1)  # what its C functions share with it
        self.pauses = config.on_error == "pause"  # whether an error in it pauses the simulation
        self.failure = ""  # the error that disabled it; empty without one
        self.cost = Histogram()  # wall time of its calls in a step
        # Called after an error has disabled it
        self.on_failure: Callable[[], object] = lambda: None
        self._simulation = simulation
        self._is_finite = finite_check()
        self._spent = self._recorded = 0.0
        self._is_bound = False

    def bind(self, extension: Extension, state: ExtensionState, guard: WriteGuard) -> None:
        """Call the instance for another model from now on."""
        self.extension, self._guard, self._is_bound = extension, guard, True
        self._values, self._saved = state.values, state.values.copy()
        self._has_state = bool(len(state.values))
        if extension.settings != self.settings:  # they were changed while it was created
            self.change_settings(self.settings)

    def before_step(self) -> None:
        """Call `Extension.before_step`."""
        self.call("before_step", self.extension.before_step)

    def after_step(self) -> None:
        """Call `Extension.after_step`."""
        self.call("after_step", self.extension.after_step)

    def end_step(self) -> None:
        """Record the time that its calls took in the step."""
        if self.is_enabled:
            spent = self._spent + self.cell.spent
            self.cost.add(spent - self._recorded)
            self._recorded = spent

    def change_settings(self, settings: Any) -> None:
        """Set the settings."""
        self.settings = self.extension.settings = settings
        self.call("settings_changed", self.extension.settings_changed)

    def enable(self, *, enabled: bool) -> None:
        """Enable it, which begins with `Extension.reset`, or disable it by `Extension.release`."""
        changes, self.failure = enabled != self.is_enabled, ""
        self._allow(enabled)
        if changes and self._is_bound:
            self.reset()

    def reset(self) -> None:
        """Call `Extension.reset`, or while it is disabled `Extension.release`."""
        if self.is_enabled:
            self.call("reset", self.extension.reset)
        else:
            self._release()

    def call(
        self,
        method: str,
        function: Callable[..., Any],
        *args: Any,
        passes: type[BaseException] | None = None,
    ) -> Any:
        """Call a method, and return its result; None while disabled, or within another call.

        If it raises, or writes what is not finite, that is undone, and the extension disabled.
        Exceptions of the type `passes` do not disable it but are raised again.
        """
        guard, values = self._guard, self._values
        if not self.is_enabled or guard.busy.value:
            return None
        begin = perf_counter()
        guard.busy.value = 1
        guard.save()
        self._saved[:] = values
        try:
            result = function(*args)
        except BaseException as error:  # such as SystemExit: no extension ends the simulator
            self._undo()
            if passes is not None and isinstance(error, passes):
                raise
            self.fail(method, raised(error))
            return None
        finally:
            guard.busy.value = 0
        if problem := self._written(guard):
            self._undo()
            self.fail(method, problem)
        self._spent += perf_counter() - begin
        return result

    def fail(self, method: str, what: str) -> None:
        """Disable the extension because a method did something wrong."""
        self._allow(False)
        self.failure = f"{method} {what} at {float(self._simulation.data.time):.6f} s"
        effect = "it is disabled, and the simulation pauses" if self.pauses else "it is disabled"
        _LOG.error("extension '%s': %s; %s", self.key, self.failure, effect)
        if self.pauses:
            self._simulation.paused = True
        self._release()
        self.on_failure()

    def _release(self) -> None:
        """Call `Extension.release`; an error in it is undone and logged."""
        # Other copies than `call` has: a call of another extension may be using them.
        guard, values, error = WriteGuard(self._simulation.data), self._values.copy(), ""
        was_busy, self._guard.busy.value = self._guard.busy.value, 1
        try:
            self.extension.release()
        except BaseException as raising:  # such as SystemExit: no extension ends the simulator
            error = raised(raising)
        finally:
            self._guard.busy.value = was_busy
        if error := error or self._written(guard):
            guard.restore()
            self._values[:] = values
            _LOG.error("extension '%s': release %s", self.key, error)

    def _written(self, guard: WriteGuard) -> str:
        """Return what is wrong with what a method wrote since `guard` was saved; empty if none."""
        if not guard.is_finite() and guard.was_finite():  # else the engine wrote it
            return f"wrote {guard.culprit()}"
        if self._has_state and not self._is_finite(self._values):
            return "wrote numbers to its state that are not finite"
        return ""

    def _allow(self, enabled: bool) -> None:
        self.is_enabled = enabled
        self.cell.is_enabled = int(enabled)

    def _undo(self) -> None:
        self._guard.restore()
        self._values[:] = self._saved


def raised(error: BaseException) -> str:
    """Return that code of a user raised an exception, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" ({frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno})" if frames else ""
    try:
        shown = repr(error)
    except BaseException:  # it is a method of the user as well
        shown = type(error).__name__
    return f"raised {shown}{place}"
