"""Process that subscribes to cameras: ``python -m benchmark.processes.image_subscriber``.

It takes serialized colour and depth images of each camera, and records their reception times, until
SIGINT or SIGTERM.
"""

import argparse
import gc
import sys
from pathlib import Path
from time import monotonic_ns

import rclpy
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Image

from benchmark.processes.subscriber import StopSignal, TopicRecord, record_messages, save

IMAGES = ("image_raw", "depth/image_rect_raw")
"""Topics of each camera."""


def main() -> int:
    """Record images until a signal, then save the records."""
    parser = argparse.ArgumentParser(
        prog="benchmark.processes.image_subscriber", description=__doc__
    )
    parser.add_argument("file", type=Path, help="file of the records (.npz)")
    parser.add_argument("cameras", nargs="+", help="topic prefixes")
    options = parser.parse_args()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    stop = StopSignal()
    node = rclpy.create_node("benchmark_image_subscriber", start_parameter_services=False)
    topics = [f"{camera}/{image}" for camera in options.cameras for image in IMAGES]
    sys.stdout.write(f"subscribed {monotonic_ns()}\n")
    sys.stdout.flush()
    records = {name: TopicRecord(node, name, Image, qos_profile_sensor_data) for name in topics}
    gc.freeze()
    gc.disable()
    record_messages(node, list(records.values()), stop, record=True)
    node.destroy_node()
    rclpy.shutdown()
    save(options.file, records)
    return 0


if __name__ == "__main__":
    sys.exit(main())
