"""The panel "Controller": state machines of controllers, which lifecycle services offer."""

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import docks
from mujoco_ros.viewer.link import ControllerInfo, Request, SimulatorLink
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.stamps import stamp
from mujoco_ros.viewer.panels.state_graph import StateGraph
from mujoco_ros.viewer.panels.widgets import (
    FILL,
    Column,
    answer,
    button,
    cell,
    choose,
    number,
    room_for,
    table,
    text,
)

_NONE = "No node offers a state machine. One that does serves get_state, get_transition_graph and "
_NONE += "change_state of lifecycle_msgs, and appears here by itself."
_EVENTS = (Column("Time"), Column("Transition", 1.0), Column("From", 1.0), Column("To", 1.0))


class ControllerPanel(Panel):
    """The graph with the present state lit, a button per transition, and what happened lately."""

    title = "Controller"
    place = docks.DockPlace.RIGHT_BELOW

    def __init__(self, state: SharedState, link: SimulatorLink) -> None:
        """Show the controllers that `link` knows."""
        super().__init__(state, link)
        self._chosen = ""
        self._request: Request | None = None
        self._graph = StateGraph()

    def update(self) -> None:
        """Come to the front as soon as there is something to show."""
        if self.link.controllers:
            docks.lead(self.place, self.title)

    def build(self) -> None:
        """Build the chosen controller, and the choice if there are several."""
        controllers = self.link.controllers
        if not controllers:
            text(_NONE)
            return
        if self._chosen not in controllers:
            self._chosen = min(controllers)
        if len(controllers) > 1:
            imgui.SetNextItemWidth(FILL)
            self._chosen = choose("##controller", self._chosen, sorted(controllers)) or self._chosen
        controller = controllers[self._chosen]
        text(f"{controller.name} is {controller.state or 'in an unknown state'}")
        self._build_transitions(controller)
        if self._request is not None:
            answer(self._request)
        self._graph.build(controller)
        self._build_events(controller)

    def _build_transitions(self, controller: ControllerInfo) -> None:
        """Build a button per transition; those that cannot be taken now are grey."""
        labels = dict.fromkeys([*(edge.label for edge in controller.edges), *controller.available])
        for index, label in enumerate(labels):
            if index and room_for(label):
                imgui.SameLine()
            if button(label, enabled=label in controller.available):
                self._request = self.link.change_state(controller.name, label)

    def _build_events(self, controller: ControllerInfo) -> None:
        if not controller.events:
            return
        with table("events", _EVENTS, height=FILL) as is_open:
            for event in reversed(controller.events) if is_open else ():
                imgui.TableNextRow()
                number(stamp(event.time))
                cell(event.transition)
                cell(event.start)
                cell(event.goal)
