from itertools import combinations, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from mujoco_ros.controllers.fsm.diagram.layout.layout import lay_out, layers
from mujoco_ros.controllers.fsm.diagram.layout.parts import (
    BoxPlacement,
    DiagramBox,
    DiagramLayout,
    DiagramLink,
    Measure,
    Point,
)

MEASURE = Measure(width=lambda text: 6.0 * len(text))
KINDS = ("outcome", "request", "failure")


@st.composite
def graphs(draw: st.DrawFn) -> tuple[list[DiagramBox], list[DiagramLink]]:
    main = [f"S{number}" for number in range(draw(st.integers(1, 7)))]
    aside = [f"F{number}" for number in range(draw(st.integers(0, 3)))]
    boxes = [
        DiagramBox(name=name, width=draw(st.floats(30, 120)), height=draw(st.floats(20, 60)))
        for name in main
    ]
    boxes += [DiagramBox(name=name, width=60.0, height=30.0, aside=True) for name in aside]
    name = st.sampled_from(main + aside)
    drawn = draw(st.sets(st.tuples(name, name, st.sampled_from(KINDS)), max_size=24))
    links = [
        DiagramLink(
            start=start,
            goal=goal,
            kind=kind,
            aside=kind == "failure",
            lines=tuple(draw(st.lists(st.just("slipped"), min_size=1, max_size=3))),
        )
        for start, goal, kind in sorted(drawn)
    ]
    return boxes, links


def overlap(one: BoxPlacement, other: BoxPlacement, by: float = 0.5) -> bool:
    return (
        min(one.right, other.right) - max(one.x, other.x) > by
        and min(one.bottom, other.bottom) - max(one.y, other.y) > by
    )


def spanned(one: Point, other: Point) -> BoxPlacement:
    return BoxPlacement(
        x=min(one.x, other.x),
        y=min(one.y, other.y),
        width=abs(one.x - other.x) + 1.0,
        height=abs(one.y - other.y) + 1.0,
    )


def near(value: float, *others: float) -> bool:
    return any(abs(value - other) < 1e-6 for other in others)


def texts(layout: DiagramLayout) -> list[BoxPlacement]:
    found = []
    for route in layout.routes:
        for at, text, ends_here in route.texts:
            width = MEASURE.width(text)
            x = at.x - width if ends_here else at.x
            found.append(BoxPlacement(x=x, y=at.y - 8.0, width=width, height=8.0))
    return found


@settings(max_examples=30)
@given(graphs())
def test_boxes_and_arrows_of_any_graph_do_not_overlap(graph):
    boxes, links = graph
    layout = lay_out(boxes, links, MEASURE)
    assert layout.places.keys() == {box.name for box in boxes}
    assert len(layout.routes) == len(links)
    page = BoxPlacement(x=-0.5, y=-0.5, width=layout.width + 1.0, height=layout.height + 1.0)
    everything = [*layout.places.values(), *texts(layout)]
    for one, other in combinations(everything, 2):
        assert not overlap(one, other)
    for place in everything:
        assert page.x <= place.x
        assert place.right <= page.right + 0.5
        assert place.bottom <= page.bottom + 4.0, "letters hang below the line"
    for route in layout.routes:
        for one, other in pairwise(route.points):
            assert near(one.x, other.x) or near(one.y, other.y)
            for name, place in layout.places.items():
                inner = BoxPlacement(
                    x=place.x + 1, y=place.y + 1, width=place.width - 2, height=place.height - 2
                )
                assert not overlap(spanned(one, other), inner), f"{route.link} through {name}"


@settings(max_examples=30)
@given(graphs())
def test_an_arrow_connects_its_boxes(graph):
    layout = lay_out(*graph, MEASURE)
    for route in layout.routes:
        for point, name in (
            (route.points[0], route.link.start),
            (route.points[-1], route.link.goal),
        ):
            place = layout.places[name]
            on_side = near(point.x, place.x, place.right) and place.y < point.y < place.bottom
            on_end = near(point.y, place.y, place.bottom) and place.x < point.x < place.right
            assert on_side or on_end


def test_a_chain_is_vertical_and_arrows_back_are_beside_it():
    boxes = [DiagramBox(name=name, width=50.0, height=30.0) for name in "ABC"]
    links = [
        DiagramLink(start="A", goal="B"),
        DiagramLink(start="B", goal="C"),
        DiagramLink(start="C", goal="A"),
    ]
    layout = lay_out(boxes, links, MEASURE)
    a, b, c = (layout.places[name] for name in "ABC")
    assert a.x == b.x == c.x
    assert a.bottom < b.y < b.bottom < c.y
    assert [len(route.points) for route in layout.routes] == [2, 2, 4]


def test_rows_follow_the_longest_path_without_loops():
    arrows = [("A", "B"), ("B", "C"), ("A", "C"), ("C", "A"), ("C", "D"), ("B", "E"), ("E", "E")]
    assert layers("ABCDE", arrows) == [["A"], ["B"], ["C", "E"], ["D"]]
