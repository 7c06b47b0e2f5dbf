"""A process that subscribes to cameras: ``python -m benchmark.looker FILE CAMERA...``.

It takes colour and depth of each camera, serialized, and notes when each picture arrived, until a
signal comes.
"""

import argparse
import gc
import sys
from pathlib import Path

import rclpy
from rclpy.qos import qos_profile_sensor_data
from rclpy.signals import SignalHandlerOptions
from sensor_msgs.msg import Image

from benchmark.subscriber import Ending, Inlet, listen, save

PICTURES = ("image_raw", "depth/image_rect_raw")
"""What is taken of each camera."""


def main() -> int:
    """Look until a signal comes, then save what arrived."""
    parser = argparse.ArgumentParser(prog="benchmark.looker", description=__doc__)
    parser.add_argument("file", type=Path, help="where to save the arrivals (.npz)")
    parser.add_argument("cameras", nargs="+", help="as the topics of each begin")
    options = parser.parse_args()
    rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    ending = Ending()
    node = rclpy.create_node("benchmark_looker", start_parameter_services=False)
    topics = [f"{camera}/{picture}" for camera in options.cameras for picture in PICTURES]
    inlets = {name: Inlet(node, name, Image, qos_profile_sensor_data) for name in topics}
    gc.freeze()
    gc.disable()
    listen(node, list(inlets.values()), ending, record=True)
    node.destroy_node()
    rclpy.shutdown()
    save(options.file, inlets)
    return 0


if __name__ == "__main__":
    sys.exit(main())
