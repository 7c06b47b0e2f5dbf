"""Which command source owns a joint, and how often each source commands."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from mujoco_ros.control.events import CommandPreempted, CommandRejected, CommandSource, Event


class CommandTally(NamedTuple):
    """Commands of one source."""

    source: str
    rate: float  # commands per second of simulated time since the last report [Hz]
    age: float  # simulated time since its newest command [s]


class CommandRates:
    """Counts commands by source; times are simulated [s]."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}
        self._newest: dict[str, float] = {}

    def add(self, source: str, time: float) -> None:
        """Count a command that takes effect at `time`."""
        self._counts[source] = self._counts.get(source, 0) + 1
        self._newest[source] = time

    def report(self, time: float, elapsed: float) -> tuple[CommandTally, ...]:
        """Return the tally of each source over the last `elapsed` seconds, and reset the counts."""
        tallies = tuple(
            CommandTally(
                source=source,
                rate=self._counts.get(source, 0) / elapsed if elapsed > 0 else 0.0,
                age=max(0.0, time - newest),
            )
            for source, newest in self._newest.items()
        )
        self._counts.clear()
        return tallies

    def clear(self) -> None:
        """Remove all sources."""
        self._counts.clear()
        self._newest.clear()


_SOURCES = tuple(CommandSource)
_CODES = {source: code for code, source in enumerate(_SOURCES)}
_MANAGED = _CODES[CommandSource.MANAGED]


class JointOwner(Protocol):
    """A command source that can own joints."""

    def is_idle(self, joints: np.ndarray, time: float) -> bool:
        """Return whether its command of `joints` is complete."""

    def release(self, joints: np.ndarray, reason: str) -> None:
        """Release `joints`; a goal that needs them ends for that `reason`."""

    def save_state(self) -> Any:
        """Return a copy of its state without goals."""

    def restore_state(self, state: Any) -> None:
        """Continue from a saved state."""


class ClaimingControllers(Protocol):
    """Controllers that claim joints, as a controller_manager does."""

    replaces_defaults: bool  # whether the robot has no other controllers

    def update(self, time: float) -> None:
        """Write the references of their joints for the step at `time` [s]."""

    def idle_steps(self, time: float, most: int) -> int:
        """Return for how many steps from `time` [s] on `update` does nothing, at most `most`."""

    def reset(self, reason: str) -> None:
        """Begin again; goals end for a `reason`."""

    def initialize(self) -> None:
        """Set what no joint has, such as outputs, as at the start of the simulation."""

    def save_state(self) -> Any:
        """Return a copy of the state without goals."""

    def restore_state(self, state: Any) -> None:
        """Continue from a saved state."""


@dataclass(frozen=True, kw_only=True)
class ControlState:
    """State of a robot's command arbitration, without goals."""

    sources: dict[CommandSource, Any]
    owners: np.ndarray
    damped: np.ndarray
    reset_hold: dict[str, Any]
    managed: Any = None  # of the controllers that claim joints


class JointOwners:
    """The owner of each joint of a robot; all joints are unclaimed at first."""

    def __init__(
        self,
        names: Sequence[str],
        sources: Mapping[CommandSource, JointOwner | None],
        emit: Callable[[Event], None],
    ) -> None:
        """Begin with joints of these names; `emit` is called with each event.

        Of the `sources`, those that exist release the joints that they have lost.
        """
        self._names, self._emit = names, emit
        self.sources = {source: owner for source, owner in sources.items() if owner is not None}
        self._codes = np.zeros(len(names), dtype=np.intp)  # index into _SOURCES  # (n,)
        # Name of the controller that owns a joint, or of the last one  # (n,)
        self._controllers = np.full(len(names), "", dtype=object)

    @property
    def unclaimed(self) -> np.ndarray:
        """Which joints have no owner.  # (n,) bool."""
        return np.equal(self._codes, _CODES[CommandSource.UNCLAIMED])

    def by_source(self) -> Iterator[tuple[CommandSource, np.ndarray]]:
        """Yield each source that owns joints, and the indices of those joints."""
        for code in sorted(set(self._codes.tolist())):
            yield _SOURCES[code], np.flatnonzero(self._codes == code)

    def joints_of(self, source: CommandSource) -> np.ndarray:
        """Return the indices of the joints that `source` owns."""
        return np.flatnonzero(self._codes == _CODES[source])

    def claim(
        self, source: CommandSource, joints: np.ndarray, time: float, controller: str = ""
    ) -> np.ndarray | None:
        """Make `source` the owner of joints from `time` [s] on; return those that had another one.

        The previous owners are preempted, each with an event. None, after an event, if a controller
        of a manager has claimed one of the joints.
        """
        before, code = self._codes[joints], _CODES[source]
        others: np.ndarray = before[before != code]
        if not len(others):  # the usual case, several times faster
            return others
        if source is not CommandSource.MANAGED and _MANAGED in others:
            self._refuse(source, int(joints[before == _MANAGED][0]))
            return None
        self._codes[joints] = code
        for previous in np.unique(others):
            lost = joints[before == previous]
            if _SOURCES[previous] in self.sources:
                self._preempt(_SOURCES[previous], source, lost, time, self.names(lost), controller)
        claimed: np.ndarray = joints[before != code]
        self._controllers[claimed] = controller
        return claimed

    def _refuse(self, source: CommandSource, joint: int) -> None:
        name, by = self._names[joint], self._controllers[joint]
        text = f"joint '{name}' is claimed by controller '{by}'; deactivate that first"
        self._emit(CommandRejected(source=source, message=text))

    def lose(self, joints: np.ndarray, source: CommandSource, time: float, gripper: str) -> None:
        """Have `source` lose its joints, as actuators of a `gripper` are commanded directly."""
        self._preempt(source, CommandSource.ACTUATORS, joints, time, (gripper,))
        self.release(joints)

    def _preempt(
        self,
        previous: CommandSource,
        source: CommandSource,
        lost: np.ndarray,
        time: float,
        names: tuple[str, ...],
        controller: str = "",
    ) -> None:
        owner, is_of_joint = self.sources[previous], source is not CommandSource.ACTUATORS
        self._emit(
            CommandPreempted(
                source=previous,
                new_owner=source,
                joints=names,
                was_idle=owner.is_idle(lost, time),
                controller=controller or (self._controllers[lost[0]] if len(lost) else ""),
            )
        )
        owner.release(lost, f"preempted by {source}" + f" on joint '{names[0]}'" * is_of_joint)

    def names(self, joints: np.ndarray) -> tuple[str, ...]:
        """Return the names of joints."""
        return tuple(self._names[joint] for joint in joints)

    def clear(self) -> None:
        """Leave all joints without owner, except joints that controllers claim."""
        self.release(np.flatnonzero(self._codes != _MANAGED))

    def release(self, joints: np.ndarray) -> None:
        """Leave `joints` without owner."""
        self._codes[joints] = _CODES[CommandSource.UNCLAIMED]

    def save_state(self) -> np.ndarray:
        """Return a copy of the owners, for `restore_state`."""
        return self._codes.copy()

    def restore_state(self, state: np.ndarray) -> None:
        """Restore saved owners, but for the controllers that claim joints now, or did then."""
        claimed = self._codes == _MANAGED
        self._codes[:] = np.where(state == _MANAGED, _CODES[CommandSource.UNCLAIMED], state)
        self._codes[claimed] = _MANAGED
