import sys
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mujoco_ros.viewer.state_layout import (
    DiagramBox,
    DiagramLink,
    Point,
    lay_out,
    states_aside,
)

SIZES = {"gap": 20.0, "head": 8.0}
ABC = [DiagramBox(name=name, width=50.0, height=30.0) for name in "ABC"]


@pytest.fixture
def graphviz() -> None:
    pytest.importorskip("pygraphviz")


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[DiagramBox], list[DiagramLink]]:
    names = [f"S{number}" for number in range(draw(st.integers(1, 9)))]
    boxes = [
        DiagramBox(name=name, width=draw(st.floats(30, 120)), height=draw(st.floats(20, 60)))
        for name in names
    ]
    name = st.sampled_from(names)
    drawn = draw(st.sets(st.tuples(name, name, st.booleans()), max_size=24))
    links = [
        DiagramLink(start=start, goal=goal, aside=aside) for start, goal, aside in sorted(drawn)
    ]
    return boxes, links


def overlap(one: DiagramBox, other: DiagramBox, by: float = 0.5) -> bool:
    return (
        min(one.right, other.right) - max(one.x, other.x) > by
        and min(one.bottom, other.bottom) - max(one.y, other.y) > by
    )


def distance(point: Point, place: DiagramBox) -> float:
    """Return the distance of a point from the edge of a box."""
    outside = max(place.x - point.x, point.x - place.right, place.y - point.y)
    return abs(max(outside, point.y - place.bottom))


@pytest.mark.usefixtures("graphviz")
@settings(max_examples=30, deadline=None)
@given(graphs())
def test_boxes_of_any_graph_do_not_overlap_and_arrows_connect_them(graph):
    boxes, links = graph
    layout = lay_out(boxes, links, **SIZES)
    assert layout.places.keys() == {box.name for box in boxes}
    assert [route.link for route in layout.routes] == links
    for box in boxes:
        place = layout.places[box.name]
        assert (place.width, place.height) == (box.width, box.height)
    for one, other in combinations(layout.places.values(), 2):
        assert not overlap(one, other)
    for place in layout.places.values():
        assert min(place.x, place.y) >= -1.0
        assert place.right <= layout.width + 1.0
        assert place.bottom <= layout.height + 1.0
    for route in layout.routes:
        assert len(route.points) % 3 == 1, "cubic curves"
        assert distance(route.points[0], layout.places[route.link.start]) < 2.0
        assert distance(route.tip, layout.places[route.link.goal]) < 2.0


@pytest.mark.usefixtures("graphviz")
def test_a_chain_is_vertical_in_the_order_of_its_arrows():
    links = [DiagramLink(start=start, goal=goal) for start, goal in pairwise("ABC")]
    a, b, c = (lay_out(ABC, links, **SIZES).places[name] for name in "ABC")
    assert a.x == pytest.approx(b.x, abs=1.0) == pytest.approx(c.x, abs=1.0)
    assert a.bottom < b.y < b.bottom < c.y


def test_without_graphviz_boxes_are_a_list(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygraphviz", None)
    layout = lay_out(ABC, [DiagramLink(start="A", goal="B")], **SIZES)
    a, b, c = (layout.places[name] for name in "ABC")
    assert a.bottom < b.y < b.bottom < c.y
    assert (layout.height, layout.routes) == (c.bottom, ())


def test_a_graph_too_large_for_graphviz_is_a_list():
    boxes = [DiagramBox(name=str(number), width=10.0, height=10.0) for number in range(200)]
    links = [DiagramLink(start=start, goal=goal) for start in "123" for goal in "456"]
    assert lay_out(boxes, links, **SIZES).routes == ()


def test_states_to_which_most_others_lead_or_none_are_drawn_aside():
    chain = [f"S{number}" for number in range(12)]
    slips = [(start, "RECOVER") for start in chain]
    pairs = [*pairwise(chain), *slips, ("RECOVER", "S0"), ("S3", "missing")]
    assert states_aside([*chain, "RECOVER"], pairs) == {"RECOVER"}
    assert states_aside(("A", "B", "error"), [("A", "B")]) == {"error"}
    assert states_aside(("A", "B"), []) == set()
