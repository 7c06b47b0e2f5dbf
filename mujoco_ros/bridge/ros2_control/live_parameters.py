"""The node of a controller, with the parameters that can be set while it runs."""

from collections.abc import Callable, Iterable

from rcl_interfaces.msg import SetParametersResult
from rclpy.node import Node
from rclpy.parameter import Parameter

from mujoco_ros.bridge.component import NodeContext
from mujoco_ros.control.events import QueueFullError
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.rclpy_ext.executor import later
from mujoco_ros.ros2_control.controller import Controller
from mujoco_ros.ros2_control.parameters import ControllerParameters


class LiveParameters:
    """Offers the `live` parameters of a controller, as its node in ros2_control does."""

    def __init__(
        self,
        context: NodeContext,
        namespace: str,
        controller: Controller,
        parameters: ControllerParameters,
        on_change: Callable[[], object],
    ) -> None:
        """Open the node; `on_change` is called in the executor's thread after a change."""
        self._context, self._controller = context, controller
        self._parameters, self._on_change = parameters, on_change
        self.node = Node(
            controller.name,
            context=context.node.context,
            namespace=f"/{namespace}",
            use_global_arguments=False,  # they may contain the simulator's node name
        )
        for name, value in controller.live.items():
            self.node.declare_parameter(name, value)
        self.node.add_on_set_parameters_callback(self._set)
        if context.node.executor is not None:
            context.node.executor.add_node(self.node)

    def _set(self, given: Iterable[Parameter]) -> SetParametersResult:
        new = {it.name: list(it.value) for it in given if it.name in self._controller.live}
        changed = ControllerParameters(self._parameters.values | new, self._parameters.where)
        try:
            change = self._controller.change(changed)
            done = self._context.simulation.commands.submit(change)
        except (UserInputError, QueueFullError) as error:
            return SetParametersResult(successful=False, reason=str(error))
        self._parameters = changed
        done.add_done_callback(lambda _: later(self._context.node, self._on_change))
        return SetParametersResult(successful=True)
