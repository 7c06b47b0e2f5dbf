"""One run of a controller from the start of a scene to an end."""

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cache

import mujoco

from mujoco_ros.controllers.evaluation.episode_recorder import EpisodeRecorder
from mujoco_ros.controllers.evaluation.timed_planner import Clock, TimedPlanner
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.library.catalogue import load_table
from mujoco_ros.controllers.library.planner_access import PLANNERS
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.sim.simulation import Simulation

SUCCESS, UNFINISHED, ERROR = "success", "unfinished", "error"
_table = cache(load_table)
"""Reading a file takes as long as simulating half a second."""
GIVE_UP = "give_up"
"""What follows failures, and says nothing of why."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """How a run went.

    Attributes:
        seed: From which all of it follows.
        outcome: ``success``, or the failure that it ended with.
        reason: Why, in words.
        failures: All failures on the way, recovered from or not, oldest first.
        conditions: What it was put to.
        measures: How well it went, by name.
        phases: How long each state took in all [s].
        planning: How long each plan of joint motions took to make [s].
        duration: Simulated time [s].
        cost: Processor time [s].
        digest: Of the states at all ticks: the same for the same bits.
    """

    seed: int
    outcome: str
    reason: str = ""
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
        """Return whether the task was done."""
        return self.outcome == SUCCESS


def run_episode(trial: Trial, assembly: Assembly, seed: int, clock: Clock) -> Episode:
    """Run a trial once.

    Args:
        trial: The trial.
        assembly: Its scene, which stays as it is.
        seed: From which conditions, noise and plans follow, whatever was run before.
        clock: Tells processor time [s].
    """
    begin = clock()
    conditions = trial.conditions(seed)
    model = copy(assembly.model)
    trial.edit(model, conditions)
    mujoco.mj_setConst(model, mujoco.MjData(model))  # what follows from masses
    simulation = Simulation(replace(assembly, model=model), seed=seed)
    controller = FsmController(_table(trial.controller), seed=seed)
    for state, changes in trial.settings(conditions).items():
        controller.machine.configure(state, changes)
    durations: list[tuple[str, float]] = []
    controller.store.provide(PLANNERS, lambda chain: TimedPlanner(chain, clock, durations))
    host = ControllerHost(simulation, controller)
    host.disturb = trial.senses(conditions, seed)
    recorder = EpisodeRecorder(simulation, host)
    machine = controller.machine
    while simulation.time < trial.limit:
        if not host.advance():
            host.stop("the simulation diverged")
        if host.runner.error:
            break
        if recorder.stepped():
            trial.act(simulation, host.runner.request, conditions)
            if trial.over(simulation, machine.outcome):
                break
    host.close()
    measures = trial.measure(simulation, controller.store, recorder, conditions)
    failures = recorder.failures
    outcome, reason = UNFINISHED, f"in {recorder.state} when the time was over"
    if host.runner.error:
        outcome, reason = ERROR, host.runner.error
    elif machine.has_failed and failures:
        causes = (it for it in reversed(failures) if it.transition.label != GIVE_UP)
        cause = next(causes, failures[-1])
        outcome, reason = cause.transition.label, cause.reason
    elif trial.over(simulation, machine.outcome):
        outcome, reason = trial.flaw(measures) or SUCCESS, ""
    return Episode(
        seed=seed,
        outcome=outcome,
        reason=reason,
        failures=tuple(it.transition.label for it in failures),
        conditions=dict(conditions),
        measures=measures,
        phases=recorder.phases(simulation.time),
        planning=tuple(taken for kind, taken in durations if kind == "JointMove"),
        duration=simulation.time,
        cost=clock() - begin,
        digest=recorder.digest,
    )
