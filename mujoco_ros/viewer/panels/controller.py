"""The panel "Controller": state machines of controllers with lifecycle services."""

from collections.abc import Callable, Iterator

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import ControllerClient, ControllerInfo, Request
from mujoco_ros.viewer.docks import DOCKS, DockArea
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.formats import format_stamp
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.state_graph import StateGraph
from mujoco_ros.viewer.printable_text import printable
from mujoco_ros.viewer.style import BAD, FILL

_EVENTS = (("Time", 0.0), ("Transition", 1.0), ("From", 1.0), ("To", 1.0))


class ControllerPanel(Panel):
    """The graph with the active state highlighted, a button per transition, and recent events.

    It appears with the first node that has the lifecycle_msgs services.
    """

    title = "Controller"
    area = DockArea.RIGHT_BELOW

    def __init__(self, state: SharedState, controllers: ControllerClient) -> None:
        super().__init__(state)
        self._controllers = controllers
        self._selected = ""
        self._request: Request | None = None
        self._graph = StateGraph()

    def update(self) -> None:
        """Bring the window to the front when a controller appears."""
        if self._controllers.known:
            DOCKS.prefer_tab(self.area, self.title)

    def windows(self) -> Iterator[tuple[str, Callable[[], None]]]:
        """Yield the window, if there is a controller."""
        if self._controllers.known:
            yield from super().windows()

    def build(self) -> None:
        """Build the selected controller, and the selection if there are several."""
        controllers = self._controllers.known
        if self._selected not in controllers:
            self._selected = min(controllers)
        if len(controllers) > 1:
            imgui.SetNextItemWidth(FILL)
            selected = widgets.combo("##controller", self._selected, sorted(controllers))
            self._selected = selected or self._selected
        controller = controllers[self._selected]
        colour = BAD if controller.is_stopped else None
        widgets.text(f"{controller.name} is {controller.state or 'in an unknown state'}", colour)
        if controller.reason:
            widgets.text(printable(controller.reason, keep="\n"), colour)
        self._build_transitions(controller)
        if self._request is not None:
            widgets.request_result(self._request)
        self._graph.build(controller)
        self._build_events(controller)

    def _build_transitions(self, controller: ControllerInfo) -> None:
        """Build a button per transition that is available; the others are folded away."""
        labels = [*(each.label for each in controller.transitions), *controller.available]
        available = [label for label in dict.fromkeys(labels) if label in controller.available]
        for index, label in enumerate(available):
            if index and widgets.fits_in_row(label):
                imgui.SameLine()
            if widgets.button(label):
                self._request = self._controllers.change_state(controller.name, label)
        others = [label for label in dict.fromkeys(labels) if label not in controller.available]
        if others:
            # The number is no part of the identifier, else the node would close when it changes.
            with widgets.tree(f"{len(others)} not available now###others") as is_open:
                if is_open:
                    widgets.text(", ".join(others))

    def _build_events(self, controller: ControllerInfo) -> None:
        if not controller.events:
            return
        with widgets.table("events", _EVENTS, height=FILL) as is_open:
            for time, transition in reversed(controller.events) if is_open else ():
                imgui.TableNextRow()
                widgets.number_cell(format_stamp(time))
                widgets.cell(transition.label)
                widgets.cell(transition.start)
                widgets.cell(transition.goal)
