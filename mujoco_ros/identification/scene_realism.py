"""The realism that a scene has of a robot, next to the delay that a fit finds."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any

from mujoco_ros.model.realism.realism_config import Entry, RealismConfig, Section

_NEW = "drives"
"""Name of the entry of joints that are in none."""
_FITTED = "_fitted"
"""Ends the name of an entry of some joints of another entry."""
_TRANSPORT = ("delay", "interval", "jitter", "dropout")


@dataclass(frozen=True, kw_only=True)
class SceneRealism:
    """Imperfections of drives and joint states that a scene has of a robot.

    Attributes:
        config: Its realism.
        joints: All joints of the robot.
        actuated: Those with an actuator, which entries of actuators apply to.
    """

    config: RealismConfig
    joints: tuple[str, ...]
    actuated: tuple[str, ...]

    def delay(self, joints: Sequence[str]) -> float:
        """Return the largest delay of the commands of some joints [s]."""
        delays = [it.settings.delay for it, _ in self._entries("actuators", joints)]
        return max(delays, default=0.0)

    def delayed(self, joints: Sequence[str], delay: float) -> dict[str, dict[str, Any]]:
        """Return entries of actuators that delay the commands of some joints, and of no others.

        Args:
            joints: The joints.
            delay: Time from the stamp of a command until it acts [s].

        Returns:
            Values by entry, which replace those of the scene.
        """
        changed: dict[str, dict[str, Any]] = {}
        left = [joint for joint in joints if joint in self.actuated]
        names = set(self.config.actuators)
        for entry, matched in self._entries("actuators", joints):
            own = [joint for joint in matched if joint in joints]
            left = [joint for joint in left if joint not in own]
            if len(own) == len(matched):
                changed[entry.name] = {"delay": delay}
            else:  # a joint can be in one entry only
                others = [joint for joint in matched if joint not in own]
                settings = {**self.config.actuators[entry.name], "match": own, "delay": delay}
                changed[entry.name] = {"match": others}
                changed[_unused(entry.name + _FITTED, names)] = settings
        if left:
            changed[_unused(_NEW, names)] = {"match": left, "delay": delay}
        return changed

    def left_out(self, joints: Sequence[str]) -> list[str]:
        """Return the settings of some joints that a fit does not simulate, such as backlash."""
        found = []
        for section in ("actuators", "joints"):
            for entry, _ in self._entries(section, joints):
                usual = type(entry.settings)()
                for name in (field.name for field in fields(entry.settings)):
                    counts = name != "delay" if section == "actuators" else name in _TRANSPORT
                    if counts and getattr(entry.settings, name) != getattr(usual, name):
                        found.append(f"{section}.{entry.name}.{name}")
        return found

    def _entries(
        self, section: Section, joints: Sequence[str]
    ) -> Iterator[tuple[Entry, list[str]]]:
        """Yield the entries of a section that apply to any of some joints, with all of theirs."""
        every = self.actuated if section == "actuators" else self.joints
        for entry in self.config.entries():
            if entry.section == section:
                matched = entry.selection.select(every, "joint", f"realism.{section}.{entry.name}")
                if set(matched) & set(joints):
                    yield entry, matched


def _unused(name: str, names: set[str]) -> str:
    while name in names:
        name += "_"
    names.add(name)
    return name
