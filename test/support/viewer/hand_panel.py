"""A hand that declares a panel: a form, an integer, and a displayed value."""

from concurrent.futures import Future
from typing import Any

from rclpy.node import Node

from mujoco_ros.bridge.panel_server import PanelGroup, PanelServer
from mujoco_ros.bridge.parameters.parameters import ParameterListener, Parameters
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.panel_items import ChoiceField, DisplayedValue, Form, SettingField
from mujoco_ros.rclpy_ext.endpoints import Endpoints
from mujoco_ros.wire.parameter_spec import ParameterSpec

_SPECS = {
    "object": ParameterSpec("object", "box", "Object to grasp"),
    "force": ParameterSpec("force", 1.0, "Force [N]", low=0.0, high=50.0),
    "fingers": ParameterSpec("fingers", 3, "Number of fingers", low=1, high=5),
}


class Hand(ParameterListener):
    """A hand in a node that grasps objects that it has found.

    Attributes:
        objects: Those that it has found.
        openings: Those of its fingers [m].
        grasped: Object and force of each grasp.
        parameters: Its parameters.
        server: Its panel, which publishes only when it is called.
    """

    panel = (
        Form(
            "Grasp",
            (ChoiceField("object", "object", "found"), SettingField("force [N]", "force")),
            "Grasp",
            "grasp",
        ),
        SettingField("fingers", "fingers"),
        DisplayedValue("opening", "opening", "m", ("left", "right")),
    )

    def __init__(self, node: Node) -> None:
        self.grasped: list[tuple[str, float]] = []
        self.objects, self.openings = ["box", "ball"], (0.01, 0.02)
        self.parameters = Parameters(node)
        self.parameters.declare(_SPECS.values())
        self.parameters.listeners.append(self)
        group = PanelGroup(
            name="",
            items=self.panel,
            owner=self,
            path=(),
            settings=_SPECS,
            press=self.press,
            evaluate=lambda method: getattr(self, method)(),
            is_active=lambda: True,
        )
        self.server = PanelServer(Endpoints(node), "~", "hand", [group])

    def check_parameters(self, values: Any) -> None:
        if values.get("object", self.objects[0]) not in self.objects:
            raise UserInputError(f"there is no '{values['object']}': {', '.join(self.objects)}")

    def press(self, method: str) -> "Future[None]":
        done: Future[None] = Future()
        done.set_result(getattr(self, method)())
        return done

    def found(self) -> list[str]:
        return self.objects

    def grasp(self) -> None:
        values = self.parameters.values
        self.grasped.append((values["object"], values["force"]))

    def opening(self) -> tuple[float, float]:
        return self.openings
