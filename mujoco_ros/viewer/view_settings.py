"""What the page shows, kept in a file per scene: view, display flags, tabs, overlays and plots."""

import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import mujoco
from mujoco.studio import messages, plugin, viewer_protocol

from mujoco_ros.viewer.settings_file import Settings, SettingsFile

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


_LOG = logging.getLogger(__name__)
_PERIOD_S = 1.0  # period of the checks for changes; a viewer that is killed loses less than this


class HasSettings(Protocol):
    """A part of the page whose settings are kept."""

    def settings(self) -> Settings:
        """Return its present settings."""

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Set what is valid among `settings`, which anyone may have written."""


class ViewSettings(plugin.ViewerPlugin):
    """Restores the settings of the last viewer of the present scene, and writes them on changes."""

    def __init__(
        self,
        folder: Path,
        scene: Callable[[], str],
        parts: Mapping[str, HasSettings],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Restore the settings of the present scene, for each part by its name in the file."""
        self._file = SettingsFile(folder)
        self._scene = scene
        self._parts, self._now = parts, now
        kept = self._file.read(self._scene())
        for name, owner in parts.items():
            if isinstance(own := kept.get(name), dict):
                _restore(name, owner, own)
        self._written = self._collect()
        self._due = now() + _PERIOD_S

    @messages.handler
    def on_update(self, _: messages.UpdateEvent) -> None:
        """Write changed settings, at most once in a period."""
        if self._now() >= self._due:
            self._due = self._now() + _PERIOD_S
            self._write()

    @messages.handler
    def on_exit(self, _: messages.ExitEvent) -> None:
        """Write changed settings."""
        self._write()

    def _collect(self) -> Settings:
        return {name: owner.settings() for name, owner in self._parts.items()}

    def _write(self) -> None:
        settings = self._collect()
        if settings != self._written:
            self._written = settings
            self._file.write(self._scene(), settings)


def _restore(name: str, owner: HasSettings, settings: Settings) -> None:
    """Restore settings; the page is shown even if they cannot be read."""
    try:
        owner.restore(settings)
    except Exception:
        _LOG.exception("the kept settings of '%s' cannot be restored", name)
