"""Assignment of boxes to rows, so that most arrows lead one row down."""

from collections.abc import Iterable, Mapping, Sequence
from graphlib import TopologicalSorter

_SWEEPS = 4


def layers(names: Sequence[str], arrows: Iterable[tuple[str, str]]) -> list[list[str]]:
    """Return the rows, the first name on top; boxes of a row are near their predecessors.

    Boxes are given in their preferred order; arrows that close a loop are ignored.
    """
    onward = _without_loops(names, arrows)
    depth = dict.fromkeys(names, 0)
    for name in reversed([*TopologicalSorter(onward).static_order()]):
        for goal in onward[name]:
            depth[goal] = max(depth[goal], depth[name] + 1)
    rows: list[list[str]] = [[] for _ in range(max(depth.values(), default=-1) + 1)]
    for name in names:
        rows[depth[name]].append(name)
    _untangle(rows, onward)
    return rows


def _without_loops(names: Sequence[str], arrows: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the successors of each box, without the arrows that close a loop."""
    goals: dict[str, list[str]] = {name: [] for name in names}
    for start, goal in arrows:
        goals[start].append(goal)
    onward: dict[str, list[str]] = {name: [] for name in names}
    done: set[str] = set()
    for first in names:
        if first in done:
            continue
        trail, rest = [first], [iter(goals[first])]
        while trail:
            goal = next(rest[-1], "")
            if not goal:
                done.add(trail.pop())
                rest.pop()
            elif goal not in trail:
                onward[trail[-1]].append(goal)
                if goal not in done:
                    trail.append(goal)
                    rest.append(iter(goals[goal]))
    return onward


def _untangle(rows: list[list[str]], onward: Mapping[str, Sequence[str]]) -> None:
    """Order each row by the mean position of its neighbours, in sweeps down and up."""
    above: dict[str, list[str]] = {name: [] for row in rows for name in row}
    for start, goals in onward.items():
        for goal in goals:
            above[goal].append(start)
    for sweep in range(_SWEEPS):
        down = sweep % 2 == 0
        for row in rows if down else rows[::-1]:
            at = {n: i - 0.5 * len(r) for r in rows for i, n in enumerate(r)}
            near = above if down else onward
            key = {n: sum(at[o] for o in near[n]) / len(near[n]) if near[n] else at[n] for n in row}
            row.sort(key=key.__getitem__)
