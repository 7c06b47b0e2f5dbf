"""The panel "Simulation": run state, speed, resets, keyframes and the model's file."""

import time
from collections.abc import Hashable
from functools import partial

from mujoco_ros.viewer.achieved_factor import AchievedFactor
from mujoco_ros.viewer.clients import PAUSED, PLAYING, Request
from mujoco_ros.viewer.page import widgets
from mujoco_ros.viewer.page.formats import format_speed
from mujoco_ros.viewer.page.panel import Area, Panel
from mujoco_ros.viewer.page.request_result import RequestResult
from mujoco_ros.viewer.page.run_button import TONES, RunButton
from mujoco_ros.viewer.page.session import Session

_SPEEDS = (0.01, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 0.0)
"""Real-time factors to select; 0 is as fast as possible."""
_KNOWN = "Known"
_MOST_STEPS = 1_000_000


class SimulationPanel(Panel):
    """Time, speed, pause, steps, resets and keyframes, and the result of the latest request."""

    title = "Simulation"
    area = Area.LEFT

    def __init__(self, session: Session) -> None:
        super().__init__(session)
        self._simulation = session.clients.simulation
        self._achieved = AchievedFactor()
        self._steps, self._keyframe, self._file = 1, "", "model.xml"
        self._saves: list[tuple[str, Request]] = []

    @property
    def keyframes(self) -> list[str]:
        """Names of the model's keyframes and of those saved here."""
        model = self.state.model
        names = [model.key(key).name or f"key{key}" for key in range(model.nkey)]
        return list(dict.fromkeys([*names, *(name for name, save in self._saves if save.ok)]))

    def structure(self) -> Hashable:
        return self.is_replay

    def update(self) -> None:
        self._achieved.add(time.monotonic(), self.state.peek()[0])

    def build(self) -> None:
        with widgets.row():
            self._status = widgets.text(strong=True)
            self._time = widgets.figure()
        self._step_size = widgets.text(tone="muted")
        with widgets.section("Run"):
            self._build_run_controls()
        with widgets.section("Keyframe"):
            if self.is_replay:
                widgets.text("A replay has no keyframes.", "muted")
            else:
                self._build_keyframes()
        self._result = RequestResult()

    def refresh(self) -> None:
        status, achieved = self._run.status, self._achieved.value
        words = status or f"{self.clients.parameters.simulator} does not respond"
        if status == PLAYING and achieved is not None:
            words += f" at {achieved:.2f}×"
        self._status.set(text=words, tone=TONES.get(status, "bad"))
        self._time.set(text=f"{self.state.peek()[0]:.3f} s")
        self._step_size.set(text=f"in steps of {1e3 * self.state.model.opt.timestep:g} ms")
        self._run.refresh()
        self._step.enable(status == PAUSED)
        speed, speeds = format_speed(self.state.factor), list(map(format_speed, _SPEEDS))
        self._speed.set(items=speeds if speed in speeds else [*speeds, speed], value=speed)
        if not self.is_replay:
            for needs_name in (self._save, self._load):
                needs_name.enable(bool(self._keyframe.strip()))
            saved = [name for name, save in self._saves if save.ok]
            self._delete.enable(self._keyframe.strip() in saved)
            self._save_model.enable(bool(self._file.strip()))
            self._known.set(items=[_KNOWN, *self.keyframes])
        self._result.show(self.clients.latest_request())

    def _build_run_controls(self) -> None:
        with widgets.row():
            self._run = RunButton(self.session, look="main")
            self._step = widgets.button(
                "Step",
                lambda: self._simulation.step(self._steps),
                tip="Make the steps below while paused",
            )
            widgets.button(
                "Reset",
                lambda: self._simulation.reset("time", "state"),
                tip="Time and state; spawned entities remain",
            )
            if not self.is_replay:  # which has nothing else to reset
                tip = "Time and state; spawned entities go"
                widgets.button("Reset all", self._simulation.reset, tip=tip)
        with widgets.line("Speed"):
            self._speed = widgets.choice("Speed", [], "", self._set_speed)
        with widgets.line("Steps"):
            steps, set_steps = self._steps, self._set_steps
            widgets.number_field("Steps", steps, set_steps, low=1, high=_MOST_STEPS, step=1)

    def _build_keyframes(self) -> None:
        with widgets.row():
            name, set_name = self._keyframe, partial(setattr, self, "_keyframe")
            self._name = widgets.text_field(
                "Keyframe", set_name, value=name, placeholder="name", eager=True
            )
            self._known = widgets.choice("Known keyframes", [_KNOWN], _KNOWN, self._select_keyframe)
        with widgets.row():
            self._save = widgets.button("Save", self._save_keyframe, tip="Save the current state")
            self._load = widgets.button(
                "Load",
                lambda: self._simulation.load_keyframe(self._keyframe.strip()),
                tip="Return to a saved state",
            )
            self._delete = widgets.button(
                "Delete", self._delete_keyframe, tip="Delete the saved state of this name"
            )
        with widgets.row():
            widgets.text_field(
                "Model file",
                partial(setattr, self, "_file"),
                value=self._file,
                placeholder="model.xml",
                eager=True,
            )
            self._save_model = widgets.button(
                "Save model",
                lambda: self._simulation.save_model(self._file.strip()),
                tip="The present model with keyframes: .xml, .mjb, .txt with data, .urdf",
            )

    def _set_speed(self, label: str) -> None:
        factors = {format_speed(factor): factor for factor in _SPEEDS}
        if label in factors:
            self._simulation.set_speed(factors[label])

    def _set_steps(self, steps: float) -> None:
        self._steps = min(max(round(steps), 1), _MOST_STEPS)

    def _select_keyframe(self, name: str) -> None:
        if name != _KNOWN:
            self._keyframe = name
            self._name.set(value=name)

    def _delete_keyframe(self) -> None:
        name = self._keyframe.strip()
        self._saves = [(other, save) for other, save in self._saves if other != name]
        self._simulation.delete_keyframe(name)

    def _save_keyframe(self) -> None:
        name = self._keyframe.strip()
        self._saves = [(other, save) for other, save in self._saves if other != name]
        self._saves.append((name, self._simulation.save_keyframe(name)))
