"""Studio's flags, groups, labels and frames of the display, kept by their names in MuJoCo."""

from collections.abc import Mapping
from typing import Any

import mujoco
from mujoco.studio import messages, plugin, viewer_protocol

Display = dict[str, bool | str]
"""Whether each flag is set and each group is visible, and what has labels and frames."""

_GROUPS = ("geom", "site", "joint", "tendon", "actuator", "flex", "skin")


def _numbers(enumeration: Any, prefix: str) -> dict[str, int]:
    """Return the members of an enumeration, without their count, whose prefix differs."""
    members = enumeration.__members__.items()
    return {name: int(member) for name, member in members if name.startswith(prefix)}


_RENDER_FLAGS = _numbers(mujoco.mjtRndFlag, "mjRND_")
_SWITCHES = {
    name: ("flags", index) for name, index in _numbers(mujoco.mjtVisFlag, "mjVIS_").items()
} | {
    f"{kind}group {number}": (f"{kind}group", number)
    for kind in _GROUPS
    for number in range(mujoco.mjNGROUP)
}
"""Field of ``mjvOption`` and index in it, by name."""

_CHOICES = {
    "label": _numbers(mujoco.mjtLabel, "mjLABEL_"),
    "frame": _numbers(mujoco.mjtFrame, "mjFRAME_"),
}
"""Values of fields of ``mjvOption``, by name."""


class DisplayFlags(plugin.ViewerPlugin):
    """Keeps what differs from the display with which Studio starts."""

    def __init__(self) -> None:
        self._kept: Display = {}
        self._initial: Display | None = None

    @messages.handler
    def on_viewer_init(self, event: plugin.ViewerInitEvent) -> None:
        """Set what was kept."""
        self._initial = _displayed(event.viewer)
        _set(event.viewer, self._kept)

    def settings(self) -> dict[str, Any]:
        """Return what differs from Studio's start."""
        initial = self._initial
        if initial is None:
            return dict(self._kept)
        return {
            name: value for name, value in _displayed(self.viewer).items() if value != initial[name]
        }

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Set what is valid among kept settings when the viewer starts."""
        self._kept = {name: value for name, value in settings.items() if _is_valid(name, value)}


def _displayed(viewer: viewer_protocol.Viewer) -> Display:
    """Return the present display."""
    options, rendering = viewer.vis_options, viewer.render_flags.flags
    display: Display = {
        name: bool(getattr(options, field)[index]) for name, (field, index) in _SWITCHES.items()
    }
    display |= {name: bool(rendering[index]) for name, index in _RENDER_FLAGS.items()}
    for field, numbers in _CHOICES.items():
        chosen = getattr(options, field)
        display.update((field, name) for name, number in numbers.items() if number == chosen)
    return display


def _set(viewer: viewer_protocol.Viewer, display: Display) -> None:
    """Set a part of the display."""
    options, rendering = viewer.vis_options, list(viewer.render_flags.flags)
    for name, value in display.items():
        if name in _CHOICES:
            setattr(options, name, _CHOICES[name][str(value)])
        elif name in _RENDER_FLAGS:
            rendering[_RENDER_FLAGS[name]] = int(value)
        else:
            field, index = _SWITCHES[name]
            getattr(options, field)[index] = value
    viewer.render_flags.flags = rendering  # it returned a copy


def _is_valid(name: str, value: Any) -> bool:
    if name in _CHOICES:
        return isinstance(value, str) and value in _CHOICES[name]
    return isinstance(value, bool) and (name in _SWITCHES or name in _RENDER_FLAGS)
