"""Supervision of a controller: its errors stop it but not its host."""

import logging
from collections.abc import Callable

import numpy as np

from mujoco_ros.control.joints import LARGEST
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.machine import Machine
from mujoco_ros.controllers.fsm.state_calls import StateError, shown
from mujoco_ros.controllers.fsm.table import Table, Transition, TransitionRejectedError
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.controllers.runtime.ticks import TIME_LIMIT_S
from mujoco_ros.controllers.runtime.time_limit import TimeLimit
from mujoco_ros.model.errors import UserInputError

_LOG = logging.getLogger(__name__)
_ROWS = ("position", "velocity", "effort")


class ReferenceFilter:
    """Checks the references of each tick, and leaves out those that the controller never set.

    The first references are the measured positions, at which a loaded arm would sag and a gripper
    open: until the controller sets others, the previous command stays. A joint that a state has
    released, by NaN, starts in the same way in the next state.

    A NaN that replaces a number is rather a failed computation: a warning, once for each state, or
    an error of a strict table. `became_nan` has these joints with their states.
    """

    def __init__(self, table: Table, machine: Machine, joints: tuple[str, ...]) -> None:
        self.became_nan: dict[str, str] = {}
        self._table, self._machine, self._joints = table, machine, joints
        self._first: np.ndarray | None = None  # (3, n)
        self._released: np.ndarray | None = None  # at the last tick, if any  # (n,) bool
        self._missing: np.ndarray | None = None  # at the last tick, if there was any  # (3, n)
        self._reported: set[str] = set()

    def apply(self, values: np.ndarray, q: np.ndarray) -> np.ndarray:
        """Return the references of a tick (3, n), NaN for joints without a command so far."""
        has_nan = self._check(values)
        if self._first is None:
            self._first = np.zeros((3, len(q)))
            self._first[0] = q
            self._set_uncommanded(np.arange(len(q)))
        before = self._uncommanded
        values = self._mask(values, q, self._first, has_nan=has_nan)
        missing = np.isnan(values) if has_nan else None
        if missing is not None:
            new = missing.copy() if self._missing is None else missing & ~self._missing
            new[:, before] = False
            if new.any():
                self._report(new)
        self._missing = missing
        return values

    def _check(self, values: np.ndarray) -> bool:
        """Return whether any reference is NaN; StateError if one is invalid."""
        shape = 3, len(self._joints)
        if values.shape != shape:
            raise StateError(f"references have the shape {values.shape}, not {shape}")
        size = np.abs(values)
        # NaN leaves a value unchanged; max() returns NaN if there is one.
        largest = size.max(initial=0.0)
        if not largest <= LARGEST and (size > LARGEST).any():
            row, joint = np.argwhere(size > LARGEST)[0]
            raise StateError(
                f"the {_ROWS[row]} of joint '{self._joints[joint]}' is {values[row, joint]:g}"
            )
        return bool(largest != largest)

    def _mask(
        self, values: np.ndarray, q: np.ndarray, first: np.ndarray, *, has_nan: bool
    ) -> np.ndarray:
        if self._released is not None:  # those that hold the measured positions now start again
            again: np.ndarray = (values[0] == q) & (values[1:] == 0.0).all(axis=0)
            again &= self._released
            if again.any():
                first[0, again] = q[again]
                again[self._uncommanded] = True
                self._set_uncommanded(np.flatnonzero(again))
        released = np.isnan(values).all(axis=0) if has_nan else None
        self._released = released if released is not None and released.any() else None
        if not len(self._uncommanded):
            return values
        references = values[:, self._uncommanded]
        if references.tobytes() != self._first_bytes:  # equal at most ticks
            changed = (references != first[:, self._uncommanded]) & ~np.isnan(references)
            self._set_uncommanded(self._uncommanded[~changed.any(axis=0)])
        masked = values.copy()
        masked[:, self._uncommanded] = np.nan
        return masked

    def _set_uncommanded(self, joints: np.ndarray) -> None:
        assert self._first is not None
        self._uncommanded, self._first_bytes = joints, self._first[:, joints].tobytes()

    def _report(self, new: np.ndarray) -> None:
        """Warn of references that became NaN, or raise a StateError.  # (3, n) bool"""
        states = [state for state in self._machine.active if state not in self._reported]
        if not states:
            return
        self._reported.update(states)
        joints = np.flatnonzero(new.any(axis=0))
        lines = [
            f"the {' and '.join(np.array(_ROWS)[new[:, joint]])} of joint '{self._joints[joint]}'"
            for joint in joints
        ]
        where = " or ".join(f"'{state}'" for state in states)
        text = f"state {where}: {', '.join(lines)} became NaN after it was commanded"
        if self._table.strict:
            raise StateError(text)
        self.became_nan |= {self._joints[joint]: " or ".join(states) for joint in joints}
        _LOG.warning("controller '%s': %s; it keeps its last value", self._table.name, text)


