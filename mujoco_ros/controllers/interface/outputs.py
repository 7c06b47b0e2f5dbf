"""Values that a controller puts into its store for the host to publish."""

from mujoco_ros.controllers.interface.observation import BaseReading
from mujoco_ros.controllers.interface.store import Key

ESTIMATED_BASE: Key[BaseReading] = Key("base/estimated", BaseReading)
"""Estimate of the floating base at the last tick."""
