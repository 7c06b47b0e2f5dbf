"""Studio's windows that show the state or set display options, without effect on the state."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import mujoco
from mujoco.studio import app as studio
from mujoco.studio import ux
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.clients import ControllerInfo
from mujoco_ros.viewer.docks import DOCKS, DockArea
from mujoco_ros.viewer.keys import TITLE, KeyHelp

_CLOSED = int(imgui.TreeNodeFlags.SpanAvailWidth) | int(imgui.TreeNodeFlags.Framed)
_OPEN = _CLOSED | int(imgui.TreeNodeFlags.DefaultOpen)

Section = Callable[[studio.App], object]

_VIEW: dict[str, Section] = {
    "Rendering": lambda app: ux.rendering_gui(
        app.model, app.viewer.vis_options, app.viewer.render_flags
    ),
    "Groups": lambda app: ux.groups_gui(app.model, app.viewer.vis_options),
    "Visualization": lambda app: ux.visualization_gui(
        app.model, app.viewer.vis_options, app.viewer.camera
    ),
}
_INSPECTOR: dict[str, Section] = {
    "Sensors": lambda app: ux.sensor_gui(app.model, app.data),
    "Watch": lambda app: ux.watch_gui(app.model, app.data, app.ux_state),
}
_CONFIG_FIELDS = {
    "View": "show_options",
    "Inspector": "show_inspector",
    "Info": "show_info",
    "Profiler": "show_profiler",
    "Console": "show_console",
    "View gizmo": "show_view_gizmo",
}
"""Windows of the menu, and the field of Studio's configuration that opens each."""


def build_menu_bar(
    app: studio.App, key_help: KeyHelp, controllers: Iterable[ControllerInfo]
) -> None:
    """Build the menu bar, which opens `key_help` too, and has the states of controllers."""
    if not imgui.BeginMainMenuBar():
        return
    if imgui.BeginMenu("View"):
        for label, field in _CONFIG_FIELDS.items():
            if imgui.MenuItem(label, "", getattr(app.config, field)):
                setattr(app.config, field, not getattr(app.config, field))
        imgui.Separator()
        changed, app.theme = ux.theme_menu_gui(app.theme)
        if changed:
            ux.setup_theme(app.theme)
        imgui.EndMenu()
    if imgui.BeginMenu("Help"):
        if imgui.MenuItem(TITLE, "?", key_help.is_open):
            key_help.is_open = not key_help.is_open
        imgui.MenuItem(f"MuJoCo {mujoco.mj_versionString()}")
        imgui.EndMenu()
    for controller in controllers:
        if controller.state:
            imgui.Separator()
            imgui.TextUnformatted(f"{controller.name} is {controller.state}")
    imgui.EndMainMenuBar()


def open_windows(app: studio.App) -> dict[str, bool]:
    """Return whether each window of the menu is open."""
    return {label: getattr(app.config, field) for label, field in _CONFIG_FIELDS.items()}


def set_open_windows(app: studio.App, windows: Mapping[str, Any]) -> None:
    """Open and close the windows of the menu that `windows` has."""
    for label, field in _CONFIG_FIELDS.items():
        if isinstance(windows.get(label), bool):
            setattr(app.config, field, windows[label])


def build_windows(app: studio.App, *, is_paused: bool) -> None:
    """Build the docked windows View and Inspector, and the floating ones, closed at first."""
    _build(app, "View", _build_view, DockArea.LEFT_BELOW)
    _build(app, "Inspector", lambda app: _sections(app, _INSPECTOR, _OPEN), DockArea.RIGHT_BELOW)
    _build(app, "Profiler", _build_profiler)
    _build(app, "Console", lambda _app: ux.console_gui())
    _build(app, "Info", lambda app: ux.info_gui(app.model, app.data, is_paused, 0.0))


def _build(app: studio.App, title: str, build: Section, area: DockArea | None = None) -> None:
    field = _CONFIG_FIELDS[title]
    if not getattr(app.config, field):
        return
    with DOCKS.window(title, area, closable=True) as (is_visible, is_open):
        setattr(app.config, field, is_open)
        if is_visible:
            build(app)


def _build_view(app: studio.App) -> None:
    ux.camera_selection_gui(app.model, app.data, app.viewer.camera, app.ux_state)
    ux.label_selection_gui(app.viewer.vis_options)
    ux.frame_selection_gui(app.viewer.vis_options)
    _sections(app, _VIEW, _CLOSED)


def _build_profiler(app: studio.App) -> None:
    ux.counts_gui(app.model, app.data)
    ux.convergence_gui(app.model, app.data)


def _sections(app: studio.App, sections: dict[str, Section], flags: int) -> None:
    for heading, build in sections.items():
        if imgui.TreeNodeEx(heading, flags):
            build(app)
            imgui.TreePop()
