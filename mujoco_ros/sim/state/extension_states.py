"""State that extensions add to the engine's state."""

import ctypes
from collections.abc import Mapping
from copy import deepcopy
from typing import Any
from zlib import crc32

import numpy as np

from mujoco_ros.model.scene.parts import ScenePart

EXTENSION = "extension "
"""Beginning of the names of the numbers of extensions."""
_GENERATOR, _CACHE = "generator of ", "generator cache of "
_WORDS = 8  # words of 32 bits of the state of NumPy's PCG64: a number of 128 bits, and an increment


class ExtensionState:
    """The state of one extension: numbers, and a generator of random numbers."""

    def __init__(self, key: str, owner: ScenePart | None, initial: np.ndarray, seed: int) -> None:
        """Begin with `initial` (n,) and the random numbers of a seed and the key."""
        self.key = key  # name of the extension, after the prefix of its robot
        self.owner = owner  # the robot that it belongs to; None is the scene
        self._initial = initial
        self._seed = (seed, crc32(key.encode()))
        self.values = initial.copy()  # the numbers, in one array that stays the same object (n,)
        self.random = np.random.default_rng(self._seed)  # the generator
        self._first = deepcopy(self.random.bit_generator.state)
        self._words = _generator_words(self.random)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The numbers and the words of the generator, which stay the same objects, by name."""
        words, cache = self._words
        numbers = {EXTENSION + self.key: self.values} if len(self.values) else {}
        return numbers | {_GENERATOR + self.key: words, _CACHE + self.key: cache}

    def reset(self) -> None:
        """Return to the beginning."""
        self.values[:] = self._initial
        self.random.bit_generator.state = self._first

    def save(self) -> "SavedExtensionState":
        """Return a copy, for `restore`."""
        return self.owner, self.values.copy(), deepcopy(self.random.bit_generator.state)

    def restore(self, saved: "SavedExtensionState") -> None:
        """Continue from a saved state, unless another robot or another extension had it."""
        owner, values, random = saved
        if owner is self.owner and values.shape == self.values.shape:
            self.values[:] = values
            self.random.bit_generator.state = random


SavedExtensionState = tuple[ScenePart | None, np.ndarray, Any]
"""Owner, numbers, and the state of the generator."""


class ExtensionStates:
    """The states of all extensions of a plant, by key."""

    def __init__(self) -> None:
        self._states: dict[str, ExtensionState] = {}
        # The arrays of all states at the beginning of the last step, by name
        self.at_step: dict[str, np.ndarray] = {}
        self._copies: list[tuple[np.ndarray, np.ndarray]] = []

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The present arrays of all states by name."""
        return {
            name: array for state in self._states.values() for name, array in state.arrays.items()
        }

    def add(self, state: ExtensionState) -> None:
        """Add the state of an extension."""
        self._states[state.key] = state
        for name, array in state.arrays.items():
            kept = self.at_step[name] = array.copy()
            self._copies.append((kept, array))

    def note_step(self) -> None:
        """Keep the present state in `at_step`."""
        for kept, array in self._copies:
            kept[:] = array

    def reset(self) -> None:
        """Reset all states."""
        for state in self._states.values():
            state.reset()

    def save(self) -> dict[str, SavedExtensionState]:
        """Return a copy of all states, for `restore`."""
        return {key: state.save() for key, state in self._states.items()}

    def restore(self, saved: Mapping[str, SavedExtensionState]) -> None:
        """Continue from saved states; extensions without one keep theirs."""
        for key, state in self._states.items():
            if key in saved:
                state.restore(saved[key])


def _generator_words(generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return the memory of a generator's state: its words, and the words kept for later."""
    address = generator.bit_generator.ctypes.state_address
    place = ctypes.c_uint64.from_address(address).value
    words = np.ctypeslib.as_array((ctypes.c_uint32 * _WORDS).from_address(place))
    cache = np.ctypeslib.as_array((ctypes.c_uint32 * 2).from_address(address + 8))
    state = generator.bit_generator.state["state"]
    if words.tobytes() != b"".join(state[key].to_bytes(16, "little") for key in ("state", "inc")):
        raise RuntimeError(f"NumPy {np.__version__} keeps the state of its generators elsewhere")
    return words, cache
