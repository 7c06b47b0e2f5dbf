"""Services that save and load keyframes."""

from collections.abc import Mapping
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from mujoco_ros.bridge.component import Component
from mujoco_ros.bridge.parameters.parameter_spec import ParameterSpec
from mujoco_ros.bridge.rclpy_ext.service import Responder, Service
from mujoco_ros.bridge.simulation_interfaces.run_control import REWIND
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.keyframes import Keyframes
from mujoco_ros.sim.stepping.run_control import RunControl, RunState


class KeyframeServices(Component):
    """Serves ``~/save_keyframe`` and ``~/load_keyframe`` of the parameter ``active_keyframe``."""

    parameters = (
        ParameterSpec(
            name="active_keyframe",
            default="saved",
            description="Keyframe that ~/save_keyframe saves and ~/load_keyframe loads: one of the "
            "model, or any other name",
        ),
    )

    def __init__(
        self,
        node: Node,
        values: Mapping[str, Any],
        simulation: Simulation,
        run: RunControl,
    ) -> None:
        """Serve them.

        Args:
            node: The node.
            values: The values of its parameters.
            simulation: The simulation.
            run: Its run control.
        """
        self._values = values
        self._commands = simulation.commands
        self._keyframes = Keyframes(simulation)
        self._run = run
        self._services = [
            Service(node, Trigger, "~/save_keyframe", self._save),
            Service(node, Trigger, "~/load_keyframe", self._load),
        ]

    def _save(self, _request: Trigger.Request, answer: Responder) -> None:
        name = self._values["active_keyframe"]
        answer.ask(
            self._commands,
            lambda: self._keyframes.save(name),
            lambda time: _report(answer, f"saved '{name}' at {time:.6f} s"),
        )

    def _load(self, _request: Trigger.Request, answer: Responder) -> None:
        name, rewind = self._values["active_keyframe"], self._values["reset_time"] == REWIND

        def load() -> float:
            time = self._keyframes.load(name, rewind=rewind)
            self._run.end_steps("a keyframe was loaded")
            if self._run.state is RunState.STOPPED:
                self._run.pause()  # it is no longer at the start
            return time

        answer.ask(
            self._commands,
            load,
            lambda time: _report(answer, f"loaded '{name}'; the time is {time:.6f} s"),
        )


def _report(answer: Responder, message: str) -> None:
    answer.response.success, answer.response.message = True, message
