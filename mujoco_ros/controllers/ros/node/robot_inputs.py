"""What the ticks of a controller node need from the robot."""

from collections.abc import Collection, Sequence
from typing import Protocol

from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.runtime.ticks import NANOSECONDS

_MAX_VOID = 3
"""Messages of before a reset that arrive after its report; subscriptions hold one."""
_RENEW_S, _LONGEST_RENEW_S = 0.3, 10.0
"""Wall time after which messages that a stopped clock has sent count as lost.

It doubles with each attempt, because a simulator may be paused for hours."""


class RobotObservations(Protocol):
    """Source of the observations of a robot."""

    @property
    def stamp(self) -> int | None:
        """Stamp of the newest joint states [ns]; None before the first."""

    @property
    def time(self) -> float:
        """Time of a tick at the newest joint states [s]."""

    @property
    def count(self) -> int:
        """Number of messages of joint states."""

    @property
    def incomplete(self) -> tuple[str, ...]:
        """Topics without a message of the stamp of the joint states, and such objects."""

    @property
    def topics(self) -> tuple[str, ...]:
        """All topics and objects."""

    def renew(self, topics: Collection[str]) -> None:
        """Open the subscriptions of some topics again."""

    def end(self, topics: Collection[str]) -> None:
        """Expect no message of some topics or objects until the next one arrives."""

    def observe(self) -> Observation:
        """Return the observation at the stamp of the newest joint states.

        Raises:
            UserInputError: The joint states are not those of the robot.
        """

    def forget(self) -> None:
        """Discard data from before a jump of the robot's state."""


class RequestedChanges(Protocol):
    """What a controller has requested from the robot beside its commands."""

    @property
    def settled(self) -> bool:
        """Whether all changes of gains and poses act, and the images of the tick are there."""

    def deliver(self, time: float, awaited: Sequence[object]) -> None:
        """Deliver the images that are due at a tick at a time [s], or awaited."""

    def restart(self) -> None:
        """Discard what was requested before a restart of the controller."""


class FirstTick:
    """Distinguishes the first tick after a reset in lockstep from messages of before the reset.

    Attributes:
        is_expected: Whether it has not been received since the reset.
    """

    def __init__(self, period: float) -> None:
        """Expect none; `period` is the time between two ticks [s]."""
        self.is_expected = False
        self._period = round(period * NANOSECONDS)
        self._reset = self._count = 0

    def expect(self, stamp: int, count: int) -> None:
        """Expect the first tick after a reset.

        Args:
            stamp: Time after the reset [ns].
            count: Number of the last message of before it.
        """
        self.is_expected, self._reset, self._count = True, stamp, count

    def is_void(self, stamp: int, count: int) -> bool:
        """Return whether a message is from before the reset.

        Args:
            stamp: Stamp of the message [ns].
            count: Its number.
        """
        if self.is_expected and count > self._count:
            is_first = -1 <= stamp - self._reset <= self._period + 1
            self.is_expected = not is_first and count - self._count <= _MAX_VOID
        return self.is_expected


class LostMessages:
    """Requests messages again that the simulator has sent before its clock stopped.

    A simulator whose clock waits sends the messages of the tick to each new subscription.
    """

    def __init__(self, observations: RobotObservations) -> None:
        self._observations = observations
        self._stamp: int | None = None
        self._renew_at, self._interval = 0.0, _RENEW_S

    def poll(self, now: float) -> tuple[str, ...]:
        """Return the topics that are incomplete, and renew them if they are for too long.

        Args:
            now: Wall time [s].
        """
        stamp = self._observations.stamp
        if stamp is None:
            return ()
        incomplete = self._observations.incomplete
        self._poll(now, stamp, incomplete)
        return incomplete

    def poll_all(self, now: float) -> None:
        """Renew all topics if this is called for too long, at wall times `now` [s]."""
        self._poll(now, -1, self._observations.topics)

    def _poll(self, now: float, stamp: int, topics: tuple[str, ...]) -> None:
        if stamp != self._stamp or not topics:
            self._stamp, self._interval = stamp, _RENEW_S
            self._renew_at = now + _RENEW_S
        elif now > self._renew_at:
            self._interval = min(2.0 * self._interval, _LONGEST_RENEW_S)
            self._renew_at = now + self._interval
            self._observations.renew(topics)
