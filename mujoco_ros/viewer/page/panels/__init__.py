"""The panels, in the order of their tabs."""

from mujoco_ros.viewer.page.panel import Panel
from mujoco_ros.viewer.page.panels.controllers import ControllersPanel
from mujoco_ros.viewer.page.panels.log import LogPanel
from mujoco_ros.viewer.page.panels.parameters import ParametersPanel
from mujoco_ros.viewer.page.panels.plots import PlotsPanel
from mujoco_ros.viewer.page.panels.robots import RobotsPanel
from mujoco_ros.viewer.page.panels.simulation import SimulationPanel

PANELS: tuple[type[Panel], ...] = (
    SimulationPanel,
    RobotsPanel,
    ControllersPanel,
    ParametersPanel,
    LogPanel,
    PlotsPanel,
)
