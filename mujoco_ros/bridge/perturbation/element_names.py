"""What parameters call the elements of a model."""

from mujoco_ros.model.robot.layout import ModelLayout


def element_parameter(layout: ModelLayout, kind: str, element: str, *rest: str) -> str:
    """Return the parameter of a model's element.

    Elements of a robot with a namespace are below that; those of an object below its name.

    Args:
        layout: The robots.
        kind: Kind of the element, such as ``equality``.
        element: Its name in the model.
        rest: What follows its name.
    """
    namespace, name = "", element
    for robot in layout.robots:
        if robot.prefix and element.startswith(robot.prefix):
            namespace, name = robot.namespace, element.removeprefix(robot.prefix)
    parts = (namespace, kind, name, *rest)
    return ".".join(part.replace("/", ".") for part in parts if part)
