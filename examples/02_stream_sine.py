"""Stream a sine to a joint over joint_commands, and measure delay and tracking error.

Run it in a second terminal while `make sim SCENE=arm` runs.
For a robot in a namespace, add --ros-args -r __ns:=/left_arm
"""

import argparse
import signal
import sys
from collections.abc import Callable
from time import monotonic

import numpy as np
import rclpy
from rclpy.duration import Duration
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.signals import SignalHandlerOptions
from rclpy.utilities import remove_ros_args
from sensor_msgs.msg import JointState

RATE_HZ = 100.0
SHOWN_EVERY = 40  # commands
DELAYS_S = np.arange(0.0, 0.1, 0.001)  # candidates for the delay of the joint
NOT_FOUND = "no robot found: start `make sim SCENE=arm`, with the same ROS_DOMAIN_ID as here"
interrupts: list[bool] = []  # Ctrl-C was pressed


def options() -> argparse.Namespace:
    """Return the parsed command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--joint", default="elbow_joint", help="default: %(default)s")
    add("--amplitude", type=float, default=0.15, help="rad or m, default: %(default)s")
    add("--frequency", type=float, default=0.5, help="Hz, default: %(default)s")
    add("--periods", type=int, default=3, help="default: %(default)s")
    add("--tolerance", type=float, default=0.01, help="rad or m, default: %(default)s")
    return parser.parse_args(remove_ros_args(sys.argv)[1:])


def spin_until(node: Node, condition: Callable[[], object], seconds: float = 10.0) -> bool:
    """Spin until a condition is met; return whether it was within `seconds` of wall time."""
    deadline = monotonic() + seconds
    while not condition() and monotonic() < deadline:
        rclpy.spin_once(node, timeout_sec=0.1)
        if interrupts and interrupts.pop():
            raise KeyboardInterrupt
    return bool(condition())


def stream(node: Node, args: argparse.Namespace) -> str:
    """Stream the sine; return an error, empty without one."""
    clock = node.get_clock()
    states: list[JointState] = []
    node.create_subscription(JointState, "joint_states", states.append, 100)
    commands = node.create_publisher(JointState, "joint_commands", 10)
    if not spin_until(
        node, lambda: states and commands.get_subscription_count() and clock.now().nanoseconds
    ):
        return NOT_FOUND
    names = list(states[-1].name)
    if args.joint not in names:
        return f"no joint '{args.joint}' here; --joint is one of: {', '.join(names)}"
    joint = names.index(args.joint)
    origin, omega = states[-1].position[joint], 2 * np.pi * args.frequency
    duration, start = args.periods / args.frequency, clock.now()
    sent = 0
    states.clear()

    def elapsed() -> float:
        return (clock.now() - start).nanoseconds * 1e-9

    def position(time: float | np.ndarray) -> float | np.ndarray:
        # Begins and ends at rest at the present position.
        return origin + args.amplitude * (1.0 - np.cos(omega * np.clip(time, 0.0, duration)))

    def command(q: float, dq: float) -> None:
        # Without a velocity reference, the damping of the PD law would slow the joint down.
        message = JointState(name=[args.joint], position=[q], velocity=[dq])
        message.header.stamp = clock.now().to_msg()
        commands.publish(message)

    def send() -> None:
        nonlocal sent
        time = min(elapsed(), duration)
        command(position(time), args.amplitude * omega * np.sin(omega * time))
        if sent % SHOWN_EVERY == 0 and states:
            measured = states[-1].position[joint]
            print(f"{time:6.2f} s  commanded {position(time):8.4f}  measured {measured:8.4f}")
        sent += 1

    timer = node.create_timer(1.0 / RATE_HZ, send)
    try:
        over = spin_until(node, lambda: elapsed() > duration + 0.2, 30.0 + 10.0 * duration)
    finally:  # also after Ctrl-C: the last velocity reference would remain
        node.destroy_timer(timer)
        command(position(elapsed()), 0.0)
        commands.wait_for_all_acked(Duration(seconds=1.0))
    if not over:
        return "the simulated time does not advance"

    times = np.array([s.header.stamp.sec + 1e-9 * s.header.stamp.nanosec for s in states])
    times -= start.nanoseconds * 1e-9
    measured = np.array([s.position[joint] for s in states])
    errors = [float(np.abs(measured - position(times - delay)).max()) for delay in DELAYS_S]
    best = int(np.argmin(errors))
    print(
        f"{args.joint}: {sent} commands, delay {1e3 * DELAYS_S[best]:.0f} ms, "
        f"largest error after the delay {errors[best]:.4f}"
    )
    if errors[best] > args.tolerance:
        return "tracking error above --tolerance; see the simulator's log and /diagnostics"
    return ""


if __name__ == "__main__":
    args = options()
    # Replaces rclpy's handler: after Ctrl-C, the middleware must be alive to stop the joint.
    # The handler sets a flag only: exceptions inside rclpy's code would be converted to others.
    signal.signal(signal.SIGINT, lambda *_: interrupts.append(True))
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    # In simulated time, timers and stamps are right at any real-time factor.
    simulated = Parameter("use_sim_time", value=True)
    sine = rclpy.create_node("stream_sine", parameter_overrides=[simulated])
    try:
        sys.exit(stream(sine, args) or 0)
    except KeyboardInterrupt:
        sys.exit(130)
