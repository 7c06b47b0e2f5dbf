"""What pictures cost, by their size, by what they show and by how they look.

``python -m benchmark.rendering [scene]`` prints a table.
"""

import argparse
import importlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import mujoco
import numpy as np

from benchmark.plan import Plan
from benchmark.report import Row, figure
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.sensors.cameras import intrinsics_of
from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.rendering.frame import Frame
from mujoco_ros.rendering.gl import DEVICE_VARIABLE
from mujoco_ros.rendering.point_cloud import PointCloud
from mujoco_ros.rendering.quality import PLAIN, RICH, RenderQuality
from mujoco_ros.rendering.renderer import Renderer
from mujoco_ros.sim.simulation import Simulation

SIZES = ((160, 120), (320, 240), (640, 480), (1280, 720))
SHADOWS = {"shadows off": PLAIN, "shadows on": replace(PLAIN, shadows=True)}
QUALITIES = {**SHADOWS, "rich": RICH}
PRODUCTS: dict[str, Callable[[Frame, PointCloud], object]] = {
    "colour": lambda frame, _: frame.colour,
    "depth": lambda frame, _: frame.depth,
    "segments": lambda frame, _: frame.objects,
    "colour, depth": lambda frame, _: (frame.colour, frame.depth),
    "cloud": lambda frame, cloud: cloud.fill(frame.depth, frame.colour),
}
_FEWEST = 3
"""Pictures of each kind, however long they take."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """What a picture costs: elapsed time, and the time of all processors together [s]."""

    elapsed: float
    processor: float


class Studio:
    """A scene as its cameras see it at the beginning."""

    def __init__(self, scene: str) -> None:
        """Open OpenGL, on a graphics card if there is one.

        Raises:
            RenderingError: There is none.
        """
        simulation = Simulation(load_scene(scene))
        self._model, self._data = simulation.model, simulation.data
        mujoco.mj_forward(self._model, self._data)
        self._renderer = Renderer(self._model)
        self.device = f"{self._renderer.backend}, {self._renderer.device}"
        self.is_software = self._renderer.is_software
        self._camera = next(it for it in simulation.layout.every_camera if it.camera == 0)
        self.camera = self._model.cam(0).name

    def cost(
        self, size: tuple[int, int], product: str, quality: RenderQuality, seconds: float
    ) -> Cost:
        """Return the median cost of an image of the first camera."""
        optics = intrinsics_of(self._model, 0, *size)
        camera = replace(self._camera, width=size[0], height=size[1], intrinsics=optics)
        self._renderer.quality = quality
        draw, cloud = PRODUCTS[product], PointCloud(optics, *size)
        elapsed: list[float] = []
        processor: list[float] = []
        draw(self._renderer.frame(self._data, camera), cloud)
        until = time.monotonic() + seconds
        while time.monotonic() < until or len(elapsed) < _FEWEST:
            begun, worked = time.perf_counter(), time.process_time()
            draw(self._renderer.frame(self._data, camera), cloud)
            elapsed.append(time.perf_counter() - begun)
            processor.append(time.process_time() - worked)
        return Cost(elapsed=float(np.median(elapsed)), processor=float(np.median(processor)))

    def close(self) -> None:
        """Close OpenGL, and MuJoCo's EGL device: it selects one per process."""
        self._renderer.close()
        vars(importlib.import_module("mujoco.egl"))["EGL_DISPLAY"] = None


def software_device() -> int | None:
    """Return the number of the EGL device that is the processor; None if there is none."""
    egl = importlib.import_module("mujoco.egl").EGL
    query = importlib.import_module("OpenGL.EGL.EXT.device_query").eglQueryDeviceStringEXT
    for number, device in enumerate(egl.eglQueryDevicesEXT()):
        if b"EGL_MESA_device_software" in query(device, egl.EGL_EXTENSIONS):
            return number
    return None


def rendering(plan: Plan) -> list[Row]:
    """(o) Pictures of the humanoid's head camera, drawn in this process."""
    try:
        return [
            figure("o", f"{what}, {studio.device}", 1e3 * cost.elapsed, "ms", 2)
            for studio in studios("humanoid")
            for what, cost in _costs(studio, plan.drawing)
        ]
    except RenderingError as error:
        return [figure("o", f"no picture: {error}", 0.0, "ms")]


def studios(scene: str) -> Iterator[Studio]:
    """Yield the scene as a graphics card draws it, if there is one, and as the processor does.

    Raises:
        RenderingError: There is no OpenGL.
    """
    studio = Studio(scene)
    yield studio
    if studio.is_software or (number := software_device()) is None:
        return
    studio.close()
    chosen = os.environ.get(DEVICE_VARIABLE)
    os.environ[DEVICE_VARIABLE] = str(number)
    try:
        yield Studio(scene)
    finally:
        if chosen is None:
            del os.environ[DEVICE_VARIABLE]
        else:
            os.environ[DEVICE_VARIABLE] = chosen


def _costs(studio: Studio, seconds: float) -> Iterator[tuple[str, Cost]]:
    """Yield what each product costs in each size, without shadows and with them."""
    for name, quality in SHADOWS.items():
        for width, height in SIZES:
            for product in PRODUCTS:
                cost = studio.cost((width, height), product, quality, seconds)
                yield f"{product}, {width} x {height}, {name}", cost


DRAWING: dict[str, Callable[[Plan], list[Row]]] = {"o": rendering}


def lines(studio: Studio, seconds: float) -> Iterator[str]:
    """Yield a table in Markdown, line by line, as it is measured."""
    yield f"First camera, {studio.camera}; {studio.device}."
    yield ""
    yield "| pixels | images | quality | ms | of processors | per second |"
    yield "| --- | --- | --- | --: | --: | --: |"
    for name, quality in QUALITIES.items():  # a change costs more than an image
        for width, height in SIZES:
            for product in PRODUCTS:
                cost = studio.cost((width, height), product, quality, seconds)
                elapsed, processor = 1e3 * cost.elapsed, 1e3 * cost.processor
                yield (
                    f"| {width} x {height} | {product} | {name} | {elapsed:.1f} | {processor:.1f} "
                    f"| {1 / cost.elapsed:.0f} |"
                )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 where there is no OpenGL."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmark.rendering", description="Measure what pictures cost."
    )
    parser.add_argument("scene", nargs="?", default="humanoid", help="whose first camera is used")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each line of the table")
    options = parser.parse_args(arguments)
    try:
        for studio in studios(options.scene):
            for line in lines(studio, options.seconds):
                print(line, flush=True)
    except RenderingError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
