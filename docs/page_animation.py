"""The animation of the viewer's page: an arm picks up a box and places it."""

import io
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
from PIL import Image
from rclpy.context import Context
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from rclpy.parameter import Parameter
from rclpy.parameter_client import AsyncParameterClient
from rosgraph_msgs.msg import Clock
from simulation_interfaces.srv import ResetSimulation
from viewer_page import COARSE, SIZE, TIMEOUT_S, browser_pages, simulator

ROBOT = "arm"
CONTROLLER = "pick_place"
SLOW = 0.01
"""Real-time factor while frames are taken: software rendering needs seconds for each."""
PANELS_S = 1.0
"""Wall time between two frames of the panels."""
SETTLED_S = 60.0
FRAME_S = 0.08
DURATION_S = 5.6
HELD_S = 1.5
"""How long the last frame is shown."""
CROP = (283, 24, 1280, 768)
"""The scene with the panels beside and below it [px]."""
COLOURS = 255  # one more is transparent
PLOTTED = {"wrenches": ("wrist_ft force",), "joints": ("elbow_joint q", "elbow_joint torque")}
Frame = tuple[float, Image.Image]
"""Simulated time [s], and the page."""


def draw_animation(path: Path) -> None:
    """Simulate the controller, and write the viewer's page as GIF to `path`."""
    with (
        simulator(ROBOT, ["-p", f"controller:={CONTROLLER}"]) as running,
        _client() as client,
        browser_pages(running.address) as open_page,
    ):
        from shown import Shown

        coarse = Shown(open_page(COARSE), running.widgets)
        _set_up(coarse)
        coarse.page.close()
        page = open_page(1.0)
        running.slow_down(PANELS_S)
        page.wait_for_timeout(1000.0 * SETTLED_S)  # until the browser has drawn all older panels
        client.restart_slowly()
        frames = [_frame(client, page)]
        while frames[-1][0] < DURATION_S:
            page.wait_for_timeout(1000.0 * max(0.0, frames[-1][0] + FRAME_S - client.time) / SLOW)
            frames.append(_frame(client, page))
    save(frames, path)


def save(frames: Sequence[Frame], path: Path) -> None:
    """Write frames in real time with one palette; Pillow writes only the pixels that change."""
    sample = np.vstack([np.asarray(image) for _, image in frames[:: max(1, len(frames) // 8)]])
    palette = Image.fromarray(sample).quantize(COLOURS)
    drawn = [image.quantize(palette=palette, dither=Image.Dither.NONE) for _, image in frames]
    times = np.array([time for time, _ in frames])
    durations = [*(10 * np.rint(100 * np.diff(times)).astype(int)).tolist(), round(1000 * HELD_S)]
    drawn[0].save(
        path, save_all=True, append_images=drawn[1:], duration=durations, loop=0, optimize=False
    )


def _frame(client: "_Client", page: Any) -> Frame:
    time = client.time
    return time, Image.open(io.BytesIO(page.screenshot())).convert("RGB").crop(CROP)


def _set_up(shown: Any) -> None:
    """Select a camera and plots, and bring hidden windows to the front."""
    shown.front("Overlays")
    shown.page.mouse.move(0.5 * SIZE["width"], 0.4 * SIZE["height"])
    shown.frames()
    shown.page.keyboard.press("]", delay=500.0)
    shown.frames()
    shown.click("Plots/Choose")
    for kind, signals in PLOTTED.items():
        shown.click(f"Plots/{ROBOT} {kind}")
        for name in signals:
            shown.click(f"Plots/##{ROBOT} {kind} {name}")
        shown.click(f"Plots/{ROBOT} {kind}")
    shown.press((0.4 * SIZE["width"], 0.1 * SIZE["height"]))  # closes the choices
    shown.front("Controller")


class _Client:
    """The simulator's clock, speed and reset."""

    def __init__(self, node: Node) -> None:
        self.time = 0.0
        node.create_subscription(Clock, "/clock", self._on_clock, 1)
        self._parameters = AsyncParameterClient(node, "/mujoco")
        self._reset = node.create_client(ResetSimulation, "/mujoco/reset_simulation")

    def restart_slowly(self) -> None:
        """Reset the simulation, and run it at a small real-time factor."""
        self._parameters.wait_for_services(TIMEOUT_S)
        slow = Parameter("real_time_factor", value=SLOW)
        self._wait(self._parameters.set_parameters([slow]))
        self._wait(self._reset.call_async(ResetSimulation.Request()))
        self.time = 0.0

    def _on_clock(self, message: Clock) -> None:
        self.time = message.clock.sec + 1e-9 * message.clock.nanosec

    def _wait(self, future: Any) -> None:
        ended = threading.Event()
        future.add_done_callback(lambda _future: ended.set())
        assert ended.wait(TIMEOUT_S), "the simulator does not respond"


@contextmanager
def _client() -> Iterator[_Client]:
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node("animation", context=context)
    client = _Client(node)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)
    thread = threading.Thread(target=executor.spin)
    thread.start()
    try:
        yield client
    finally:
        executor.shutdown()
        thread.join()
        node.destroy_node()
        rclpy.shutdown(context=context)
