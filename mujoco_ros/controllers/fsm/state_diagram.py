"""State diagram of a controller as SVG, drawn from its table by Graphviz."""

import os
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

from mujoco_ros.controllers.fsm.table import StateDef, Table, TransitionDef, Trigger

_INK, _FAINT, _BLUE, _RED, _GREEN = "#1d2b38", "#51606e", "#2f6fad", "#b8405e", "#3d8b57"
_FILLS = {_BLUE: "#eef4fa", _RED: "#fbeef1", _GREEN: "#edf6f0"}
_LINE = 26  # characters in a line beside an arrow
_SMALL, _LARGE = 10, 12
"""Font sizes."""
_WEIGHT = 10  # how much shorter and straighter arrows are that follow no failure
_MOST_FAILURES = 3
"""With more failures that lead to a state, its name stands beside them instead of long arrows."""
_NOTE = {"shape": "plaintext", "style": "", "fontsize": _SMALL, "fontcolor": _RED, "margin": 0.02}
_ANY = "any state"


def draw(table: Table) -> str:
    """Return the diagram of a table as SVG; a list without the extra ``diagrams``."""
    try:
        from pygraphviz import AGraph
    except ImportError:
        return _listed(table)
    graph = AGraph(directed=True, strict=False, compound=True)
    graph.graph_attr.update(fontname="Helvetica", fontsize=_LARGE, nodesep=0.4, ranksep=0.4)
    graph.node_attr.update(fontname="Helvetica", fontsize=_LARGE, shape="box", style="filled")
    graph.edge_attr.update(fontname="Helvetica", fontsize=_SMALL, arrowsize=0.8)
    _add_machine(graph, table.root, table.name)
    with _silent_libraries():
        svg: str = graph.draw(format="svg", prog="dot").decode()
    return svg[svg.index("<svg") :]  # before it is Graphviz's version


def _listed(table: Table) -> str:
    """Return a picture with a line for each state and for each of its transitions."""
    lines: list[str] = []

    def add(states: Mapping[str, StateDef], indent: str) -> None:
        for state in states.values():
            lines.append(f"{indent}{state.name}   {_note(state)}")
            for arrow in _arrows({state.name: state}):
                begin = f"{_ANY}: " if arrow.start == _ANY else ""
                lines.append(f"{indent}    {begin}{', '.join(arrow.labels)} → {arrow.goal}")
            add(state.children, f"{indent}        ")

    add(table.root.children, "")
    width, height = 0.62 * _LARGE * max(map(len, lines)) + _LARGE, 1.5 * _LARGE
    texts = "".join(
        f'<text x="{_SMALL}" y="{row * height:g}" xml:space="preserve">{escape(line)}</text>\n'
        for row, line in enumerate(lines, 1)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" '
        f'height="{(len(lines) + 1) * height:.0f}" font-family="monospace" '
        f'font-size="{_LARGE}" fill="{_INK}">\n{texts}</svg>\n'
    )


@contextmanager
def _silent_libraries() -> Iterator[None]:
    """Discard what C libraries write to stderr: Graphviz' Fontconfig warns of newer font settings.

    Errors of Graphviz are exceptions.
    """
    try:
        stderr = os.dup(2)
    except OSError:  # closed
        yield
        return
    try:
        with open(os.devnull, "wb") as nowhere:
            os.dup2(nowhere.fileno(), 2)
        yield
    finally:
        os.dup2(stderr, 2)
        os.close(stderr)


def _add_machine(graph: Any, machine: StateDef, name: str) -> None:
    """Add the states of a machine and its transitions."""
    states, initial = machine.children, machine.children[machine.initial]
    graph.add_node(f"{name} begin", shape="point", width=0.1, color=_INK, style="")
    graph.add_subgraph([f"{name} begin"], rank="source")
    _add_edge(graph, f"{name} begin", initial, color=_INK, weight=_WEIGHT)
    for state in states.values():
        _add_state(graph, state, is_failure=_is_failure(state, machine))
    arrows = list(_arrows(states))
    failures = Counter(arrow.goal for arrow in arrows if arrow.colour == _RED)
    for number, arrow in enumerate(arrows):
        start, goal = states.get(arrow.start), states[arrow.goal]
        lines = textwrap.wrap(", ".join(arrow.labels), _LINE, break_long_words=False)
        if start is not None and arrow.colour == _RED and failures[arrow.goal] > _MOST_FAILURES:
            node, text = f"{name} failure {number}", "\\n".join(lines)
            graph.add_node(node, label=f"{text}\\n→ {arrow.goal}", **_NOTE)
            _add_edge(graph, start, node, color=_RED, style="dashed" if arrow.waits else "solid")
            continue
        node = f"{name} {_ANY} {arrow.goal}"
        if start is None:
            graph.add_node(node, label=_ANY, color=_BLUE, fontcolor=_BLUE, style="rounded,dashed")
        _add_edge(
            *(graph, start or node, goal),
            label="\\n".join(lines),
            color=arrow.colour,
            fontcolor=arrow.colour,
            style="dashed" if arrow.waits else "solid",
            weight=_WEIGHT if arrow.colour == _INK else 0,
        )


