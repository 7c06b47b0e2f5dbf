"""An extension with all engine hooks, in tests."""

from typing import Any

import numpy as np

from mujoco_ros.extensions.interface import Extension


class EveryHook(Extension):
    """Its hooks do what `do` does."""

    def do(self, where: str, array: Any = None) -> Any:
        """Act in a hook or method, which has an array or returns the result."""

    def passive(self, data: Any, force: np.ndarray) -> Any:
        return self.do("passive", force)

    def control(self, data: Any, ctrl: np.ndarray) -> Any:
        return self.do("control", ctrl)

    def sensor(self, data: Any, stage: int, readings: Any) -> Any:
        return self.do("sensor", next(iter(readings.values())))

    def act_dyn(self, data: Any, actuator: int) -> Any:
        return self.do("act_dyn")

    def act_gain(self, data: Any, actuator: int) -> Any:
        return self.do("act_gain")

    def act_bias(self, data: Any, actuator: int) -> Any:
        return self.do("act_bias")

    def contact_filter(self, data: Any, geom1: int, geom2: int) -> Any:
        return self.do("contact_filter")

    def time(self) -> Any:
        return self.do("time")
