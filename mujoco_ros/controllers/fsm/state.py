"""States of a controller: their base class, their inputs and outputs, and two for any robot."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from mujoco_ros.control.references import References
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.interface.store import Key, Store
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.panel_items import PanelItem

_ARRAYS = ("values", "q", "dq", "tau")


class StateReferences(References):
    """References whose arrays cannot be replaced; an assignment copies the values.

    ``references.q = goal`` is ``references.q[:] = goal`` with a check of the shape, so that no
    state can change the arrays of the states after it. Of a controller of several robots, `robots`
    has views of the same numbers, by the name in the table.
    """

    def __init__(self, values: np.ndarray) -> None:
        """Use `values` without a copy."""
        for name, array in zip(_ARRAYS, (values, *values), strict=True):
            object.__setattr__(self, name, array)
        self._shapes = [getattr(self, name).shape for name in _ARRAYS]
        self.robots: Mapping[str, StateReferences] = {}

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _ARRAYS:
            _copy(name, getattr(self, name), value)
        else:
            object.__setattr__(self, name, value)

    def rebind(self, values: np.ndarray) -> None:
        """Copy `values`; they must have the same shape."""
        self.values = values

    def check(self) -> None:
        """Raise ValueError unless the arrays have their shape and type, and are writeable."""
        for name, shape in zip(_ARRAYS, self._shapes, strict=True):
            array = getattr(self, name)
            if array.shape != shape or array.dtype != np.float64:
                raise ValueError(
                    f"references.{name} was changed to shape {array.shape} and type {array.dtype}; "
                    f"it is {shape} and float64"
                )
            if not array.flags.writeable:
                raise ValueError(f"references.{name} was made read-only")

    def replace_nan(self, q: np.ndarray) -> None:
        """Hold the measured `q` at rest where values are NaN, as at a controller's start."""
        missing = np.isnan(self.values)
        if missing.any():
            held = np.zeros_like(self.values)
            held[0] = q
            np.copyto(self.values, held, where=missing)


def _copy(name: str, target: np.ndarray, values: Any) -> None:
    try:
        given = np.asarray(values)
        is_number = given.dtype.kind in "fiub"
    except (TypeError, ValueError):
        is_number = False
    if not is_number:
        raise TypeError(f"references.{name} is set to {type(values).__name__}, not to numbers")
    if given.shape != target.shape:
        raise ValueError(
            f"references.{name} is set to an array of shape {given.shape}, not {target.shape}"
        )
    target[:] = given


class StateContext:
    """One tick of a controller.

    Attributes:
        store: Values shared by the states and the host.
        observation: Observation of this tick.
        period: Time between two ticks [s].
        seed: Seed of all random numbers.
    """

    __slots__ = (
        *("_awaited", "_references", "elapsed", "observation", "period", "reason", "robot"),
        *("robot_in_scene", "robots", "seed", "store", "time"),
    )

    def __init__(
        self,
        *,
        robot: RobotModel,
        store: Store,
        references: StateReferences,
        observation: Observation,
        period: float,
        seed: int = 0,
        awaited: list[Future[Any]] | None = None,
        robots: "Mapping[str, StateContext] | None" = None,
    ) -> None:
        """Use `references` and `awaited` without a copy."""
        # Of a controller of several robots, the contexts of all of them by their names in the
        # table, each with its robot, observation and references, and a store of its own. Empty for
        # a single robot.
        self.robots: Mapping[str, StateContext] = robots or {}
        # The same robot in the scene of this tick. After objects or other robots were added or
        # deleted it is another object, with another model and other addresses in it.
        # The controlled robot, as `State.configure` got it
        self.robot = self.robot_in_scene = robot
        self.store, self.observation = store, observation
        self.period, self.seed = period, seed
        # Time since the start of the state [s]; 0 in `start` and in the first `run`
        self.time = self.elapsed = 0.0  # time of the tick [s]
        # Why the state ends, for events, logs and statistics. Empty at the start of every `run`.
        self.reason = ""
        self._references = references
        self._awaited: list[Future[Any]] = [] if awaited is None else awaited

    @property
    def references(self) -> StateReferences:
        """Joint references, which keep the values of the last tick.  # (3, n)

        A state writes only what it changes. At its start no value is NaN. An assignment copies the
        values.
        """
        return self._references

    @references.setter
    def references(self, references: Any) -> None:
        if not isinstance(references, References):
            raise TypeError(
                f"context.references is set to a {type(references).__name__}, not to References; "
                "write into references.q, references.dq and references.tau"
            )
        if references is not self._references:
            self._references.values = references.values

    @property
    def awaited(self) -> list[Future[Any]]:
        """Futures that the next tick needs; empty at the start of every tick.

        A simulator stops the clock until they are done. A real robot cannot, so the state must
        handle a future that is not done. An assignment copies the list.
        """
        return self._awaited

    @awaited.setter
    def awaited(self, awaited: Iterable[Future[Any]]) -> None:
        self._awaited[:] = awaited

    def has_elapsed(self, duration: float) -> bool:
        """Return whether the state has run for `duration` [s], within half a period."""
        return self.elapsed > duration - 0.5 * self.period

    def check(self) -> None:
        """Raise TypeError or ValueError if a state has left something invalid in the context."""
        self._references.check()
        if type(self.reason) is not str:
            kind, self.reason = type(self.reason).__name__, ""
            raise TypeError(f"context.reason is set to a {kind}, not to a text")
        for future in cast("list[object]", self._awaited):
            if not isinstance(future, Future):
                self._awaited.clear()
                raise TypeError(
                    f"context.awaited contains a {type(future).__name__}; it takes futures of "
                    "concurrent.futures only"
                )


