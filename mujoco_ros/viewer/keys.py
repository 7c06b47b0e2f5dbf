"""Keys that run the simulation, and those of Studio that change only what is shown."""

from collections.abc import Callable
from typing import Protocol

from mujoco.studio import app as studio
from mujoco.studio import ux
from mujoco.studio.app import inputs
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.viewer.link import SimulatorLink


class RunStateControl(Protocol):
    """What keys need to know of the simulation at this moment, see `SharedState`."""

    @property
    def paused(self) -> bool:
        """Whether it stands."""

    @property
    def factor(self) -> float:
        """Simulated seconds per wall second, as asked for; 0 is as fast as possible."""


def _toggle(link: SimulatorLink, state: RunStateControl) -> None:
    link.play() if state.paused else link.pause()


def _step(link: SimulatorLink, state: RunStateControl) -> None:
    if state.paused:
        link.step()


def _speed(link: SimulatorLink, state: RunStateControl, ratio: float) -> None:
    if state.factor > 0.0:
        link.set_speed(state.factor * ratio)


RUNNING: dict[imgui.Key, Callable[[SimulatorLink, RunStateControl], object]] = {
    imgui.Key.Space: _toggle,
    imgui.Key.RightArrow: _step,
    imgui.Key.Backspace: lambda link, _: link.reset("time", "state"),
    imgui.Key.Minus: lambda link, state: _speed(link, state, 0.5),
    imgui.Key.Equal: lambda link, state: _speed(link, state, 2.0),
}
"""What a key does to the simulation: Studio's keys, over ROS."""


def handle_keys(app: studio.App, link: SimulatorLink, state: RunStateControl) -> None:
    """Do what the key that is pressed now means; keys that are typed into a field mean nothing.

    Args:
        app: What is shown, and how.
        link: What runs the simulation.
        state: What it does at this moment; services tell that later.
    """
    if imgui.GetIO().WantCaptureKeyboard:
        return
    for key, act in RUNNING.items():
        if imgui.IsKeyChordPressed(key):
            act(link, state)
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
