"""Ticks of a controller at the stamps of a robot: start, pause, restart and stop."""

import logging
import math
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Protocol

from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN, DiagnosticReport
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.ros.hosted_controller import tick_cost_metrics
from mujoco_ros.controllers.ros.node.command_output import CommandOutput
from mujoco_ros.controllers.ros.node.ticker import Due, Ticker
from mujoco_ros.controllers.runtime.supervisor import SupervisedController
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.stepping.histogram import Histogram

_LOG = logging.getLogger(__name__)
WAITING = "waiting"
"""The state while there are no ticks."""
_DISCOVERY_S = 3.0
"""Wall time after which missing topics are logged; discovery takes about as long."""


class RobotObservations(Protocol):
    """Source of the observations of a robot."""

    @property
    def stamp(self) -> int | None:
        """Stamp of the newest joint states [ns]; None before the first."""

    @property
    def complete(self) -> bool:
        """Whether all sensors have the stamp of the joint states."""

    def observe(self) -> Observation:
        """Return the observation at the stamp of the newest joint states.

        Raises:
            UserInputError: The joint states are not those of the robot.
        """

    def forget(self) -> None:
        """Discard data from before a jump of the robot's state."""


class ControllerPacing:
    """Runs a controller at the stamps of a robot, and publishes its commands.

    Whenever the controller stops or pauses, its joints hold their references. All methods run in
    the executor's thread.

    Attributes:
        supervised: The controller.
        begun: Whether the controller has started.
    """

    def __init__(
        self,
        supervised: SupervisedController,
        observations: RobotObservations,
        output: CommandOutput,
        *,
        lockstep: bool,
        timeout: float,
        missing: Callable[[], Sequence[str]],
        observed: Callable[[Observation], object],
        began: Callable[[], object],
        stopped: Callable[[], object],
    ) -> None:
        """Pause the controller until the robot is complete.

        Args:
            supervised: The controller, already configured.
            lockstep: Whether the robot's clock waits for this controller. A tick then waits for all
                sensors and for the controller's futures.
            timeout: Wall time without joint states after which the controller pauses, and gap in
                their stamps after which it restarts [s].
            missing: Returns the names of all inputs that are still missing before the start.
            observed: Called with the observation of each tick.
            began: Called when the controller starts or restarts.
            stopped: Called when the controller was stopped.
        """
        self.supervised, self.begun = supervised, False
        self._observations, self._output = observations, output
        self._ticker = Ticker(supervised.controller.period, timeout, exact=lockstep)
        self._lockstep, self._timeout = lockstep, timeout
        self._due = Due.NOTHING
        self._observed, self._began, self._stopped = observed, began, stopped
        self._stamp: int | None = None
        self._received_at = math.inf
        self._missing = missing
        self._logged_missing: tuple[str, ...] = ()
        self._log_missing_at = math.inf
        self._skipped_stamp: int | None = None
        self._skip_at = math.inf
        self._restart_requested = self._ended = False
        self._tick_cost = Histogram()
        self._reported = (0, 0, 0.0)
        supervised.pause(WAITING)

    @property
    def time(self) -> float:
        """The robot's time, from its last stamp [s]."""
        return 1e-9 * (self._observations.stamp or 0)

    def receive(self, now: float) -> None:
        """Process a message of the robot, received at the wall time `now` [s]."""
        stamp = self._observations.stamp
        if stamp is None or self._ended or (not self.begun and self._missing()):
            return
        if stamp != self._stamp:
            self._stamp, self._received_at = stamp, now
            due = self._ticker.take(stamp)
            if due is not Due.NOTHING:
                self._due = due
            if self.begun and due in (Due.BEGIN, Due.LEAP):
                self._observations.forget()
        if self._due is not Due.NOTHING and self._can_tick(now):
            due, self._due = self._due, Due.NOTHING
            self._received_at = now  # the robot may have waited for this tick
            self._tick(due)

    def poll(self, now: float) -> None:
        """Check for missing inputs and timeouts at the wall time `now` [s]."""
        is_silent = now - self._received_at > self._timeout
        if self._due is not Due.NOTHING:
            self.receive(now)
        elif self.begun and is_silent and self.supervised.state != WAITING:
            _LOG.warning("no joint_states for %g s: the controller pauses", self._timeout)
            if self._lockstep and not self._ticker.is_multiple(self.time):
                _LOG.error(
                    "the clock is stopped at %g s, which is not a tick at %g Hz: the simulator's "
                    "lockstep_sources must have that rate",
                    self.time,
                    1.0 / self.supervised.controller.period,
                )
            self._pause()
        if self.begun:
            return
        self._log_missing_at = min(self._log_missing_at, now + _DISCOVERY_S)
        self.receive(now)  # missing inputs may have been received since
        if self._lockstep and not self.begun:
            self._skip_tick(now)
        missing = tuple(self._missing())
        if missing != self._logged_missing and now > self._log_missing_at:
            self._logged_missing = missing
            if missing:
                _LOG.info("waiting for %s", ", ".join(missing))

    def _skip_tick(self, now: float) -> None:
        """Acknowledge a tick without commands when sensors are missing and the clock is stopped.

        Sensor messages published before the discovery of this node are lost, and a stopped
        simulator publishes no more.
        """
        stamp = self._observations.stamp
        if stamp is not None and stamp != self._skipped_stamp:
            self._skipped_stamp, self._skip_at = stamp, now + self._timeout
        elif now > self._skip_at:
            self._skip_at = math.inf
            self._output.acknowledge(self.time)

    def restart(self, reason: str) -> None:
        """Restart the controller at the next message, also after an error."""
        _LOG.info("%s: the controller restarts", reason)
        self._restart_requested = True

    def end(self) -> None:
        """Stop permanently, with all joints holding."""
        self._ended = True
        if self.begun and not self.supervised.error:
            self._pause()

    def report(self, now: float) -> DiagnosticReport:
        """Return the row of /diagnostics at the wall time `now` [s]."""
        supervised, ticker = self.supervised, self._ticker
        ticks, missed, before = self._reported
        self._reported = ticker.ticks, ticker.missed, now
        rate = (ticker.ticks - ticks) / max(now - before, 1e-9)
        values = {
            "state": supervised.state,
            "rate [Hz]": f"{1.0 / supervised.controller.period:g}",
            "ticks": str(ticker.ticks),
            "ticks per second of wall time": f"{rate:.1f}",
            "periods without a message": str(ticker.missed),
            "time between joint_states [ms]": f"{1e3 * ticker.interval:.2f}",
            **tick_cost_metrics(self._tick_cost),
        }
        if supervised.error:
            return DiagnosticReport(f"stopped: {supervised.error}", values, ERROR)
        if supervised.state == WAITING:
            missing = ", ".join(self._missing()) or "joint_states"
            return DiagnosticReport(f"waiting for {missing}", values, WARN)
        if ticker.missed > missed:
            text = f"{ticker.missed - missed} periods without a message"
            return DiagnosticReport(text, values, WARN)
        return DiagnosticReport(f"in {supervised.state}", values, OK)

    def _can_tick(self, now: float) -> bool:
        """Return whether all inputs of a tick were received."""
        if not self._lockstep:
            return True
        if any(not future.done() for future in self.supervised.controller.awaited):
            return False
        # A lost sensor message must not stop the clock permanently.
        return self._observations.complete or now - self._received_at > self._timeout

    def _tick(self, due: Due) -> None:
        supervised, output, begin = self.supervised, self._output, perf_counter()
        try:
            observation = self._observations.observe()
        except UserInputError as error:
            if not supervised.error:
                supervised.stop(str(error))
                output.hold(self.time)
                self._stopped()
            return
        if due is not Due.TICK or not self.begun or self._restart_requested:
            self._begin(due)
        time = observation.time
        self._observed(observation)
        was_stopped = bool(supervised.error)
        if supervised.state == WAITING:
            supervised.resume()
        values = supervised.step(observation, time)
        if values is not None:
            output.command(values, time)
        elif was_stopped:
            output.acknowledge(time)
        else:
            output.hold(time)
            self._stopped()
        self._tick_cost.add(perf_counter() - begin)

    def _begin(self, due: Due) -> None:
        """Start or restart; a loss of messages does not restart a stopped controller."""
        is_requested, self._restart_requested = self._restart_requested, False
        if due is Due.LEAP and self.supervised.error and not is_requested:
            return
        if self.begun:
            if not is_requested:
                what = f"are {self._timeout:g} s apart" if due is Due.LEAP else "jumped back"
                _LOG.warning("stamps of joint_states %s: the controller restarts", what)
            self.supervised.reset()
        else:
            rate = 1.0 / self.supervised.controller.period
            _LOG.info("all inputs received: control starts at %g s with %g Hz", self.time, rate)
        self.begun = True
        self._began()

    def _pause(self) -> None:
        self._output.hold(self.time)
        self.supervised.pause(WAITING)
