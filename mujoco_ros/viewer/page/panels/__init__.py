"""The panels, in the order of their tabs."""

from mujoco_ros.viewer.page.panel import Panel
from mujoco_ros.viewer.page.panels.cameras import CamerasPanel
from mujoco_ros.viewer.page.panels.controllers import ControllersPanel
from mujoco_ros.viewer.page.panels.drive import DrivePanel
from mujoco_ros.viewer.page.panels.fleet import FleetPanel
from mujoco_ros.viewer.page.panels.inspector import InspectorPanel
from mujoco_ros.viewer.page.panels.interactive_markers import InteractiveMarkersPanel
from mujoco_ros.viewer.page.panels.log import LogPanel
from mujoco_ros.viewer.page.panels.overlays import OverlaysPanel
from mujoco_ros.viewer.page.panels.parameters import ParametersPanel, PhysicsPanel
from mujoco_ros.viewer.page.panels.plots import PlotsPanel
from mujoco_ros.viewer.page.panels.robots import RobotsPanel
from mujoco_ros.viewer.page.panels.simulation import SimulationPanel
from mujoco_ros.viewer.page.panels.targets import TargetsPanel
from mujoco_ros.viewer.page.panels.view import ViewPanel
from mujoco_ros.viewer.page.panels.world import WorldPanel

PANELS: tuple[type[Panel], ...] = (
    SimulationPanel,
    FleetPanel,
    OverlaysPanel,
    CamerasPanel,
    ViewPanel,
    TargetsPanel,
    RobotsPanel,
    ControllersPanel,
    WorldPanel,
    DrivePanel,
    InteractiveMarkersPanel,
    InspectorPanel,
    ParametersPanel,
    PhysicsPanel,
    LogPanel,
    PlotsPanel,
)
