"""Studio's application, without what would act on a simulation of its own."""

import mujoco
from mujoco.studio import app as studio
from mujoco.studio import messages, plugin, ux
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.model_values import gather, scatter
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import docks
from mujoco_ros.viewer.feed import Edited
from mujoco_ros.viewer.framing import frame
from mujoco_ros.viewer.keys import handle_keys
from mujoco_ros.viewer.link import SimulatorLink, is_replay
from mujoco_ros.viewer.perturbation import Perturbation
from mujoco_ros.viewer.studio_windows import floating, inspector, menu_bar, view
from mujoco_ros.viewer.web.page import Unseen

_FREE = int(mujoco.mjtCamera.mjCAMERA_FREE)
_BUTTONS = (imgui.MouseButton.Left, imgui.MouseButton.Right, imgui.MouseButton.Middle)


class Application(studio.App):
    """The frame around the panels: camera, keys, mouse, and Studio's windows that only show."""

    def __init__(self, state: SharedState, link: SimulatorLink) -> None:
        """Show `state`, and act through `link`."""
        super().__init__(studio.Config(show_options=True, show_inspector=True))
        self._state, self._link = state, link
        self._perturbation = Perturbation(link)
        self._attached: mujoco.MjModel | None = None
        self._must_frame = True

    def update(self) -> None:
        """Do what mouse and keys ask for."""
        self.handle_mouse_events()
        # Studio looks away while the mouse is over a window, and misses a button let go there.
        if not any(imgui.IsMouseDown(button) for button in _BUTTONS):
            self.viewer.perturb.active = 0
        handle_keys(self, self._link, self._state)
        if not is_replay(self._link):
            self._perturbation.apply(self.model, self.data, self.viewer.perturb)

    def align_camera(self) -> None:
        """Look at everything, from the model's own camera if it names one."""
        super().align_camera()
        self._must_frame = self.viewer.camera.type == _FREE

    def build_gui(self) -> None:
        """Build Studio's windows, and the places for all others."""
        ux.setup_theme(self.theme)
        imgui.GetIO().WantSaveIniSettings = False  # that file has the layout of Studio alone
        menu_bar(self)
        scene = docks.lay_out()
        if self._must_frame and scene is not None:
            self._must_frame = False
            frame(self.model, self.viewer.camera, scene, imgui.GetIO().DisplaySize.y)
        if self.config.show_view_gizmo and scene is not None:
            ux.view_gizmo_gui(self.model, self.data, self.viewer.camera, self.ux_state, scene)
        view(self)
        inspector(self)
        floating(self, self._state.paused)
        # For viewers whose client moves the camera; whatever can change it has been built by now.
        self.viewer.camera_index = self.ux_state.camera_index

    @messages.handler(priority=messages.Priority.CRITICAL)
    def _on_viewer_init(self, event: plugin.ViewerInitEvent) -> None:
        """Begin with a theme and a camera."""
        studio.install_console_hooks()
        ux.setup_theme(self.theme)
        self.align_camera()
        self.viewer.dispatch(studio.InitEvent(app=self))

    @messages.handler(priority=messages.Priority.INTERNAL)
    def _on_post_model(self, event: messages.PostModelEvent) -> None:
        """Keep the camera; forget what was selected if bodies may have other numbers now."""
        super()._on_post_model(event)
        if self._state.model is self._attached:  # only its looks are new
            return
        self._attached = self._state.model
        self.viewer.perturb.select = self.viewer.perturb.active = 0
        self._perturbation.attach(event.model, self._state.layout)

    @messages.handler
    def _on_edited(self, event: Edited) -> None:
        """Reckon with the numbers that the simulator reckons with."""
        scatter(self.model, gather(event.model))

    @messages.handler
    def _on_unseen(self, event: Unseen) -> None:
        """Let go: nobody holds the mouse any more."""
        self._perturbation.let_go()
        docks.expect_page()

    @messages.handler(priority=messages.Priority.INTERNAL)
    def _on_exit(self, event: messages.ExitEvent) -> None:
        """Let go at the end; the user's file of Studio stays as it is."""
        self._perturbation.let_go()

    @messages.handler(priority=messages.Priority.INTERNAL)
    def _on_theme(self, event: plugin.ThemeEvent) -> None:
        """Take the theme that the browser asks for."""
        self.theme = event.theme
        ux.setup_theme(self.theme)
