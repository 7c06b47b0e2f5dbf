"""Control an arm in lockstep: as fast as controller and simulator can, with identical results.

Run it twice in a second terminal while `make sim SCENE=arm` runs: it prints a fingerprint of all
joint states that it received, and the fingerprints are equal.
"""

import argparse
import hashlib
import signal
import sys
from collections.abc import Callable
from time import monotonic

import numpy as np
import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState
from simulation_interfaces.srv import ResetSimulation

try:  # responds in half the time
    from rclpy.experimental import EventsExecutor as Executor
except ImportError:  # rclpy before 7.1.4
    from rclpy.executors import SingleThreadedExecutor as Executor

SIMULATOR = "/mujoco"
NOT_FOUND = "no robot found: start `make sim SCENE=arm`, with the same ROS_DOMAIN_ID as here"
AMPLITUDE_RAD, FREQUENCY_HZ = 0.3, 0.5
NANOSECONDS = 1_000_000_000
interrupts: list[bool] = []  # Ctrl-C was pressed


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--joint", default="elbow_joint", help="default: %(default)s")
    add(
        "--rate", type=float, default=200.0, help="ticks per simulated second, default: %(default)s"
    )
    add("--seconds", type=float, default=10.0, help="simulated, default: %(default)s")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Spin until a condition is met; return whether it was within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        node.executor.spin_once(timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


class Controller:
    """Responds to each joint state after a reset with a command."""

    def __init__(self, node: Node, args: argparse.Namespace) -> None:
        """Move the joint of the command line along a sine."""
        self.node = node
        self.joint = args.joint
        self.names: list[str] = []
        self.origin: float | None = None
        self.time = 0.0
        self.end = args.seconds
        self.begun = self.over = 0.0  # wall time
        self.fingerprint = hashlib.sha256()
        self.commands = node.create_publisher(JointState, "joint_commands", 10)
        node.create_subscription(JointState, "joint_states", self._respond, 10)

    @property
    def is_connected(self) -> bool:
        """Return whether messages flow in both directions."""
        return bool(self.names and self.commands.get_subscription_count())

    def _respond(self, state: JointState) -> None:
        self.names = list(state.name)
        if self.over or self.joint not in self.names:
            return
        joint = self.names.index(self.joint)
        nanoseconds = state.header.stamp.sec * NANOSECONDS + state.header.stamp.nanosec
        if nanoseconds == 0:  # the reset
            self.origin, self.begun = state.position[joint], monotonic()
        if self.origin is None:
            return
        self.time = nanoseconds / NANOSECONDS
        for numbers in (state.position, state.velocity, state.effort):
            self.fingerprint.update(np.asarray(numbers).tobytes())
        if self.time >= self.end:
            self.over = monotonic()
            return
        phase = 2 * np.pi * FREQUENCY_HZ * self.time
        command = JointState(
            name=[self.joint],
            position=[self.origin + AMPLITUDE_RAD * (1.0 - np.cos(phase))],
            velocity=[2 * np.pi * FREQUENCY_HZ * AMPLITUDE_RAD * np.sin(phase)],
        )
        command.header.stamp = state.header.stamp  # the tick that this command is for
        self.commands.publish(command)


class Simulator:
    """Clients of the simulator's parameters and services."""

    def __init__(self, node: Node) -> None:
        """Create the clients."""
        self.node = node
        self.parameters = AsyncParameterClient(node, SIMULATOR)
        self.resets = node.create_client(ResetSimulation, f"{SIMULATOR}/reset_simulation")

    @property
    def is_ready(self) -> bool:
        """Return whether its services are ready."""
        return self.parameters.services_are_ready() and self.resets.service_is_ready()

    def get(self, *names: str) -> dict[str, object]:
        """Return parameters."""
        future = self.parameters.get_parameters(names)
        spin_until(self.node, future.done)
        return dict(zip(names, map(parameter_value_to_python, future.result().values), strict=True))

    def set(self, **values: object) -> str:
        """Set all parameters or none; return the reason of a rejection, empty without one."""
        future = self.parameters.set_parameters_atomically(
            [Parameter(name, value=value) for name, value in values.items()]
        )
        if not spin_until(self.node, future.done):
            return "the simulator does not respond"
        result = future.result().result
        return "" if result.successful else result.reason

    def reset(self) -> str:
        """Reset the scene; return an error, empty without one."""
        future = self.resets.call_async(ResetSimulation.Request())
        if not spin_until(self.node, future.done):
            return "the simulator does not respond"
        result = future.result().result
        return "" if result.result == result.RESULT_OK else result.error_message


def drive(node: Node, args: argparse.Namespace) -> str:
    """Move the joint in lockstep; return an error, empty without one."""
    simulator, controller = Simulator(node), Controller(node, args)
    if not spin_until(node, lambda: simulator.is_ready and controller.is_connected):
        return NOT_FOUND
    if args.joint not in controller.names:
        return f"no joint '{args.joint}' here; --joint is one of: {', '.join(controller.names)}"
    before = simulator.get("mode", "lockstep_sources", "real_time_factor")
    source = f"{node.get_namespace().strip('/')}/joint_commands@{args.rate:g}".strip("/")
    problem = simulator.set(mode="lockstep", lockstep_sources=source, real_time_factor=0.0)
    if problem:
        return problem
    try:
        problem = simulator.reset()
        timeout_s = 30.0 + 10.0 * args.seconds
        if not problem and not spin_until(node, lambda: controller.over, timeout_s):
            problem = "the simulated time does not advance"
    finally:
        simulator.set(**before)
    if problem:
        return problem
    took = controller.over - controller.begun
    print(
        f"{controller.time:g} s simulated in {took:.2f} s: {controller.time / took:.1f} times real "
        f"time, with a command for each of {args.seconds * args.rate:.0f} ticks\n"
        f"fingerprint of the joint states: {controller.fingerprint.hexdigest()[:16]}"
    )
    return ""


if __name__ == "__main__":
    args = options()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    driver, executor = rclpy.create_node("lockstep"), Executor()
    executor.add_node(driver)
    # Replaces rclpy's handler: after Ctrl-C, the middleware must be alive to leave the lockstep.
    # The handler sets a flag only: exceptions inside rclpy's code would be converted to others.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    try:
        sys.exit(drive(driver, args) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
