import sys
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mujoco_ros.viewer.state_layout import StateBox, StateLayout, lay_out, states_aside

HEIGHT = 26.0


@pytest.fixture
def graphviz() -> None:
    pytest.importorskip("pygraphviz")


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[str], list[tuple[str, str]]]:
    names = [f"S{number}" * draw(st.integers(1, 25)) for number in range(draw(st.integers(1, 9)))]
    name = st.sampled_from(names)
    return names, sorted(draw(st.sets(st.tuples(name, name), max_size=24)))


def boxes_of(layout: StateLayout) -> dict[str, StateBox]:
    return {box.state: box for box in layout.boxes}


def overlap(one: StateBox, other: StateBox, by: float = 0.5) -> bool:
    return (
        min(one.x + one.width, other.x + other.width) - max(one.x, other.x) > by
        and min(one.y, other.y) + HEIGHT - max(one.y, other.y) > by
    )


def distance(point: str, box: StateBox) -> float:
    """Return the distance of a point from the edge of a box."""
    x, y = map(float, point.split(","))
    outside = max(box.x - x, x - box.x - box.width, box.y - y)
    return abs(max(outside, y - box.y - HEIGHT))


@pytest.mark.usefixtures("graphviz")
@settings(max_examples=30, deadline=None)
@given(graphs())
def test_boxes_of_any_graph_do_not_overlap_and_arrows_connect_them(graph):
    states, pairs = graph
    layout = lay_out(states, pairs)
    boxes = boxes_of(layout)
    assert list(boxes) == states
    assert [(arrow.start, arrow.goal) for arrow in layout.arrows] == pairs
    for one, other in combinations(layout.boxes, 2):
        assert not overlap(one, other)
    for box in layout.boxes:
        assert min(box.x, box.y) >= 0.0
        assert box.x + box.width <= layout.width
        assert box.y + HEIGHT <= layout.height
    for arrow in layout.arrows:
        first, *rest = arrow.curve.removeprefix("M").replace("C", " ").split()
        assert len(rest) % 3 == 0, "cubic curves"
        assert distance(first, boxes[arrow.start]) < 2.0
        assert distance(arrow.head.split()[0], boxes[arrow.goal]) < 2.0


@pytest.mark.usefixtures("graphviz")
def test_a_chain_is_vertical_in_the_order_of_its_arrows():
    a, b, c = lay_out("ABC", pairwise("ABC")).boxes
    assert a.x == pytest.approx(b.x, abs=1.0) == pytest.approx(c.x, abs=1.0)
    assert a.y + HEIGHT < b.y < b.y + HEIGHT < c.y


@pytest.mark.usefixtures("graphviz")
def test_a_long_name_is_shortened_and_names_have_no_meaning_for_graphviz():
    states = ["a" * 200, '\\N<b>"', "graph"]
    boxes = boxes_of(lay_out(states, pairwise(states)))
    assert list(boxes) == states
    assert boxes[states[0]].label == "a" * 39 + "…"


def test_without_graphviz_boxes_are_a_list(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    layout = lay_out("ABC", [("A", "B")])
    a, b, c = layout.boxes
    assert a.y + HEIGHT < b.y < b.y + HEIGHT < c.y < layout.height
    assert layout.arrows == []


def test_a_graph_too_large_for_graphviz_is_a_list():
    states = [str(number) for number in range(200)]
    assert lay_out(states, [(start, goal) for start in "123" for goal in "456"]).arrows == []


def test_states_to_which_most_others_lead_or_none_are_drawn_aside():
    chain = [f"S{number}" for number in range(12)]
    slips = [(start, "RECOVER") for start in chain]
    pairs = [*pairwise(chain), *slips, ("RECOVER", "S0"), ("S3", "missing")]
    assert states_aside([*chain, "RECOVER"], pairs) == {"RECOVER"}
    assert states_aside(("A", "B", "error"), [("A", "B")]) == {"error"}
    assert states_aside(("A", "B"), []) == set()
