"""Services that save the state of the simulation, and return to it."""

from collections.abc import Callable, Mapping
from typing import Any

from rclpy.node import Node
from std_srvs.srv import Trigger

from mujoco_ros.bridge.rclpy_ext.service import Responder, Service
from mujoco_ros.sim.simulation import Simulation
from mujoco_ros.sim.state.keyframes import Keyframes
from mujoco_ros.sim.stepping.run_control import RunControl, RunState


class KeyframeServices:
    """Serves ``~/save_keyframe`` and ``~/load_keyframe`` of the parameter ``active_keyframe``."""

    def __init__(
        self,
        node: Node,
        values: Mapping[str, Any],
        simulation: Simulation,
        run: RunControl,
        rewinds: Callable[[], bool],
    ) -> None:
        """Serve them.

        Args:
            node: The node.
            values: The values of its parameters.
            simulation: What is saved and loaded.
            run: What runs it.
            rewinds: Returns whether the time returns with the state.
        """
        self._values = values
        self._commands = simulation.commands
        self._keyframes = Keyframes(simulation)
        self._run = run
        self._rewinds = rewinds
        self._services = [
            Service(node, Trigger, "~/save_keyframe", self._save),
            Service(node, Trigger, "~/load_keyframe", self._load),
        ]

    def _save(self, _request: Trigger.Request, answer: Responder) -> None:
        name = self._values["active_keyframe"]
        answer.ask(
            self._commands,
            lambda: self._keyframes.save(name),
            lambda time: _tell(answer, f"saved '{name}' at {time:.6f} s"),
        )

    def _load(self, _request: Trigger.Request, answer: Responder) -> None:
        name, rewind = self._values["active_keyframe"], self._rewinds()

        def load() -> float:
            time = self._keyframes.load(name, rewind=rewind)
            self._run.end_steps("a keyframe was loaded")
            if self._run.state is RunState.STOPPED:
                self._run.pause()  # it stands, but not at the start
            return time

        answer.ask(
            self._commands, load, lambda time: _tell(answer, f"loaded '{name}'; it is {time:.6f} s")
        )


def _tell(answer: Responder, message: str) -> None:
    answer.response.success, answer.response.message = True, message
