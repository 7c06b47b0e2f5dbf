"""The panel "Simulation": run state, speed, resets and keyframes."""

import time

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer import style
from mujoco_ros.viewer.achieved_factor import AchievedFactor
from mujoco_ros.viewer.client_set import Clients
from mujoco_ros.viewer.clients import PAUSED, PLAYING, Request, is_replay, run_status
from mujoco_ros.viewer.docks import DockArea
from mujoco_ros.viewer.panels import widgets
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import format_speed

_SPEEDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 0.0)
"""Real-time factors to select; 0 is as fast as possible."""
_COLOURS = {PLAYING: style.GOOD, PAUSED: style.WARNING}
_FORM = (("label", 0.0), ("value", 1.0))


class SimulationPanel(Panel):
    """Time, speed, pause, steps, resets and keyframes, and the result of the latest request."""

    title = "Simulation"
    area = DockArea.LEFT

    def __init__(self, state: SharedState, clients: Clients) -> None:
        super().__init__(state)
        self._clients, self._simulation = clients, clients.simulation
        self._achieved = AchievedFactor()
        self._steps = 1
        self._keyframe = ""
        self._saves: list[tuple[str, Request]] = []

    @property
    def status(self) -> str:
        return run_status(self._simulation, paused=self.state.paused)

    @property
    def keyframes(self) -> list[str]:
        """Names of the model's keyframes and of those saved here."""
        model = self.state.model
        names = [model.key(key).name or f"key{key}" for key in range(model.nkey)]
        return list(dict.fromkeys([*names, *(name for name, save in self._saves if save.ok)]))

    def update(self) -> None:
        self._achieved.add(time.monotonic(), self.state.peek()[0])

    def build(self) -> None:
        self._build_state()
        imgui.SeparatorText("Run")
        self._build_run_controls()
        imgui.SeparatorText("Keyframe")
        if is_replay(self._clients.parameters):
            widgets.text("A replay has no keyframes.")
        else:
            self._build_keyframes()
        if (request := self._clients.latest_request()) is not None:
            imgui.Separator()
            widgets.request_result(request)

    def _build_state(self) -> None:
        status, achieved = self.status, self._achieved.value
        if not status:
            widgets.text(f"{self._clients.parameters.simulator} does not respond", style.BAD)
        elif status == PLAYING and achieved is not None:
            widgets.text(f"{status} at {achieved:.2f}x", style.GOOD)
        else:
            widgets.text(status, _COLOURS.get(status, style.BAD))
        step_ms = 1e3 * self.state.model.opt.timestep
        widgets.text(f"{self.state.time:.3f} s, in steps of {step_ms:g} ms")

    def _build_run_controls(self) -> None:
        is_paused = self.status == PAUSED
        half = widgets.equal_width(2)
        if is_paused:
            if widgets.button("Play", width=half, tip="Space"):
                self._simulation.play()
        elif widgets.button("Pause", width=half, tip="Space"):
            self._simulation.pause()
        imgui.SameLine()
        if widgets.button(
            "Step", width=half, enabled=is_paused, tip="Make the steps below\nwhile paused"
        ):
            self._simulation.step(self._steps)
        if widgets.button("Reset", width=half, tip="Time and state;\nspawned entities remain"):
            self._simulation.reset("time", "state")
        imgui.SameLine()
        if widgets.button(
            "Reset all", width=half, tip="Time and state;\nspawned entities are removed"
        ):
            self._simulation.reset()
        with widgets.table("running", _FORM, headed=False) as is_open:
            if is_open:
                self._build_settings()

    def _build_settings(self) -> None:
        imgui.TableNextRow()
        widgets.cell("Speed")
        widgets.cell()
        imgui.SetNextItemWidth(style.FILL)
        labels = {format_speed(factor): factor for factor in _SPEEDS}
        selected = widgets.combo("##speed", format_speed(self.state.factor), list(labels))
        if selected is not None:
            self._simulation.set_speed(labels[selected])
        imgui.TableNextRow()
        widgets.cell("Steps")
        widgets.cell()
        imgui.SetNextItemWidth(style.FILL)
        _, steps = imgui.InputInt("##steps", self._steps)
        self._steps = min(max(steps, 1), 1_000_000)

    def _build_keyframes(self) -> None:
        imgui.SetNextItemWidth(style.FILL)
        _, self._keyframe = imgui.InputTextWithHint("##keyframe", "name", self._keyframe)
        third, name = widgets.equal_width(3), self._keyframe.strip()
        if widgets.button("Save", width=third, enabled=bool(name), tip="Save the current state"):
            self._saves = [(other, save) for other, save in self._saves if other != name]
            self._saves.append((name, self._simulation.save_keyframe(name)))
        imgui.SameLine()
        if widgets.button("Load", width=third, enabled=bool(name), tip="Return to a saved state"):
            self._simulation.load_keyframe(name)
        imgui.SameLine()
        imgui.SetNextItemWidth(style.FILL)
        selected = widgets.combo("##keyframes", "Known", self.keyframes)
        if selected is not None:
            self._keyframe = selected
