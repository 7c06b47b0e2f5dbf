"""What is known of each robot of a scene: its state machines and its battery."""

from collections.abc import Iterable, Mapping, Sequence

from mujoco_ros.model.robot.layout import RobotLayout
from mujoco_ros.viewer.clients import ControllerInfo, FieldKey

BATTERY_TYPE = "sensor_msgs/msg/BatteryState"
_CHARGE = "percentage"  # the field of the charge, 0 to 1


def robot_of(name: str, robots: Iterable[RobotLayout], simulator: str) -> str:
    """Return the robot in whose namespace a node or topic is; empty for none.

    Args:
        name: Full name of the node or topic.
        robots: The robots of the scene; the one with the longest namespace counts.
        simulator: Full name of the simulator's node, in whose namespace the robots' are.
    """
    base = simulator.rpartition("/")[0]
    owners = {
        f"{base}/{robot.namespace}/" if robot.namespace else f"{base}/": robot.name
        for robot in robots
    }
    return owners[max(found, key=len)] if (found := list(filter(name.startswith, owners))) else ""


def by_robot(
    names: Iterable[str], robots: Sequence[RobotLayout], simulator: str
) -> Mapping[str, list[str]]:
    """Return the names of nodes or topics by the robot in whose namespace they are."""
    found: dict[str, list[str]] = {robot.name: [] for robot in robots}
    for name in sorted(names):
        if owner := robot_of(name, robots, simulator):
            found[owner].append(name)
    return found


def charge_of(topic: str) -> FieldKey:
    """Return the field with the charge of a battery, 0 to 1."""
    return FieldKey(topic, _CHARGE)


def most_important(controllers: Iterable[ControllerInfo]) -> ControllerInfo | None:
    """Return the controller that a row shows: one with an error, else with a reason, else any."""
    return max(
        (each for each in controllers if each.state),
        key=lambda each: (each.is_stopped, bool(each.reason)),
        default=None,
    )
