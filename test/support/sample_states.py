"""Simple states, and controllers of these states."""

from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.state import Hold, State, StateContext, Wait
from mujoco_ros.controllers.fsm.table_reader import table_from_dict
from mujoco_ros.controllers.interface.host import GAINS_GET, GAINS_SET, IMAGE_GET, POSE_SET, Image
from mujoco_ros.controllers.interface.observation import Observation, Pose
from mujoco_ros.controllers.interface.store import Key
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.strict import parse_yaml

SEEN: Key[list[Observation]] = Key("test/seen", list)
ANSWER: Key[Callable[[], "Future[float]"]] = Key("test/answer")


class Ramp(State):
    """Moves the first joint with `speed`, and records its observations."""

    outcomes = ("done",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """Motion of the joint.

        Attributes:
            speed: Of the first joint, which turns
                about its own axis [rad/s].
            duration: How long [s].
        """

        speed: float = 1.0
        duration: float = 0.2

        def __post_init__(self) -> None:
            if not 0.0 < self.speed < 10.0:
                raise UserInputError(f"speed {self.speed} is not from 0 to 10")

    def start(self, context: StateContext) -> None:
        self._begin = context.references.q[0]

    def run(self, context: StateContext) -> str | None:
        if SEEN in context.store:
            context.store.get(SEEN).append(context.observation)
        context.references.q[0] = self._begin + self.config.speed * context.elapsed
        return "done" if context.has_elapsed(self.config.duration) else None


class Break(State):
    """Fails in one of several ways."""

    outcomes = ("done",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """Kind of failure: raise, inf, or shape."""

        how: str = "raise"

    def run(self, context: StateContext) -> str | None:
        if self.config.how == "raise":
            raise ZeroDivisionError("no luck")
        if self.config.how == "inf":
            context.references.dq[1] = np.inf
        else:
            context.references.rebind(np.zeros((3, 2)))
        return None


class Soft(State):
    """Sets gains and a pose."""

    outcomes = ("done",)

    def run(self, context: StateContext) -> str | None:
        gains = context.store.get(GAINS_GET)()
        context.store.get(GAINS_SET)(Gains(kp=gains.kp * 0.5, kd=gains.kd))
        turned = np.array([0.0, 0.0, 0.0, 2.0])
        context.store.get(POSE_SET)("ball", Pose(position=np.array([0, 3, 1.0]), quat_wxyz=turned))
        return "done"


class Ask(State):
    """Waits for a future, and moves by its result."""

    outcomes = ("done",)

    def start(self, context: StateContext) -> None:
        self._answer = context.store.get(ANSWER)()
        self._waits = False

    def run(self, context: StateContext) -> str | None:
        if not context.has_elapsed(0.02):
            return None
        if not self._waits:  # whether it is done already depends on the machine
            self._waits = True
            context.awaited.append(self._answer)
            return None
        context.references.q[0] += self._answer.result()
        return "done"


class Watch(State):
    """Requests an image of a camera."""

    outcomes = ("done",)
    image: "Future[Image]"
    seen_at: float

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """Which camera, and whether to wait."""

        camera: str = "above"
        waits: bool = False

    def start(self, context: StateContext) -> None:
        self.image = context.store.get(IMAGE_GET)(self.config.camera)

    def run(self, context: StateContext) -> str | None:
        if not self.image.done():
            if self.config.waits:
                context.awaited.append(self.image)
            return None
        self.seen_at = context.time
        return "done"


class Release(State):
    """Commands the second joint only."""

    outcomes = ("done",)

    def start(self, context: StateContext) -> None:
        context.references.values[:] = np.nan
        context.references.q[1] = 0.1

    def run(self, context: StateContext) -> str | None:
        return None


CLASSES = {cls.__name__: cls for cls in (Ramp, Break, Soft, Ask, Watch, Release, Hold, Wait)}


def in_turn(*rows: str, rate: float = 200.0) -> str:
    """Return a table with a sequence of states S0, S1, …, and END, which holds."""
    states = [f"  S{i}: {row}" for i, row in enumerate(rows)]
    goals = [*(f"S{i}" for i in range(1, len(rows))), "END"]
    arrows = [f"  S{i}: {{done: {goal}}}" for i, goal in enumerate(goals)]
    return "\n".join(
        [
            f"rate: {rate}",
            "initial: S0",
            "states:",
            *states,
            "  END: {class: Hold, outcome: over}",
            "transitions:",
            *arrows,
        ]
    )


def controller(text: str, **provided: Any) -> FsmController:
    """Create a controller from a table; values of its store are given by name."""
    table = table_from_dict(parse_yaml(text, "test"), CLASSES, name="test", where="test.yaml")
    made = FsmController(table)
    for key in (SEEN, ANSWER):
        name = key.name.rpartition("/")[2]
        if name in provided:
            made.store.provide(key, provided[name])
    return made
