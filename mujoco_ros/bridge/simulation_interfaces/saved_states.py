"""Services that save and load keyframes, and that return to a past state."""

from collections.abc import Callable

from std_srvs.srv import Trigger

from mujoco_ros.bridge.component import Component, NodeContext
from mujoco_ros.bridge.simulation_interfaces.resetting import rewinds
from mujoco_ros.rclpy_ext.service import Responder, Service
from mujoco_ros.sim.state.snapshots import Keyframes
from mujoco_ros.wire.parameter_spec import ParameterSpec


class SavedStateServices(Component):
    """Saves and loads the keyframe ``active_keyframe``; loads the past state ``history_time``."""

    parameters = (
        ParameterSpec(
            "active_keyframe",
            "saved",
            "Keyframe that ~/save_keyframe saves and ~/load_keyframe loads: one of the model, or "
            "any other name",
            longest=200,
        ),
        ParameterSpec(
            "history_time",
            0.0,
            "Simulated time of the past state that ~/load_past_state loads [s]; that is the last "
            "one not later than it",
            low=0.0,
            high=1e9,
        ),
    )

    def __init__(self, context: NodeContext, load_past: Callable[[float, bool], float]) -> None:
        """Serve them; `load_past` is `SegmentWriter.load_past`."""
        self._values, self._run = context.values, context.run
        self._commands, self._load_past = context.simulation.commands, load_past
        self._keyframes = Keyframes(context.simulation)
        Service(context.node, Trigger, "~/save_keyframe", self._save)
        Service(context.node, Trigger, "~/load_keyframe", self._load)
        Service(context.node, Trigger, "~/load_past_state", self._return)

    def _save(self, _request: Trigger.Request, responder: Responder) -> None:
        name = self._values["active_keyframe"]
        responder.run(
            self._commands,
            lambda: self._keyframes.save(name),
            lambda time: responder.succeed(f"saved '{name}' at {time:.6f} s"),
        )

    def _load(self, _request: Trigger.Request, responder: Responder) -> None:
        name, rewind = self._values["active_keyframe"], rewinds(self._values)

        def load() -> float:
            time = self._keyframes.load(name, rewind=rewind)
            self._run.end_steps("a keyframe was loaded")
            self._run.leave_start()
            return time

        responder.run(
            self._commands,
            load,
            lambda time: responder.succeed(f"loaded '{name}'; the time is {time:.6f} s"),
        )

    def _return(self, _request: Trigger.Request, responder: Responder) -> None:
        wanted, rewind = self._values["history_time"], rewinds(self._values)

        def load() -> float:
            time = self._load_past(wanted, rewind)
            self._run.pause()
            return time

        responder.run(
            self._commands,
            load,
            lambda time: responder.succeed(f"paused in the state of {time:.6f} s"),
        )
