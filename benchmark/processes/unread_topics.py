"""Process that subscribes to topics: ``python -m benchmark.processes.unread_topics FILE TOPIC…``.

It takes the messages of the first one, and leaves all others to the middleware, so that it needs
little of the processors. A topic that is given several times has as many subscriptions. It prints
the reception time of the first message, and saves what `benchmark.processes.subscriber` does.
"""

import argparse
import gc
import sys
from pathlib import Path

import rclpy
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions

from benchmark.processes.subscriber import StopSignal, TopicRecord, record_messages, save
from mujoco_ros.wire.message_template import message_type


def main() -> int:
    """Subscribe until a signal, then save the records of the first topic."""
    parser = argparse.ArgumentParser(prog="benchmark.processes.unread_topics", description=__doc__)
    parser.add_argument("file", type=Path, help="file of the records (.npz)")
    parser.add_argument("topics", nargs="+", help="as 'joint_states=sensor_msgs/msg/JointState'")
    options = parser.parse_args()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    stop = StopSignal()
    node = rclpy.create_node("benchmark_subscriber", start_parameter_services=False)
    records = []
    for topic in options.topics:
        name, _, kind = topic.partition("=")
        records.append(TopicRecord(node, name, message_type(kind), qos_profile_sensor_data))
    gc.freeze()
    gc.disable()  # its pauses would appear as latency
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    record_messages(node, records[:1], stop, record=True)
    node.destroy_node()
    rclpy.shutdown()
    save(options.file, {"first": records[0]})
    return 0


if __name__ == "__main__":
    sys.exit(main())
