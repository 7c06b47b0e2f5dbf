"""Steps in C, with the bits of `Simulation.step` and without the interpreter."""

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.scene.engine_plugins import ENGINE
from mujoco_ros.native import steps_type
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state.state_vector import INTEGRATION

_FUNCTIONS = (
    "mj_step",
    "mj_stateSize",
    "mj_getState",
    "_mjPRIVATE_setTlsLogHandler",
    "mju_negQuat",
    "mju_rotVecQuat",
    "mju_mat2Quat",
    "mju_mulQuat",
)
"""The engine's functions, in the order of ``Engine`` in steps.c."""
MANY = 1_000
"""Most steps between two calls of Python; their duration is limited as well."""
_RK4 = int(mujoco.mjtIntegrator.mjINT_RK4)


class Outcome(IntEnum):
    """What is to be done in Python after a step, as in steps.c."""

    TAKEN = 0  # nothing
    UNSOLVED = 1  # check the solver, then `finish`
    WARNED = 2  # handle a warning of the engine, then `complete`
    PUBLISH = 3  # publish, as after a step in Python
    IN_PYTHON = 4  # take the step, which did not begin


class CompiledSteps:
    """Steps of a plant; `Simulation` says when they are the whole step."""

    def __init__(
        self, plant: Plant, time: np.ndarray, warnings: np.ndarray, warn: Callable[[str], object]
    ) -> None:
        """Plan the steps.

        Args:
            plant: The plant.
            time: Time of the sample [s], which is set.  # (1,)
            warnings: The numbers of the engine's warnings that were handled.  # (mjNWARNING,)
            warn: Called with each warning of the engine.

        Raises:
            LookupError: There are none: nothing was compiled, or the engine is another one.
        """
        kind = steps_type(mujoco.mj_version())
        if kind is None:
            raise LookupError("nothing was compiled for this engine")
        self._plant = plant
        # Numbers that change: origin, timestep, last time, and what the check of the solver needs
        self._settings = np.zeros(6)
        drives, counted = plant.drives, plant.saturation
        factors, offsets, inputs = drives.affine_map()
        arrays = (self._settings, time, warnings, plant.present.components, plant.sample.state)
        self._compiled = kind(
            model=plant.model._address,
            data=plant.data._address,
            functions=_addresses(),
            on_warning=warn,
            arrays=(*arrays, factors, offsets, *counted.arrays),
            components=INTEGRATION,
            inputs=inputs,
            limited=counted.rows(first=len(arrays) + 2),
        )
        self.finish: Callable[[], int] = self._compiled.finish
        """Complete a step after the check of the solver; returns an `Outcome`."""
        self.complete = self._compiled.complete
        """Take the sample of a step after a warning."""

    @property
    def applies(self) -> bool:
        """Whether the options of the model permit compiled steps."""
        plant = self._plant
        return plant.model.opt.integrator != _RK4 and not plant.present.carries

    @property
    def begun(self) -> float:
        """Time at which the present step began [s]."""
        return float(self._plant.present.components[0])

    def step(self, references: np.ndarray) -> int:
        """Advance by one timestep, with references as of `References`; return an `Outcome`.

        Raises:
            mujoco.FatalError: The engine reported an error.
        """
        try:
            return self._compiled.step(references)
        except RuntimeError as error:
            raise mujoco.FatalError(str(error)) from None

    def run(
        self, references: np.ndarray, most: int, cells: Sequence[np.ndarray]
    ) -> tuple[int, int, Sequence[Any]]:
        """Step, publish and share in real time, until something is to be done in Python.

        Args:
            references: As of `References`; they stay as they are.
            most: Largest number of steps.
            cells: The pace, `CommandQueue.attention`, and the counts of periods and of costs.

        Returns:
            An `Outcome`, the number of complete steps, and the messages that were rejected.

        Raises:
            mujoco.FatalError: The engine reported an error.
        """
        try:
            return self._compiled.run(references, most, cells)
        except RuntimeError as error:
            raise mujoco.FatalError(str(error)) from None

    def share(self, rows: Sequence[Any], arrays: Sequence[Any]) -> None:
        """Plan what `run` shares: copies to each row; the counter, and the time of each row."""
        self._compiled.set_sharing(rows, arrays)

    def configure(self, origin: float, last_time: float) -> None:
        """Follow changed options; `origin` and `last_time` are as of `Simulation` [s]."""
        newton = self._plant.newton
        timestep = float(self._plant.model.opt.timestep)
        self._settings[:] = origin, timestep, last_time, *newton.limits

    def publish(
        self,
        groups: Sequence["CompiledTopics"],
        clock: Any,
        clock_every: int,
        *,
        clock_last: bool,
    ) -> None:
        """Plan what `run` publishes: groups of topics, and the clock.

        Args:
            groups: The groups, in the order in which they are published.
            clock: The messages of the clock.
            clock_every: Steps from one of them to the next; 0 is with each group.
            clock_last: Whether the clock comes after the groups.
        """
        rows = [
            (group.every, group.messages is None, group.messages, *group.updates.plan())
            for group in groups
        ]
        self._compiled.set_topics(rows, clock, clock_every, clock_last)


