"""Contacts between groups of geoms, switched off: a contact filter."""

from dataclasses import dataclass
from typing import Any

from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.settings import setting


@dataclass(frozen=True)
class ContactGroupsSettings:
    """The settings of the filter."""

    group: int = setting(1, "Group of geoms of the robot", low=0, high=5)
    other: int = setting(1, "Group that they have no contact with, -1 for all", low=-1, high=5)


class ContactGroups(Extension):
    """Discards contacts between own geoms of one group and any geoms of another one."""

    Settings = ContactGroupsSettings

    def set_up(self) -> None:
        """Find the groups of the geoms."""
        self._group = [int(group) for group in self.model.geom_group]

    def contact_filter(self, data: Any, geom1: int, geom2: int) -> bool:
        """Return whether one geom is an own one of `group`, and the other one of `other`."""
        return self._parts(geom1, geom2) or self._parts(geom2, geom1)

    def _parts(self, geom: int, other: int) -> bool:
        if geom not in self.elements.geoms or self._group[geom] != self.settings.group:
            return False
        return self.settings.other in (-1, self._group[other])
