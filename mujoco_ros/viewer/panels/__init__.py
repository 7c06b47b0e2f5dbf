"""The panels: windows beside the scene that show the simulation and act on it."""

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.link import SimulatorLink
from mujoco_ros.viewer.panels.cameras import CamerasPanel
from mujoco_ros.viewer.panels.controller import ControllerPanel
from mujoco_ros.viewer.panels.log import LogPanel
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.plots.plots import PlotsPanel
from mujoco_ros.viewer.panels.robots.robots import RobotsPanel
from mujoco_ros.viewer.panels.simulation import SimulationPanel

PANELS: tuple[type[Panel], ...] = (
    SimulationPanel,
    RobotsPanel,
    ControllerPanel,
    CamerasPanel,
    PlotsPanel,
    LogPanel,
)
"""In the order of their tabs, where several share a place."""


def panels(state: SharedState, link: SimulatorLink) -> list[Panel]:
    """Return all panels, which show `state` and act through `link`."""
    return [panel(state, link) for panel in PANELS]
