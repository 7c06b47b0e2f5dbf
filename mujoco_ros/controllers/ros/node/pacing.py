"""Ticks of a controller at the stamps of a robot: start, pause, restart and stop."""

import logging
import math
from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN, DiagnosticReport
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.ros.node.command_output import CommandOutput
from mujoco_ros.controllers.ros.node.host_requests import HostRequests
from mujoco_ros.controllers.ros.node.observation_source import TopicObservationSource
from mujoco_ros.controllers.ros.node.ticks_of_stamps import Due, LostMessages, Ticker
from mujoco_ros.controllers.runtime.supervisor import SupervisedController
from mujoco_ros.controllers.runtime.ticks import TickCosts
from mujoco_ros.model.errors import UserInputError

_LOG = logging.getLogger(__name__)
WAITING = "waiting"
"""The state while there are no ticks."""
_DISCOVERY_S = 3.0  # wall time after which missing topics are logged; discovery takes about as long
_SETTLED_TICKS = 100  # ticks after which the time between them is known
_UNEVEN = 0.1
"""Part of a period by which the time between two ticks may differ from it without a log line."""
_LOST_TIMEOUTS = 10.0
"""Timeouts after which a tick of a stopped clock runs without the messages that are missing."""


class ControllerPacing:
    """Runs a controller at the stamps of a robot and publishes its commands, in the executor.

    Whenever the controller stops or pauses, its joints hold their references.
    """

    def __init__(
        self,
        supervised: SupervisedController,
        observations: TopicObservationSource,
        output: CommandOutput,
        *,
        lockstep: bool,
        timeout: float,
        missing: Callable[[], Sequence[str]],
        observed: Callable[[Observation], object],
        requests: HostRequests,
        stopped: Callable[[], object],
        stepped: Callable[[float], object] = lambda _time: None,
        clock: Callable[[], float] = perf_counter,
    ) -> None:
        """Pause a configured controller until the robot is complete.

        In `lockstep`, the robot's clock waits: a tick waits for all sensors and futures, and its
        commands for what it requested. The controller pauses after a wall time without joint
        states, and restarts after a gap of their stamps, of `timeout` [s]. `missing` returns
        missing inputs before the start, `stepped` gets the time of each tick after it [s].
        """
        self.supervised, self.begun = supervised, False
        self._observations, self._output = observations, output
        period = supervised.controller.period
        # In lockstep there are no messages between the ticks.
        longest = max(timeout, 2.5 * period) if lockstep else timeout
        self._ticker = Ticker(period, longest, exact=lockstep)
        self._lockstep, self._timeout = lockstep, timeout
        self._due = Due.NOTHING
        self._observed, self._requests, self._stopped = observed, requests, stopped
        self._stepped, self._clock = stepped, clock
        # Commands and time of a tick that are not published yet; None to hold, after a failure.
        self._response: tuple[np.ndarray | None, float] | None = None
        self._stamp: int | None = None
        self._received_at = math.inf
        self._missing = missing
        self._logged_missing: tuple[str, ...] = ()
        self._log_missing_at = math.inf
        self._lost = LostMessages(observations)
        self._restart_requested = self._ended = self._evenness_checked = False
        self._costs = TickCosts(supervised.controller.table.name)
        self._reported = (0, 0, 0.0)
        supervised.pause(WAITING)

    @property
    def time(self) -> float:
        """The robot's time, from its last stamp [s]."""
        return 1e-9 * (self._observations.stamp or 0)

    @property
    def lost_s(self) -> float:
        """Real time lost by slow ticks since the start [s]."""
        return self._costs.total_s

    def receive(self, now: float) -> None:
        """Process a message of the robot, received at the wall time `now` [s]."""
        stamp = self._observations.stamp
        if stamp is None or self._ended or (not self.begun and self._missing()):
            return
        if self._ticker.is_void(stamp, self._observations.count):
            return
        if stamp != self._stamp:
            self._stamp, self._received_at = stamp, now
            self._response = None  # the tick is void
            due = self._ticker.action(stamp)
            if due is not Due.NOTHING:
                self._due = due
            if due in (Due.BEGIN, Due.LEAP):
                if self.begun:
                    self._observations.forget()
                self._requests.restart()
        if self._response is not None and self._requests.settled:
            self._received_at = now  # the clock of the robot has waited
            self._respond(*self._response)
        if self._due is not Due.NOTHING and self._can_tick(now):
            due, self._due = self._due, Due.NOTHING
            self._received_at = now  # the robot may have waited for this tick
            self._tick(due)

    def poll(self, now: float) -> None:
        """Check for missing inputs and timeouts at the wall time `now` [s]."""
        is_silent = now - self._received_at > self._timeout
        if self._ticker.is_reset:
            self._lost.poll(now, every=True)
        if self._due is not Due.NOTHING or self._response is not None:
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
            if self._lockstep:  # the clock has stopped as well
                self.supervised.pause(WAITING)
            else:
                self._pause()
        if self.begun:
            return
        self._log_missing_at = min(self._log_missing_at, now + _DISCOVERY_S)
        self.receive(now)  # missing inputs may have been received since
        if self._lockstep and not self.begun:
            self._lost.poll(now)
        missing = tuple(self._missing())
        if missing != self._logged_missing and now > self._log_missing_at:
            self._logged_missing = missing
            if missing:
                _LOG.info("waiting for %s", ", ".join(missing))

    def restart(self, reason: str) -> None:
        """Restart the controller at the next message, also after an error."""
        _LOG.info("%s: the controller restarts", reason)
        self._restart_requested = True
        self._requests.restart()

    def follow_reset(self, stamp: int, *, rewinds: bool) -> None:
        """Restart after a reset to a stamp [ns]; without lockstep, a jump back does so."""
        if self._lockstep:
            self._ticker.expect(stamp, self._observations.count)
            self._stamp, self._due, self._response = None, Due.NOTHING, None
        if self._lockstep or not rewinds:
            self.restart("simulation reset")

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
            "controller": supervised.controller.table.name,
            "state": supervised.state,
            "rate [Hz]": f"{1.0 / supervised.controller.period:g}",
            "ticks": str(ticker.ticks),
            "ticks per second of wall time": f"{rate:.1f}",
            "periods without a message": str(ticker.missed),
            "time between joint_states [ms]": f"{1e3 * ticker.interval:.2f}",
            "unevenness of ticks [ms]": f"{1e3 * ticker.unevenness:.2f}",
            **self._costs.values(),
        }
        slow = self._costs.complaint()
        if supervised.error:
            return DiagnosticReport(f"stopped: {supervised.error}", values, ERROR)
        if supervised.state == WAITING:
            missing = ", ".join(self._missing()) or "joint_states"
            return DiagnosticReport(f"waiting for {missing}", values, WARN)
        complaints = [slow] if slow else []
        if ticker.missed > missed:
            complaints.append(f"{ticker.missed - missed} periods without a message")
        if complaints:
            return DiagnosticReport("; ".join(complaints), values, WARN)
        return DiagnosticReport(f"in {supervised.state}", values, OK)

    def _can_tick(self, now: float) -> bool:
        if not self._lockstep:
            return True
        incomplete, awaited = self._lost.poll(now), self.supervised.controller.awaited
        if not self._requests.settled:
            return False
        self._requests.deliver(self._observations.time, awaited)
        if any(not future.done() for future in awaited):
            return False
        # A sensor that is switched off must not stop the clock permanently.
        is_lost = now - self._received_at > _LOST_TIMEOUTS * self._timeout
        if incomplete and is_lost:
            _LOG.warning(
                "the tick of %g s runs without %s, which the robot does not send",
                *(self.time, ", ".join(incomplete)),
            )
            self._observations.end(incomplete)
        return is_lost or not incomplete

    def _tick(self, due: Due) -> None:
        supervised, begin = self.supervised, self._clock()
        try:
            observation = self._observations.observe()
        except UserInputError as error:
            if not supervised.error:
                supervised.stop(str(error))
                self._output.hold(self.time)
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
        if values is None and was_stopped:
            self._output.acknowledge(time)
        else:
            self._response = values, time
            if not self._lockstep or self._requests.settled:
                self._respond(*self._response)
        if not self._evenness_checked and self._ticker.ticks >= _SETTLED_TICKS:
            self._evenness_checked = True
            self._report_unevenness()
        self._stepped(time)  # after the commands, which others wait for
        now = self._clock()
        # Messages of the next tick wait until this one has ended.
        period = supervised.controller.period
        self._costs.add(supervised.machine.calls.path, now - begin, period, now)

    def _report_unevenness(self) -> None:
        ticker, period = self._ticker, self.supervised.controller.period
        if ticker.unevenness > _UNEVEN * period:
            _LOG.info(
                "joint_states come every %.3g ms: the time between ticks differs from %.3g ms by "
                "%.2g ms on average",
                *(1e3 * ticker.interval, 1e3 * period, 1e3 * ticker.unevenness),
            )

    def _respond(self, values: np.ndarray | None, time: float) -> None:
        """Publish the commands of a tick, unless a request of it has failed meanwhile."""
        self._response = None
        if values is not None and not self.supervised.error:
            self._output.command(values, time)
        else:
            self._output.hold(time)
            self._stopped()

    def _begin(self, due: Due) -> None:
        """Start or restart; a loss of messages does not restart a stopped controller."""
        is_requested, self._restart_requested = self._restart_requested, False
        if due is Due.LEAP and self.supervised.error and not is_requested:
            return
        if self.begun:
            if not is_requested:
                what = f"are {self._ticker.timeout:g} s apart" if due is Due.LEAP else "jumped back"
                _LOG.warning("stamps of joint_states %s: the controller restarts", what)
            self.supervised.reset()
        else:
            rate = 1.0 / self.supervised.controller.period
            _LOG.info("all inputs received: control starts at %g s with %g Hz", self.time, rate)
        self.begun = True
        self._output.restart()

    def _pause(self) -> None:
        self._output.hold(self.time)
        self.supervised.pause(WAITING)
