"""Studio's windows that show, or change how something is shown; none acts on the simulation."""

from collections.abc import Callable

import mujoco
from mujoco.studio import app as studio
from mujoco.studio import ux
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer import docks

_TREE = int(imgui.TreeNodeFlags.SpanAvailWidth) | int(imgui.TreeNodeFlags.Framed)
_OPEN = _TREE | int(imgui.TreeNodeFlags.DefaultOpen)

Section = Callable[[studio.App], object]

VIEW: dict[str, Section] = {
    "Rendering": lambda app: ux.rendering_gui(
        app.model, app.viewer.vis_options, app.viewer.render_flags
    ),
    "Groups": lambda app: ux.groups_gui(app.model, app.viewer.vis_options),
    "Visualization": lambda app: ux.visualization_gui(
        app.model, app.viewer.vis_options, app.viewer.camera
    ),
}
"""What can be changed about how the scene is shown, by heading."""

INSPECTOR: dict[str, Section] = {
    "Sensors": lambda app: ux.sensor_gui(app.model, app.data),
    "Watch": lambda app: ux.watch_gui(app.model, app.data, app.ux_state),
}
"""What is shown of the state, by heading."""

TOGGLES = {
    "View": "show_options",
    "Inspector": "show_inspector",
    "Info": "show_info",
    "Profiler": "show_profiler",
    "Console": "show_console",
    "View gizmo": "show_view_gizmo",
}
"""What can be shown or hidden, and the field of Studio's configuration that says whether it is."""


def menu_bar(app: studio.App) -> None:
    """Build the bar at the top."""
    if not imgui.BeginMainMenuBar():
        return
    if imgui.BeginMenu("View"):
        for label, name in TOGGLES.items():
            if imgui.MenuItem(label, "", getattr(app.config, name)):
                setattr(app.config, name, not getattr(app.config, name))
        imgui.Separator()
        changed, app.theme = ux.theme_menu_gui(app.theme)
        if changed:
            ux.setup_theme(app.theme)
        imgui.EndMenu()
    if imgui.BeginMenu("Help"):
        imgui.MenuItem(f"MuJoCo {mujoco.mj_versionString()}")
        imgui.EndMenu()
    imgui.EndMainMenuBar()


def view(app: studio.App) -> None:
    """Build the window that says how the scene is shown, and from where."""
    if not app.config.show_options:
        return
    docks.place(docks.DockPlace.LEFT_BELOW, "View")
    is_seen, app.config.show_options = imgui.Begin("View", app.config.show_options)
    docks.border(docks.DockPlace.LEFT_BELOW)
    if is_seen:
        ux.camera_selection_gui(app.model, app.data, app.viewer.camera, app.ux_state)
        ux.label_selection_gui(app.viewer.vis_options)
        ux.frame_selection_gui(app.viewer.vis_options)
        _sections(app, VIEW, _TREE)
    imgui.End()


def inspector(app: studio.App) -> None:
    """Build the window with the sensors, and with whatever of the data one wants to watch."""
    if not app.config.show_inspector:
        return
    docks.place(docks.DockPlace.RIGHT_BELOW, "Inspector")
    is_seen, app.config.show_inspector = imgui.Begin("Inspector", app.config.show_inspector)
    docks.border(docks.DockPlace.RIGHT_BELOW)
    if is_seen:
        _sections(app, INSPECTOR, _OPEN)
    imgui.End()


def floating(app: studio.App, is_paused: bool) -> None:
    """Build the windows that float, which are shut at first."""
    if app.config.show_profiler:
        is_seen, app.config.show_profiler = imgui.Begin("Profiler", app.config.show_profiler)
        if is_seen:
            ux.counts_gui(app.model, app.data)
            ux.convergence_gui(app.model, app.data)
        imgui.End()
    if app.config.show_console:
        is_seen, app.config.show_console = imgui.Begin("Console", app.config.show_console)
        if is_seen:
            ux.console_gui()
        imgui.End()
    if app.config.show_info:
        is_seen, app.config.show_info = imgui.Begin("Info", app.config.show_info)
        if is_seen:
            ux.info_gui(app.model, app.data, is_paused, 0.0)
        imgui.End()


def _sections(app: studio.App, sections: dict[str, Section], flags: int) -> None:
    for heading, build in sections.items():
        if imgui.TreeNodeEx(heading, flags):
            build(app)
            imgui.TreePop()
