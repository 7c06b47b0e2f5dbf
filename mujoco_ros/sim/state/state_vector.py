"""MuJoCo's state as one vector, and the one list of its fields, which is MuJoCo's own."""

from dataclasses import dataclass

import mujoco
import numpy as np

STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
"""All of the state that the next step depends on, except sleeping: a field for each bit."""
INPUTS = int(mujoco.mjtState.mjSTATE_USER)
"""The fields that the engine reads and never writes: controls, applied forces and so on."""

_PREFIX = "mjSTATE_"
_ARRAYS = {"warmstart": "qacc_warmstart", "plugin": "plugin_state"}
"""Array of MjData by the name of its bit, where they differ."""


@dataclass(frozen=True, slots=True)
class StateField:
    """A field of the state.

    Attributes:
        name: Its array in MjData, as ``qpos``.
        bit: Its bit of ``mjtState``.
        part: Its numbers in a state vector.
        shape: Its shape in MjData; the time has none.
    """

    name: str
    bit: int
    part: slice
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of elements."""
        return self.part.stop - self.part.start

    def of(self, state: np.ndarray) -> np.ndarray:
        """Return its numbers in a state vector, as a view.  # shape"""
        return state[self.part].reshape(self.shape)


def state_fields(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[StateField, ...]:
    """Return the fields of the state, in the order of a state vector.

    A field that a later MuJoCo adds is among them.
    """
    fields, first = [], 0
    for key, member in mujoco.mjtState.__members__.items():
        bit = int(member)
        if not key.startswith(_PREFIX) or bit.bit_count() != 1:  # a combination, or a count
            continue
        size = int(mujoco.mj_stateSize(model, bit))
        name = key.removeprefix(_PREFIX).lower()
        name = _ARRAYS.get(name, name)
        shape = np.shape(getattr(data, name, np.empty(size)))
        fields.append(StateField(name, bit, slice(first, first + size), shape))
        first += size
    return tuple(fields)


def state_vector(model: mujoco.MjModel, data: mujoco.MjData, fields: int = STATE) -> np.ndarray:
    """Return a copy of some fields of the state, for ``mj_setState``.  # (size,)"""
    state = np.empty(mujoco.mj_stateSize(model, fields))
    mujoco.mj_getState(model, data, state, fields)
    return state
