"""The animation of the viewer's page: an arm picks up a box and places it."""

import io
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from simulation_interfaces.msg import SimulationState
from simulation_interfaces.srv import ResetSimulation, SetSimulationState, StepSimulation
from viewer_page import CLOSED, DRAWN_BY_THE_BROWSER, IN_FRONT, opened_page

from mujoco_ros.model.output_files import output_file

ROBOT = "arm"
CONTROLLER = "pick_place"
TIMESTEP_S = 0.001
FRAME_S = 0.1
FRAMES = 85
HELD_S = 1.6
"""How long the last frame is shown."""
SIZE = {"width": 1160, "height": 820}
SCALE, COLOURS = 0.8, 143
"""Of the frames, so that the file stays below 3 MB; one more colour is transparent."""
PLOTTED = (
    ("arm joints", "elbow_joint", "q"),
    ("arm joints", "elbow_joint", "torque"),
)
LEFT = ("Simulation", "Overlays", "Cameras", "View", "Targets")
SETTINGS = {
    "panels": {
        "View": DRAWN_BY_THE_BROWSER,
        "Plots": {"signals": [list(signal) for signal in PLOTTED]},
    },
    "places": {"Controllers": IN_FRONT, "Plots": IN_FRONT} | dict.fromkeys(LEFT, CLOSED),
    "camera": {
        "pose": {"lookat": [0.28, 0.0, 0.32], "distance": 1.5, "azimuth": 78.0, "elevation": -14.0}
    },
}


def draw_animation(path: Path) -> None:
    """Simulate the controller step by step, and write the viewer's page as GIF to `path`."""
    with opened_page(ROBOT, CONTROLLER, SETTINGS, size=SIZE) as page:
        from benchmark.processes.simulator_client import SimulatorClient

        frames = []
        steps = StepSimulation.Request(steps=round(FRAME_S / TIMESTEP_S))
        paused = SimulationState(state=SimulationState.STATE_PAUSED)
        with closing(SimulatorClient()) as client:
            pause = SetSimulationState.Request(state=paused)
            client.call(SetSimulationState, "set_simulation_state", pause)
            client.call(ResetSimulation, "reset_simulation", ResetSimulation.Request())
            while len(frames) < FRAMES:
                frames.append(_frame(page, FRAME_S * len(frames)))
                client.call(StepSimulation, "step_simulation", steps)
    save(frames, path)


def _frame(page: Any, time: float) -> Image.Image:
    """Return the page once all of it shows a simulated time [s]."""
    page.get_by_role("region", name="Bar").get_by_text(f"{time:.2f} s", exact=True).wait_for()
    before, shown = b"", page.screenshot()
    while shown != before:
        page.wait_for_timeout(200.0)
        before, shown = shown, page.screenshot()
    image = Image.open(io.BytesIO(shown)).convert("RGB")
    size = round(SCALE * image.width), round(SCALE * image.height)
    return image.resize(size, Image.Resampling.LANCZOS)


def save(frames: Sequence[Image.Image], path: Path, *, frame_s: float = FRAME_S) -> None:
    """Write frames of a duration [s] with one palette; Pillow writes what changes."""
    sample = np.vstack([np.asarray(frame) for frame in frames[:: max(1, len(frames) // 8)]])
    # The default method drops the rare saturated colours.
    palette = Image.fromarray(sample).quantize(COLOURS, method=Image.Quantize.FASTOCTREE)
    drawn = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    durations = [round(1000 * frame_s)] * (len(drawn) - 1) + [round(1000 * HELD_S)]
    with output_file(path, "animation") as file:
        rest = drawn[1:]
        drawn[0].save(file, "GIF", save_all=True, append_images=rest, duration=durations, loop=0)
