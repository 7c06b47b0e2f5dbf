"""The panels: windows around the scene that display the simulation and control it."""

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.entity_displays import EntityDisplays
from mujoco_ros.viewer.panels.cameras import CamerasPanel
from mujoco_ros.viewer.panels.controller import ControllerPanel
from mujoco_ros.viewer.panels.declared import DeclaredWindows
from mujoco_ros.viewer.panels.drive import DrivePanel
from mujoco_ros.viewer.panels.interactive_markers import InteractiveMarkersPanel
from mujoco_ros.viewer.panels.log import LogPanel
from mujoco_ros.viewer.panels.overlays import OverlaysPanel
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.plots.plots import PlotsPanel
from mujoco_ros.viewer.panels.robots import RobotsPanel
from mujoco_ros.viewer.panels.simulation import SimulationPanel
from mujoco_ros.viewer.panels.targets import TargetsPanel
from mujoco_ros.viewer.panels.world import WorldPanel


def panels(state: SharedState, clients: Clients, displays: EntityDisplays) -> list[Panel]:
    """Return all panels, in the order of their tabs."""
    parameters, commands = clients.parameters, clients.commands
    overlays = OverlaysPanel(state, parameters, clients.drawings, displays)
    return [
        SimulationPanel(state, clients),
        RobotsPanel(state, parameters, commands),
        ControllerPanel(state, clients.controllers),
        DrivePanel(state, clients.velocities),
        DeclaredWindows(state, clients),
        WorldPanel(state, clients, displays),
        CamerasPanel(state, clients.images, lambda: overlays.shows_cameras),
        PlotsPanel(state, parameters, clients.fields),
        LogPanel(state, clients.log),
        overlays,
        TargetsPanel(state, commands),
        InteractiveMarkersPanel(state, clients.markers, clients.drawings),
    ]
