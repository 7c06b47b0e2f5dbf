"""Keys that run the simulation, and those of Studio that change only what is shown."""

from collections.abc import Callable

from mujoco.studio import app as studio
from mujoco.studio import ux
from mujoco.studio.app import inputs
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.link import Link, RunState

_FACTOR = "real_time_factor"


def _toggle(link: Link) -> None:
    link.pause() if link.run_state is RunState.PLAYING else link.play()


def _step(link: Link) -> None:
    if link.run_state is RunState.PAUSED:
        link.step()


def _speed(link: Link, ratio: float) -> None:
    factor = link.parameters.get(_FACTOR)
    if factor is not None and factor.value > 0.0:
        link.set_speed(factor.value * ratio)


RUNNING: dict[imgui.Key, Callable[[Link], object]] = {
    imgui.Key.Space: _toggle,
    imgui.Key.RightArrow: _step,
    imgui.Key.Backspace: lambda link: link.reset("time", "state"),
    imgui.Key.Minus: lambda link: _speed(link, 0.5),
    imgui.Key.Equal: lambda link: _speed(link, 2.0),
}
"""What a key does to the simulation: Studio's keys, over ROS."""


def handle_keys(app: studio.App, link: Link) -> None:
    """Do what the key that is pressed now means; keys that are typed into a field mean nothing."""
    if imgui.GetIO().WantCaptureKeyboard:
        return
    for key, act in RUNNING.items():
        if imgui.IsKeyChordPressed(key):
            act(link)
            return
    flying = app.ux_state.camera_index == ux.FREE_CAMERA_IDX
    viewer = app.viewer
    if inputs.handle_camera_select_keyboard_events(app.model, viewer.camera, app.ux_state):
        return
    if inputs.handle_vis_options_keyboard_events(viewer.vis_options, flying):
        return
    if flying and viewer.client_camera is None:
        _, viewer.cam_speed = inputs.handle_freecam_wasd_keyboard_events(
            app.model, app.data, viewer.camera, viewer.cam_speed
        )
