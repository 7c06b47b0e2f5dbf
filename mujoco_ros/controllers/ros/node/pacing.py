"""A controller that ticks with a robot: begins where it is, waits when it is silent."""

import logging
import math
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Protocol

from mujoco_ros.bridge.diagnostics.report import ERROR, OK, WARN, DiagnosticReport
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.ros.node.command_output import CommandOutput
from mujoco_ros.controllers.ros.node.ticker import Due, Ticker
from mujoco_ros.controllers.runtime.supervisor import SupervisedController
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.stepping.histogram import Histogram

_LOG = logging.getLogger(__name__)
WAITING = "waiting"
"""What the state is called while there is nothing to tick with."""
_PATIENCE_S = 3.0
"""After so long at the start, what is waited for is told: others have to be found first."""


class Sensed(Protocol):
    """What a robot senses."""

    @property
    def stamp(self) -> int | None:
        """Return the stamp of its newest joint states [ns]; None before the first."""

    @property
    def complete(self) -> bool:
        """Return whether all of it is of the same instant."""

    def observe(self) -> Observation:
        """Return what is sensed at that stamp.

        Raises:
            ModelError: It is not what this robot senses.
        """

    def forget(self) -> None:
        """Forget what was before the robot was put somewhere else."""


class ControllerPacing:
    """Runs a controller at the stamps of a robot, and acts.

    Whenever it runs no more, the joints that it commands are told to stand still where they are
    told to be. Everything happens in the executor's thread.

    Attributes:
        runner: The controller.
        begun: Whether it has begun.
    """

    def __init__(
        self,
        runner: SupervisedController,
        senses: Sensed,
        actor: CommandOutput,
        *,
        lockstep: bool,
        timeout: float,
        missing: Callable[[], Sequence[str]] = tuple,
        observed: Callable[[Observation], object] = lambda _observation: None,
        began: Callable[[], object] = lambda: None,
        stopped: Callable[[], object] = lambda: None,
    ) -> None:
        """Wait for the robot.

        Args:
            runner: The controller, which is configured.
            senses: What the robot senses.
            actor: Tells the robot's joints.
            lockstep: Whether the robot's clock waits for this controller. Then a tick waits for all
                sensors, and for what the controller waits for.
            timeout: Silence of so long makes the controller wait, and a gap of so long in the
                robot's stamps makes it begin anew [s].
            missing: Returns what else must be heard of before the controller can begin.
            observed: Handed what is seen at each tick.
            began: Called when the controller begins anew.
            stopped: Called when the controller was stopped.
        """
        self.runner, self.begun = runner, False
        self._senses, self._actor = senses, actor
        self._ticker = Ticker(runner.controller.period, timeout, exact=lockstep)
        self._lockstep, self._timeout = lockstep, timeout
        self._due = Due.NOTHING
        self._observed, self._began, self._stopped = observed, began, stopped
        self._stamp: int | None = None
        self._heard_at = math.inf
        self._missing = missing
        self._told: tuple[str, ...] = ()
        self._tell_at = math.inf
        self._passed: int | None = None
        self._pass_at = math.inf
        self._restart = self._ended = False
        self._cost = Histogram()
        self._reported = (0, 0, 0.0)
        runner.pause(WAITING)

    @property
    def time(self) -> float:
        """Return the robot's time, that of its last stamp [s]."""
        return 1e-9 * (self._senses.stamp or 0)

    def heard(self, now: float) -> None:
        """Take notice of a message of the robot's at the wall time `now` [s]; it may be a tick."""
        stamp = self._senses.stamp
        if stamp is None or self._ended or (not self.begun and self._missing()):
            return
        if stamp != self._stamp:
            self._stamp, self._heard_at = stamp, now
            due = self._ticker.take(stamp)
            if due is not Due.NOTHING:
                self._due = due
            if self.begun and due in (Due.BEGIN, Due.LEAP):
                self._senses.forget()
        if self._due is not Due.NOTHING and self._may_tick(now):
            due, self._due = self._due, Due.NOTHING
            self._heard_at = now  # a tick may have waited for long, and the robot for its answer
            self._tick(due)

    def look(self, now: float) -> None:
        """See whether the robot has fallen silent; `now` is wall time [s]."""
        silent = now - self._heard_at > self._timeout
        if self._due is not Due.NOTHING:
            self.heard(now)
        elif self.begun and silent and self.runner.state != WAITING:
            _LOG.warning("no joint_states for %g s: the controller waits", self._timeout)
            if self._lockstep and not self._ticker.fits(self.time):
                rate = 1.0 / self.runner.controller.period
                _LOG.error(
                    "the clock waits at %g s, which is no tick at %g Hz: the simulator's "
                    "lockstep_sources must have that rate",
                    self.time,
                    rate,
                )
            self._rest()
        if self.begun:
            return
        self._tell_at = min(self._tell_at, now + _PATIENCE_S)
        self.heard(now)  # what was missing may have come
        if self._lockstep and not self.begun:
            self._pass(now)
        missing = tuple(self._missing())
        if missing != self._told and now > self._tell_at:
            self._told = missing
            if missing:
                _LOG.info("waiting for %s", ", ".join(missing))

    def _pass(self, now: float) -> None:
        """Answer a tick without a word when sensors are not heard of while the clock stands.

        What they said before they had found this node is lost, and they say no more until then.
        """
        stamp = self._senses.stamp
        if stamp is not None and stamp != self._passed:
            self._passed, self._pass_at = stamp, now + self._timeout
        elif now > self._pass_at:
            self._pass_at = math.inf
            self._actor.answer(self.time)

    def restart(self, why: str) -> None:
        """Have the controller begin anew at the next message, also after an error."""
        _LOG.info("%s: the controller begins anew", why)
        self._restart = True

    def end(self) -> None:
        """Run it no more, whatever is heard."""
        self._ended = True
        if self.begun and not self.runner.error:
            self._rest()

    def report(self, now: float) -> DiagnosticReport:
        """Return the row of /diagnostics; `now` is wall time [s]."""
        runner, ticker = self.runner, self._ticker
        ticks, missed, before = self._reported
        self._reported = ticker.ticks, ticker.missed, now
        speed = (ticker.ticks - ticks) / max(now - before, 1e-9)
        p50, p99 = self._cost.percentiles(50, 99)
        self._cost.clear()
        values = {
            "state": runner.state,
            "rate [Hz]": f"{1.0 / runner.controller.period:g}",
            "ticks": str(ticker.ticks),
            "ticks per second of wall time": f"{speed:.1f}",
            "periods without a message": str(ticker.missed),
            "time between joint_states [ms]": f"{1e3 * ticker.interval:.2f}",
            "tick cost p50 [us]": f"{1e6 * p50:.0f}",
            "tick cost p99 [us]": f"{1e6 * p99:.0f}",
        }
        if runner.error:
            return DiagnosticReport(f"stopped: {runner.error}", values, ERROR)
        if runner.state == WAITING:
            missing = ", ".join(self._missing()) or "joint_states"
            return DiagnosticReport(f"waiting for {missing}", values, WARN)
        if ticker.missed > missed:
            return DiagnosticReport(
                f"{ticker.missed - missed} periods without a message", values, WARN
            )
        return DiagnosticReport(f"in {runner.state}", values, OK)

    def _may_tick(self, now: float) -> bool:
        """Return whether all is there that a tick waits for."""
        if not self._lockstep:
            return True
        if any(not future.done() for future in self.runner.controller.awaited):
            return False
        # Sensors that get lost on their way must not stop the clock for ever.
        return self._senses.complete or now - self._heard_at > self._timeout

    def _tick(self, due: Due) -> None:
        runner, actor, begin = self.runner, self._actor, perf_counter()
        try:
            observation = self._senses.observe()
        except UserInputError as error:
            self._stop(str(error))
            return
        if due is not Due.TICK or not self.begun or self._restart:
            self._begin(due)
        time = observation.time
        self._observed(observation)
        was_stopped = bool(runner.error)
        if runner.state == WAITING:
            runner.go_on()
        values = runner.step(observation, time)
        if values is not None:
            actor.act(values, time)
        elif was_stopped:
            actor.answer(time)
        else:
            actor.hold(time)
            self._stopped()
        self._cost.add(perf_counter() - begin)

    def _begin(self, due: Due) -> None:
        """Begin anew. One that was stopped stays so when messages were only lost."""
        restart, self._restart = self._restart, False
        if due is Due.LEAP and self.runner.error and not restart:
            return
        if self.begun:
            if not restart:
                what = f"are {self._timeout:g} s apart" if due is Due.LEAP else "jumped back"
                _LOG.warning("stamps of joint_states %s: the controller begins anew", what)
            self.runner.reset()
        else:
            rate = 1.0 / self.runner.controller.period
            _LOG.info("all is heard: controls the robot at %g Hz from %g s on", rate, self.time)
        self.begun = True
        self._began()

    def _rest(self) -> None:
        self._actor.hold(self.time)
        self.runner.pause(WAITING)

    def _stop(self, reason: str) -> None:
        if not self.runner.error:
            self.runner.stop(reason)
            self._actor.hold(self.time)
            self._stopped()
