"""Control an arm in lockstep: as fast as controller and simulator can, with identical results.

Run it twice in a second terminal while `make sim SCENE=arm` runs: it prints a fingerprint of all
joint states that it received, and the fingerprints are equal.
For a robot in a namespace, add --ros-args -r __ns:=/left_arm
"""

import argparse
import hashlib
import signal
import sys
from collections.abc import Callable
from time import monotonic

import numpy as np
import rclpy
from rclpy.client import Client
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter, parameter_value_to_python
from rclpy.parameter_client import AsyncParameterClient
from rclpy.publisher import Publisher
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
LIMIT_S = 60.0  # longest wall time until the next tick
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


class LockstepClient:
    """Steps a simulator in lockstep: an observation, what acts on it, the next observation.

    Each tick has a header: its stamp, and the epoch as ``frame_id``, which a reset changes. So a
    tick from before a reset, and one that comes again, are not taken for the next one.

    Attributes:
        tick: The tick at which the clock stands; None before the first.
    """

    def __init__(self, node: Node, namespace: str = "", simulator: str = SIMULATOR) -> None:
        """Command the robot with a namespace, in the simulator with a node name."""
        prefix = f"{namespace}/" if namespace else ""
        self.node, self.tick = node, None
        self.commands = node.create_publisher(JointState, f"{prefix}joint_commands", 10)
        self.resets = node.create_client(ResetSimulation, f"{simulator}/reset_simulation")
        self._ticks: list[JointState] = []
        node.create_subscription(JointState, f"{prefix}joint_states", self._ticks.append, 10)

    @property
    def is_connected(self) -> bool:
        """Return whether messages flow in both directions."""
        found = self._ticks and self.commands.get_subscription_count()
        return bool(found and self.resets.service_is_ready())

    def reset(self, **fields: object) -> JointState:
        """Reset with the fields of a request; return the first tick after it."""
        if self.tick is None:
            # The one at which the clock stands; before the lockstep there is no epoch.
            self.tick = self._next(lambda state: state.header.frame_id != "")
        before = self.tick.header.frame_id
        result = self.request(self.resets, ResetSimulation.Request(**fields)).result
        if result.result != result.RESULT_OK:
            raise RuntimeError(result.error_message)
        self.tick = self._next(lambda state: state.header.frame_id != before)
        return self.tick

    def step(self, command: JointState | None = None) -> JointState:
        """Answer the tick with a command, or with none; return the next tick."""
        command, header = command or JointState(), self.tick.header
        command.header = header
        self.commands.publish(command)
        self.tick = self._next(lambda state: state.header != header)
        if self.tick.header.frame_id != header.frame_id:
            raise RuntimeError("another program has reset the simulation")
        return self.tick

    def send(self, publisher: Publisher, message: object) -> None:
        """Publish any other command, which acts at this tick if `step` follows.

        A publisher with a queue of 1 message is acknowledged at once, others every 3 s.
        """
        if hasattr(message, "header"):
            message.header.stamp = self.tick.header.stamp
        publisher.publish(message)
        if not publisher.wait_for_all_acked(Duration(seconds=LIMIT_S)):
            raise TimeoutError(f"nothing receives '{publisher.topic_name}'")

    def request(self, client: Client, request: object) -> object:
        """Return the response of a service; what it changes acts at this tick."""
        future = client.call_async(request)
        if not spin_until(self.node, future.done):
            raise TimeoutError(f"'{client.srv_name}' does not respond")
        return future.result()

    def _next(self, wanted: Callable[[JointState], bool]) -> JointState:
        """Return the next tick that is wanted."""
        deadline = monotonic() + LIMIT_S
        while monotonic() < deadline:
            while self._ticks:
                state = self._ticks.pop(0)
                if wanted(state):
                    return state
            spin_until(self.node, lambda: self._ticks)
        raise TimeoutError("the simulated time does not advance")


class Simulator:
    """A client of the simulator's parameters."""

    def __init__(self, node: Node) -> None:
        """Create the client."""
        self.node = node
        self.parameters = AsyncParameterClient(node, SIMULATOR)

    @property
    def is_ready(self) -> bool:
        """Return whether its services are ready."""
        return self.parameters.services_are_ready()

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


def drive(node: Node, args: argparse.Namespace) -> str:
    """Move the joint along a sine in lockstep; return an error, empty without one."""
    simulator, client = Simulator(node), LockstepClient(node)
    if not spin_until(node, lambda: simulator.is_ready and client.is_connected):
        return NOT_FOUND
    before = simulator.get("mode", "lockstep_sources", "real_time_factor")
    source = f"{node.get_namespace().strip('/')}/joint_commands@{args.rate:g}".strip("/")
    problem = simulator.set(mode="lockstep", lockstep_sources=source, real_time_factor=0.0)
    if problem:
        return problem
    fingerprint, ticks, begun = hashlib.sha256(), round(args.seconds * args.rate), 0.0
    try:
        state = client.reset()
        if args.joint not in state.name:
            return f"no joint '{args.joint}' here; --joint is one of: {', '.join(state.name)}"
        origin, begun = state.position[list(state.name).index(args.joint)], monotonic()
        for _ in range(ticks):
            add_to(fingerprint, state)
            phase = 2 * np.pi * FREQUENCY_HZ * seconds(state)
            command = JointState(
                name=[args.joint],
                position=[origin + AMPLITUDE_RAD * (1.0 - np.cos(phase))],
                velocity=[2 * np.pi * FREQUENCY_HZ * AMPLITUDE_RAD * np.sin(phase)],
            )
            state = client.step(command)
        add_to(fingerprint, state)
    except (RuntimeError, TimeoutError) as error:
        return str(error)
    finally:
        simulator.set(**before)
    took = monotonic() - begun
    print(
        f"{seconds(state):g} s simulated in {took:.2f} s: {seconds(state) / took:.1f} times real "
        f"time, with a command for each of {ticks} ticks\n"
        f"fingerprint of the joint states: {fingerprint.hexdigest()[:16]}"
    )
    return ""


def seconds(state: JointState) -> float:
    """Return the simulated time of a tick [s]."""
    return state.header.stamp.sec + state.header.stamp.nanosec / NANOSECONDS


def add_to(fingerprint: "hashlib._Hash", state: JointState) -> None:
    """Add the numbers of a tick to a fingerprint."""
    for numbers in (state.position, state.velocity, state.effort):
        fingerprint.update(np.asarray(numbers).tobytes())


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
