"""State that extensions add to that of the engine."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any
from zlib import crc32

import numpy as np

from mujoco_ros.model.scene.parts import Part


class ExtensionState:
    """The state of one extension: numbers, and a generator of random numbers.

    Attributes:
        key: Name of the extension, with that of its robot as a prefix.
        owner: The robot that it belongs to; None is the scene.
        values: The numbers, in one array that stays the same object.  # (n,)
        random: The generator.
    """

    def __init__(self, key: str, owner: Part | None, initial: np.ndarray, seed: int) -> None:
        """Begin with `initial` (n,) and the random numbers of a seed and the key."""
        self.key, self.owner = key, owner
        self._initial = initial
        self._seed = (seed, crc32(key.encode()))
        self.values = initial.copy()
        self.random = np.random.default_rng(self._seed)
        self._first = deepcopy(self.random.bit_generator.state)

    def reset(self) -> None:
        """Return to the beginning."""
        self.values[:] = self._initial
        self.random.bit_generator.state = self._first

    def save(self) -> "SavedExtensionState":
        """Return a copy, for `restore`."""
        return SavedExtensionState(
            owner=self.owner,
            values=self.values.copy(),
            random=deepcopy(self.random.bit_generator.state),
        )

    def restore(self, saved: "SavedExtensionState") -> None:
        """Continue from a saved state, unless another robot or another extension had it."""
        if saved.owner is self.owner and saved.values.shape == self.values.shape:
            self.values[:] = saved.values
            self.random.bit_generator.state = saved.random


@dataclass(frozen=True, kw_only=True)
class SavedExtensionState:
    """A copy of an `ExtensionState`."""

    owner: Part | None
    values: np.ndarray
    random: Any


class ExtensionStates:
    """The states of all extensions of a plant, by key."""

    def __init__(self) -> None:
        self._states: dict[str, ExtensionState] = {}

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The numbers of each extension that has any."""
        return {key: it.values for key, it in self._states.items() if len(it.values)}

    def add(self, state: ExtensionState) -> None:
        """Add the state of an extension."""
        self._states[state.key] = state

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

    def transfer(self, old: "ExtensionStates") -> None:
        """Continue from the states of the previous plant."""
        self.restore(old.save())
