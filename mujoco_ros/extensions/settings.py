"""Settings of an extension: a dataclass whose fields have ranges."""

from dataclasses import dataclass

from mujoco_ros.model.ranged_settings import bounds_of as bounds_of
from mujoco_ros.model.ranged_settings import read_settings as read_settings
from mujoco_ros.model.ranged_settings import setting as setting


@dataclass(frozen=True)
class NoSettings:
    """The settings of an extension that has none."""
