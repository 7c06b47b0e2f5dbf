"""One run of a controller from the start of a scene to its end, and the file of many runs."""

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from copy import copy
from dataclasses import asdict, dataclass, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

import mujoco
import numpy as np

from mujoco_ros.controllers.catalogue import load_table
from mujoco_ros.controllers.evaluation.trial import Conditions, EpisodeRecorder, Trial
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.planning.kinematics.chain import Chain
from mujoco_ros.controllers.planning.planner import PLANNERS, InlinePlanner
from mujoco_ros.controllers.planning.requests import MotionPlan, Request
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.output_files import OutputFile, locked
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.model.strict import read_text
from mujoco_ros.sim.simulation import Simulation

Clock = Callable[[], float]
SUCCESS, UNFINISHED, ERROR = "success", "unfinished", "error"
_load_table = cache(load_table)  # reading a file takes as long as half a simulated second
_TIME_LIMIT_S = 60.0  # limit of a call of a state, which here contains the computation of plans
_CONSEQUENCES = ("give_up", "put_back", "returned")
"""Transitions after the last retry; they are not the cause of a failure."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """Result of one run."""

    seed: int  # seed of all conditions, noise and plans
    outcome: str  # ``success``, or the final failure
    reason: str = ""  # reason of the failure
    claimed: bool = False  # whether the controller reports a success
    refusal: str = ""  # failure that the conditions require; empty if the robot can succeed
    failures: tuple[str, ...] = ()  # all, also recovered ones, oldest first
    conditions: Mapping[str, float]  # conditions by name
    measures: Mapping[str, float]  # measures by name
    phases: Mapping[str, float]  # total time in each state [s]
    planning: tuple[float, ...] = ()  # computing time of each plan of joint motions [s]
    duration: float = 0.0  # simulated time [s]
    cost: float = 0.0  # processor time [s]
    digest: str = ""  # hash of the positions at all ticks

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
    """Plans synchronously, and records the type of each request and the time of its plan [s]."""

    def __init__(self, chain: Chain, clock: Clock, durations: list[tuple[str, float]]) -> None:
        """Plan for a chain; append to `durations` the differences of `clock` [s]."""
        super().__init__(chain)
        self._clock, self.durations = clock, durations

    def submit(self, request: Request) -> "Future[MotionPlan]":
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
    # Random numbers of the scene are drawn later, since the controller does not know them.
    config = replace(assembly.config, randomize={})
    return Simulation(replace(assembly, model=model, config=config), seed=seed)


def run_episode(
    trial: Trial,
    assembly: Assembly,
    seed: int,  # seed of the episode
    clock: Clock,  # returns the processor time [s]
    on_start: Callable[[Simulation, ControllerHost, Conditions], object] | None = None,
) -> Episode:
    """Run a trial once in its scene."""
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
    simulation.properties.randomize(assembly.config.randomize)
    conditions = {**conditions, **simulation.properties.drawn}
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
        causes = (
            event for event in reversed(failures) if event.transition.label not in _CONSEQUENCES
        )
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
        failures=tuple(event.transition.label for event in failures),
        conditions=dict(conditions),
        measures=measures,
        phases=recorder.phases(simulation.time),
        planning=tuple(taken for kind, taken in durations if kind == "JointMove"),
        duration=simulation.time,
        cost=clock() - begin,
        digest=recorder.digest,
    )


Identity = Mapping[str, str]  # trial, seed, scene and versions, each as a short text
_PATHS = re.compile(r"paths|npaths|nbuffer|\w+_pathadr")
"""Fields of a model that the paths of its files determine."""


def identity_of(trial: Trial, seed: int, assembly: Assembly) -> Identity:
    """Return what all parts of an evaluation have in common; `assembly` is its scene."""
    return {"trial": repr(trial), "seed": str(seed), "scene": scene_hash(assembly), **versions()}


def scene_hash(assembly: Assembly) -> str:
    """Return a hash of a scene: its compiled model, and the settings that are not in the model.

    Paths of files have no effect: machines differ.
    """
    content, config = sha256(), assembly.config
    for part in _content(assembly.model):
        content.update(part)
    for robot in config.robots:
        for uri in (robot.gains, robot.srdf):
            content.update(read_text(config.path(uri)).encode() if uri else b"")
        entries = [] if robot.realism is None else robot.realism.entries()
        settings = replace(robot, model="", gains=None, urdf=None, srdf=None, realism=None)
        content.update(repr((settings, entries)).encode())
    others = config.cameras, config.lidars, config.extensions, config.randomize
    content.update(repr(others).encode())
    return content.hexdigest()[:16]


def _content(structure: object) -> Iterator[bytes]:
    """Yield names and values of the fields of a structure of MuJoCo that do not concern paths."""
    for name in dir(structure):
        if name.startswith("_") or _PATHS.fullmatch(name):
            continue
        value = getattr(structure, name)
        if isinstance(value, bytes | int | float | np.ndarray):
            yield name.encode()
            yield value if isinstance(value, bytes) else np.asarray(value).tobytes()
        elif type(value).__module__.partition(".")[0] == "mujoco":
            yield from _content(value)
        elif not callable(value):
            raise TypeError(f"field '{name}' of a model is a {type(value).__name__}")


@cache
def versions() -> Identity:
    """Return the version of MuJoCo, and a hash of code, tables and policies of this package."""
    package = Path(__file__).resolve().parents[2]
    code = sha256()
    for file in sorted(
        path for path in package.rglob("*") if path.suffix in (".py", ".yaml", ".onnx")
    ):
        code.update(file.read_bytes())
    return {"mujoco": mujoco.__version__, "code": code.hexdigest()[:16]}


_SYNC_S = 1.0  # longest time for which a power failure can lose episodes [s]


class EpisodeFile:
    """Episodes as lines of JSON, after one line that identifies the evaluation.

    The file is created, or replaced, when the first episode is added. From then on each line is
    written when its episode is done, so that an interruption loses only the episodes that are
    running. One process at a time writes into a folder.
    """

    def __init__(self, path: Path, identity: Identity, count: int, *, resume: bool) -> None:
        """Read the file, if it exists; `count` is the number of episodes of the whole evaluation.

        With `resume` the episodes in an existing file are kept. Else a file that lacks some of its
        episodes is an error, and a file with all of them is replaced. It is an error if the file is
        of another evaluation, or if another process writes into the folder.
        """
        self.path, self.done = path, dict[int, Episode]()
        self._header = {**identity, "episodes": count}
        self._file: BinaryIO | None = None
        self._synced = 0.0
        self._folder = locked(path.parent)
        try:
            if path.exists():
                self._continue(identity, count, resume=resume)
        except BaseException:
            os.close(self._folder)
            raise

    def __enter__(self) -> "EpisodeFile":
        return self

    def __exit__(self, *_error: object) -> None:
        if self._file is not None:
            os.fsync(self._file.fileno())
            self._file.close()
        os.close(self._folder)

    def add(self, episode: Episode) -> None:
        self.done[episode.seed] = episode
        if self._file is None:
            self._file = self._create()
            return
        self._file.write(_line(asdict(episode)))
        self._file.flush()
        if time.monotonic() >= self._synced + _SYNC_S:
            os.fsync(self._file.fileno())
            self._synced = time.monotonic()

    def _continue(self, identity: Identity, count: int, *, resume: bool) -> None:
        header, episodes = self._read()
        expected = header.pop("episodes")
        if resume:
            for name in sorted({*header, *identity}):
                if header.get(name) != identity.get(name):
                    raise UserInputError(
                        f"{self.path} is of another evaluation: its {name} is {header.get(name)}, "
                        f"here {identity.get(name)}"
                    )
            self.done = episodes
            self._header["episodes"] = max(expected, count)
        elif 0 < len(episodes) < expected:
            raise UserInputError(
                f"{self.path} has {len(episodes)} of {expected} episodes of an interrupted "
                "evaluation; continue it with --resume, choose another --output, or delete the file"
            )

    def _create(self) -> BinaryIO:
        """Replace the file by one with the episodes so far; return it open."""
        with OutputFile(self.path) as output:
            output.file.writelines(map(_line, [self._header, *map(asdict, self.done.values())]))
            output.finish()
        return self.path.open("ab")

    def _read(self) -> tuple[dict[str, Any], dict[int, Episode]]:
        """Return the first line and the episodes by seed, without an interrupted last line."""
        *lines, _ = self.path.read_bytes().split(b"\n")
        header = self._parsed(lines[0] if lines else b"", 1)
        if not isinstance(header.get("episodes"), int):
            raise UserInputError(f"{self.path} is not a file of episodes: line 1 has no count")
        episodes = (self._episode(line, number) for number, line in enumerate(lines[1:], 2))
        return header, {episode.seed: episode for episode in episodes}

    def _episode(self, line: bytes, number: int) -> Episode:
        values = self._parsed(line, number)
        try:
            for name in ("failures", "planning"):
                values[name] = tuple(values[name])
            return Episode(**values)
        except (KeyError, TypeError) as error:
            raise UserInputError(f"{self.path}, line {number} is not an episode") from error

    def _parsed(self, line: bytes, number: int) -> dict[str, Any]:
        try:
            values = json.loads(line)
        except ValueError as error:  # UnicodeDecodeError is one
            raise UserInputError(f"{self.path}, line {number} is not JSON: {error}") from error
        if not isinstance(values, dict):
            raise UserInputError(f"{self.path}, line {number} is not an object of JSON")
        return values


def _line(values: Mapping[str, Any]) -> bytes:
    return json.dumps(values, default=float).encode() + b"\n"
