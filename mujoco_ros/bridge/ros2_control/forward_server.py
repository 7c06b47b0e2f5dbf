"""The topic of the controllers that pass values on."""

from functools import partial

from std_msgs.msg import Float64MultiArray

from mujoco_ros.bridge.ros2_control.controller_server import ControllerServer
from mujoco_ros.ros2_control.forward import ForwardCommandController


class ForwardCommandServer(ControllerServer[ForwardCommandController]):
    """Serves ``~/commands``."""

    def open(self) -> None:
        """Open the topic."""
        self._listen(Float64MultiArray, "~/commands", self._handle)

    def _handle(self, message: Float64MultiArray, now: bool) -> None:
        check = partial(self.controller.check, message.data)
        self._take("~/commands", check, self.controller.command, now)
