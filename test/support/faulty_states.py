"""A state that does what a state must not do, and tables of it; also a package of states."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.fsm.state import State, StateContext
from mujoco_ros.controllers.fsm.table_reader import table_from_dict
from mujoco_ros.model.strict import parse_yaml


class HostileError(Exception):
    """An error without a text."""

    def __repr__(self) -> str:
        raise SystemExit("in repr")

    __str__ = __repr__


def _raise(error: BaseException) -> None:
    raise error


def _swallow(_context: StateContext) -> None:
    for _ in range(3):
        try:
            while True:
                pass
        except BaseException:
            continue


def _loop(_context: StateContext) -> None:
    while True:
        pass


def _set(name: str, value: Any) -> Callable[[StateContext], None]:
    return lambda context: setattr(context, name, value)


def _set_references(name: str, value: Any) -> Callable[[StateContext], None]:
    return lambda context: setattr(context.references, name, value)


FAULTS: dict[str, Callable[[StateContext], Any]] = {
    "exit": lambda _: _raise(SystemExit(3)),
    "interrupt": lambda _: _raise(KeyboardInterrupt()),
    "generator": lambda _: _raise(GeneratorExit()),
    "hostile": lambda _: _raise(HostileError()),
    "await a number": lambda context: context.awaited.append(5),
    "await a text": _set("awaited", "plan"),
    "await nothing": _set("awaited", None),
    "no references": _set("references", np.zeros((3, 3))),
    "short q": _set_references("q", np.zeros(2)),
    "text as q": _set_references("q", "zero"),
    "short values": lambda context: context.references.rebind(np.zeros((3, 2))),
    "reshape": lambda context: setattr(context.references.q, "shape", (3, 1)),
    "read-only": lambda context: context.references.values.setflags(write=False),
    "reason": _set("reason", np.zeros(2)),
    "outcome": lambda _: np.zeros(2),
    "time": _set("time", "now"),
    "loop": _loop,
    "swallow": _swallow,
    "sleep": lambda _: time.sleep(0.05),
    "nan": lambda context: context.references.q.__setitem__(0, np.nan),
}


class Fault(State):
    """Does what a state must not do, in one of its methods, after 20 ms."""

    outcomes = ("done",)

    @dataclass(frozen=True, kw_only=True, slots=True)
    class Config:
        """What is wrong, and where."""

        how: str
        method: Literal["start", "run", "teardown"] = "run"
        duration: float = 0.02

    def start(self, context: StateContext) -> None:
        self._do("start", context)

    def run(self, context: StateContext) -> str | None:
        if self.config.method != "run":
            return "done" if context.has_elapsed(self.config.duration) else None
        if not context.has_elapsed(self.config.duration):
            context.references.q[0] = 0.2
            return None
        result = self._do("run", context)
        if self.config.how in ("sleep", "nan"):
            return "done" if context.has_elapsed(2 * self.config.duration) else None
        return result

    def teardown(self, context: StateContext) -> None:
        self._do("teardown", context)

    def _do(self, method: str, context: StateContext) -> Any:
        return FAULTS[self.config.how](context) if method == self.config.method else None


class Add(State):
    """Moves the first joint from its reference."""

    outcomes = ("done",)

    def start(self, context: StateContext) -> None:
        self.seen = context.references.values.copy()

    def run(self, context: StateContext) -> str | None:
        context.references.q[0] += 0.001
        return None


CLASSES = {"Fault": Fault, "Add": Add}


def faulty(how: str, method: str = "run", extra: str = "", duration: float = 0.02) -> FsmController:
    """Return a controller whose state ``BAD`` is faulty and whose state ``NEXT`` is not."""
    text = f"""
rate: 200
{extra}
initial: BAD
states:
  BAD: {{class: Fault, how: {how}, method: {method}, duration: {duration}}}
  NEXT: {{class: Add}}
transitions:
  BAD: {{done: NEXT}}
  NEXT: {{done: BAD}}
"""
    table = table_from_dict(parse_yaml(text, "t"), CLASSES, name="faulty", where="faulty.yaml")
    return FsmController(table)
