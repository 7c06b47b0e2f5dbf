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
from viewer_page import COARSE, SIZE, browser_pages, choose_plots, simulator

from mujoco_ros.model.output_files import output_file

ROBOT = "arm"
CONTROLLER = "pick_place"
TIMESTEP_S = 0.001
FRAME_S = 0.1
FRAMES = 85
HELD_S = 1.6
"""How long the last frame is shown."""
PANELS_S, PANELS_FRAMES = 1.0, 3
"""Wall time between two frames of the panels, and frames until they show a step."""
SPLITTER = (1100.0, 456.0), (0.0, -76.0)
"""Place and motion of the edge above the state machine [px], to make it larger."""
CROP = (283, 24, 1280, 768)
"""The scene with the panels beside and below it [px]."""
SCALE, COLOURS = 0.8, 143
"""Of the frames, so that the file stays below 3 MB; one more colour is transparent."""
PLOTTED = {"wrenches": ("wrist_ft force",), "joints": ("elbow_joint q", "elbow_joint torque")}


def draw_animation(path: Path) -> None:
    """Simulate the controller step by step, and write the viewer's page as GIF to `path`."""
    with (
        simulator(ROBOT, ["-p", f"controller:={CONTROLLER}"]) as running,
        browser_pages(running.address) as open_page,
    ):
        from page_driver import PageDriver

        from benchmark.processes.simulator_client import SimulatorClient

        coarse = PageDriver(open_page(COARSE), running.widgets)
        _set_up(coarse)
        coarse.page.close()
        running.slow_down(PANELS_S)
        shown = PageDriver(open_page(1.0), running.widgets)
        frames = []
        steps = StepSimulation.Request(steps=round(FRAME_S / TIMESTEP_S))
        paused = SimulationState(state=SimulationState.STATE_PAUSED)
        with closing(SimulatorClient()) as client:
            pause = SetSimulationState.Request(state=paused)
            client.call(SetSimulationState, "set_simulation_state", pause)
            client.call(ResetSimulation, "reset_simulation", ResetSimulation.Request())
            while len(frames) < FRAMES:
                shown.frames(PANELS_FRAMES)
                image = Image.open(io.BytesIO(shown.page.screenshot()))
                frames.append(_shrink(image.convert("RGB").crop(CROP)))
                client.call(StepSimulation, "step_simulation", steps)
    save(frames, path)


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


def _shrink(image: Image.Image) -> Image.Image:
    size = round(SCALE * image.width), round(SCALE * image.height)
    return image.resize(size, Image.Resampling.LANCZOS)


def _set_up(shown: Any) -> None:
    """Select a camera and plots, bring hidden windows to the front, and enlarge one."""
    shown.front("Overlays")
    shown.page.mouse.move(0.5 * SIZE["width"], 0.4 * SIZE["height"])
    shown.frames()
    shown.page.keyboard.press("]", delay=500.0)
    shown.frames()
    choose_plots(shown, ROBOT, PLOTTED)
    shown.front("Controller")
    shown.drag(*SPLITTER, "left")
    shown.page.mouse.up()
    shown.frames()
