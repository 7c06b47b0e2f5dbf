"""The animation of the viewer's page: an arm picks up a box and places it."""

import io
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import rclpy
import rclpy.executors
from PIL import Image
from rclpy.context import Context
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import ResetSimulation, SetSimulationState, StepSimulation
from viewer_page import COARSE, SIZE, TIMEOUT_S, browser_pages, simulator

ROBOT = "arm"
CONTROLLER = "pick_place"
TIMESTEP_S = 0.001
FRAME_S = 0.08
DURATION_S = 5.6
HELD_S = 1.5
"""How long the last frame is shown."""
DRAWN_FRAMES = 4
"""Frames of browser and viewer after which a step is on the page."""
COLOURS = 255  # one more is transparent
PLOTTED = {"wrenches": ("wrist_ft force",), "joints": ("elbow_joint q", "elbow_joint torque")}


def draw_animation(path: Path) -> None:
    """Simulate the controller, and write the viewer's page as GIF to `path`."""
    with simulator(ROBOT, ["-p", f"controller:={CONTROLLER}"]) as running, _stepper() as step:
        from shown import Shown

        with browser_pages(running.address) as open_page:
            coarse = Shown(open_page(COARSE), running.widgets)
            _set_up(coarse)
            coarse.page.close()
            shown = Shown(open_page(1.0), running.widgets)
            frames = []
            for _ in range(math.ceil(DURATION_S / FRAME_S)):
                shown.frames(DRAWN_FRAMES)
                frames.append(Image.open(io.BytesIO(shown.page.screenshot())).convert("RGB"))
                step(round(FRAME_S / TIMESTEP_S))
    save(frames, path)


def save(frames: list[Image.Image], path: Path) -> None:
    """Write frames with one palette; Pillow writes only the pixels that change."""
    sample = np.vstack([np.asarray(frame) for frame in frames[:: max(1, len(frames) // 8)]])
    palette = Image.fromarray(sample).quantize(COLOURS)
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    times = [round(1000.0 * FRAME_S)] * (len(drawn) - 1) + [round(1000.0 * HELD_S)]
    drawn[0].save(
        path, save_all=True, append_images=drawn[1:], duration=times, loop=0, optimize=False
    )


@contextmanager
def _stepper() -> Iterator[Callable[[int], None]]:
    """Pause the simulator, and yield a function that takes steps."""
    context = Context()
    rclpy.init(context=context)
    node = rclpy.create_node("stepper", context=context)

    def call(kind: Any, name: str, request: Any) -> None:
        client = node.create_client(kind, f"/mujoco/{name}")
        client.wait_for_service()
        future = client.call_async(request)
        executor = rclpy.executors.SingleThreadedExecutor(context=context)
        executor.add_node(node)
        executor.spin_until_future_complete(future, TIMEOUT_S)
        executor.shutdown()
        node.destroy_client(client)

    paused = SimulationState(state=SimulationState.STATE_PAUSED)
    call(SetSimulationState, "set_simulation_state", SetSimulationState.Request(state=paused))
    call(ResetSimulation, "reset_simulation", ResetSimulation.Request())
    try:
        yield lambda steps: call(
            StepSimulation, "step_simulation", StepSimulation.Request(steps=steps)
        )
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


def _set_up(shown: Any) -> None:
    """Select plots, and bring hidden windows to the front."""
    shown.front("Cameras")
    shown.click("Plots/Choose")
    for kind, signals in PLOTTED.items():
        shown.click(f"Plots/{ROBOT} {kind}")
        for name in signals:
            shown.click(f"Plots/##{ROBOT} {kind} {name}")
        shown.click(f"Plots/{ROBOT} {kind}")
    shown.press((0.4 * SIZE["width"], 0.1 * SIZE["height"]))  # closes the choices
    shown.front("Controller")
