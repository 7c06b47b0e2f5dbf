"""Names of parameters for the elements of a model."""

from mujoco_ros.model.robot.layout import ModelLayout


def element_parameter(layout: ModelLayout, kind: str, element: str, *rest: str) -> str:
    """Return the name of the parameter of an element.

    Parameters of a robot with a namespace begin with it; those of an object with its name.

    Args:
        layout: The robots.
        kind: Kind of the element, such as ``equality``.
        element: Its name in the model.
        rest: Further parts of the name.
    """
    namespace, name = "", element
    for robot in layout.robots:
        if robot.prefix and element.startswith(robot.prefix):
            namespace, name = robot.namespace, element.removeprefix(robot.prefix)
    parts = (namespace, kind, name, *rest)
    return ".".join(part.replace("/", ".") for part in parts if part)
