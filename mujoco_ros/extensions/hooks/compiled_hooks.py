"""The hooks of one kind of a model, if all are C functions: called without Python."""

import ctypes
import logging
from collections.abc import Sequence
from typing import Any, Protocol

import mujoco

from mujoco_ros.extensions.hooks.compiled import CompiledCallback, HookEntry, Report

_LOG = logging.getLogger(__name__)


class CHook(Protocol):
    """A hook that may be a C function."""

    def entry(self) -> HookEntry | None:
        """Return its entry, which refers to memory of the hook; None for a Python function."""

    def reject(self, index: int, number: float) -> None:
        """Handle a stage in which it wrote, or an element for which it returned, no number."""


class CompiledHooks:
    """Serves a model by a compiled callback while it is open.

    Attributes:
        address: Address of the callback, to install in the engine.
    """

    def __init__(
        self,
        callback: CompiledCallback,
        hooks: Sequence[CHook],
        entries: Sequence[HookEntry],
        parts: tuple[mujoco.MjModel, mujoco.MjData, ctypes.c_int],
    ) -> None:
        """Prepare to serve.

        Args:
            callback: The compiled callback of the kind.
            hooks: The hooks, in the order in which they are called.
            entries: Their entries.
            parts: The model, the state that is stepped, and a number that is not zero while a
                method or hook is called.
        """
        self.address = callback.address
        self._gate, self._parts, self._hooks = callback.gate, parts, hooks
        self._entries = (HookEntry * len(entries))(*entries)
        self._report = Report(self._reject)

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
            self._hooks[hook].reject(index, number)
        except BaseException:  # nothing leaves a callback
            _LOG.exception("an engine hook cannot be disabled")
