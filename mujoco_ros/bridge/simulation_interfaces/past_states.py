"""Service that returns to a past state."""

from typing import Protocol

from std_srvs.srv import Trigger

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.simulation_interfaces.resetting import rewinds
from mujoco_ros.rclpy_ext.service import Responder, Service
from mujoco_ros.wire.parameter_spec import ParameterSpec


class LoadPast(Protocol):
    """Returns to the last past state not later than `time` [s]; see `PastRows.load`."""

    def __call__(self, time: float, *, rewind: bool) -> float:
        """Return the time of the state [s]."""


class PastStateService(Component):
    """Serves ``~/load_past_state``, which loads the state of the parameter ``history_time``."""

    parameters = (
        ParameterSpec(
            "history_time",
            0.0,
            "Simulated time of the past state that ~/load_past_state loads [s]; that is the last "
            "one not later than it",
            low=0.0,
            high=1e9,
        ),
    )

    def __init__(self, context: NodeContext, load: LoadPast) -> None:
        """Open the service."""
        self._values, self._run = context.values, context.run
        self._commands, self._load_past = context.simulation.commands, load
        Service(context.node, Trigger, "~/load_past_state", self._load)

    def _load(self, _request: Trigger.Request, responder: Responder) -> None:
        wanted, rewind = self._values["history_time"], rewinds(self._values)

        def load() -> float:
            time = self._load_past(wanted, rewind=rewind)
            self._run.pause()
            return time

        responder.run(
            self._commands,
            load,
            lambda time: responder.succeed(f"paused in the state of {time:.6f} s"),
        )