@dataclass(frozen=True, kw_only=True)
class CompiledTopics:
    """Topics that are published at the same steps."""

    every: int  # steps from one message to the next
    messages: Any  # the compiled messages; None if Python publishes them
    updates: "Updates"  # of derived arrays; for Python, the numbers of subscriptions


class Updates:
    """Updates of derived arrays, in C, in the order in which they are added.

    All arrays are views that stay valid, C-contiguous and of float64.
    """

    ROTATE, RELATE, FACE, COPY, MARK, SUBTRACT, SUBTRACT_ANGLE, ADD = range(8)

    def __init__(self) -> None:
        self._arrays: list[np.ndarray] = []
        self._index: dict[int, int] = {}
        self._rows: list[list[int]] = []

    def rotate(self, quat: np.ndarray, vector: np.ndarray, to: np.ndarray) -> None:
        """Write a vector in a frame whose orientation is a quaternion.  # (4,), (3,), (3,)"""
        self._add(self.ROTATE, to, quat, vector)

    def relate(
        self,
        parent: tuple[np.ndarray, np.ndarray],
        child: tuple[np.ndarray, np.ndarray],
        to: np.ndarray,
    ) -> None:
        """Write the pose of a child, position and quaternion, in its parent.  # (3,), (4,), (7,)"""
        self._add(self.RELATE, to, *parent, *child)

    def face(
        self, position: np.ndarray, matrix: np.ndarray, turn: np.ndarray, to: np.ndarray
    ) -> None:
        """Write the pose of a matrix turned by a quaternion.  # (3,), (9,), (4,), (7,)"""
        self._add(self.FACE, to, position, matrix, turn)

    def copy(self, values: np.ndarray, to: np.ndarray) -> None:
        """Copy all numbers."""
        self._add(self.COPY, to, values, count=values.size)

    def mark(self, farthest: np.ndarray, to: np.ndarray) -> None:
        """Write +inf to a distance that is out of range.  # (1,), (1,)"""
        self._add(self.MARK, to, farthest)

    def subtract(
        self, desired: np.ndarray, actual: np.ndarray, to: np.ndarray, *, angles: bool
    ) -> None:
        """Write a difference, of angles without full turns.  # (1,), (1,), (1,)"""
        self._add(self.SUBTRACT_ANGLE if angles else self.SUBTRACT, to, desired, actual)

    def add(self, first: np.ndarray, second: np.ndarray, to: np.ndarray) -> None:
        """Write a sum."""
        self._add(self.ADD, to, first, second, count=to.size)

    def count(self, subscriptions: np.ndarray) -> None:
        """Name a number of subscriptions that Python serves.  # (1,) int64"""
        self._arrays.append(subscriptions)

    def plan(self) -> tuple[list[np.ndarray], np.ndarray]:
        """Return the arrays, and the rows of steps.c that name their elements."""
        return self._arrays, np.array(self._rows, dtype=np.int64)

    def _add(self, kind: int, to: np.ndarray, *values: np.ndarray, count: int = 0) -> None:
        row = [kind]
        for place in range(4):
            row += (self._number(values[place]), 0) if place < len(values) else (0, 0)
        self._rows.append([*row, self._number(to), 0, count])

    def _number(self, array: np.ndarray) -> int:
        # Two views of the same element at one address differ in length at most.
        address = array.__array_interface__["data"][0]
        known = self._index.get(address)
        if known is None or self._arrays[known].size < array.size:
            known = self._index[address] = len(self._arrays)
            self._arrays.append(array)
        return known


def _addresses() -> np.ndarray:
    """Return the addresses of the engine's functions.

    Raises:
        LookupError: One is missing.
    """
    try:
        functions = [ctypes.cast(getattr(ENGINE, name), ctypes.c_void_p) for name in _FUNCTIONS]
    except AttributeError as error:
        raise LookupError(str(error)) from error
    return np.array([function.value for function in functions], dtype=np.uint64)
