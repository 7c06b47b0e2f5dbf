"""A table from plain data, read strictly."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.fsm.table import (
    TIMEOUT,
    CompositeState,
    Join,
    Parallel,
    SimpleState,
    StateDef,
    Table,
    TransitionDef,
)
from mujoco_ros.controllers.fsm.table_checks import check_joins, check_level
from mujoco_ros.controllers.fsm.transition import Trigger
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.strict import from_dict, read_yaml

Classes = Mapping[str, type[State]]

ANY_STATE = "*"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_LEVEL_KEYS = ("initial", "states", "transitions")
_TOP_KEYS = ("rate", "step_by_step", *_LEVEL_KEYS)
_KINDS = ("class", "machine", "parallel")
_ROW_KEYS = ("timeout", "outcome", "failure")
_MOST_ENTRIES = 20_000
"""Aliases can make a small YAML file an endless table."""
_MOST_LEVELS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class _Top:
    rate: float
    step_by_step: bool = False

    def __post_init__(self) -> None:
        if self.rate <= 0.0:
            raise UserInputError(f"rate {self.rate} is not above zero")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Initial:
    initial: str


@dataclass(frozen=True, kw_only=True, slots=True)
class _Row:
    timeout: float | None = None
    outcome: str | None = None
    failure: bool = False

    def __post_init__(self) -> None:
        if self.timeout is not None and self.timeout <= 0.0:
            raise UserInputError(f"timeout {self.timeout} is not above zero")
        if self.failure and self.outcome is None:
            raise UserInputError("'failure' is said of an 'outcome', and there is none")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Goal:
    to: str
    trigger: Trigger | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Join:
    when: dict[str, str]
    outcome: str
    failure: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class _Label:
    cls: str


def read_table(path: Path, classes: Classes) -> Table:
    """Read a table from a YAML file, see `table_from_dict`; it is called as the file is."""
    return table_from_dict(read_yaml(path), classes, name=path.stem, where=str(path))


def table_from_dict(data: Any, classes: Classes, *, name: str, where: str) -> Table:
    """Build a table from plain data.

    Args:
        data: What the YAML held.
        classes: The classes of states that it may use, by name.
        name: What it is called.
        where: What the data are, e.g. a file; starts every message.

    Raises:
        ModelError: It says something unknown or of a wrong type, or it does not hold together.
    """
    if not _NAME.match(name):
        raise UserInputError(f"{where}: {_not_a_name('controller', name)}")
    data = _mapping(data, where, _TOP_KEYS)
    class_names(data, where)
    top = from_dict(_Top, _part(data, ("rate", "step_by_step")), where)
    level = _level(_part(data, _LEVEL_KEYS), classes, "", f"{where}: ")
    return Table(
        name=name,
        rate=top.rate,
        step_by_step=top.step_by_step,
        root=StateDef(name="", path="", work=level),
    )


def class_names(data: Any, where: str) -> set[str]:
    """Return the names of all classes that a table's data ask for, be they right or wrong.

    Raises:
        ModelError: The data are too large to be a table.
    """
    found: set[str] = set()
    rest = [data]
    for _ in range(_MOST_ENTRIES):
        if not rest:
            return found
        entry = rest.pop()
        if isinstance(entry, Mapping):
            found |= {v for k, v in entry.items() if k == "class" and isinstance(v, str)}
            rest += entry.values()
    raise UserInputError(f"{where}: more than {_MOST_ENTRIES} entries, which is no table of states")


def _level(data: Mapping[str, Any], classes: Classes, path: str, where: str) -> CompositeState:
    """Read a level; `where` is what its keys are put behind."""
    at = where.rstrip(":. ")
    if path.count("/") >= _MOST_LEVELS:
        raise UserInputError(f"{at}: more than {_MOST_LEVELS} machines inside of one another")
    for key in ("initial", "states"):
        if key not in data:
            raise UserInputError(f"{at}: key '{key}' is missing")
    initial = from_dict(_Initial, _part(data, ("initial",)), at).initial
    rows = _rows(data["states"], classes, path, f"{where}states")
    arrows = _arrows(data.get("transitions", {}), rows, f"{where}transitions")
    rows = {name: replace(row, arrows=arrows[name]) for name, row in rows.items()}
    check_level(initial, rows, at)
    return CompositeState(initial=initial, rows=rows)


def _rows(data: Any, classes: Classes, path: str, where: str) -> dict[str, StateDef]:
    states = _mapping(data, where)
    for name in states:
        if not _NAME.match(name):
            raise UserInputError(f"{where}: {_not_a_name('state', name)}")
    prefix = f"{path}/" if path else ""
    return {
        name: _row(state, classes, name, f"{prefix}{name}", f"{where}.{name}")
        for name, state in states.items()
    }


def _row(data: Any, classes: Classes, name: str, path: str, where: str) -> StateDef:
    data = _mapping(data, where)
    kinds = [kind for kind in _KINDS if kind in data]
    if len(kinds) > 1 or not (kinds or "outcome" in data):
        raise UserInputError(f"{where}: expected one of the keys {', '.join(_KINDS)}")
    row = from_dict(_Row, _part(data, _ROW_KEYS), where)
    rest = {key: value for key, value in data.items() if key not in _ROW_KEYS}
    work, outcomes, failures = _READERS[kinds[0] if kinds else ""](rest, classes, path, where)
    if row.outcome is not None and (outcomes or row.timeout or not isinstance(work, SimpleState)):
        raise UserInputError(
            f"{where}: it ends its machine with '{row.outcome}', so nothing may follow: "
            "it has no time-out, and no class that has outcomes"
        )
    if row.timeout is not None:
        outcomes = tuple(dict.fromkeys((*outcomes, TIMEOUT)))
    return StateDef(
        name=name,
        path=path,
        work=work,
        outcomes=outcomes,
        failures=frozenset(failures) | ({TIMEOUT} & set(outcomes)),
        timeout=row.timeout,
        outcome=row.outcome,
        failure=row.failure,
    )


_Work = tuple[SimpleState | CompositeState | Parallel, tuple[str, ...], Iterable[str]]
"""What a row does, the outcomes of it, and the failures among them."""


def _leaf(data: Mapping[str, Any], classes: Classes, _path: str, where: str) -> _Work:
    name = from_dict(_Label, {"cls": data["class"]}, where).cls
    if name not in classes:
        raise unknown("class", name, sorted(classes), where=where)
    cls = classes[name]
    known = [] if cls.Config is None else [field.name for field in fields(cls.Config)]
    rest = {key: value for key, value in data.items() if key != "class"}
    for key in rest:
        if key not in known:
            raise unknown("key", key, [*known, "class", *_ROW_KEYS], where=where)
    config = None if cls.Config is None else from_dict(cls.Config, rest, where)
    return SimpleState(cls=cls, config=config), cls.outcomes, cls.failures


def _nothing(data: Mapping[str, Any], _classes: Classes, _path: str, where: str) -> _Work:
    _mapping(data, where, (*_KINDS, *_ROW_KEYS))
    return SimpleState(), (), ()


def _machine(data: Mapping[str, Any], classes: Classes, path: str, where: str) -> _Work:
    _mapping(data, where, ("machine", *_ROW_KEYS))
    inner = _mapping(data["machine"], f"{where}.machine", _LEVEL_KEYS)
    level = _level(inner, classes, path, f"{where}.machine.")
    ends = [row for row in level.rows.values() if row.outcome is not None]
    outcomes = tuple(dict.fromkeys(row.outcome for row in ends if row.outcome is not None))
    return level, outcomes, [row.outcome for row in ends if row.outcome and row.failure]


def _parallel(data: Mapping[str, Any], classes: Classes, path: str, where: str) -> _Work:
    _mapping(data, where, ("parallel", "join", *_ROW_KEYS))
    branches = _rows(data["parallel"], classes, path, f"{where}.parallel")
    listed = data.get("join", [])
    if not isinstance(listed, list):
        raise UserInputError(f"{where}.join: expected a list, got {type(listed).__name__}")
    joins = []
    for number, entry in enumerate(listed):
        join = from_dict(_Join, entry, f"{where}.join[{number}]")
        joins.append(Join(when=join.when, outcome=join.outcome, failure=join.failure))
    check_joins(branches, joins, where)
    failures = [join.outcome for join in joins if join.failure]
    outcomes = tuple(dict.fromkeys(join.outcome for join in joins))
    return Parallel(branches=branches, joins=tuple(joins)), outcomes, failures


_READERS = {"class": _leaf, "machine": _machine, "parallel": _parallel, "": _nothing}


def _arrows(
    data: Any, rows: Mapping[str, StateDef], where: str
) -> dict[str, dict[str, TransitionDef]]:
    """Return the arrows of each row: its own, and those from any state that it has no own for."""
    listed = _mapping(data, where)
    for name in listed:
        if name != ANY_STATE and name not in rows:
            raise unknown("state", name, [*rows, ANY_STATE], where=where)
    found: dict[str, dict[str, TransitionDef]] = {name: {} for name in rows}
    for name in rows:
        for label, goal in _goals(listed.get(name, {}), f"{where}.{name}").items():
            found[name][label] = _arrow(rows[name], label, goal, rows, f"{where}.{name}.{label}")
    for label, goal in _goals(listed.get(ANY_STATE, {}), f"{where}.{ANY_STATE}").items():
        at = f"{where}.{ANY_STATE}.{label}"
        is_request = goal.trigger is Trigger.REQUEST
        takers = [row for row in rows.values() if (label in row.outcomes) != is_request]
        if not takers:
            known = dict.fromkeys(outcome for row in rows.values() for outcome in row.outcomes)
            raise unknown("outcome", label, known, where=at)
        for row in takers:
            arrow = _arrow(row, label, goal, rows, at)
            if row.name != goal.to or not is_request:
                found[row.name].setdefault(label, replace(arrow, from_any=True))
    return found


def _goals(data: Any, where: str) -> dict[str, _Goal]:
    goals = {}
    for label, goal in _mapping(data, where).items():
        if not _NAME.match(label):
            raise UserInputError(f"{where}: {_not_a_name('label', label)}")
        entry = {"to": goal} if isinstance(goal, str) else goal
        goals[label] = from_dict(_Goal, entry, f"{where}.{label}")
    return goals


def _arrow(
    row: StateDef, label: str, goal: _Goal, rows: Mapping[str, StateDef], where: str
) -> TransitionDef:
    if goal.to not in rows:
        raise unknown("state", goal.to, rows, where=where)
    is_outcome, is_request = label in row.outcomes, goal.trigger is Trigger.REQUEST
    if not (is_outcome or is_request):
        error = unknown("outcome", label, row.outcomes, where=where)
        raise UserInputError(f"{error}; what is asked for from outside has 'trigger: request'")
    if is_outcome and is_request:
        raise UserInputError(f"{where}: '{label}' is an outcome of {row.name}, so it is no request")
    failure = label in row.failures
    default = Trigger.AUTO if failure else Trigger.STEP_BY_STEP
    return TransitionDef(
        label=label, goal=goal.to, trigger=goal.trigger or default, failure=failure
    )


def _mapping(data: Any, where: str, known: Iterable[str] | None = None) -> dict[str, Any]:
    """Return a mapping whose keys are texts, and known ones where it is said which."""
    if not isinstance(data, Mapping):
        raise UserInputError(f"{where}: expected a mapping, got {type(data).__name__}")
    for key in data:
        if not isinstance(key, str):
            # YAML 1.1 reads on, off, yes and no as truth values.
            raise UserInputError(
                f"{where}: key {key!r} is no text; a name is written in quotes then"
            )
        if known is not None and key not in known:
            raise unknown("key", key, known, where=where)
    return dict(data)


def _part(data: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: data[key] for key in keys if key in data}


def _not_a_name(kind: str, name: str) -> str:
    return f"{kind} '{name}' is not valid: a letter, then letters, digits or underscores"
