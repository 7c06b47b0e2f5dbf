"""The panels, in the order of their tabs."""

from mujoco_ros.viewer.page.panel import Panel
from mujoco_ros.viewer.page.panels.controllers import ControllersPanel
from mujoco_ros.viewer.page.panels.log import LogPanel
from mujoco_ros.viewer.page.panels.robots import RobotsPanel
from mujoco_ros.viewer.page.panels.simulation import SimulationPanel

PANELS: tuple[type[Panel], ...] = (SimulationPanel, RobotsPanel, ControllersPanel, LogPanel)
