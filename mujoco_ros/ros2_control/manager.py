"""The controllers of a robot: which of them are loaded, and active; their updates."""

import logging
from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any

import numpy as np

from mujoco_ros.control.joints import EFFORT, POSITION, VELOCITY
from mujoco_ros.control.robot_control import RobotControl
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.hardware import HardwareInterfaces
from mujoco_ros.ros2_control.loaded_controller import (
    ROUNDING_S,
    Lifecycle,
    LoadedController,
    next_update,
)
from mujoco_ros.ros2_control.parameters import ControllerParameters

_LOG = logging.getLogger(__name__)
_ROUNDING = 1e-6  # fraction of a step, far above the rounding errors of summed times


class ControllerManager:
    """Loads, configures and switches the controllers of a robot, and updates the active ones.

    `load`, `configure`, `cleanup` and `unload` are for the executor's thread; the others are for
    the physics thread.
    """

    replaces_defaults = True  # the robot has no other controllers

    def __init__(
        self,
        robot: RobotControl,
        hardware: HardwareInterfaces,
        types: Mapping[str, type[Controller]],
        update_rate: float,
    ) -> None:
        """Start without controllers; `update_rate` is their default, in simulated time [Hz]."""
        self.robot, self.hardware, self.types = robot, hardware, types
        self.update_rate = update_rate
        self.loaded: dict[str, LoadedController] = {}  # by name, in the order of loading
        self.updated: list[LoadedController] = []  # those with a tick in the present step
        self._switching = Lock()
        self.on_change: list[Callable[[], object]] = []  # called after a change of states
        self._active: list[LoadedController] = []  # those that command others first
        self._of_each_step: list[LoadedController] = []  # those that may be updated at each step
        self._last, self._next = -np.inf, np.inf  # ticks of any controller, the next the earliest

    def load(self, name: str, kind: str, update_rate: float | None = None) -> LoadedController:
        """Load a controller of a type.

        Raises:
            UserInputError: The name is loaded already, or the type is unknown.
        """
        if name in self.loaded:
            raise UserInputError(f"controller '{name}' is loaded already")
        if kind not in self.types:
            raise unknown("controller type", kind, self.types, where=f"controller '{name}'")
        rate = min(update_rate or self.update_rate, self.update_rate)
        entry = LoadedController(name=name, type_name=kind, kind=self.types[kind], update_rate=rate)
        self.loaded = {**self.loaded, name: entry}
        return entry

    def configure(self, name: str, parameters: ControllerParameters) -> Controller:
        """Construct a controller that is not active; raises `UserInputError`."""
        self.cleanup(name)
        try:
            controller = self.loaded[name].kind(name, parameters, self.hardware)
        except UserInputError as error:
            raise parameters.located(error) from error
        self.hardware.export(f"{name}/", controller.reference_interfaces, controller.references)
        self.hardware.export_states(f"{name}/", controller.exported_states, controller.states_out)
        self.loaded[name].controller = controller
        self.loaded[name].state = Lifecycle.INACTIVE
        return controller

    def cleanup(self, name: str) -> None:
        """Return an inactive controller to the state before `configure`."""
        entry = self.find(name)
        with self._switching:  # not while the physics thread activates it
            if entry.state is Lifecycle.ACTIVE:
                raise UserInputError(f"controller '{name}' is active; deactivate it first")
            entry.state = Lifecycle.UNCONFIGURED
        if entry.controller is not None:
            self.hardware.withdraw(f"{name}/")
        entry.controller = None

    def unload(self, name: str) -> None:
        """Remove a controller that is not active."""
        self.cleanup(name)
        self.loaded = {other: entry for other, entry in self.loaded.items() if other != name}

    def find(self, name: str) -> LoadedController:
        """Return a loaded controller by name."""
        if name not in self.loaded:
            raise unknown("controller", name, self.loaded)
        return self.loaded[name]

    def claimed(self) -> dict[str, str]:
        """Return the name of the active controller that has each claimed command interface."""
        return {interface: entry.name for entry in self._active for interface in entry.commands}

    def chained_to(self, entry: LoadedController) -> dict[str, list[str]]:
        """Return the references of other controllers that a controller writes, by their names."""
        found: dict[str, list[str]] = {}
        for interface in entry.commands:
            owner = self._exporter(interface)
            if owner is not None:
                found.setdefault(owner.name, []).append(interface.removeprefix(f"{owner.name}/"))
        return found

    def switch(
        self,
        activate: Iterable[str],
        deactivate: Iterable[str],
        *,
        strict: bool = True,
        gives_way: bool = False,
    ) -> tuple[str, ...]:
        """Deactivate and activate controllers at once, or nothing.

        Those that are activated such that they give way are deactivated for others, and move no
        joint that others move.

        Returns:
            What was left out, unless it is `strict`.

        Raises:
            UserInputError: A part is impossible, and it is `strict` or no controller is known.
        """
        with self._switching:
            problems: list[str] = []
            activate, deactivate = list(activate), list(deactivate)
            known = not self.loaded.keys().isdisjoint((*activate, *deactivate))
            activate = [name for name in activate if not self._is_taken_over(name)]
            stop = self._possible(deactivate, Lifecycle.ACTIVE, problems)
            restarted = {entry.name for entry in stop}
            start = self._possible(activate, Lifecycle.INACTIVE, problems, also=restarted)
            for entry in start:
                entry.gives_way = gives_way
            if not gives_way:
                self._give_way(start, stop)
            # What is left out may be needed by others.
            while problem := self._leave_out(start, stop):
                problems.append(problem)
            if problems and (strict or not known):
                raise UserInputError("; ".join(problems))
            for entry in stop:
                if entry.name not in deactivate:
                    _LOG.info("controller '%s', started by the simulator, gives way", entry.name)
            if start or stop:
                self._apply(start, stop)
        return tuple(problems)

    def retire(self, *, force: bool) -> None:
        """Deactivate all controllers, such that none is activated before it is configured anew.

        Raises:
            UserInputError: Some are active, and this is not forced.
        """
        with self._switching:
            if self._active and not force:
                names = ", ".join(entry.name for entry in self._active)
                raise UserInputError(f"controllers are active: {names}")
            self._apply([], self._active)
            for entry in self.loaded.values():
                entry.state = Lifecycle.UNCONFIGURED

    def update(self, time: float) -> None:
        """Update the controllers that are due in the step that begins at `time` [s]."""
        self.updated.clear()
        is_due = self._is_due(time)
        for entry in self._active if is_due else self._of_each_step:
            if is_due and entry.is_due(time):
                self._tick(entry, time)
            elif entry.follows_steps:
                self._update(entry, time, 1.0 / entry.update_rate)
        if is_due:
            self._note_next()

    def fail(self, entry: LoadedController, error: Exception) -> None:
        """Deactivate a controller that has failed; the others continue, as in ros2_control."""
        _LOG.error(
            "controller '%s' failed and is deactivated: %s", entry.name, error, exc_info=error
        )
        self._apply([], [entry])

    def idle_steps(self, time: float, most: int) -> int:
        """Return for how many steps from `time` on no controller is due, at most `most`."""
        if self._is_due(time) or any(entry.follows_steps for entry in self._of_each_step):
            return 0
        return int(min(most, (self._next - time) / self.robot.timestep + _ROUNDING))

    def reset(self, reason: str) -> None:
        """Begin again after the state was set; goals end for a `reason`."""
        for entry in self._active:
            entry.next_update = -np.inf
            entry.configured.reset(reason)
        self._note_next()

    def initialize(self) -> None:
        """Set the interfaces that are memory to their initial values."""
        self.hardware.initialize()

    def save_state(self) -> Any:
        """Return a copy of the state of active controllers, for `restore_state`."""
        return self.hardware.values.copy(), {
            entry.name: (entry.last_update, entry.next_update, entry.configured.save_state())
            for entry in self._active
        }

    def restore_state(self, state: Any) -> None:
        """Continue the controllers that are active now from a saved state, after a `reset`."""
        self.hardware.values[:], controllers = state
        for entry in self._active:
            if entry.name in controllers:
                entry.last_update, entry.next_update, saved = controllers[entry.name]
                entry.configured.restore_state(saved)
        self._note_next()

    def _is_due(self, time: float) -> bool:
        """Return whether a tick of any controller is in the step that begins at `time` [s]."""
        return time < self._last or time >= self._next - ROUNDING_S

    def _note_next(self) -> None:
        """Note the next tick of all controllers."""
        self._next = min((entry.next_update for entry in self._active), default=np.inf)
        self._last = max((entry.last_update for entry in self._active), default=-np.inf)

    def _tick(self, entry: LoadedController, time: float) -> None:
        period = 1.0 / entry.update_rate
        elapsed = time - entry.last_update
        if not 0.0 < elapsed < 2.0 * period:  # the first, or after the clock was set
            elapsed = period
        entry.last_update = time
        entry.next_update = next_update(time, period)
        if self._update(entry, time, elapsed):
            self.updated.append(entry)

    def _update(self, entry: LoadedController, time: float, elapsed: float) -> bool:
        """Update a controller; return whether it did not fail."""
        try:
            entry.configured.update(time, elapsed)
        except Exception as error:
            self.fail(entry, error)
            return False
        return True

    def _is_taken_over(self, name: str) -> bool:
        """Return whether a controller is active without the request of a client, the first."""
        entry = self.loaded.get(name)
        if entry is None or not entry.gives_way or entry.state is not Lifecycle.ACTIVE:
            return False
        entry.gives_way = False
        return True

    def _possible(
        self,
        names: Iterable[str],
        state: Lifecycle,
        problems: list[str],
        also: Iterable[str] = (),
    ) -> list[LoadedController]:
        """Return the loaded controllers that have a state; add why others have not."""
        found: list[LoadedController] = []
        for name in dict.fromkeys(names):
            if name not in self.loaded:
                problems.append(str(unknown("controller", name, self.loaded)))
            elif (entry := self.loaded[name]).state is state or name in also:
                found.append(entry)
            else:
                problems.append(f"controller '{name}' is {entry.state}, not {state}")
        return found

    def _give_way(self, start: list[LoadedController], stop: list[LoadedController]) -> None:
        """Add to `stop` what gives way to `start`, and what commands a controller that ends."""
        wanted = {interface for entry in start for interface in entry.commands}
        for entry in reversed(self._active):  # those that command others last
            ended = {other.name for other in stop}
            is_in_the_way = wanted.intersection(entry.commands) or ended.intersection(
                self.chained_to(entry)
            )
            if is_in_the_way and entry.gives_way and entry not in stop:
                stop.append(entry)

    def _leave_out(self, start: list[LoadedController], stop: list[LoadedController]) -> str:
        """Remove a controller that cannot be activated or deactivated; return why, or nothing."""
        for entry in stop:
            if problem := self._needed(entry, stop, start):
                stop.remove(entry)
                return problem
        for entry in start:
            after = [*(e for e in self._active if e not in stop and e not in start), *start]
            after.remove(entry)
            if problem := self._conflict(entry, after):
                start.remove(entry)
                return problem
        return ""

    def _conflict(self, entry: LoadedController, others: Iterable[LoadedController]) -> str:
        """Return why a controller cannot be active beside others; empty if it can."""
        others = list(others)
        taken = {interface: other.name for other in others for interface in other.commands}
        available = set(self.hardware.command_interfaces)
        for interface in entry.commands:
            if interface in taken:
                return (
                    f"controller '{entry.name}' cannot claim '{interface}', which controller "
                    f"'{taken[interface]}' has"
                )
            owner = self._exporter(interface)
            if owner is not None and owner not in others:
                return f"controller '{entry.name}' commands '{owner.name}', which is not active"
            if interface not in available:
                return f"controller '{entry.name}' commands '{interface}', which exists no longer"
        moved = self._joints([entry]).keys() & self._joints(others).keys()
        if entry.gives_way and moved:  # hardware follows one of position, velocity and effort
            name = self.hardware.robot.joints.names[min(moved)]
            return f"controller '{entry.name}' moves joint '{name}', as another controller does"
        return ""

    def _needed(
        self,
        entry: LoadedController,
        stop: Iterable[LoadedController],
        start: Iterable[LoadedController],
    ) -> str:
        """Return which other controller needs one that shall end; empty if none does."""
        if entry in start:
            return ""
        for other in self._active:
            if other not in stop and entry.name in self.chained_to(other):
                return f"controller '{entry.name}' is commanded by '{other.name}', which is active"
        return ""

    def _apply(self, start: list[LoadedController], stop: list[LoadedController]) -> None:
        for entry in stop:
            entry.configured.deactivate()
            entry.state = Lifecycle.INACTIVE
        active = [entry for entry in self._active if entry not in stop]
        kept = self._joints(active)
        ended = self._joints(stop)
        free = np.array([joint for joint in ended if joint not in kept], dtype=np.intp)
        if len(free):
            held = np.array([ended[joint] == {EFFORT} for joint in free.tolist()])
            self.robot.release_interfaces(free, measured=held)
        for entry in start:
            joints = np.array(sorted(self._joints([entry])), dtype=np.intp)
            self.robot.claim_interfaces(entry.name, joints)
            entry.state, entry.next_update = Lifecycle.ACTIVE, -np.inf
        self._active = self._ordered([*active, *start])
        self._of_each_step = [entry for entry in self._active if entry.kind.every_step]
        self._note_next()
        moved = self._joints(self._active)
        count = len(self.hardware.robot.joints.names)
        velocity, effort = np.zeros((2, count), dtype=bool)
        for joint, kinds in moved.items():
            velocity[joint] = VELOCITY in kinds and POSITION not in kinds
            effort[joint] = kinds == {EFFORT}
        self.robot.follow_interfaces(velocity, effort)
        commanded = {name for entry in self._active for name in self.chained_to(entry)}
        for entry in self._active:
            entry.configured.is_chained = entry.name in commanded
        for entry in start:
            entry.configured.activate()
        for call in self.on_change:
            call()

    def _joints(self, entries: Iterable[LoadedController]) -> dict[int, set[str]]:
        """Return the kinds of the interfaces that controllers claim, by joint."""
        return self.hardware.moved(name for entry in entries for name in entry.commands)

    def _ordered(self, active: list[LoadedController]) -> list[LoadedController]:
        """Return controllers in an order in which each follows all that command it."""
        ordered: list[LoadedController] = []
        waiting = list(active)
        while waiting:
            commanded = {name for entry in waiting for name in self.chained_to(entry)}
            ready = [entry for entry in waiting if entry.name not in commanded] or waiting
            ordered += ready
            waiting = [entry for entry in waiting if entry not in ready]
        return ordered

    def _exporter(self, interface: str) -> LoadedController | None:
        """Return the controller that exports a command interface."""
        for entry in self.loaded.values():
            exported = () if entry.controller is None else entry.controller.reference_interfaces
            if interface in (f"{entry.name}/{reference}" for reference in exported):
                return entry
        return None
