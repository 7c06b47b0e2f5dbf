"""The engine's state as one vector, and the one list of its fields."""

from ctypes import c_void_p
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.model.scene.engine_plugins import ENGINE

INTEGRATION = int(mujoco.mjtState.mjSTATE_INTEGRATION)
"""The components of ``mjtState``: the next step depends on them, and on `_CARRIED`."""
INPUTS = int(mujoco.mjtState.mjSTATE_USER)
"""The components that the engine only reads: controls, applied forces and so on."""

_PREFIX = "mjSTATE_"
_ARRAYS = {"warmstart": "qacc_warmstart", "plugin": "plugin_state"}
"""Array of MjData by the name of its component, where they differ."""
_CARRIED = ("tree_asleep", "flexvert_lambda", "flexvert_conage")
"""Arrays that a step takes from the step before, and that ``mjtState`` lacks: of sleeping, and of
the flag ``ipc``."""
_CARRYING = int(mujoco.mjtEnableBit.mjENBL_SLEEP | mujoco.mjtEnableBit.mjENBL_IPC)


@dataclass(frozen=True)
class Field:
    """Name and shape of an array in a row of numbers."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Number of elements."""
        return int(np.prod(self.shape, dtype=int))


@dataclass(frozen=True)
class StateField(Field):
    """A field of the state, with the name of its array in MjData."""

    bit: int  # its bit of ``mjtState``; 0 if it has none
    part: slice  # its numbers in a state vector

    def view(self, state: np.ndarray) -> np.ndarray:
        """Return its numbers in a state vector, as a view.  # shape"""
        return state[self.part].reshape(self.shape)


def state_fields(model: mujoco.MjModel, data: mujoco.MjData) -> tuple[StateField, ...]:
    """Return the fields of the state, in the order of a state vector.

    A component that a later MuJoCo adds is among them.
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
        fields.append(StateField(name, shape, bit, slice(first, first + size)))
        first += size
    for name in _CARRIED:
        shape = getattr(data, name).shape
        fields.append(StateField(name, shape, 0, slice(first, first + shape[0])))
        first += shape[0]
    return tuple(fields)


class StateReader:
    """Reads the state of one model into one vector, without allocations."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._model, self._data = model, data
        fields = state_fields(model, data)
        self.state = np.zeros(fields[-1].part.stop)  # the vector (nstate,)
        # Its components of ``mjtState``, a view
        self.components = self.state[: mujoco.mj_stateSize(model, INTEGRATION)]
        carried = [field for field in fields if not field.bit and field.size]
        self._all_carried = [
            (field.view(self.state), getattr(data, field.name)) for field in carried
        ]
        self.configure()
        for vector, array in self._all_carried:
            vector[:] = array
        self.read()

    def configure(self) -> None:
        """Follow the options of the model, which may have changed."""
        carries = self._model.opt.enableflags & _CARRYING
        self._carried = self._all_carried if carries else []

    @property
    def carries(self) -> bool:
        """Whether steps depend on arrays that are no component."""
        return bool(self._carried)

    def read(self) -> None:
        """Read the state."""
        mujoco.mj_getState(self._model, self._data, self.components, INTEGRATION)
        for vector, array in self._carried:
            vector[:] = array


def state_vector(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """Return a copy of the state, for `set_state`.  # (nstate,)"""
    return StateReader(model, data).state


def set_state(model: mujoco.MjModel, data: mujoco.MjData, state: np.ndarray) -> None:
    """Set the state from `state_vector`; `mj_forward` computes the other fields of the data.

    The next step has the same bits as after the step that led to it.
    """
    components = state[: mujoco.mj_stateSize(model, INTEGRATION)]
    mujoco.mj_setState(model, data, components, INTEGRATION)
    if not model.opt.enableflags & _CARRYING:
        return
    first = len(components)
    carried = [getattr(data, name) for name in _CARRIED]
    asleep = state[first : first + model.ntree]
    if (asleep >= 0).any():
        # Sleeping bodies keep what the engine computed before they fell asleep.
        mujoco.mj_forward(model, data)
        mujoco.mj_setState(model, data, components, INTEGRATION)
    for array in carried:
        array[:] = state[first : first + len(array)]
        first += len(array)
    _update_sleep(model, data)


def wake(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Wake all bodies, since the engine does not notice that the model under them has changed."""
    if (data.tree_asleep >= 0).any():
        data.tree_asleep[:] = -1 - mujoco.mjMINAWAKE  # as after a reset
        _update_sleep(model, data)


def _update_sleep(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    """Update the lists of awake bodies; the bindings lack the function."""
    if model.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP:
        ENGINE.mj_updateSleep(c_void_p(model._address), c_void_p(data._address))


def fill_delay(model: mujoco.MjModel, data: mujoco.MjData, actuator: int, ctrl: np.ndarray) -> None:
    """Replace the delayed controls of an actuator, if it has any, by its present ones in `ctrl`
    (nu,).
    """
    if model.actuator_historyadr[actuator] < 0:
        return
    first = int(model.actuator_ctrladr[actuator])
    own = ctrl[first : first + int(model.actuator_ctrlnum[actuator])]
    samples = int(model.actuator_history[actuator, 0])
    values = np.ascontiguousarray(np.tile(own, (samples, 1)))
    mujoco.mj_initCtrlHistory(model, data, actuator, None, values)
