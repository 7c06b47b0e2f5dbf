"""Layouts of the page, each for a task."""

from collections.abc import Iterator
from dataclasses import dataclass

from mujoco_ros.viewer.page.panel import Area


@dataclass(frozen=True, slots=True)
class Preset:
    """The titles of the open panels of each area, the selected one first."""

    left: tuple[str, ...] = ()
    right: tuple[str, ...] = ()
    bottom: tuple[str, ...] = ()

    def places(self) -> Iterator[tuple[Area, str]]:
        """Yield the area of each open panel, and its title."""
        for area in Area:
            for title in getattr(self, area.value):
                yield area, title


PRESETS = {
    "Teach": Preset(
        left=("Simulation", "Targets", "Cameras"),
        right=("Robots", "Controllers", "World"),
        bottom=("Log",),
    ),
    "Debug": Preset(
        left=("Simulation", "Overlays", "View", "Cameras"),
        right=("Controllers", "Robots", "Inspector", "Parameters"),
        bottom=("Plots", "Log"),
    ),
    "Teleoperate": Preset(
        left=("Cameras", "Simulation"),
        right=("Drive", "Interactive markers", "Targets", "Controllers"),
    ),
    "Fleet": Preset(
        left=("Fleet", "Simulation"), right=("Robots", "Controllers", "World"), bottom=("Log",)
    ),
}
"""What the menu "Layout" offers; panels that a scene does not have are left out."""
