"""Former place of `controllers.catalogue`, for programs of users until the next release."""

from mujoco_ros.controllers.catalogue import load, load_table, names

__all__ = ["load", "load_table", "names"]
