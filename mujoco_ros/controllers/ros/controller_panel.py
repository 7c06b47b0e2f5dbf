"""The panel of a controller: what its states declare."""

from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any

from mujoco_ros.bridge.panels.panel_server import PanelGroup, PanelServer
from mujoco_ros.controllers.fsm.machine import Machine
from mujoco_ros.controllers.fsm.state import State
from mujoco_ros.controllers.ros.state_parameters import config_specs
from mujoco_ros.model.naming import topic_token
from mujoco_ros.rclpy_ext.endpoints import Endpoints

Submit = Callable[[Callable[[], Any]], "Future[Any]"]


def controller_panel(endpoints: Endpoints, machine: Machine, submit: Submit) -> PanelServer:
    """Serve the panel of a controller below ``~/panel``.

    Args:
        endpoints: Endpoints of the controller's node.
        machine: The state machine.
        submit: Calls a function in the controller's thread between two ticks.

    Raises:
        UserInputError: A panel names a method or setting that its state does not have.
    """

    def group(path: str, state: State) -> PanelGroup:
        config = machine.config(path)
        return PanelGroup(
            name=path,
            items=state.panel,
            owner=state,
            path=[topic_token(part) for part in path.split("/")],
            settings={} if config is None else dict(config_specs(path, config)),
            press=lambda method: submit(partial(machine.press, path, method)),
            evaluate=lambda method: machine.calls.evaluate(path, getattr(state, method)),
            is_active=lambda: path in machine.active,
        )

    groups = [group(path, state) for path, state in machine.instances.items() if state.panel]
    return PanelServer(endpoints, "~", endpoints.node.get_name(), groups)
