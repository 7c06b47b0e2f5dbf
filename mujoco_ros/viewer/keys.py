"""Keys and mouse: they control the simulation and the display, and drag bodies."""

from collections.abc import Callable, Iterator

import mujoco
import numpy as np
from mujoco.studio import app as studio
from mujoco.studio import ux
from mujoco.studio.app import inputs
from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.control.pull import Pull
from mujoco_ros.model.robot.body_frames import MocapBody, can_move, mocap_bodies, named_frames
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.clients import CommandClient, SimulationClient
from mujoco_ros.viewer.docks import DOCKS
from mujoco_ros.viewer.panels import widgets


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
    """Handle the pressed key, unless a text field takes it; `state` is newer than the services."""
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


TITLE = "Keys and mouse"
KEYS = (
    ("rotate the view", "drag with the left button"),
    ("shift the view", "drag with the right button"),
    ("zoom", "wheel, or drag with the middle button"),
    (
        "centre the view on a point",
        "double-click it with the right button; with Ctrl, the camera follows the body, as by the "
        "check box Follow in World",
    ),
    ("switch to a camera of the model", "View, or [ and ]; Esc returns"),
    ("select a body", "double-click it"),
    ("rotate the selected body", "Ctrl + drag with the left button; with Shift, about other axes"),
    (
        "pull it; while paused, move it",
        "Ctrl + drag with the right button; with Shift, in the horizontal plane",
    ),
    ("play, pause", "Space"),
    ("one step, while paused", "Right arrow"),
    (
        "show a past state",
        "the bar below the scene, or Left arrow; Right arrow goes forth, Esc returns",
    ),
    ("reset time and state", "Backspace"),
    ("half or double speed", "-, ="),
    (
        "show contacts, forces, joints, …",
        "the letters of Studio: C, F, J, …; groups of geoms: 0 to 5",
    ),
    ("show these keys", "? or F1; Esc closes"),
)
"""What to do, and how."""
_OPENING = (int(imgui.Key.Slash) | int(imgui.Key.Shift), int(imgui.Key.F1))
"""``?`` on most keyboards, and F1."""
_COLUMNS = (("To", 0.0), ("Do", 1.0))
_SIZE = (760.0, 520.0)


class KeyHelp:
    """A window that a key or the menu opens, and Escape closes."""

    def __init__(self) -> None:
        self.is_open = False  # whether it is open

    def handle_keys(self) -> bool:
        """Open or close it by a pressed key; return whether one was."""
        if imgui.GetIO().WantCaptureKeyboard:
            return False
        if any(imgui.IsKeyChordPressed(key) for key in _OPENING):
            self.is_open = not self.is_open
            return True
        if self.is_open and widgets.is_escape_pressed():
            self.is_open = False
            return True
        return False

    def build(self) -> None:
        """Build the window, if it is open."""
        if not self.is_open:
            return
        page = imgui.GetIO().DisplaySize
        width, height = min(_SIZE[0], page.x), min(_SIZE[1], page.y)
        middle = imgui.Vec2(0.5 * page.x, 0.5 * page.y)
        imgui.SetNextWindowPos(middle, int(imgui.Cond.Appearing), imgui.Vec2(0.5, 0.5))
        imgui.SetNextWindowSize(imgui.Vec2(width, height), int(imgui.Cond.Appearing))
        with DOCKS.window(TITLE, closable=True) as (is_visible, self.is_open):
            if is_visible:
                self._build_table()

    def _build_table(self) -> None:
        with widgets.table("keys", _COLUMNS, height=-1.0) as is_open:
            for purpose, keys in KEYS if is_open else ():
                imgui.TableNextRow()
                widgets.cell(purpose)
                imgui.TableNextColumn()
                widgets.text(keys)


_FREE = int(mujoco.mjtJoint.mjJNT_FREE)
_ROTATE = int(mujoco.mjtPertBit.mjPERT_ROTATE)


class MousePerturbation:
    """Sends pulls and poses to the simulator, which computes the forces."""

    def __init__(self, commands: CommandClient) -> None:
        self._commands = commands
        self._mocap: dict[int, MocapBody] = {}
        self._frames: dict[int, str] = {}
        self._free: dict[int, tuple[str, int]] = {}
        self._is_pulling = False

    def attach(self, model: mujoco.MjModel, layout: ModelLayout) -> None:
        """End the pull and act on another model."""
        self.release()
        self._mocap = {mocap.body: mocap for mocap in mocap_bodies(model, layout)}
        self._frames = {}
        for place in named_frames(model, layout).values():
            is_body = not place.position.any() and tuple(place.quat_wxyz) == (1.0, 0.0, 0.0, 0.0)
            if is_body and can_move(model, place.body):
                self._frames.setdefault(place.body, place.frame)
        self._free = dict(self._free_roots(model))

    def apply(
        self,
        model: mujoco.MjModel,
        data: mujoco.MjData,
        perturb: mujoco.MjvPerturb,
        *,
        paused: bool = False,
    ) -> None:
        """Pull, move or release the selected body; a body that moves does so in `data` too.

        Free bodies, and robots with a floating base, move while the simulation is `paused`; no
        force would.
        """
        if perturb.active and (mocap := self._mocap.get(perturb.select)):
            self.release()
            mujoco.mjv_applyPerturbPose(model, data, perturb, 0)
            position, quat = data.mocap_pos[mocap.mocap], data.mocap_quat[mocap.mocap]
            self._commands.move_mocap(mocap.namespace, mocap.name, position.copy(), quat.copy())
        elif perturb.active and paused and (free := self._free.get(perturb.select)):
            self.release()
            mujoco.mjv_applyPerturbPose(model, data, perturb, 1)
            root, q = free
            self._commands.set_pose(root, data.qpos[q : q + 3], data.qpos[q + 3 : q + 7])
        elif perturb.active and (frame := self._frames.get(perturb.select)):
            self._pull(frame, model, perturb)
        else:
            self.release()

    def release(self) -> None:
        """End the pull."""
        if self._is_pulling:
            self._commands.release()
            self._is_pulling = False

    def _free_roots(self, model: mujoco.MjModel) -> Iterator[tuple[int, tuple[str, int]]]:
        """Yield each body below a free joint, with the frame and the qpos address of the root."""
        for body in range(1, model.nbody):
            root = int(model.body_rootid[body])
            joint = int(model.body_jntadr[root])
            if joint >= 0 and model.jnt_type[joint] == _FREE and root in self._frames:
                yield body, (self._frames[root], int(model.jnt_qposadr[joint]))

    def _pull(self, frame: str, model: mujoco.MjModel, perturb: mujoco.MjvPerturb) -> None:
        # MuJoCo's perturbation turns the inertial frame; the pull turns the body frame.
        inverse, quat = np.zeros((2, 4))
        mujoco.mju_negQuat(inverse, model.body_iquat[perturb.select])
        mujoco.mju_mulQuat(quat, perturb.refquat, inverse)
        self._is_pulling = True
        self._commands.pull(
            frame,
            Pull(
                turns=bool(perturb.active & _ROTATE),
                point=perturb.localpos.copy(),
                position=perturb.refselpos.copy(),
                quat_wxyz=quat,
            ),
        )
