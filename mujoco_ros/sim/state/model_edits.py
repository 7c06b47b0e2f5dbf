"""Edits of a compiled model, and its fields that can change at run time as one vector."""

import mujoco
import numpy as np

from mujoco_ros.model.robot.scope import ROW_ELEMENTS
from mujoco_ros.model.scene.correspondence import Correspondence
from mujoco_ros.sim.settings.element_properties import ARRAYS, basic_numbers

OPTIONS = tuple(name for name in dir(mujoco.MjOption()) if not name.startswith("_"))
"""Names of the engine's options."""


class ModelEdits:
    """Differences of a model from its compiled values."""

    def __init__(self, model: mujoco.MjModel) -> None:
        """Copy the arrays of `model`, without assets."""
        self._model = model
        # Keyframes have no effect on the simulation, and ids are others in another model.
        arrays = {
            name: getattr(model, name) for name, kind in ROW_ELEMENTS.items() if kind != "key"
        }
        self._arrays = {
            name: (array, array.copy(), ROW_ELEMENTS[name])
            for name, array in arrays.items()
            if not (name.endswith("id") and array.dtype.kind == "i")
        }

    def copy_to(self, other: mujoco.MjModel, same: Correspondence) -> None:
        """Apply the edits to the same elements of another model."""
        for name, (current, compiled, kind) in self._arrays.items():
            if np.array_equal(current, compiled):
                continue
            old, new = same.pairs[kind]
            different = current[old] != compiled[old]
            edited = different.any(axis=tuple(range(1, different.ndim)))
            getattr(other, name)[new[edited]] = current[old[edited]]
        for name in OPTIONS:
            setattr(other.opt, name, getattr(self._model.opt, name))


class ModelValues:
    """Properties of elements, with gains and limits of actuators, and options of a model."""

    def __init__(self, model: mujoco.MjModel) -> None:
        fields = [getattr(model, name) for name in ARRAYS]
        options = [(name, getattr(model.opt, name)) for name in OPTIONS]
        # The arrays are views of the memory of the model; numbers are read by their names.
        self._arrays: list[tuple[slice, np.ndarray]] = []
        self._scalars: list[tuple[int, str]] = []
        self._options, size = model.opt, 0
        for name, value in [*(("", array) for array in fields), *options]:
            if np.ndim(value):
                self._arrays.append((slice(size, size + value.size), value.reshape(-1)))
            else:
                self._scalars.append((size, name))
            size += np.size(value)
        self.numbers = np.empty(size)  # all values since the last `read` (n,)
        self.read()

    def read(self) -> None:
        """Update `numbers`."""
        numbers, options = self.numbers, self._options
        for part, array in self._arrays:
            numbers[part] = array
        for index, name in self._scalars:
            numbers[index] = getattr(options, name)

    def write(self, numbers: np.ndarray) -> None:
        """Set the values from `numbers` of a model with the same structure."""
        for part, array in self._arrays:
            array[:] = numbers[part]
        for index, name in self._scalars:
            kind = type(getattr(self._options, name))
            setattr(self._options, name, kind(numbers[index]))


def gather(model: mujoco.MjModel) -> np.ndarray:
    """Return the present values of `ModelValues`."""
    return ModelValues(model).numbers


def scatter(model: mujoco.MjModel, numbers: np.ndarray) -> None:
    """Write the vector from `gather` to a model with the same structure."""
    before = basic_numbers(model)
    ModelValues(model).write(numbers)
    if not np.array_equal(before, basic_numbers(model)):
        mujoco.mj_setConst(model, mujoco.MjData(model))