class State:
    """One behaviour of a controller; it runs until it returns an outcome.

    A table refers to the class by name, sets its configuration and maps each outcome to the next
    state. One instance serves all runs of the state, so `start` must reset all attributes.
    """

    outcomes: ClassVar[tuple[str, ...]] = ()  # all values that `run` may return
    failures: ClassVar[tuple[str, ...]] = ()  # the outcomes that mean failure
    # Frozen dataclass of the settings, read strictly from the table
    Config: ClassVar[type[Any] | None] = None
    # Keys of values in the store that the host receives or publishes as topics
    topics: ClassVar[tuple[Key[Any], ...]] = ()
    # Whether the machine also sets changed settings while the state runs
    has_live_settings: ClassVar[bool] = False
    # Settings that are paths of files. In a table, relative ones begin in its folder.
    files: ClassVar[tuple[str, ...]] = ()
    # What the page shows of the state, and the methods that its buttons call
    panel: ClassVar[tuple[PanelItem, ...]] = ()

    def __init__(self, config: Any = None) -> None:
        self.config = config  # the settings; the machine sets changed ones before `start`

    def configure(self, robot: RobotModel, store: Store) -> None:
        """Prepare for a robot, once and before all other calls; long computations belong here.

        UserInputError if the robot lacks a joint, sensor or site that the state needs.
        """

    @classmethod
    def immediate_outcome(cls, config: Any, period: float) -> str | None:
        """Return the outcome that the first `run` always has; None if the state can take time.

        A table in which such states follow each other in a circle is rejected. `config` has the
        settings of the state, `period` is the time between two ticks [s].
        """
        return None

    def start(self, context: StateContext) -> None:
        """Start; called once, in the same tick as the first `run`."""

    def run(self, context: StateContext) -> str | None:
        """Run one tick; return an outcome when the state has finished.

        While the transition waits for a request, `run` is still called, so that the state can hold
        the joints. Another outcome then replaces the first one.
        """
        raise NotImplementedError

    def teardown(self, context: StateContext) -> None:
        """Stop after an outcome, a request, a timeout, an error or a reset; must not raise."""


class Hold(State):
    """Holds the last commanded positions and feed-forward efforts."""

    def start(self, context: StateContext) -> None:
        """Set the reference velocities to zero."""
        context.references.dq[:] = 0.0

    def run(self, context: StateContext) -> str | None:
        """Never finish."""
        return None


class Wait(Hold):
    """Holds for a fixed time."""

    outcomes = ("done",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """Settings of `Wait`.

        Attributes:
            duration: [s]
        """

        duration: float = 1.0

        def __post_init__(self) -> None:
            if self.duration < 0.0:
                raise UserInputError(f"duration {self.duration} is negative")

    @classmethod
    def immediate_outcome(cls, config: "Wait.Config", period: float) -> str | None:
        """Return ``done`` if the time is shorter than half a period."""
        return "done" if config.duration < 0.5 * period else None

    def run(self, context: StateContext) -> str | None:
        """Finish after the configured time."""
        return "done" if context.has_elapsed(self.config.duration) else None


STATES: tuple[type[State], ...] = (Hold, Wait)
