"""The graph of a state machine as an element of the page."""

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from mujoco_ros.viewer.clients import ControllerInfo, TransitionInfo
from mujoco_ros.viewer.page.live import LiveElement
from mujoco_ros.viewer.page.session import current_session
from mujoco_ros.viewer.state_layout import lay_out


class StateGraph(LiveElement):
    """The graph of a controller, which keeps its active state in view."""

    def show(self, controller: ControllerInfo, visited: Sequence[str]) -> None:
        """Show the active state, what was `visited`, and the available transitions."""
        available = [
            (each.start, each.goal)
            for each in controller.transitions
            if each.start == controller.state and each.label in controller.available
        ]
        look = state_tone(controller)
        self.set(active=controller.state, look=look, visited=list(visited), available=available)


def state_tone(controller: ControllerInfo) -> str:
    """Return the tone of the active state: an error, a state with a reason, or another one."""
    if controller.is_stopped:
        return "bad"
    return "warning" if controller.reason else "good"


def state_graph(controller: ControllerInfo) -> StateGraph | None:
    """Create the graph of a controller; None while no state is known."""
    states = controller.states or ((controller.state,) if controller.state else ())
    if not states:
        return None
    options = _options(tuple(states), controller.transitions)
    state = {"active": "", "look": "", "visited": [], "available": []}
    named = {**options, "name": f"States of {controller.name}"}
    graph = StateGraph(current_session().feed, "graph", tag="div", options=named, state=state)
    return graph.classes("graph")


@lru_cache(maxsize=16)
def _options(states: tuple[str, ...], transitions: tuple[TransitionInfo, ...]) -> dict[str, Any]:
    """Return what never changes of a graph; equal graphs are laid out once."""
    labels = defaultdict(list)
    for each in transitions:
        labels[each.start, each.goal].append(each.label)
    layout = lay_out(states, labels)
    links = [
        (*arrow, f"{arrow.start} → {arrow.goal}: {', '.join(labels[arrow.start, arrow.goal])}")
        for arrow in layout.arrows
    ]
    boxes = list(map(tuple, layout.boxes))  # orjson rejects named tuples
    return {"width": layout.width, "height": layout.height, "boxes": boxes, "links": links}
