"""State diagram of a controller as SVG, drawn from its table."""

import textwrap
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from xml.sax.saxutils import escape

from mujoco_ros.controllers.fsm.diagram.layout import parts
from mujoco_ros.controllers.fsm.diagram.layout.layout import lay_out
from mujoco_ros.controllers.fsm.diagram.svg import (
    BLUE,
    FAINT,
    FONT,
    GREEN,
    HEAD,
    INK,
    LARGE,
    PAPER,
    RED,
    ROUND,
    Stroke,
    arrows,
    head,
    rect,
    text,
    text_width,
)
from mujoco_ros.controllers.fsm.table import (
    CompositeState,
    ParallelState,
    StateDef,
    Table,
    TransitionDef,
)
from mujoco_ros.controllers.fsm.transition import Trigger

_HEIGHT, _TITLE, _PAD, _MARGIN = 38.0, 24.0, 14.0, 14.0
_START = 22.0
"""Height of the initial dot above the initial state [px]."""
_WRAP = 26
"""Characters in a line on an arrow."""
_ANY = "any state"
_MEASURE = parts.Measure(width=text_width, head=HEAD)
_STROKES = {
    "outcome": Stroke(INK, False),
    "strict": Stroke(INK, True),
    "request": Stroke(BLUE, True),
    "failure": Stroke(RED, False),
    "strict failure": Stroke(RED, True),
}


def draw(table: Table) -> str:
    """Return the diagram of a table as SVG."""
    composite = table.root.kind
    assert isinstance(composite, CompositeState)
    figure = _composite(composite)
    width, height = figure.width + 2.0 * _MARGIN, figure.height + 2.0 * _MARGIN
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="{FONT}">',
            f"<title>{escape(table.name)}</title>",
            f'<rect width="{width:.0f}" height="{height:.0f}" fill="{PAPER}"/>',
            *figure.at(_MARGIN, _MARGIN),
            "</svg>",
            "",
        ]
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Figure:
    """A part of the diagram with its upper left corner at 0, 0."""

    width: float
    height: float
    lines: tuple[str, ...]

    def at(self, x: float, y: float) -> Iterator[str]:
        """Yield the figure, moved to a position."""
        yield f'<g transform="translate({x:.1f} {y:.1f})">'
        yield from self.lines
        yield "</g>"


def _composite(composite: CompositeState) -> _Figure:
    states, initial = composite.states, composite.initial
    main = _main(composite)
    rest = [name for name in states if name not in main]
    order = [initial, *(name for name in states if name in main - {initial}), *rest]
    contents = {name: _content(states[name]) for name in order}
    boxes = [
        parts.DiagramBox(name=name, width=content.width, height=content.height, aside=name in rest)
        for name, content in contents.items()
    ]
    links = list(_links(states))
    for goal in dict.fromkeys(link.goal for link in links if link.start.startswith(_ANY)):
        width = text_width(_ANY) + 2.0 * _PAD
        boxes.append(parts.DiagramBox(name=f"{_ANY} {goal}", width=width, height=20.0, aside=True))
    layout = lay_out(boxes, links, _MEASURE)
    return _drawn(layout, composite, contents)


def _main(composite: CompositeState) -> set[str]:
    """Return the states that are reached without a failure."""
    initial, states = composite.initial, composite.states
    found, edge = {initial}, [initial]
    while edge:
        for it in states[edge.pop()].transitions.values():
            if it.goal not in found and not (it.failure or it.from_any):
                found.add(it.goal)
                edge.append(it.goal)
    return {name for name in found if name == initial or not states[name].failure}


def _links(states: Mapping[str, StateDef]) -> Iterator[parts.DiagramLink]:
    """Yield one link for all transitions of one kind between two states, or from any state."""
    labels: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for state in states.values():
        for it in state.transitions.values():
            is_any = it.from_any and it.trigger is Trigger.REQUEST
            known = labels[f"{_ANY} {it.goal}" if is_any else state.name, it.goal, _kind(it)]
            if it.label not in known:
                known.append(it.label)
    for (start, goal, kind), listed in labels.items():
        lines = tuple(textwrap.wrap(", ".join(listed), _WRAP, break_long_words=False))
        yield parts.DiagramLink(
            start=start, goal=goal, lines=lines, kind=kind, aside="failure" in kind
        )


def _kind(definition: TransitionDef) -> str:
    """Return the key of the transition in `_STROKES`."""
    if definition.trigger is Trigger.REQUEST:
        return "request"
    is_strict = definition.trigger is Trigger.STRICT
    if definition.failure:
        return "strict failure" if is_strict else "failure"
    return "strict" if is_strict else "outcome"


def _content(state: StateDef) -> _Figure:
    """Draw the content of a state's box; its size is the minimum size of the box."""
    match state.kind:
        case CompositeState() as composite:
            return _framed(state, _composite(composite))
        case ParallelState() as parallel:
            return _framed(state, _branches(parallel))
    width = max(text_width(state.name, LARGE, bold=True), text_width(_note(state))) + 2.0 * _PAD
    return _Figure(width=max(width, 64.0), height=_HEIGHT, lines=())


def _note(state: StateDef) -> str:
    """Return the second line of a state: its class, robot, timeout and outcome."""
    cls = getattr(state.kind, "cls", None)
    notes = [cls.__name__] if cls is not None else []
    notes += [state.robot] if state.robot else []
    notes += [f"≤ {state.timeout:g} s"] if state.timeout else []
    notes += [f"ends: {state.outcome}"] if state.outcome else []
    return " · ".join(notes)


