"""Process that answers each tick of the lockstep, at the cost of a program in C++.

``python -m benchmark.processes.lockstep_client`` commands the positions of the first message, so
the robot holds its position; with the argument ``nothing``, it leaves the joints to controllers.
It answers serialized messages, of which only the stamp changes, from a wait set: conversions and
rclpy's executor would take most of the time of a tick.
"""

import sys

import rclpy
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.qos import QoSProfile
from rclpy.serialization import deserialize_message, serialize_message
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import JointState

from benchmark.processes.subscriber import POLL_NS, StopSignal

_STAMP = slice(4, 12)  # CDR: 4 bytes of encapsulation, then the header's stamp
_QOS = QoSProfile(depth=10)


def main() -> int:
    """Answer each message on ``joint_states`` with one on ``joint_commands``, until a signal."""
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    stop = StopSignal()
    node = rclpy.create_node("benchmark_lockstep_client", start_parameter_services=False)
    answers = node.create_publisher(JointState, "joint_commands", _QOS)
    states = node.create_subscription(JointState, "joint_states", id, _QOS, raw=True).handle
    answer = bytearray()
    wait_set = rclpy_implementation.WaitSet(1, 0, 0, 0, 0, 0, node.context.handle)
    while not stop.received:
        wait_set.clear_entities()
        wait_set.add_subscription(states)
        wait_set.wait(POLL_NS)
        taken = states.take_message(JointState, True)
        if taken is None:
            continue
        if not answer:
            command = JointState()
            if "nothing" not in sys.argv[1:]:
                state = deserialize_message(taken[0], JointState)
                command.name, command.position = state.name, state.position
            answer[:] = serialize_message(command)
        answer[_STAMP] = taken[0][_STAMP]
        answers.publish(bytes(answer))
    return 0


if __name__ == "__main__":
    sys.exit(main())
