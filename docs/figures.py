"""Draw docs/images: scenes and pages as PNG, plots and diagrams as SVG, one animation as GIF.

Run ``make pictures``, with ``ARGS="humanoid splines"`` for some of them.
"""

import argparse
import re
import sys
from pathlib import Path

import cv2
import numpy as np
from camera_figure import camera_figure
from carry_animation import NAME as CARRY
from carry_animation import draw_carry
from control_plots import PLOTS
from extension_figures import VIEWS as EXAMPLE_VIEWS
from extension_figures import draw_example
from fit_plot import fit_plot
from fsm_diagrams import DIAGRAMS
from page_animation import draw_animation
from page_figure import draw_page
from phone_figure import draw_phone
from scene_view import View, photograph, write_image
from training_plot import training_plot
from walk_plots import WALKS

from mujoco_ros.model.output_files import write_whole
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.sim.simulation import Simulation

IMAGES = Path(__file__).resolve().parent / "images"
CAMERA = "camera"
# Between two platforms, sums of floats differ in their last bit, and so may a rounded coordinate.
ROUNDING_PX = 0.11
# A hash of the clip's corners, whose last bits differ between processors.
_CLIP_ID = re.compile(r"(?<=[#\"])p[0-9a-f]{10}\b")
_TEXT = re.compile(r"<(?:title|text)[^>]*>([^<]*)")
_NUMBER = re.compile(r"-?\d+\.?\d*")


_PLUGINS = Path(__file__).resolve().parents[1] / "examples" / "plugins"

VIEWS = (
    View(
        name="zoo",
        scene="zoo",
        size=(1280, 640),
        lookat=(0.28, 0.16, 0.72),
        distance=2.55,
        azimuth=233.0,
        elevation=-19.0,
    ),
    View(
        name="humanoid",
        scene="humanoid",
        size=(360, 400),
        lookat=(0.0, 0.0, 0.86),
        distance=2.45,
        azimuth=150.0,
        elevation=-8.0,
    ),
    View(
        name="quadruped",
        scene="quadruped",
        size=(360, 400),
        lookat=(0.0, 0.0, 0.26),
        distance=1.25,
        azimuth=140.0,
        elevation=-14.0,
    ),
    View(
        name="arm",
        scene="arm",
        size=(360, 400),
        lookat=(0.22, 0.0, 0.37),
        distance=1.7,
        azimuth=78.0,
        elevation=-14.0,
    ),
    View(
        name="plugin_pid_servo",
        scene=str(_PLUGINS / "pid_servo.xml"),
        size=(420, 320),
        lookat=(0.15, 0.2, 0.42),
        distance=1.5,
        azimuth=75.0,
        elevation=-12.0,
        settled_s=6.0,
    ),
    View(
        name="plugin_touch_grid",
        scene=str(_PLUGINS / "touch_grid.xml"),
        size=(420, 320),
        lookat=(0.0, 0.0, 0.09),
        distance=0.6,
        azimuth=60.0,
        elevation=-30.0,
        touch_sensor="pad",
    ),
    View(
        name="plugin_sdf",
        scene=str(_PLUGINS / "ring_and_bowl.xml"),
        size=(420, 320),
        lookat=(0.0, 0.0, 0.24),
        distance=1.0,
        azimuth=120.0,
        elevation=-60.0,
    ),
    View(
        name="plugin_cable",
        scene=str(_PLUGINS / "cable.xml"),
        size=(420, 320),
        lookat=(0.5, 0.0, 0.35),
        distance=1.5,
        azimuth=105.0,
        elevation=-10.0,
        settled_s=4.0,
    ),
)


DRAWN = {**PLOTS, **DIAGRAMS, "training": training_plot}
SIMULATED = {**WALKS, "fit": fit_plot}
"""Plots of simulations, which take too long to compare with the code."""
PAGES = {"viewer": (draw_page, "humanoid"), "phone": (draw_phone, "humanoid")}
"""Figures of the viewer's pages, and their scenes."""
ANIMATION = "pick_place"


