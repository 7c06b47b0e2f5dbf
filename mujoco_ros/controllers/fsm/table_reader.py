"""Strict reader of tables in plain data and YAML."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.fsm.table import (
    TIMEOUT,
    Join,
    StateDef,
    Table,
    TransitionDef,
    Trigger,
    with_robots,
)
from mujoco_ros.controllers.fsm.table_checks import check_cycles, check_joins, check_machine
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.strict import convert, from_dict

Classes = Mapping[str, type[State]]

ANY_STATE = "*"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*\Z")
_MACHINE_KEYS = ("initial", "states", "transitions")
_TOP_KEYS = ("rate", "step_by_step", "strict", "robots", *_MACHINE_KEYS)
_KINDS = ("class", "machine", "parallel")
_STATE_KEYS = ("timeout", "outcome", "failure", "robot")
_MAX_ENTRIES = 20_000  # aliases can expand a small YAML file to a huge table
_MAX_DEPTH = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class _Top:
    rate: float
    step_by_step: bool = False
    strict: bool = False

    def __post_init__(self) -> None:
        if self.rate <= 0.0:
            raise UserInputError(f"rate {self.rate} is not above zero")


@dataclass(frozen=True, kw_only=True, slots=True)
class _State:
    timeout: float | None = None
    outcome: str | None = None
    failure: bool = False
    robot: str = ""

    def __post_init__(self) -> None:
        if self.timeout is not None and self.timeout <= 0.0:
            raise UserInputError(f"timeout {self.timeout} is not above zero")
        if self.failure and self.outcome is None:
            raise UserInputError("'failure' needs an 'outcome'")


@dataclass(frozen=True, kw_only=True, slots=True)
class _Goal:
    to: str
    trigger: Trigger | None = None


def table_from_dict(data: Any, classes: Classes, *, name: str, where: str) -> Table:
    """Build a table from plain data, with state classes by name.

    UserInputError, which begins with the source `where`, if a key is unknown, a value has a wrong
    type, or the table is inconsistent.
    """
    _check_name("controller", name, where)
    data = _mapping(data, where, _TOP_KEYS)
    class_names(data, where)
    top = from_dict(_Top, _part(data, _TOP_KEYS[:3]), where)
    robots = _robots(data.get("robots", {}), f"{where}: robots")
    root = _machine(_part(data, _MACHINE_KEYS), classes, "", f"{where}: ")
    table = Table(name=name, root=with_robots(root, robots, where), robots=robots, **asdict(top))
    check_cycles(table, where)
    return table


def class_names(data: Any, where: str) -> set[str]:
    """Return the names of all classes in the data of a table; UserInputError if it is too large."""
    found: set[str] = set()
    rest = [data]
    for _ in range(_MAX_ENTRIES):
        if not rest:
            return found
        entry = rest.pop()
        if isinstance(entry, Mapping):
            found |= {v for k, v in entry.items() if k == "class" and isinstance(v, str)}
            rest += entry.values()
    raise UserInputError(f"{where}: more than {_MAX_ENTRIES} entries are too many for a table")


def _machine(data: Mapping[str, Any], classes: Classes, path: str, where: str) -> StateDef:
    """Read a machine; `where` is the prefix of its keys in error messages."""
    at = where.rstrip(":. ")
    if path.count("/") >= _MAX_DEPTH:
        raise UserInputError(f"{at}: more than {_MAX_DEPTH} nested machines")
    for key in ("initial", "states"):
        if key not in data:
            raise UserInputError(f"{at}: key '{key}' is missing")
    initial = convert(str, data["initial"], f"{at}.initial")
    states = _states(data["states"], classes, path, f"{where}states")
    transitions = _transitions(data.get("transitions", {}), states, f"{where}transitions")
    states = {name: replace(state, transitions=transitions[name]) for name, state in states.items()}
    check_machine(initial, states, at)
    ends = [(s.outcome, s.failure) for s in states.values() if s.outcome is not None]
    return StateDef(
        initial=initial,
        children=states,
        outcomes=tuple(dict.fromkeys(outcome for outcome, _ in ends)),
        failures=frozenset(outcome for outcome, failure in ends if failure),
    )


def _states(data: Any, classes: Classes, path: str, where: str) -> dict[str, StateDef]:
    states = _mapping(data, where)
    for name in states:
        _check_name("state", name, where)
    prefix = f"{path}/" if path else ""
    return {
        name: _state(state, classes, name, f"{prefix}{name}", f"{where}.{name}")
        for name, state in states.items()
    }


def _state(data: Any, classes: Classes, name: str, path: str, where: str) -> StateDef:
    data = _mapping(data, where)
    kinds = [kind for kind in _KINDS if kind in data]
    if len(kinds) > 1 or not (kinds or "outcome" in data):
        raise UserInputError(f"{where}: expected one of the keys {', '.join(_KINDS)}")
    given = from_dict(_State, _part(data, _STATE_KEYS), where)
    rest = {key: value for key, value in data.items() if key not in _STATE_KEYS}
    if not kinds:
        _mapping(rest, where, (*_KINDS, *_STATE_KEYS))
    state = _READERS[kinds[0]](rest, classes, path, where) if kinds else StateDef()
    outcomes = state.outcomes
    if given.outcome is not None and (outcomes or given.timeout or state.children):
        raise UserInputError(
            f"{where}: it ends its machine with '{given.outcome}', so it cannot continue: "
            "it has no timeout, and no class that has outcomes"
        )
    if given.timeout is not None:
        outcomes = tuple(dict.fromkeys((*outcomes, TIMEOUT)))
    failures = state.failures | ({TIMEOUT} & set(outcomes))
    return replace(
        state, name=name, path=path, outcomes=outcomes, failures=failures, **asdict(given)
    )


def _with_class(data: Mapping[str, Any], classes: Classes, _path: str, where: str) -> StateDef:
    name = convert(str, data["class"], f"{where}.class")
    if name not in classes:
        raise unknown("class", name, sorted(classes), where=where)
    cls = classes[name]
    known = [] if cls.Config is None else [field.name for field in fields(cls.Config)]
    rest = {key: value for key, value in data.items() if key != "class"}
    for key in rest:
        if key not in known:
            raise unknown("key", key, [*known, "class", *_STATE_KEYS], where=where)
    config = None if cls.Config is None else from_dict(cls.Config, rest, where)
    failures = frozenset(cls.failures)
    return StateDef(cls=cls, config=config, outcomes=cls.outcomes, failures=failures)


def _sub_machine(data: Mapping[str, Any], classes: Classes, path: str, where: str) -> StateDef:
    _mapping(data, where, ("machine", *_STATE_KEYS))
    inner = _mapping(data["machine"], f"{where}.machine", _MACHINE_KEYS)
    return _machine(inner, classes, path, f"{where}.machine.")


def _parallel(data: Mapping[str, Any], classes: Classes, path: str, where: str) -> StateDef:
    _mapping(data, where, ("parallel", "join", *_STATE_KEYS))
    branches = _states(data["parallel"], classes, path, f"{where}.parallel")
    listed = data.get("join", [])
    if not isinstance(listed, list):
        raise UserInputError(f"{where}.join: expected a list, got {type(listed).__name__}")
    joins = tuple(from_dict(Join, join, f"{where}.join[{n}]") for n, join in enumerate(listed))
    check_joins(branches, joins, where)
    return StateDef(
        children=branches,
        joins=joins,
        outcomes=tuple(dict.fromkeys(join.outcome for join in joins)),
        failures=frozenset(join.outcome for join in joins if join.failure),
    )


_READERS = {
    "class": _with_class,
    "machine": _sub_machine,
    "parallel": _parallel,
}


def _transitions(
    data: Any, states: Mapping[str, StateDef], where: str
) -> dict[str, dict[str, TransitionDef]]:
    """Return the transitions of each state: its own, then those from any state."""
    listed = _mapping(data, where)
    for name in listed:
        if name != ANY_STATE and name not in states:
            raise unknown("state", name, [*states, ANY_STATE], where=where)
    found: dict[str, dict[str, TransitionDef]] = {name: {} for name in states}
    for name in states:
        for label, goal in _goals(listed.get(name, {}), f"{where}.{name}").items():
            at = f"{where}.{name}.{label}"
            found[name][label] = _transition(states[name], label, goal, states, at)
    for label, goal in _goals(listed.get(ANY_STATE, {}), f"{where}.{ANY_STATE}").items():
        at = f"{where}.{ANY_STATE}.{label}"
        is_request = goal.trigger is Trigger.REQUEST
        starts = [state for state in states.values() if (label in state.outcomes) != is_request]
        if not starts:
            known = dict.fromkeys(
                outcome for state in states.values() for outcome in state.outcomes
            )
            raise unknown("outcome", label, known, where=at)
        for state in starts:
            definition = _transition(state, label, goal, states, at)
            # A request for all states would turn the result of a state that ends into another one.
            is_senseless = is_request and (state.name == goal.to or state.outcome is not None)
            if not is_senseless:
                found[state.name].setdefault(label, replace(definition, from_any=True))
    return found


def _goals(data: Any, where: str) -> dict[str, _Goal]:
    goals = {}
    for label, goal in _mapping(data, where).items():
        _check_name("label", label, where)
        entry = {"to": goal} if isinstance(goal, str) else goal
        goals[label] = from_dict(_Goal, entry, f"{where}.{label}")
    return goals


def _transition(
    state: StateDef, label: str, goal: _Goal, states: Mapping[str, StateDef], where: str
) -> TransitionDef:
    if goal.to not in states:
        raise unknown("state", goal.to, states, where=where)
    is_outcome, is_request = label in state.outcomes, goal.trigger is Trigger.REQUEST
    if not (is_outcome or is_request):
        error = unknown("outcome", label, state.outcomes, where=where)
        raise UserInputError(f"{error}; a request needs 'trigger: request'")
    if is_outcome and is_request:
        raise UserInputError(
            f"{where}: '{label}' is an outcome of {state.name}, so it cannot be a request"
        )
    failure = label in state.failures
    default = Trigger.AUTO if failure else Trigger.STEP_BY_STEP
    return TransitionDef(
        label=label, goal=goal.to, trigger=goal.trigger or default, failure=failure
    )


def _mapping(data: Any, where: str, known: Iterable[str] | None = None) -> dict[str, Any]:
    """Return `data` as a mapping of strings; the keys are among the `known` ones, if given."""
    if not isinstance(data, Mapping):
        raise UserInputError(f"{where}: expected a mapping, got {type(data).__name__}")
    for key in data:
        if not isinstance(key, str):
            # YAML 1.1 reads on, off, yes and no as Boolean values.
            raise UserInputError(f"{where}: key {key!r} is not a string; put it in quotes")
        if known is not None and key not in known:
            raise unknown("key", key, known, where=where)
    return dict(data)


def _robots(data: Any, where: str) -> dict[str, str]:
    """Return the names of robots by the name that the table uses."""
    robots = {
        name: convert(str, robot, f"{where}.{name}")
        for name, robot in _mapping(data, where).items()
    }
    for name, robot in robots.items():
        _check_name("robot", name, where)
        if list(robots.values()).count(robot) > 1:
            raise UserInputError(f"{where}.{name}: '{robot}' is listed twice")
    return robots


def _part(data: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: data[key] for key in keys if key in data}


def _check_name(kind: str, name: str, where: str) -> None:
    if not _NAME.match(name):
        raise UserInputError(
            f"{where}: {kind} '{name}' is not valid: use a letter, then letters, digits or "
            "underscores"
        )
