"""Scale the PD gains of a running robot, and see what that does to a joint's error and torque.

Run it in a second terminal while `make sim SCENE=arm` runs. Ctrl-C restores the gains.
For a robot in a namespace, add --ros-args -r __ns:=/left_arm
"""

import argparse
import signal
import sys
from collections.abc import Callable
from time import monotonic

import rclpy
from control_msgs.msg import JointTrajectoryControllerState
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args

SIMULATOR = "/mujoco"
STATE = "joint_trajectory_controller/controller_state"
NOT_FOUND = "no simulator found: start `make sim SCENE=arm`, with the same ROS_DOMAIN_ID as here"

Gains = dict[str, float]  # by the name of the parameter
interrupts: list[bool] = []  # by Ctrl-C


def options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--joint", default="elbow_joint", help="the one to show, default: %(default)s")
    add("--scale", type=float, nargs="+", default=[0.25, 0.5, 2.0], help="of kp, one by one")
    add("--settle", type=float, default=1.0, help="simulated seconds, default: %(default)s")
    add("--keep", action="store_true", help="leave the last gains, rather than the first")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Spin until a condition holds; return whether it did within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


class Robot:
    """A robot in the namespace of a node: its gains, and how its joints do."""

    def __init__(self, node: Node) -> None:
        """Look for it with `node`."""
        self.node = node
        self.state = JointTrajectoryControllerState()
        self.client = AsyncParameterClient(node, SIMULATOR)
        namespace = node.get_namespace().strip("/").replace("/", ".")
        self.prefix = f"{namespace}.gains" if namespace else "gains"
        node.create_subscription(JointTrajectoryControllerState, STATE, self._hear, 10)

    def _hear(self, state: JointTrajectoryControllerState) -> None:
        self.state = state

    def is_there(self) -> bool:
        """Return whether its simulator is found."""
        return spin_until(
            self.node, lambda: self.client.services_are_ready() and self.state.joint_names
        )

    def gains(self) -> Gains:
        """Return all gains of the robot: those of joints that a torque motor drives."""
        listed = self.client.list_parameters([self.prefix])
        spin_until(self.node, listed.done)
        names = list(listed.result().result.names)
        got = self.client.get_parameters(names)
        spin_until(self.node, got.done)
        return dict(zip(names, map(parameter_value_to_python, got.result().values), strict=True))

    def set_gains(self, gains: Gains) -> str:
        """Set many gains at once, all of them or none; return why they were refused, if so."""
        parameters = [Parameter(name, value=value) for name, value in gains.items()]
        answer = self.client.set_parameters_atomically(parameters)
        if not spin_until(self.node, answer.done):
            return "the simulator does not answer"
        result = answer.result().result
        return "" if result.successful else result.reason

    def settle(self, seconds: float) -> None:
        """Wait for some simulated time."""
        until = stamp(self.state) + seconds
        spin_until(self.node, lambda: stamp(self.state) > until, 30.0 + 10.0 * seconds)


def stamp(state: JointTrajectoryControllerState) -> float:
    """Return the simulated time of a state [s]."""
    return state.header.stamp.sec + 1e-9 * state.header.stamp.nanosec


def tune(robot: Robot, wanted: argparse.Namespace) -> str:
    """Try one scale after the other; return what went wrong, nothing if all went well."""
    if not robot.is_there():
        return NOT_FOUND
    first = robot.gains()
    kp, kd = (f"{robot.prefix}.{wanted.joint}.{gain}" for gain in ("kp", "kd"))
    if kp not in first:
        having = [name.split(".")[-2] for name in first if name.endswith(".kp")]
        return f"no gains of a joint '{wanted.joint}' here; --joint is one of: {', '.join(having)}"
    joint = list(robot.state.joint_names).index(wanted.joint)
    print(f"{'kp':>10} {'kd':>8} {'error':>10} {'kp·error':>9} {'torque':>9}  of {wanted.joint}")
    problem = ""
    try:
        for scale in [1.0, *wanted.scale]:
            # kd by the root of the scale: the joints stay as well damped as they were.
            new = {
                n: v * (scale if n.endswith(".kp") else abs(scale) ** 0.5) for n, v in first.items()
            }
            problem = robot.set_gains(new)
            if problem:
                break
            robot.settle(wanted.settle)
            error, torque = robot.state.error.positions[joint], robot.state.feedback.effort[joint]
            print(
                f"{new[kp]:10.1f} {new[kd]:8.1f} {error:10.6f} {new[kp] * error:9.3f} {torque:9.3f}"
            )
    finally:
        if not wanted.keep:
            robot.set_gains(first)
    if problem:
        return f"refused, and nothing changed: {problem}"
    print(f"{len(first)} gains " + ("stay as they are" if wanted.keep else "are as they were"))
    return ""


if __name__ == "__main__":
    asked = options()
    # Without rclpy's own handler, Ctrl-C leaves the middleware alive to restore the gains with.
    # An exception amid rclpy's code would come out of it as another: it is raised between.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    try:
        sys.exit(tune(Robot(rclpy.create_node("tune_gains")), asked) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