def main() -> None:
    """Draw all figures, or those named; or with --check compare the drawings with the code."""
    parser = argparse.ArgumentParser(description="Draw the figures of the documentation.")
    parser.add_argument("names", nargs="*", help="default: all")
    parser.add_argument("--check", action="store_true", help="compare the drawings, write nothing")
    wanted = parser.parse_args()
    if wanted.check:
        checked = [name for name in DRAWN if name in wanted.names or not wanted.names]
        stale = [f"docs/images/{name}.svg" for name in checked if is_stale(name)]
        sys.exit(f"{', '.join(stale)} out of date: run python docs/figures.py" if stale else 0)
    views = [view.name for view in VIEWS]
    examples = [view.name for view, _ in EXAMPLE_VIEWS]
    known = [*views, *examples, CAMERA, *DRAWN, *SIMULATED, *PAGES, ANIMATION, CARRY]
    if unknown := ", ".join(name for name in wanted.names if name not in known):
        parser.error(f"unknown figure {unknown}; there are {', '.join(known)}")
    names = wanted.names or known
    IMAGES.mkdir(exist_ok=True)
    for view in VIEWS:
        if view.name in names:
            render(view, IMAGES / f"{view.name}.png")
    for view, seconds in EXAMPLE_VIEWS:
        if view.name in names:
            draw_example(view, seconds, IMAGES / f"{view.name}.png")
    if CAMERA in names:
        write_image(IMAGES / f"{CAMERA}.png", camera_figure())
    for name, (draw, scene) in PAGES.items():
        if name in names:
            draw(scene, IMAGES / f"{name}.png")
    if ANIMATION in names:
        draw_animation(IMAGES / f"{ANIMATION}.gif")
    if CARRY in names:
        draw_carry(IMAGES / f"{CARRY}.gif")
    for name, plot in {**DRAWN, **SIMULATED}.items():
        if name in names:
            write_whole(IMAGES / f"{name}.svg", plot())


def is_stale(name: str) -> bool:
    """Return whether a plot is missing or differs from the one that the code draws."""
    path = IMAGES / f"{name}.svg"
    if not path.is_file():
        return True
    texts = (path.read_text(encoding="utf-8"), DRAWN[name]())
    if name in DIAGRAMS:  # the fonts of this machine determine where Graphviz puts the texts
        before, after = (sorted(_TEXT.findall(text)) for text in texts)
        return before != after
    committed, drawn = (_CLIP_ID.sub("#clip", text) for text in texts)
    if _NUMBER.split(committed) != _NUMBER.split(drawn):
        return True
    numbers = [np.array(_NUMBER.findall(text), dtype=float) for text in (committed, drawn)]
    return not np.allclose(*numbers, rtol=0.0, atol=ROUNDING_PX)


def render(view: View, path: Path) -> None:
    """Simulate the scene until it has settled and write the view to `path`."""
    simulation = Simulation(load_scene(view.scene))
    while simulation.time < view.settled_s:
        simulation.step()
    photograph(simulation, view, path)
    if view.touch_sensor is not None:
        touched = touch_image(simulation, view.touch_sensor, view.size[1])
        write_image(path, np.hstack([cv2.imread(str(path)), touched]))


def touch_image(simulation: Simulation, sensor: str, size_px: int) -> np.ndarray:
    """Return the normal forces of a touch grid, the largest one bright.  # (n, n, 3) BGR."""
    arrays = {array.name: array for robot in simulation.layout.robots for array in robot.arrays}
    _, (_, rows), (_, columns) = arrays[sensor].dimensions
    first = arrays[sensor].address
    forces = simulation.sample.sensordata[first : first + rows * columns]
    grey = (255 * forces / forces.max()).astype(np.uint8).reshape(rows, columns)
    square = cv2.resize(grey, (size_px, size_px), interpolation=cv2.INTER_NEAREST)
    return cv2.applyColorMap(square, cv2.COLORMAP_VIRIDIS)


if __name__ == "__main__":
    main()
