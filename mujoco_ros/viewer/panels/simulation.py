"""The panel "Simulation": what it does, how fast, and running it."""

import time

from mujoco.studio.dear_imgui import dear_imgui as imgui

from mujoco_ros.sim.shared_memory.reader import SharedState
from mujoco_ros.viewer.docks import DockPlace
from mujoco_ros.viewer.link import Request, SimulatorLink, ViewerRunState, is_replay
from mujoco_ros.viewer.panels.achieved import AchievedFactor
from mujoco_ros.viewer.panels.panel import Panel
from mujoco_ros.viewer.panels.widgets import (
    BAD,
    FILL,
    GOOD,
    WARNING,
    Column,
    answer,
    button,
    cell,
    choose,
    share,
    table,
    text,
)

SPEEDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 0.0)
"""Factors to choose from; 0 is as fast as possible."""

_RUNNING = (ViewerRunState.PLAYING, ViewerRunState.PAUSED)
_COLOURS = {ViewerRunState.PLAYING: GOOD, ViewerRunState.PAUSED: WARNING}
_FORM = (Column("label"), Column("value", 1.0))


class SimulationPanel(Panel):
    """Time, speed, pause, steps, resets and keyframes, and the answer to what was asked last."""

    title = "Simulation"
    place = DockPlace.LEFT

    def __init__(self, state: SharedState, link: SimulatorLink) -> None:
        """Show `state`, and act through `link`."""
        super().__init__(state, link)
        self._achieved = AchievedFactor()
        self._steps = 1
        self._keyframe = ""
        self._saves: list[tuple[str, Request]] = []

    @property
    def run_state(self) -> ViewerRunState:
        """What the simulation does; whether it stands is known sooner than its services tell."""
        if self.link.run_state not in _RUNNING:
            return self.link.run_state
        return ViewerRunState.PAUSED if self.state.paused else ViewerRunState.PLAYING

    @property
    def keyframes(self) -> list[str]:
        """Names of the model's keyframes, and of those that were saved here."""
        model = self.state.model
        names = [model.key(key).name or f"key{key}" for key in range(model.nkey)]
        return list(dict.fromkeys([*names, *(name for name, save in self._saves if save.ok)]))

    def update(self) -> None:
        """Take notice of the time."""
        self._achieved.note(time.monotonic(), self.state.time)

    def build(self) -> None:
        """Build what there is to see, and under it what can be done."""
        self._build_state()
        imgui.SeparatorText("Run")
        self._build_running()
        imgui.SeparatorText("Keyframe")
        if is_replay(self.link):
            text("A replay has no keyframes.")
        else:
            self._build_keyframes()
        if self.link.requests:
            imgui.Separator()
            answer(self.link.requests[-1])

    def _build_state(self) -> None:
        run_state, achieved = self.run_state, self._achieved.value
        if not self.link.reachable:
            text(f"{self.link.simulator} does not answer", BAD)
        elif run_state is ViewerRunState.PLAYING and achieved is not None:
            text(f"{run_state.value} at {achieved:.2f}x", GOOD)
        else:
            text(run_state.value, _COLOURS.get(run_state, BAD))
        step_ms = 1e3 * self.state.model.opt.timestep
        text(f"{self.state.time:.3f} s, in steps of {step_ms:g} ms")

    def _build_running(self) -> None:
        paused = self.run_state is ViewerRunState.PAUSED
        half = share(2)
        if paused:
            if button("Play", width=half, tip="Space"):
                self.link.play()
        elif button("Pause", width=half, tip="Space"):
            self.link.pause()
        imgui.SameLine()
        if button("Step", width=half, enabled=paused, tip="Make the steps below\nwhile paused"):
            self.link.step(self._steps)
        if button("Reset", width=half, tip="Time and state;\nwhat was spawned stays"):
            self.link.reset("time", "state")
        imgui.SameLine()
        if button("Reset all", width=half, tip="Time and state;\nwhat was spawned is removed"):
            self.link.reset()
        with table("running", _FORM, headed=False) as is_open:
            if is_open:
                self._build_settings()

    def _build_settings(self) -> None:
        imgui.TableNextRow()
        cell("Speed")
        cell()
        imgui.SetNextItemWidth(FILL)
        labels = {speed_label(factor): factor for factor in SPEEDS}
        chosen = choose("##speed", speed_label(self.state.factor), list(labels))
        if chosen is not None:
            self.link.set_speed(labels[chosen])
        imgui.TableNextRow()
        cell("Steps")
        cell()
        imgui.SetNextItemWidth(FILL)
        _, steps = imgui.InputInt("##steps", self._steps)
        self._steps = min(max(steps, 1), 1_000_000)

    def _build_keyframes(self) -> None:
        imgui.SetNextItemWidth(FILL)
        _, self._keyframe = imgui.InputTextWithHint("##keyframe", "name", self._keyframe)
        third, name = share(3), self._keyframe.strip()
        if button("Save", width=third, enabled=bool(name), tip="Keep the present state"):
            self._saves = [(other, save) for other, save in self._saves if other != name]
            self._saves.append((name, self.link.save_keyframe(name)))
        imgui.SameLine()
        if button("Load", width=third, enabled=bool(name), tip="Return to a state"):
            self.link.load_keyframe(name)
        imgui.SameLine()
        imgui.SetNextItemWidth(FILL)
        chosen = choose("##keyframes", "Known", self.keyframes)
        if chosen is not None:
            self._keyframe = chosen


def speed_label(factor: float) -> str:
    """Return how a factor is written: 1x is as fast as the world, 0 as fast as possible."""
    return f"{factor:g}x" if factor > 0.0 else "as fast as possible"
