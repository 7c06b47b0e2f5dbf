"""Steps in C, with the bits of `Simulation.step` and without the interpreter."""

import ctypes
from collections.abc import Callable, Iterable, Sequence
from enum import IntEnum
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.scene.engine_plugins import ENGINE
from mujoco_ros.native import steps_library
from mujoco_ros.native.messages import CompiledMessages
from mujoco_ros.native.plan import Plan
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.shared_memory.segment import Copies
from mujoco_ros.sim.state.state_vector import INTEGRATION
from mujoco_ros.sim.stepping.compiled_topics import CompiledTopics

_FUNCTIONS = (
    "mj_step",
    "mj_getState",
    "_mjPRIVATE_setTlsLogHandler",
    "mju_negQuat",
    "mju_rotVecQuat",
    "mju_mat2Quat",
    "mju_mulQuat",
    "mju_negPose",
    "mju_mulPose",
    "mju_cross",
    "mj_objectVelocity",
)
"""The engine's functions, in the order of ``Steps`` in steps.c."""
_TOPICS, _SHARING, _TAKEN, _REFERENCES = 0, 1, 2, 3  # words of ``Steps`` that change
_LONGEST_ERROR = 2048  # bytes
_TRACED = 6  # numbers of a traced step


class StepOutcome(IntEnum):
    """What is to be done in Python after a step, as in steps.c."""

    FAILED = -1  # raise an error of the engine
    TAKEN = 0  # nothing
    UNSOLVED = 1  # check the solver, then `finish`
    WARNED = 2  # handle a warning of the engine, then `finish`
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
        compiled = steps_library(mujoco.mj_version())
        if compiled is None:
            raise LookupError("nothing was compiled for this engine")
        self._plant, plan = plant, Plan()
        self._plans: dict[int, Plan] = {}  # of the topics, and of what is shared
        # Numbers that change: origin, timestep, last time, and what the check of the solver needs
        self._settings = np.zeros(6)
        self._error = ctypes.create_string_buffer(_LONGEST_ERROR)
        self._warn = ctypes.CFUNCTYPE(None, ctypes.c_char_p)(
            lambda text: warn(text.decode(errors="replace"))
        )
        before, sample = plant.present.components, plant.sample.state
        streams = [control.streams for control in plant.controls]
        row = (
            *(0, 0, 0, 0, 0, 0),  # topics, sharing, steps taken, references, and what C writes
            *(plant.model._address, plant.data._address),
            plan.address(self._settings, count=6),
            plan.address(time),
            plan.address(warnings, count=warnings.size, kind=np.int64),
            plan.address(before, count=before.size),
            plan.address(sample, count=before.size),
            *(before.nbytes, INTEGRATION, len(plant.joints.names)),
            *plan.table(plant.drives.compiled_inputs(plan, plant.data.ctrl)),
            *plan.table(plant.saturation.compiled_limits(plan)),
            *plan.table(row for each in streams for row in each.compiled_ramps(plan)),
            *(_address(self._warn), ctypes.addressof(self._error), _LONGEST_ERROR),
            *_engine_functions(),
        )
        self._plan, self._row = plan, np.array(row, dtype=np.int64)
        self._address = plan.address(self._row, count=len(row), kind=np.int64)
        self._references: np.ndarray | None = None  # of the last call
        self._take_steps, self._run_steps = compiled.take_steps, compiled.run_steps
        self._finish_step = compiled.finish_step

    @property
    def applies(self) -> bool:
        """Whether the options of the model permit compiled steps."""
        plant = self._plant
        return not (plant.newton.is_staged or plant.present.carries)

    def step(
        self, references: np.ndarray, most: int = 1, *, ramps: bool = False
    ) -> tuple[int, int]:
        """Step, without messages, until something is to be done in Python.

        Args:
            references: As of `References`.
            most: Largest number of steps.
            ramps: Whether the references of streams follow the ramps that they show.

        Returns:
            A `StepOutcome`, and the number of complete steps.

        Raises:
            mujoco.FatalError: The engine reported an error.
        """
        self._refer(references)
        return self._outcome(self._take_steps(self._address, most, ramps))

    def run(
        self, references: np.ndarray, most: int, cells: "RunCells", *, ramps: bool
    ) -> tuple[int, int]:
        """Step, publish and share in real time, until something is to be done in Python.

        Args:
            references: As of `References`.
            most: Largest number of steps.
            cells: What is read and counted.
            ramps: Whether the references of streams follow the ramps that they show.

        Returns:
            A `StepOutcome`, and the number of complete steps.

        Raises:
            mujoco.FatalError: The engine reported an error.
        """
        self._refer(references)
        return self._outcome(self._run_steps(self._address, most, ramps, cells.address))

    def finish(self) -> int:
        """Complete a step that was checked, or had a warning; returns a `StepOutcome`."""
        outcome: int = self._finish_step(self._address)
        return outcome

    def _refer(self, references: np.ndarray) -> None:
        """Let the steps follow these references."""
        if references is not self._references:
            count = 3 * len(self._plant.joints.names)
            self._row[_REFERENCES] = Plan().address(references, count=count)
            self._references = references

    def _outcome(self, outcome: int) -> tuple[int, int]:
        if outcome == StepOutcome.FAILED:
            raise mujoco.FatalError(self._error.value.decode(errors="replace"))
        return outcome, int(self._row[_TAKEN])

    def _set(self, word: int, plan: Plan, row: Sequence[int]) -> None:
        """Let the steps follow a plan, whose root is `row`."""
        self._row[word] = plan.table([row])[0]
        self._plans[word] = plan  # the one before is freed

    def share(
        self,
        counter: "memoryview[int]",
        rows: Iterable[tuple["memoryview[float]", Copies]],
    ) -> None:
        """Plan what `run` shares.

        Args:
            counter: The number of rows that were written.  # (1,)
            rows: Time, and pairs of target and source, of each row.
        """
        plan = Plan()
        planned: list[tuple[int, ...]] = []
        pieces: list[tuple[int, ...]] = []
        for time, copies in rows:
            planned.append((plan.address(np.asarray(time)), len(pieces), len(copies)))
            for pair in copies:
                arrays = [np.frombuffer(piece, np.uint8) for piece in pair]
                size = arrays[0].size
                addresses = [plan.address(each, count=size, kind=np.uint8) for each in arrays]
                pieces.append((*addresses, size))
        count = plan.address(np.asarray(counter), kind=np.int64)
        self._set(_SHARING, plan, (count, *plan.table(planned), plan.table(pieces)[0]))

    def configure(self, origin: float, last_time: float) -> None:
        """Follow changed options; `origin` and `last_time` are as of `Simulation` [s]."""
        newton = self._plant.newton
        timestep = float(self._plant.model.opt.timestep)
        self._settings[:] = origin, timestep, last_time, *newton.limits

    def publish(
        self,
        groups: Sequence[CompiledTopics],
        clock: CompiledMessages,
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
        plan = Plan()
        rows: list[tuple[int, ...]] = []
        updates: list[tuple[int, ...]] = []
        subscriptions: list[tuple[int, ...]] = []
        for group in groups:
            numbers = [(plan.address(number, kind=np.int64),) for number in group.subscriptions]
            own = [row for each in group.updates for row in each.rows(plan)]
            ready = 0 if group.ready is None else plan.address(group.ready, kind=np.int64)
            parts = len(subscriptions), len(numbers), len(updates), len(own)
            rows.append((group.every, _messages(plan, group.messages), ready, *parts))
            subscriptions += numbers
            updates += own
        tables = *plan.table(rows), plan.table(updates)[0], plan.table(subscriptions)[0]
        self._set(_TOPICS, plan, (*tables, _messages(plan, clock), clock_every, clock_last))


class RunCells:
    """What `CompiledSteps.run` reads and counts."""

    def __init__(
        self,
        pace: np.ndarray,
        attention: np.ndarray,
        periods: np.ndarray,
        costs: np.ndarray,
        trace: np.ndarray | None = None,
    ) -> None:
        """Take the arrays.

        Args:
            pace: `Pacer.numbers` and the wall time at which the last step began [s].  # (7,)
            attention: As `CommandQueue.attention`.  # (1,)
            periods: Counts of periods by microseconds, longer ones in the last.  # (n,)
            costs: As `periods`, of the time that steps take.  # (n,)
            trace: Number of traced steps, then begin, end of the engine's step and of publishing
                [ns], stamp [ns], late steps, and end of sharing [ns] for each; None for no trace.
        """
        self._plan = plan = Plan()
        row = [plan.address(pace, count=7), plan.address(attention, kind=np.int64)]
        for counts in (periods, costs):
            row += plan.address(counts, count=counts.size, kind=np.int64), counts.size - 1
        traced = (0, 0)
        if trace is not None:
            traced = plan.address(trace, kind=np.int64), (trace.size - 1) // _TRACED
        self.keeps = np.zeros(1, dtype=np.int64)
        """Whether no message is lost where there is no time to send it.  # (1,)"""
        keeps = plan.address(self.keeps, kind=np.int64)
        self.address = plan.table([(*row, *traced, keeps)])[0]
        """Address of the ``Run`` of steps.c."""


def _messages(plan: Plan, messages: CompiledMessages | None) -> int:
    """Return the address of messages, which the plan keeps."""
    plan.keep(messages)
    return 0 if messages is None else messages.address


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _engine_functions() -> list[int]:
    """Return the addresses of the engine's functions.

    Raises:
        LookupError: One is missing.
    """
    try:
        return [_address(getattr(ENGINE, name)) for name in _FUNCTIONS]
    except AttributeError as error:
        raise LookupError(str(error)) from error
