"""One run of a controller from the start of a scene to its end."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from copy import copy
from dataclasses import dataclass, replace
from functools import cache

import mujoco

from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder, Trial
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.library.catalogue import load_table
from mujoco_ros.controllers.library.planner_access import PLANNERS
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.planner import InlinePlanner
from mujoco_ros.controllers.planning.requests import MotionPlan, Request
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.sim.simulation import Simulation

Clock = Callable[[], float]
SUCCESS, UNFINISHED, ERROR = "success", "unfinished", "error"
_load_table = cache(load_table)
"""Reading a file takes as long as half a simulated second."""
_TIME_LIMIT_S = 60.0
"""Limit of a call of a state, which here contains the computation of plans."""
_CONSEQUENCES = ("give_up", "put_back", "returned")
"""Transitions after the last retry; they are not the cause of a failure."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """Result of one run.

    Attributes:
        seed: Seed of all conditions, noise and plans.
        outcome: ``success``, or the final failure.
        reason: Reason of the failure.
        claimed: Whether the controller reports a success.
        refusal: Failure that the conditions require, because the robot cannot do the task under
            them; empty if it can.
        failures: All failures, including those with a successful recovery, oldest first.
        conditions: Conditions by name.
        measures: Measures by name.
        phases: Total time in each state [s].
        planning: Computing time of each plan of joint motions [s].
        duration: Simulated time [s].
        cost: Processor time [s].
        digest: Hash of the positions at all ticks.
    """

    seed: int
    outcome: str
    reason: str = ""
    claimed: bool = False
    refusal: str = ""
    failures: tuple[str, ...] = ()
    conditions: Mapping[str, float]
    measures: Mapping[str, float]
    phases: Mapping[str, float]
    planning: tuple[float, ...] = ()
    duration: float = 0.0
    cost: float = 0.0
    digest: str = ""

    @property
    def success(self) -> bool:
        """Whether the task was completed."""
        return self.outcome == SUCCESS

    @property
    def is_false_success(self) -> bool:
        """Whether the controller reports a success, but the task was not completed."""
        return self.claimed and not self.success

    @property
    def is_refused(self) -> bool:
        """Whether the controller failed as the conditions require."""
        return bool(self.refusal) and self.outcome == self.refusal


class TimedPlanner(InlinePlanner):
    """Plans synchronously, and records the time of each plan.

    Attributes:
        durations: Type of request and time of each plan [s].
    """

    def __init__(self, chain: Chain, clock: Clock, durations: list[tuple[str, float]]) -> None:
        """Plan for a chain; append to `durations` the differences of `clock` [s]."""
        super().__init__(chain)
        self._clock, self.durations = clock, durations

    def submit(self, request: Request) -> "Future[MotionPlan]":
        """Plan and measure the time."""
        begin = self._clock()
        future = super().submit(request)
        self.durations.append((type(request).__name__, self._clock() - begin))
        return future


def initial_simulation(
    trial: Trial, assembly: Assembly, seed: int, conditions: Conditions
) -> Simulation:
    """Return the simulation of an episode, with the model of its controller."""
    model = copy(assembly.model)
    trial.edit(model, conditions)
    mujoco.mj_setConst(model, mujoco.MjData(model))  # updates quantities derived from masses
    return Simulation(replace(assembly, model=model), seed=seed)


def run_episode(
    trial: Trial,
    assembly: Assembly,
    seed: int,
    clock: Clock,
    on_start: Callable[[Simulation, ControllerHost, Conditions], object] | None = None,
) -> Episode:
    """Run a trial once in its scene.

    Args:
        trial: The trial.
        assembly: Its scene.
        seed: Seed of the episode.
        clock: Returns the processor time [s].
        on_start: Called before the first step.
    """
    begin = clock()
    conditions = trial.conditions(seed)
    simulation = initial_simulation(trial, assembly, seed, conditions)
    controller = FsmController(_load_table(trial.controller), seed=seed)
    for state, changes in trial.settings(conditions).items():
        controller.machine.configure(state, changes)
    durations: list[tuple[str, float]] = []
    controller.store.provide(PLANNERS, lambda chain: TimedPlanner(chain, clock, durations))
    host = ControllerHost(simulation, controller)
    host.supervised.time_limit.limit_s = _TIME_LIMIT_S
    trial.disturb(simulation.model, conditions)
    mujoco.mj_setConst(simulation.model, mujoco.MjData(simulation.model))
    refusal = trial.impossible(simulation.model)
    host.observation_filter = trial.observation_filter(seed, conditions)
    host.command_filter = trial.command_filter(conditions)
    supervised, machine = host.supervised, controller.machine
    recorder = EpisodeRecorder(simulation, host)
    if on_start is not None:
        on_start(simulation, host, conditions)
    while simulation.time < trial.limit:
        if not host.tick():
            host.stop("the simulation diverged")
        if supervised.error:
            break
        if recorder.record():
            trial.act(simulation, supervised.request, conditions)
            if trial.is_over(simulation, machine.outcome):
                break
    host.close()
    measures = trial.measure(recorder, conditions)
    failures = recorder.failures
    outcome, reason, claimed = UNFINISHED, f"in {recorder.state} at the time limit", False
    if supervised.error:
        outcome, reason = ERROR, supervised.error
    elif machine.has_failed and failures:
        causes = (it for it in reversed(failures) if it.transition.label not in _CONSEQUENCES)
        cause = next(causes, failures[-1])
        outcome, reason = cause.transition.label, cause.reason
    elif trial.is_over(simulation, machine.outcome):
        claimed = not machine.has_failed
        outcome = trial.flaw(measures) or SUCCESS
        reason = "" if outcome == SUCCESS else "the controller reports a success"
    return Episode(
        seed=seed,
        outcome=outcome,
        reason=reason,
        claimed=claimed,
        refusal=refusal,
        failures=tuple(it.transition.label for it in failures),
        conditions=dict(conditions),
        measures=measures,
        phases=recorder.phases(simulation.time),
        planning=tuple(taken for kind, taken in durations if kind == "JointMove"),
        duration=simulation.time,
        cost=clock() - begin,
        digest=recorder.digest,
    )
