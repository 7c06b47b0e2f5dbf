"""Messages of an arm with two cameras, as the simulator publishes them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from sensor_msgs.msg import Image, JointState
from std_msgs.msg import Header, String

from mujoco_ros.wire.conversions import stamp

NAMES = ("shoulder", "elbow", "finger", "other_finger")
COMMANDED = NAMES[:3]
STATES, REFERENCES, RESETS = "/joint_states", "/joint_references", "/mujoco/reset_event"
EYE, HAND = "/camera/eye/image_raw", "/camera/hand/image_raw"
DESCRIPTION = "/robot_description"
KINDS = {
    STATES: "sensor_msgs/msg/JointState",
    REFERENCES: "sensor_msgs/msg/JointState",
    EYE: "sensor_msgs/msg/Image",
    HAND: "sensor_msgs/msg/Image",
    RESETS: "std_msgs/msg/Header",
    DESCRIPTION: "std_msgs/msg/String",
}
STEP_S, IMAGE_STEPS = 0.002, 10
SIZE = (48, 64)


def position(time: float) -> np.ndarray:
    """Return the measured positions at a time [s].  # (4,)"""
    return np.array([np.sin(time), np.cos(time), 0.1 * time, 0.0])


def command(time: float) -> np.ndarray:
    """Return the position commands at a time [s].  # (3,)"""
    return position(time)[:3] + 0.25


def shade(time: float) -> int:
    """Return the colour of images at a time [s]."""
    return round(100.0 * time) % 200


def state(time: float) -> JointState:
    zeros = [0.0] * len(NAMES)
    return JointState(
        header=Header(stamp=stamp(time)), name=list(NAMES), position=position(time), velocity=zeros
    )


def references(time: float) -> JointState:
    return JointState(
        header=Header(stamp=stamp(time)), name=list(COMMANDED), position=command(time)
    )


def image(time: float) -> Image:
    height, width = SIZE
    pixels = np.full((height, width, 3), shade(time), np.uint8)
    return Image(
        header=Header(stamp=stamp(time)),
        height=height,
        width=width,
        encoding="rgb8",
        step=3 * width,
        data=pixels.tobytes(),
    )


def reset(time: float, scopes: str) -> Header:
    return Header(stamp=stamp(time), frame_id=scopes)


def run(first: float, last: float) -> Iterator[tuple[str, Any]]:
    """Yield messages from a time to another [s]: 500 states and 50 images a second."""
    for step in range(round(first / STEP_S), round(last / STEP_S) + 1):
        time = step * STEP_S
        yield STATES, state(time)
        yield REFERENCES, references(time)
        if step % IMAGE_STEPS == 0:
            yield EYE, image(time)
            yield HAND, image(time)


def description() -> String:
    return String(data='<?xml version="1.0"?>\n<robot  name="arm">\n</robot>')