ERROR = "error"
"""`SupervisedController.state` after an error."""
INACTIVE = "inactive"
"""`SupervisedController.state` of a controller without ticks."""
ACTIVATE, DEACTIVATE = "activate", "deactivate"
"""Labels of the transitions from and to it."""


_RESET, _RESUME = "reset", "resume"
_KNOWN = (UserInputError, StateError)  # errors whose text is enough, without a traceback


class SupervisedController:
    """Runs a controller and stops it if it raises an exception or returns invalid references.

    All methods belong to the thread that calls `step`; any thread may read the attributes.
    """

    def __init__(self, controller: FsmController, now: Callable[[], float]) -> None:
        """Supervise a controller; `now` returns the time of the simulation or robot [s]."""
        self.controller, self.machine = controller, controller.machine
        # The transitions, with those caused by errors, resets and pauses
        self.log = self.machine.log
        # Active state of the machine, `ERROR`, or the reason of a pause
        self.state = self.error = ""  # why the controller was stopped; empty while it runs
        self.on_change: list[Callable[[], object]] = []  # called after new events in `log`
        calls, prefix = self.machine.calls, f"controller '{controller.table.name}': "
        self.time_limit = TimeLimit(TIME_LIMIT_S, calls.place, prefix)
        calls.guard = self.time_limit.call
        self._now, self._pause_reason, self._last_event = now, "", 0
        self._joints: tuple[str, ...] = ()
        # Checks the references of each tick
        self.references = ReferenceFilter(controller.table, self.machine, ())

    @property
    def available(self) -> tuple[Transition, ...]:
        """The transitions that can be requested now."""
        return () if self.error or self._pause_reason else self.machine.available

    def configure(self, robot: RobotModel) -> None:
        """Prepare the controller for a robot; see `FsmController.configure`."""
        self._joints = robot.joints
        self.references = ReferenceFilter(self.controller.table, self.machine, self._joints)
        self.controller.configure(robot)
        self._update()

    def reset(self, label: str = "") -> None:
        """Reset the controller, also after an error; `label` is the event's label."""
        self.error = ""
        self.references = ReferenceFilter(self.controller.table, self.machine, self._joints)
        try:
            self.controller.reset()
        except Exception as error:
            self.fail(error)
        self._update(label)

    def step(self, observation: Observation, time: float) -> np.ndarray | None:
        """Run the tick at `time` [s]; return its references (3, n), None if it is stopped.

        NaN where a value stays unchanged, and for joints without a command so far. The controller
        may overwrite the array at its next tick.
        """
        if self.error:
            return None
        values: np.ndarray | None
        try:
            values = self.controller.step(observation, time).values
            values = self.references.apply(values, observation.q)
        except Exception as error:
            self.fail(error)
            values = None
        self._update()
        return values

    def stop(self, reason: str, error: BaseException | None = None) -> None:
        """Stop the controller until a reset, and log the reason with the traceback of `error`."""
        if not self.error:
            self.error = reason
            name, state = self.controller.table.name, self.machine.state
            _LOG.error("controller '%s' stopped in %s: %s", name, state, reason, exc_info=error)
            self._update()

    def fail(self, error: BaseException) -> None:
        """Stop the controller until a reset because of an error."""
        text, is_known = _text(error), isinstance(error, _KNOWN)
        has_traceback = text is not None and not is_known
        text = (is_known and text) or shown(error)
        place = self.machine.calls.place_of(error)
        self.stop(f"{place}: {text}" if place else text, error if has_traceback else None)

    def pause(self, reason: str, label: str = "") -> None:
        """Report the end of ticks, whose `reason` is the state until `resume`."""
        self._pause_reason = reason
        self._update(label)

    def resume(self, label: str = _RESUME) -> None:
        """Report that ticks continue; `label` is the event's label."""
        self._pause_reason = ""
        self._update(label)

    def request(self, label: str) -> Transition:
        """Schedule a transition for the next tick; see `Machine.request`."""
        if self._pause_reason:
            raise TransitionRejectedError(
                f"'{label}' is not available: the controller is {self._pause_reason}"
            )
        if self.error:
            raise TransitionRejectedError(
                f"'{label}' is not available: the controller was stopped ({self.error}); a reset "
                "restarts it"
            )
        return self.machine.request(label)

    def _update(self, label: str = "") -> None:
        """Update the state; record a change that is not a transition of the table, with a label."""
        known, before = self._last_event, self.state
        for event in self.log.since(known) if self.log.count > known else ():
            if event.transition.start == before:  # false inside a branch of a parallel state
                before = event.transition.goal
        self.state = ERROR if self.error else self._pause_reason or self.machine.state
        if before not in ("", self.state):
            if self.state in self.machine.states:
                label = label or _RESET
            change = Transition(id=0, label=label or self.state, start=before, goal=self.state)
            self.log.record(change, time=self._now(), reason=self.error)
        self._last_event = self.log.count
        if self._last_event > known:
            for call in self.on_change:
                call()


def _text(error: BaseException) -> str | None:
    """Return the text of an error; None if it has none, as a class of a user may."""
    try:
        return str(error)
    except BaseException:
        return None
