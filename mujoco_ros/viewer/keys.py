"""Keys that control the simulation, and Studio's keys that control the display."""

from collections.abc import Callable

from mujoco.studio import app as studio
from mujoco.studio import ux
from mujoco.studio.app import inputs
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import SimulationClient


def _toggle(simulation: SimulationClient, state: SharedState) -> None:
    simulation.play() if state.paused else simulation.pause()


def _step(simulation: SimulationClient, state: SharedState) -> None:
    if state.paused:
        simulation.step()


def _scale_speed(simulation: SimulationClient, state: SharedState, ratio: float) -> None:
    if state.factor > 0.0:
        simulation.set_speed(state.factor * ratio)


_ACTIONS: dict[imgui.Key, Callable[[SimulationClient, SharedState], object]] = {
    imgui.Key.Space: _toggle,
    imgui.Key.RightArrow: _step,
    imgui.Key.Backspace: lambda simulation, _: simulation.reset("time", "state"),
    imgui.Key.Minus: lambda simulation, state: _scale_speed(simulation, state, 0.5),
    imgui.Key.Equal: lambda simulation, state: _scale_speed(simulation, state, 2.0),
}
"""The same keys as in Studio, with effect over ROS."""


def handle_keys(app: studio.App, simulation: SimulationClient, state: SharedState) -> None:
    """Handle the pressed key, unless a text field takes it.

    Run state and speed come from `state`, because those of the services are older.
    """
    if imgui.GetIO().WantCaptureKeyboard:
        return
    for key, act in _ACTIONS.items():
        if imgui.IsKeyChordPressed(key):
            act(simulation, state)
            return
    is_free = app.ux_state.camera_index == ux.FREE_CAMERA_IDX
    viewer = app.viewer
    if inputs.handle_camera_select_keyboard_events(app.model, viewer.camera, app.ux_state):
        return
    if inputs.handle_vis_options_keyboard_events(viewer.vis_options, is_free):
        return
    if is_free and viewer.client_camera is None:
        _, viewer.cam_speed = inputs.handle_freecam_wasd_keyboard_events(
            app.model, app.data, viewer.camera, viewer.cam_speed
        )
