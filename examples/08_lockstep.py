"""Drive an arm in lockstep: as fast as this controller and the simulator can, and always the same.

Run it in a second terminal while `make sim SCENE=arm` runs, and once more: it ends with a
fingerprint of all joint states that it got, and the fingerprints are equal.
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

try:  # answers in half the time
    from rclpy.experimental import EventsExecutor as Executor
except ImportError:  # rclpy before 7.1.4
    from rclpy.executors import SingleThreadedExecutor as Executor

SIMULATOR = "/mujoco"
NOT_FOUND = "no robot found: start `make sim SCENE=arm`, with the same ROS_DOMAIN_ID as here"
AMPLITUDE_RAD, FREQUENCY_HZ = 0.3, 0.5
NANOSECONDS = 1_000_000_000
interrupts: list[bool] = []  # by Ctrl-C


def options() -> argparse.Namespace:
    """Return what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--joint", default="elbow_joint", help="default: %(default)s")
    add("--rate", type=float, default=200.0, help="ticks per simulated second, %(default)s")
    add("--seconds", type=float, default=10.0, help="simulated, default: %(default)s")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Spin until a condition holds; return whether it did within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        node.executor.spin_once(timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


class Controller:
    """Answers each joint state with a command, from the first one after a reset on."""

    def __init__(self, node: Node, wanted: argparse.Namespace) -> None:
        """Swing the joint that is `wanted`."""
        self.node = node
        self.joint = wanted.joint
        self.names: list[str] = []
        self.origin: float | None = None
        self.time = 0.0
        self.end = wanted.seconds
        self.begun = self.over = 0.0  # wall time
        self.fingerprint = hashlib.sha256()
        self.commands = node.create_publisher(JointState, "joint_commands", 10)
        node.create_subscription(JointState, "joint_states", self._answer, 10)

    @property
    def is_heard(self) -> bool:
        """Return whether the simulator listens, and is heard."""
        return bool(self.names and self.commands.get_subscription_count())

    def _answer(self, state: JointState) -> None:
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
        answer = JointState(
            name=[self.joint],
            position=[self.origin + AMPLITUDE_RAD * (1.0 - np.cos(phase))],
            velocity=[2 * np.pi * FREQUENCY_HZ * AMPLITUDE_RAD * np.sin(phase)],
        )
        answer.header.stamp = state.header.stamp  # which tick it answers
        self.commands.publish(answer)


class Simulator:
    """What is asked of the simulator beside the joints."""

    def __init__(self, node: Node) -> None:
        """Look for it with `node`."""
        self.node = node
        self.parameters = AsyncParameterClient(node, SIMULATOR)
        self.resets = node.create_client(ResetSimulation, f"{SIMULATOR}/reset_simulation")

    @property
    def is_there(self) -> bool:
        """Return whether its services are."""
        return self.parameters.services_are_ready() and self.resets.service_is_ready()

    def get(self, *names: str) -> dict[str, object]:
        """Return parameters."""
        asked = self.parameters.get_parameters(names)
        spin_until(self.node, asked.done)
        return dict(zip(names, map(parameter_value_to_python, asked.result().values), strict=True))

    def set(self, **values: object) -> str:
        """Set parameters, all or none; return why they were refused, if so."""
        asked = self.parameters.set_parameters_atomically(
            [Parameter(name, value=value) for name, value in values.items()]
        )
        if not spin_until(self.node, asked.done):
            return "the simulator does not answer"
        result = asked.result().result
        return "" if result.successful else result.reason

    def reset(self) -> str:
        """Return to the start of the scene; return what went wrong, nothing if all went well."""
        asked = self.resets.call_async(ResetSimulation.Request())
        if not spin_until(self.node, asked.done):
            return "the simulator does not answer"
        result = asked.result().result
        return "" if result.result == result.RESULT_OK else result.error_message


def drive(node: Node, wanted: argparse.Namespace) -> str:
    """Swing the joint in lockstep; return what went wrong, nothing if all went well."""
    simulator, controller = Simulator(node), Controller(node, wanted)
    if not spin_until(node, lambda: simulator.is_there and controller.is_heard):
        return NOT_FOUND
    if wanted.joint not in controller.names:
        return f"no joint '{wanted.joint}' here; --joint is one of: {', '.join(controller.names)}"
    before = simulator.get("mode", "lockstep_sources", "real_time_factor")
    source = f"{node.get_namespace().strip('/')}/joint_commands@{wanted.rate:g}".strip("/")
    problem = simulator.set(mode="lockstep", lockstep_sources=source, real_time_factor=0.0)
    if problem:
        return problem
    try:
        problem = simulator.reset()
        patience = 30.0 + 10.0 * wanted.seconds
        if not problem and not spin_until(node, lambda: controller.over, patience):
            problem = "the simulation stands still"
    finally:
        simulator.set(**before)
    if problem:
        return problem
    took = controller.over - controller.begun
    print(
        f"{controller.time:g} s simulated in {took:.2f} s: {controller.time / took:.1f} times real "
        f"time, each of {wanted.seconds * wanted.rate:.0f} ticks answered\n"
        f"fingerprint of what was felt: {controller.fingerprint.hexdigest()[:16]}"
    )
    return ""


if __name__ == "__main__":
    asked = options()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    driver, executor = rclpy.create_node("lockstep"), Executor()
    executor.add_node(driver)
    # Without rclpy's own handler, Ctrl-C leaves the middleware alive to leave the lockstep with.
    # An exception amid rclpy's code would come out of it as another: it is raised between.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    try:
        sys.exit(drive(driver, asked) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
