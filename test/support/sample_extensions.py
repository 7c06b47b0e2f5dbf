"""Extensions of a package outside of the repository, in tests."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.settings import setting
from mujoco_ros.model.errors import UserInputError

ENTRY_POINTS = """
[mujoco_ros.extensions]
push = sample_extensions:Push
idle = sample_extensions:Idle
fault = sample_extensions:Fault
missing = sample_extensions:Missing
no_extension = sample_extensions:PushSettings
open_bounds = sample_extensions:OpenBounds
"""


@dataclass(frozen=True)
class PushSettings:
    """The settings of `Push`."""

    body: str = setting("link_1", "Body that is pushed")
    force: float = setting(1.0, "Standard deviation of the force [N]", low=0.0, high=100.0)
    direction: tuple[float, ...] = setting((1.0, 0.0, 0.0), "Direction", low=-1.0, high=1.0)
    shape: str = setting("walk", "Kind of the force", choices=("walk", "constant"))

    def __post_init__(self) -> None:
        if not any(self.direction):
            raise UserInputError("'direction' must not be zero")


class Push(Extension):
    """Pushes a body with a force that is a random walk, and counts its calls."""

    Settings = PushSettings
    initial_state: ClassVar = {"force": [0.5], "calls": [0.0, 0.0]}
    settings: PushSettings
    resets = 0

    def set_up(self) -> None:
        self.row = self.data.xfrc_applied[self.elements.id("body", self.settings.body)]

    def before_step(self) -> None:
        self.state["calls"][0] += 1
        if self.settings.shape == "walk":
            self.state["force"] += 0.1 * self.settings.force * self.random.standard_normal()
        self.row[:3] = self.state["force"] * np.array(self.settings.direction)

    def after_step(self) -> None:
        self.state["calls"][1] += 1

    def reset(self) -> None:
        self.resets += 1


class Idle(Extension):
    """Does nothing before each step."""

    def before_step(self) -> None:
        pass


@dataclass(frozen=True)
class FaultSettings:
    """The setting of `Fault`."""

    how: str = setting("", "What it does wrong")
    where: str = setting("before_step", "In which method")


class Fault(Extension):
    """Does something wrong, if its settings ask for it."""

    Settings = FaultSettings
    initial_state: ClassVar = {"level": [0.0]}
    settings: FaultSettings

    def set_up(self) -> None:
        if self.settings.where == "set_up":
            self._do()

    def before_step(self) -> None:
        if self.settings.where == "before_step":
            self._do()

    def after_step(self) -> None:
        if self.settings.where == "after_step":
            self._do()

    def settings_changed(self) -> None:
        if self.settings.where == "settings_changed":
            self._do()

    def reset(self) -> None:
        if self.settings.where == "reset":
            self._do()

    def release(self) -> None:
        if self.settings.where == "release":
            self._do()

    def _do(self) -> None:
        data: Any = self.data
        if not self.settings.how:
            return
        data.qfrc_applied[0] = 7.0  # must not remain
        self.state["level"][0] = 7.0
        match self.settings.how:
            case "raise":
                raise RuntimeError("broken")
            case "exit":
                raise SystemExit(3)
            case "interrupt":
                raise KeyboardInterrupt
            case "nan":
                data.ctrl[:] = np.nan
            case "huge":
                data.qvel[:] = 1e200
            case "shape":
                data.qpos[:] = np.zeros(len(data.qpos) + 1)
            case "state":
                self.state["level"][0] = np.inf


@dataclass(frozen=True)
class OpenSettings:
    """Settings with a number without bounds."""

    force: float = setting(1.0, "Force [N]")


class OpenBounds(Extension):
    """An extension with wrong settings."""

    Settings = OpenSettings