def _framed(state: StateDef, figure: _Figure) -> _Figure:
    title = text_width(state.name, LARGE, bold=True) + text_width(_note(state)) + 20
    width = max(figure.width, title)
    return _Figure(
        width=width + 2.0 * _PAD,
        height=figure.height + _TITLE + 1.5 * _PAD,
        lines=tuple(figure.at(_PAD + 0.5 * (width - figure.width), _TITLE + 0.5 * _PAD)),
    )


def _branches(parallel: ParallelState) -> _Figure:
    """Draw branches side by side, with the joins below."""
    figures = {name: _content(branch) for name, branch in parallel.branches.items()}
    lines: list[str] = []
    x, height = 0.0, max(figure.height for figure in figures.values())
    for number, (name, figure) in enumerate(figures.items()):
        if number:
            lines.append(
                f'<path d="M{x:.1f} 0V{height:.1f}" stroke="{FAINT}" stroke-dasharray="2 3"/>'
            )
            x += _PAD
        place = parts.BoxPlacement(
            x=x, y=0.5 * (height - figure.height), width=figure.width, height=figure.height
        )
        lines += _state(parallel.branches[name], place, figure, is_failure=False)
        x += figure.width + _PAD
    y = height
    joins = [
        " and ".join(f"{n} {outcome}" for n, outcome in join.when.items()) + f" → {join.outcome}"
        for join in parallel.joins
    ]
    for join in joins:
        y += 14.0
        lines.append(text(parts.Point(0.0, y), join, FAINT))
    width = max(x - _PAD, *map(text_width, joins)) if joins else x - _PAD
    return _Figure(width=width, height=y + (4.0 if joins else 0.0), lines=tuple(lines))


def _drawn(
    layout: parts.DiagramLayout, composite: CompositeState, contents: Mapping[str, _Figure]
) -> _Figure:
    initial = layout.places[composite.initial]
    lines = list(_initial_arrow(initial))
    shared: dict[tuple[str, str], list[parts.Route]] = defaultdict(list)
    for route in layout.routes:
        shared[route.link.goal, route.link.kind].append(route)
    for (_, kind), routes in shared.items():
        lines += arrows([route.points for route in routes], _STROKES[kind])
    for name, place in layout.places.items():
        if name in composite.states:
            state = composite.states[name]
            is_failure = _is_failure(state, composite)
            lines += _state(state, place, contents[name], is_failure=is_failure)
        else:
            lines += _any_state(place)
    for route in layout.routes:
        colour = _STROKES[route.link.kind].colour
        lines += [
            text(at, line, colour, "end" if ends else "start", halo=True)
            for at, line, ends in route.texts
        ]
    figure = _Figure(width=layout.width, height=layout.height, lines=tuple(lines))
    top = max(0.0, _START - initial.y)
    return replace(figure, height=figure.height + top, lines=tuple(figure.at(0.0, top)))


def _is_failure(state: StateDef, composite: CompositeState) -> bool:
    """Return whether a state ends in failure, or is reached only by failures."""
    failures = [
        it.failure
        for other in composite.states.values()
        for it in other.transitions.values()
        if it.goal == state.name and it.trigger is not Trigger.REQUEST
    ]
    is_reached_by_failures = bool(failures) and all(failures) and state.name != composite.initial
    return state.failure or is_reached_by_failures


def _state(
    state: StateDef, place: parts.BoxPlacement, figure: _Figure, *, is_failure: bool
) -> Iterator[str]:
    is_end = state.outcome is not None
    edge = RED if is_failure else GREEN if is_end else BLUE
    fill = "#fbeef1" if is_failure else "#edf6f0" if is_end else "#eef4fa"
    if figure.lines:
        fill = "#fbfcfd"
    yield rect(place, fill, edge, 1.4)
    if is_end:
        inset = parts.BoxPlacement(
            x=place.x + 3, y=place.y + 3, width=place.width - 6, height=place.height - 6
        )
        yield rect(inset, "none", edge, 0.8, ROUND - 2.5)
    middle, note = place.middle, _note(state)
    if figure.lines:
        at = parts.Point(place.x + _PAD, place.y + 18.0)
        yield text(at, state.name, INK, size=LARGE, bold=True)
        if note:
            x = at.x + text_width(state.name, LARGE, bold=True) + 8.0
            yield text(parts.Point(x, at.y), note, FAINT)
        # The box may be larger than its content, because of its arrows.
        yield from figure.at(
            place.x + 0.5 * (place.width - figure.width),
            place.y + 0.5 * (place.height - figure.height),
        )
        return
    up = -2.0 if note else 4.0
    yield text(
        parts.Point(middle.x, middle.y + up), state.name, INK, "middle", size=LARGE, bold=True
    )
    if note:
        yield text(parts.Point(middle.x, middle.y + 12.0), note, FAINT, "middle")


def _any_state(place: parts.BoxPlacement) -> Iterator[str]:
    yield rect(place, PAPER, BLUE, 1.0, 0.5 * place.height, dashed=True)
    yield text(parts.Point(place.middle.x, place.middle.y + 3.5), _ANY, BLUE, "middle")


def _initial_arrow(place: parts.BoxPlacement) -> Iterator[str]:
    """Draw the dot and the arrow that mark the initial state."""
    x, y = place.middle.x, place.y
    yield f'<circle cx="{x:.1f}" cy="{y - _START + 4:.1f}" r="4" fill="{INK}"/>'
    yield f'<path d="M{x:.1f} {y - _START:.1f}V{y - 6:.1f}" stroke="{INK}" stroke-width="1.3"/>'
    yield head(parts.Point(x, y), parts.Point(x, y - HEAD + 1.0), INK)
