"""The real-time factor and the bound on catching up, as parameters."""

from collections.abc import Mapping
from typing import Any

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.parameters.parameters import Command
from mujoco_ros.wire.parameter_spec import ParameterSpec

_FACTOR, _CATCH_UP = "real_time_factor", "catch_up_limit"


class PaceParameters(Component):
    """Sets the pace of the physics thread."""

    parameters = (
        ParameterSpec(
            _FACTOR,
            1.0,
            "Simulated seconds per wall second; 0 is as fast as possible",
            low=0.0,
            high=1000.0,
            least=0.001,
        ),
        ParameterSpec(
            _CATCH_UP,
            0.05,
            "Largest lag behind the wall clock that is caught up [s]; a larger lag is dropped and "
            "counted",
            low=0.0,
            high=10.0,
        ),
    )

    def __init__(self, context: NodeContext) -> None:
        """Keep the timestep of the pacer that of the simulation."""
        self._pacer = context.pacer
        context.simulation.on_timestep.append(self._set_timestep)

    def apply_parameters(self, values: Mapping[str, Any]) -> Command | None:
        """Return the command that sets the pace."""
        if values.keys().isdisjoint((_FACTOR, _CATCH_UP)):
            return None
        return lambda: self._set(values)

    def _set(self, values: Mapping[str, Any]) -> None:
        self._pacer.factor = values.get(_FACTOR, self._pacer.factor)
        self._pacer.catch_up_s = values.get(_CATCH_UP, self._pacer.catch_up_s)

    def _set_timestep(self, timestep: float) -> None:
        self._pacer.set_timestep(timestep)