def _add_state(graph: Any, state: StateDef, *, is_failure: bool = False) -> None:
    is_end = state.outcome is not None
    colour = _RED if is_failure else _GREEN if is_end else _BLUE
    title = f"<B>{escape(state.name)}</B>"
    if not state.children:
        note = _note(state)
        text = f'{title}<BR/><FONT POINT-SIZE="{_SMALL}" COLOR="{_FAINT}">{escape(note)}</FONT>'
        graph.add_node(
            state.path,
            label=f"<{text if note else title}>",
            color=colour,
            fillcolor=_FILLS[colour],
            style="rounded,filled",
            peripheries=2 if is_end else 1,
        )
        return
    lines = [_note(state)]
    for join in state.joins:
        outcomes = " and ".join(f"{branch} {outcome}" for branch, outcome in join.when.items())
        lines.append(f"{outcomes} → {join.outcome}")
    notes = "".join(
        f'<BR/><FONT POINT-SIZE="{_SMALL}" COLOR="{_FAINT}">{escape(line)}</FONT>'
        for line in lines
        if line
    )
    inside = graph.add_subgraph(
        name=_cluster(state), label=f"<{title}{notes}>", color=colour, style="rounded"
    )
    if state.is_parallel:
        for branch in state.children.values():
            _add_state(inside, branch)
    else:
        _add_machine(inside, state, state.path)


def _cluster(state: StateDef) -> str:
    return f"cluster {state.path}" if state.children else ""


def _add_edge(graph: Any, start: StateDef | str, goal: StateDef | str, **style: Any) -> None:
    """Add an arrow; an arrow of a state with states inside ends at its frame."""
    tail, head = ("" if isinstance(end, str) else _cluster(end) for end in (start, goal))
    nodes = [end if isinstance(end, str) else _innermost(end) for end in (start, goal)]
    graph.add_edge(*nodes, ltail=tail, lhead=head, **style)


def _innermost(state: StateDef) -> str:
    """Return the full name of a simple state in a state, or of the state itself."""
    while state.children:
        state = next(iter(state.children.values()))
    return state.path


def _note(state: StateDef) -> str:
    """Return the second line of a state: its class, robot, timeout and outcome."""
    notes = [state.cls.__name__] if state.cls is not None else []
    notes += [state.robot] if state.robot else []
    notes += [f"≤ {state.timeout:g} s"] if state.timeout else []
    notes += [f"ends: {state.outcome}"] if state.outcome else []
    return " · ".join(notes)


class _Arrow(NamedTuple):
    """All transitions between two states, or from any state, that look alike."""

    start: str
    goal: str
    colour: str
    waits: bool
    labels: list[str]


def _arrows(states: Mapping[str, StateDef]) -> Iterator[_Arrow]:
    found: dict[tuple[str, str, str, bool], list[str]] = defaultdict(list)
    for state in states.values():
        for definition in state.transitions.values():
            is_request = definition.trigger is Trigger.REQUEST
            start = _ANY if definition.from_any and is_request else state.name
            waits = is_request or definition.trigger is Trigger.STRICT
            labels = found[start, definition.goal, _colour(definition), waits]
            if definition.label not in labels:
                labels.append(definition.label)
    for key, labels in found.items():
        yield _Arrow(*key, labels)


def _colour(definition: TransitionDef) -> str:
    if definition.trigger is Trigger.REQUEST:
        return _BLUE
    return _RED if definition.failure else _INK


def _is_failure(state: StateDef, machine: StateDef) -> bool:
    """Return whether a state ends in failure, or is reached only by failures."""
    failures = [
        definition.failure
        for other in machine.children.values()
        for definition in other.transitions.values()
        if definition.goal == state.name and definition.trigger is not Trigger.REQUEST
    ]
    is_reached_by_failures = bool(failures) and all(failures) and state.name != machine.initial
    return state.failure or is_reached_by_failures
