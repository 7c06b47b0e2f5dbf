"""Names of the parameters that set numbers of elements."""

from collections.abc import Iterator, Mapping

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.sim.drives import Drives
from mujoco_ros.sim.settings.element_properties import Property, elements

_OF_MOTORS = ("kp", "kv", "gainprm", "biasprm", "ctrlrange")
"""Properties of actuators that torque motors lack, since they are PD servos in the engine."""


def element_parameter(layout: ModelLayout, kind: str, element: str, *rest: str) -> str:
    """Return the name of the parameter of an element, by its name in the model.

    Parameters of a robot begin with its namespace, parameters of an object with its name.
    """
    namespace, name = "", element
    for robot in layout.robots:
        if robot.prefix and element.startswith(robot.prefix):
            namespace, name = robot.namespace, element.removeprefix(robot.prefix)
    parts = (namespace, kind, name, *rest)
    return ".".join(name.replace("/", ".") for name in parts if name)


class PropertyNames(Mapping[str, Property]):
    """The properties of the elements of a model by the names of their parameters."""

    def __init__(self, model: mujoco.MjModel, layout: ModelLayout, drives: Drives) -> None:
        self.labels: dict[Property, str] = {}  # the names of their parameters
        self._found: dict[str, Property] = {}
        self._shared: dict[str, list[str]] = {}  # elements with one parameter, by its beginning
        motors = {model.actuator(a).name for j in drives.servo_joints for a in drives.actuators(j)}
        starts: dict[str, str] = {}
        for kind, name, names in elements(model):
            start = element_parameter(layout, kind, name)
            if start in starts:
                self._shared.setdefault(start, [starts[start]]).append(name)
            starts.setdefault(start, name)
            for attribute in names:
                if not (kind == "actuator" and name in motors and attribute in _OF_MOTORS):
                    which = Property(kind, name, attribute)
                    self.labels[which] = label = f"{start}.{attribute}"
                    self._found.setdefault(label, which)

    def __getitem__(self, name: str) -> Property:
        return self._found[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._found)

    def __len__(self) -> int:
        return len(self._found)

    def check_name(self, name: str) -> None:
        """Reject the parameter of several elements, whose names differ only by ``/`` and ``.``."""
        shared = self._shared.get(name.rpartition(".")[0])
        if shared is not None:
            listed = " and ".join(f"'{element}'" for element in shared)
            raise UserInputError(
                f"parameter '{name}' belongs to {len(shared)} elements of the model, {listed}; "
                "rename all but one of them"
            )
