"""The figure of the viewer's page: a humanoid with a controller, plots and overlays."""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.context import Context
from sensor_msgs.msg import JointState
from viewer_page import DRAWN_BY_THE_BROWSER, IN_FRONT, opened_page, write_screenshot

CONTROLLER, TRANSITION = "stand", "squat"
SETTLED_S = 20.0
PERIOD_S = 4.0
PUSH_N = 4.0
SWINGS_RAD = {"left_shoulder_pitch": (0.0, 0.5), "left_elbow": (-0.9, 0.5)}
"""Mean and amplitude of joints that swing."""
PLOTTED = (
    ("humanoid joints", "left_shoulder_pitch", "q"),
    ("humanoid joints", "left_shoulder_pitch", "q_ref"),
    ("humanoid joints", "left_elbow", "torque"),
)
OVERLAID = ("Contact forces", "Balance")
SETTINGS = {
    "panels": {
        "View": DRAWN_BY_THE_BROWSER,
        "Overlays": {"shown": dict.fromkeys(OVERLAID, True)},
        "Plots": {"signals": [list(signal) for signal in PLOTTED]},
    },
    "places": {"Controllers": IN_FRONT, "Plots": IN_FRONT},
}


def draw_page(scene: str, path: Path) -> None:
    """Simulate a scene with one robot, and write the viewer's page as PNG to `path`."""
    with opened_page(scene, CONTROLLER, SETTINGS) as page, _moving():
        controllers = page.get_by_role("tabpanel", name="Controllers")
        controllers.get_by_role("button", name=TRANSITION, exact=True).click()
        page.wait_for_timeout(1000.0 * SETTLED_S)
        write_screenshot(page, path)


@contextmanager
def _moving() -> Iterator[None]:
    """Swing joints, and push the robot with a small force."""
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node("mover", context=context)
    commands = node.create_publisher(JointState, "joint_commands", 10)
    wrenches = node.create_publisher(WrenchStamped, "external_wrench", 10)
    ended = threading.Event()

    def move() -> None:
        while not ended.wait(0.02):
            swing = math.sin(2.0 * math.pi * time.monotonic() / PERIOD_S)
            positions = [mean + amplitude * swing for mean, amplitude in SWINGS_RAD.values()]
            commands.publish(JointState(name=list(SWINGS_RAD), position=positions))
            wrench = WrenchStamped()
            wrench.header.frame_id = "torso"
            wrench.wrench.force.y = PUSH_N * swing
            wrenches.publish(wrench)

    thread = threading.Thread(target=move)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        node.destroy_node()
        rclpy.shutdown(context=context)
