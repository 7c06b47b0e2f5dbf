"""Extensions with engine hooks, in tests."""

from dataclasses import dataclass
from typing import Any, ClassVar

import mujoco
import numpy as np
from every_hook import EveryHook

from mujoco_ros.extensions.interface import Extension
from mujoco_ros.extensions.settings import setting


@dataclass(frozen=True)
class DampSettings:
    """The setting of `Damp`."""

    damping: float = setting(0.5, "Damping of each joint [Nms/rad]", low=0.0, high=100.0)


class Damp(Extension):
    """Viscous friction, as a passive force."""

    Settings = DampSettings
    settings: DampSettings

    def passive(self, data: Any, force: np.ndarray) -> None:
        force[:] = -self.settings.damping * data.qvel[self.elements.dofs]


class Double(Extension):
    """Doubles the controls, and then adds one."""

    def control(self, data: Any, ctrl: np.ndarray) -> None:
        ctrl[:] = 2.0 * ctrl + 1.0


class Measure(Extension):
    """Readings of user sensors in each stage."""

    def sensor(self, data: Any, stage: int, readings: Any) -> None:
        for values in readings.values():
            values[:] = (stage, data.qpos[0], data.qvel[0], data.qacc[0])[: len(values)]


class Muscle(Extension):
    """The laws of an actuator of the type ``user``: a first-order lag with a gain and a bias."""

    def act_dyn(self, data: Any, actuator: int) -> float:
        return float(20.0 * (data.ctrl[actuator] - data.act[0]))

    def act_gain(self, data: Any, actuator: int) -> float:
        return 3.0

    def act_bias(self, data: Any, actuator: int) -> float:
        return -0.25


@dataclass(frozen=True)
class BadHookSettings:
    """The settings of `BadHook`."""

    kind: str = setting("passive", "The hook")
    how: str = setting("", "What it does wrong")


class _BadFloat(float):
    def __float__(self) -> float:
        raise RuntimeError("in float")


class BadHook(EveryHook):
    """Hooks that do something wrong."""

    Settings = BadHookSettings
    initial_state: ClassVar = {"level": [0.0]}
    settings: BadHookSettings

    def do(self, where: str, array: Any = None) -> Any:
        if where != self.settings.kind:
            return None
        match self.settings.how:
            case "raise":
                raise RuntimeError("broken")
            case "exit":
                raise SystemExit(3)
            case "interrupt":
                raise KeyboardInterrupt
            case "nan" if array is None:
                return float("nan")
            case "nan":
                array[-1] = np.nan
            case "shape" if array is None:
                return np.zeros(3)
            case "shape":
                array[:] = np.zeros(len(array) + 1)
            case "return":
                return "text"
            case "float":
                return _BadFloat(1.0)
            case "state":
                self.data.qvel[:] = np.inf
        return None


@dataclass(frozen=True)
class GhostSettings:
    """The setting of `Ghost`."""

    geom: str = setting("", "Geom without contacts; empty for none")


class Ghost(Extension):
    """Discards the contacts of a geom, and notes for which it was asked."""

    Settings = GhostSettings
    settings: GhostSettings

    def set_up(self) -> None:
        self.asked: set[tuple[int, int]] = set()

    def contact_filter(self, data: Any, geom1: int, geom2: int) -> bool:
        self.asked.add((geom1, geom2))
        ghost = self.elements.id("geom", self.settings.geom) if self.settings.geom else -1
        return ghost in (geom1, geom2)


class Ticks(Extension):
    """A clock that counts its readings."""

    def set_up(self) -> None:
        self.readings = 0

    def time(self) -> float:
        self.readings += 1
        return float(self.readings)


class Nested(Extension):
    """Evaluates its own model within a hook."""

    calls = 0

    def control(self, data: Any, ctrl: np.ndarray) -> None:
        self.calls += 1
        mujoco.mj_passive(self.model, data)
        mujoco.mj_sensorPos(self.model, data)

    def sensor(self, data: Any, stage: int, readings: Any) -> None:
        for values in readings.values():
            values[:] = 1.0
