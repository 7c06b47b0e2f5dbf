"""An input of a network: its terms with noise, limits, scales and histories."""

from collections.abc import Sequence

import numpy as np

from mujoco_ros.controllers.library.policy.config import InputConfig, Numbers, Order, numbers
from mujoco_ros.controllers.library.policy.terms import PolicyTick, Term
from mujoco_ros.model.errors import UserInputError, counted


class InputVector:
    """Computes the numbers of an input."""

    def __init__(self, name: str, config: InputConfig, terms: Sequence[Term]) -> None:
        self._name, self._clip, self._order = name, config.clip, config.order
        self._parts = [_Part(term, f"input '{name}', term {term.config.name}") for term in terms]
        frame = sum(part.block.size for part in self._parts)
        self.size = frame * config.history
        self._frames = np.zeros((config.history, frame))
        self._frame = np.zeros(frame)
        at = 0
        for part in self._parts:
            part.place(self._frame[at : at + part.block.size])
            at += part.block.size

    def check_size(self, size: int) -> None:
        """Raise a UserInputError that names the first term that does not fit the file's input."""
        if size == self.size:
            return
        history, at, listing = len(self._frames), 0, []
        culprit = ""
        for part in self._parts:
            end = at + part.block.size
            listing.append(f"{part.name} {at}:{end}")
            if end * history > size and not culprit:
                culprit = f"the term {part.name} does not fit"
            at = end
        if not culprit:
            culprit = f"{size - self.size} values are missing after {self._parts[-1].name}"
        frames = f" in each of {history} frames" if history > 1 else ""
        raise UserInputError(
            f"input '{self._name}' has {size} values, and its terms have {self.size}: {culprit} "
            f"({', '.join(listing)}{frames})"
        )

    def write(
        self, tick: PolicyTick, rng: np.random.Generator, is_first: bool, target: np.ndarray
    ) -> str:
        """Write the input of a run into an array; return the term that is not a number, or "".

        If `is_first`, the histories begin with copies of this frame.
        """
        for part in self._parts:
            part.update(tick, rng, is_first)
        if not np.isfinite(self._frame).all():
            return next(part.name for part in self._parts if not np.isfinite(part.block).all())
        push(self._frames, self._frame, self._order, is_first)
        flat = target.reshape(-1)
        np.copyto(flat, self._frames.reshape(-1), casting="same_kind")
        if self._clip is not None:
            np.clip(flat, *self._clip, out=flat)
        return ""


class _Part:
    """A term with its history, in the frame of the input."""

    def __init__(self, term: Term, where: str) -> None:
        config, size = term.config, term.size
        self.name, self._write, self._order = config.name, term.write, config.order
        self.block = np.zeros((config.history, size))  # its values (history, size)
        self._value, self._random = np.zeros(size), np.zeros(size)
        self._scale = elements(config.scale, size, f"{where}: scale")
        self._offset = elements(config.offset, size, f"{where}: offset")
        self._limits = limits(config.clip, size, f"{where}: clip")
        self._uniform = elements(config.noise.uniform, size, f"{where}: noise.uniform")
        self._gaussian = elements(config.noise.gaussian, size, f"{where}: noise.gaussian")
        self._is_uniform, self._is_gaussian = self._uniform.any(), self._gaussian.any()

    def place(self, values: np.ndarray) -> None:
        """Keep the values in an array.  # (history · size,)"""
        self.block = values.reshape(self.block.shape)

    def update(self, tick: PolicyTick, rng: np.random.Generator, is_first: bool) -> None:
        value = self._value
        self._write(tick, value)
        if self._is_uniform:
            rng.random(out=self._random)
            self._random *= 2.0
            self._random -= 1.0
            self._random *= self._uniform
            value += self._random
        if self._is_gaussian:
            rng.standard_normal(out=self._random)
            self._random *= self._gaussian
            value += self._random
        if self._limits is not None:
            np.clip(value, *self._limits, out=value)
        value *= self._scale
        value += self._offset
        push(self.block, value, self._order, is_first)


def push(frames: np.ndarray, frame: np.ndarray, order: Order, is_first: bool) -> None:
    """Add a frame to a history, or begin one with copies of it.  # (history, n), (n,)"""
    if is_first or len(frames) == 1:
        frames[:] = frame
    elif order == "oldest_first":
        frames[:-1] = frames[1:]
        frames[-1] = frame
    else:
        frames[1:] = frames[:-1]
        frames[0] = frame


def elements(values: Numbers, size: int, where: str) -> np.ndarray:
    """Return one number for each element; `where` names the setting in errors."""
    given = numbers(values)
    if isinstance(values, tuple) and len(given) != size:
        raise UserInputError(
            f"{where} has {counted(len(given), 'number')}, and the term has "
            f"{counted(size, 'value')}"
        )
    return np.full(size, given[0]) if not isinstance(values, tuple) else np.array(given)


def limits(
    clip: tuple[Numbers, Numbers] | None, size: int, where: str
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the lower and upper limit of each element, as `elements`."""
    if clip is None:
        return None
    lower, upper = (elements(bound, size, where) for bound in clip)
    if not (lower <= upper).all():
        raise UserInputError(f"{where}: a lower limit is above the upper one")
    return lower, upper
