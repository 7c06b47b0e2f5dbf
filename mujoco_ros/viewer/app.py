"""Studio's application and windows, without what acts on a simulation of its own."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import mujoco
import numpy as np
from mujoco.studio import app as studio
from mujoco.studio import messages, plugin, ux
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.sim.state.model_edits import gather, scatter
from mujoco_ros.viewer import framing
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.clients import ControllerInfo, is_replay
from mujoco_ros.viewer.docks import DOCKS, MOUSE_BUTTONS, DockArea
from mujoco_ros.viewer.feed import ModelEdited
from mujoco_ros.viewer.history_bar import HistoryBar
from mujoco_ros.viewer.keys import TITLE, KeyHelp, MousePerturbation, handle_keys
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.web.page import PageHalted, PanelsHidden

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


_FREE = int(mujoco.mjtCamera.mjCAMERA_FREE)
_POSE_NUMBERS, _DISTANCE, _LARGEST = 6, 3, 1e6
"""Numbers of the pose of a free camera, the distance among them, and their bound [m or deg]."""


class Application(studio.App):
    """Camera, keys, mouse, and the windows of Studio that have no effect on the simulation."""

    def __init__(self, state: SharedState, clients: Clients, panels: Sequence[Panel] = ()) -> None:
        """Show `state`; keys and mouse control it by `clients`, Escape `panels` first."""
        super().__init__(studio.Config(show_options=True, show_inspector=True))
        self._state, self._clients, self._panels = state, clients, panels
        self._perturbation = MousePerturbation(clients.commands)
        self._attached: mujoco.MjModel | None = None
        self._shown_data: mujoco.MjData | None = None
        self._scene = ""
        self._must_fit_camera = True
        self._help = KeyHelp()
        self._history = HistoryBar(state, clients, lambda: self.viewer.camera)
        self._fitted_pose: list[float] | None = None
        self._kept_pose: list[float] | None = None
        # Of the last viewer, until the first page
        self._kept_mount: framing.CameraMount | None = None

    def update(self) -> None:
        """Handle mouse and keys."""
        self.handle_mouse_events()
        # Studio misses a button that is released over a window.
        if not any(imgui.IsMouseDown(button) for button in MOUSE_BUTTONS):
            self.viewer.perturb.active = 0
        self._history.update()
        self._handle_keys()
        if self._state.shown is not None:
            self._perturbation.release()  # the mouse would pull at bodies that are elsewhere now
        elif not is_replay(self._clients.parameters):
            perturb, paused = self.viewer.perturb, self._state.paused
            self._perturbation.apply(self.model, self.data, perturb, paused=paused)

    def _handle_keys(self) -> None:
        """Handle the pressed key once: Escape acts on the first of what it can close or end."""
        if widgets.is_escape_pressed():
            # Popups are closed as they are built.
            if imgui.IsPopupOpen("", int(imgui.PopupFlags.AnyPopup)):
                return
            if any(panel.handle_escape() for panel in self._panels):
                return
        if not self._help.handle_keys() and not self._history.handle_keys():
            handle_keys(self, self._clients.simulation, self._state)

    def align_camera(self) -> None:
        """Show all robots and objects; a model that is the whole scene shows what it defines."""
        super().align_camera()
        self._must_fit_camera = self.viewer.camera.type == _FREE
        state = self._state
        is_merged = all(robot.prefix for robot in state.layout.robots)
        if self._must_fit_camera and is_merged and self.model.nq == state.model.nq:
            data = mujoco.MjData(self.model)  # the viewer's data may not have a state yet
            data.qpos[:] = state.data.qpos
            mujoco.mj_kinematics(self.model, data)
            framing.frame_bodies(self.model, data, self.viewer.camera)

    def settings(self) -> dict[str, Any]:
        """Return the pose of a moved free camera, its mount, and the open windows of Studio."""
        if self._fitted_pose is not None and self.viewer.camera.type == _FREE:
            pose = _pose(self.viewer.camera)
            # The page returns the pose in single precision.
            is_moved = not np.allclose(pose, self._fitted_pose, rtol=1e-4, atol=1e-4)
            self._kept_pose = pose if is_moved else None
        kept = self._kept_mount
        if kept is None:
            kept = framing.CameraMount()
            if self._attached is not None:
                kept = framing.mount(self._attached, self.viewer.camera)
        return {
            "camera": self._kept_pose,
            "followed": kept.body,
            "model_camera": kept.camera,
            "windows": open_windows(self),
        }

    def restore(self, settings: Mapping[str, Any]) -> None:
        """Set what is valid among kept settings."""
        pose, windows = settings.get("camera"), settings.get("windows")
        if isinstance(pose, list) and _is_pose(pose):
            self._kept_pose = pose
        names = settings.get("followed"), settings.get("model_camera")
        if all(isinstance(name, str) for name in names) and any(names):
            self._kept_mount = framing.CameraMount(*map(str, names))
        if isinstance(windows, dict):
            set_open_windows(self, windows)

    def build_gui(self) -> None:
        """Build Studio's windows and the dock areas of all others."""
        ux.setup_theme(self.theme)
        imgui.GetIO().WantSaveIniSettings = False  # the file has Studio's own layout
        build_menu_bar(self, self._help, self._clients.controllers.known.values())
        scene = DOCKS.begin_frame()
        if self._must_fit_camera and scene is not None:
            self._must_fit_camera = False
            framing.fit_camera(self.model, self.viewer.camera, scene, imgui.GetIO().DisplaySize.y)
            self._fitted_pose = _pose(self.viewer.camera)
            if self._kept_pose is not None:
                _set_pose(self.viewer.camera, self._kept_pose)
        if self._kept_mount is not None and scene is not None:
            self._mount(self._kept_mount)
            self._kept_mount = None
        if self.config.show_view_gizmo and scene is not None:
            ux.view_gizmo_gui(self.model, self.data, self.viewer.camera, self.ux_state, scene)
        build_windows(self, is_paused=self._state.paused)
        if scene is not None:
            self._history.build(scene)
        self._help.build()
        # For viewers whose client moves the camera; after all code that may change it.
        self.viewer.camera_index = self.ux_state.camera_index

    @messages.handler(priority=messages.Priority.CRITICAL)
    def _on_viewer_init(self, event: plugin.ViewerInitEvent) -> None:
        studio.install_console_hooks()
        ux.setup_theme(self.theme)
        self.align_camera()
        self.viewer.dispatch(studio.InitEvent(app=self))

    @messages.handler(priority=messages.Priority.INTERNAL)
    def _on_post_model(self, event: messages.PostModelEvent) -> None:
        """Keep the camera, except in another world; clear the selection if ids may differ."""
        state, camera = self._state, self.viewer.camera
        old, old_data, self._shown_data = self._attached, self._shown_data, event.data
        if state.model is old:  # only its appearance changed
            super()._on_post_model(event)
            return
        kept = framing.CameraMount()
        if (
            old is not None
            and old_data is not None
            and (kept := framing.mount(old, camera)) != framing.CameraMount()
        ):
            self.ux_state.camera_index = framing.follow(old, old_data, camera, 0)
        super()._on_post_model(event)
        scene = str(state.metadata["scene"])
        if scene == self._scene:
            self._mount(kept)
        elif old is not None:
            self._kept_pose = self._fitted_pose = None
            self.align_camera()
        self._attached, self._scene = state.model, scene
        self.viewer.perturb.select = self.viewer.perturb.active = 0
        self._perturbation.attach(event.model, state.layout)

    def _mount(self, wanted: framing.CameraMount) -> None:
        index = framing.set_mount(self.model, self.data, self.viewer.camera, wanted)
        if index is not None:
            self.ux_state.camera_index = index

    @messages.handler
    def _on_edited(self, event: ModelEdited) -> None:
        scatter(self.model, gather(event.model))

    @messages.handler
    def _on_follow(self, event: framing.CameraFollows) -> None:
        camera = self.viewer.camera
        self.ux_state.camera_index = framing.follow(self.model, self.data, camera, event.body)

    @messages.handler
    def _on_panels_hidden(self, event: PanelsHidden) -> None:
        """End the pull: no browser controls the mouse."""
        self._perturbation.release()
        DOCKS.expect_page()

    @messages.handler
    def _on_page_halted(self, event: PageHalted) -> None:
        """End the pull: the page does not follow the mouse."""
        self._perturbation.release()

    @messages.handler(priority=messages.Priority.INTERNAL)
    def _on_exit(self, event: messages.ExitEvent) -> None:
        """End the pull; Studio's settings file stays unchanged."""
        self._perturbation.release()

    @messages.handler(priority=messages.Priority.INTERNAL)
    def _on_theme(self, event: plugin.ThemeEvent) -> None:
        self.theme = event.theme
        ux.setup_theme(self.theme)


def _pose(camera: mujoco.MjvCamera) -> list[float]:
    """Return look-at point [m], distance [m], azimuth [deg] and elevation [deg]."""
    numbers = (*camera.lookat, camera.distance, camera.azimuth, camera.elevation)
    return [float(number) for number in numbers]


def _is_pose(numbers: Sequence[Any]) -> bool:
    return (
        len(numbers) == _POSE_NUMBERS
        and all(isinstance(number, float) and abs(number) < _LARGEST for number in numbers)
        and numbers[_DISTANCE] > 0.0
    )


def _set_pose(camera: mujoco.MjvCamera, pose: Sequence[float]) -> None:
    camera.lookat[:] = pose[:3]
    camera.distance, camera.azimuth, camera.elevation = pose[3:]
