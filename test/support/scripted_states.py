"""States with scripted outcomes, and a run of them tick by tick."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.state import Hold, State, StateContext, Wait
from mujoco_ros.controllers.fsm.table import Table, TransitionEvent
from mujoco_ros.controllers.fsm.table_reader import table_from_dict
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.interface.robot import RobotModel
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.strict import parse_yaml

PERIOD = 0.01


class Scripted(State):
    """Returns `outcome`, raises in the method named by `fails`, and records each call."""

    outcomes = ("done", "slip")
    failures = ("slip",)
    calls: ClassVar[list[str]] = []

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """A setting of each kind."""

        speed: float = 0.1
        name: str = ""
        count: int = 1
        goal: tuple[float, float] = (0.0, 0.0)

        def __post_init__(self) -> None:
            if self.speed <= 0.0:
                raise UserInputError(f"speed {self.speed} is not above zero")

    outcome: str | None = None
    fails: str = ""
    seen: float = 0.0

    def _record(self, call: str) -> None:
        self.calls.append(f"{call} {self.config.name}")
        if self.fails == call:
            raise ZeroDivisionError(f"in {call}")

    def start(self, context: StateContext) -> None:
        self.seen = self.config.speed
        self._record("start")

    def run(self, context: StateContext) -> str | None:
        self._record("run")
        context.reason = f"outcome of {self.config.name}"
        return self.outcome

    def teardown(self, context: StateContext) -> None:
        self._record("teardown")


CLASSES: dict[str, type[State]] = {"Scripted": Scripted, "Hold": Hold, "Wait": Wait}

ROBOT = RobotModel(
    name="arm",
    joints=("j1", "j2"),
    lower=np.full(2, -1.0),
    upper=np.full(2, 1.0),
    velocity=np.full(2, 2.0),
    effort=np.full(2, np.inf),
    home=np.zeros(2),
    gripper=None,
    prefix="",
    model=None,
    qpos=np.arange(2),
    dof=np.arange(2),
)


def table(text: str, name: str = "test") -> Table:
    """Read a table that uses the classes above."""
    return table_from_dict(parse_yaml(text, "test.yaml"), CLASSES, name=name, where="test.yaml")


def seen(q: float = 0.3) -> Observation:
    """Return an observation of the robot above."""
    return Observation(time=0.0, q=np.full(2, q), dq=np.zeros(2), effort=np.zeros(2))


@dataclass
class Run:
    """A controller that is driven tick by tick."""

    controller: FsmController
    tick: int = 0

    @classmethod
    def of(cls, text: str, *, seed: int = 0) -> "Run":
        """Configure a controller of a table."""
        Scripted.calls.clear()
        controller = FsmController(table(text), seed=seed)
        controller.configure(ROBOT)
        return cls(controller)

    @property
    def machine(self):
        """The machine."""
        return self.controller.machine

    @property
    def state(self) -> str:
        """The active state."""
        return self.machine.state

    @property
    def events(self) -> list[TransitionEvent]:
        """All transitions that were made."""
        return self.machine.log.since(0)

    @property
    def labels(self) -> list[str]:
        """Labels of the transitions that can be requested."""
        return [transition.label for transition in self.machine.available]

    def scripted(self, name: str) -> Scripted:
        """Return a scripted state."""
        state = self.machine.instances[name]
        assert isinstance(state, Scripted)
        return state

    def step(self, ticks: int = 1) -> "Run":
        """Run ticks."""
        for _ in range(ticks):
            self.controller.step(seen(), self.tick * PERIOD)
            self.tick += 1
        return self

    def return_outcome(self, name: str, outcome: str) -> "Run":
        """Return an outcome of a state once, and make its transition if there is one."""
        self.scripted(name).outcome = outcome
        self.step()
        self.scripted(name).outcome = None
        return self.step()
