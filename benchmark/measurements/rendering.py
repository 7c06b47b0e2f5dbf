"""Cost of camera images by size, kind and render quality.

``python -m benchmark.measurements.rendering [scene]`` prints a table.
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

from benchmark.durations import Durations
from benchmark.report import Row, result
from mujoco_ros.model.scene.config import load_scene
from mujoco_ros.model.sensors.cameras import intrinsics_of
from mujoco_ros.rendering.egl import DEVICE_VARIABLE
from mujoco_ros.rendering.gl import PLAIN, RICH, RenderingError, RenderQuality
from mujoco_ros.rendering.point_cloud import PointCloud
from mujoco_ros.rendering.renderer import Frame, Renderer
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
"""Images of each kind, whatever their duration."""


@dataclass(frozen=True, kw_only=True)
class Cost:
    """Cost of an image: elapsed time, and CPU time of all threads [s]."""

    elapsed: float
    processor: float


class SceneRenderer:
    """Renders a scene in its initial state."""

    def __init__(self, scene: str) -> None:
        """Open OpenGL, on a GPU if there is one.

        Raises:
            RenderingError: OpenGL is not available.
        """
        simulation = Simulation(load_scene(scene))
        self._model, self._data = simulation.model, simulation.data
        mujoco.mj_forward(self._model, self._data)
        self._renderer = Renderer(self._model)
        self.device = f"{self._renderer.backend}, {self._renderer.device}"
        self.is_software = self._renderer.is_software
        self._camera = next(
            camera for camera in simulation.layout.every_camera if camera.camera == 0
        )
        self.camera = self._model.cam(0).name

    def cost(
        self, size: tuple[int, int], product: str, quality: RenderQuality, seconds: float
    ) -> Cost:
        """Return the median cost of an image of the first camera over some seconds."""
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
    """Return the number of the EGL device that renders on the CPU; None without one."""
    egl = importlib.import_module("mujoco.egl").EGL
    query = importlib.import_module("OpenGL.EGL.EXT.device_query").eglQueryDeviceStringEXT
    for number, device in enumerate(egl.eglQueryDevicesEXT()):
        if b"EGL_MESA_device_software" in query(device, egl.EGL_EXTENSIONS):
            return number
    return None


def rendering(durations: Durations) -> list[Row]:
    """(o) Cost of images of the humanoid's head camera."""
    try:
        return [
            result("o", f"{what}, {renderer.device}", 1e3 * cost.elapsed, "ms", 2)
            for renderer in scene_renderers("humanoid")
            for what, cost in _costs(renderer, durations.rendering)
        ]
    except RenderingError as error:
        return [result("o", f"no image: {error}", 0.0, "ms")]


def scene_renderers(scene: str) -> Iterator[SceneRenderer]:
    """Yield the renderer of the GPU, if there is one, and the renderer of the CPU.

    Raises:
        RenderingError: OpenGL is not available.
    """
    renderer = SceneRenderer(scene)
    yield renderer
    if renderer.is_software or (number := software_device()) is None:
        return
    renderer.close()
    chosen = os.environ.get(DEVICE_VARIABLE)
    os.environ[DEVICE_VARIABLE] = str(number)
    try:
        yield SceneRenderer(scene)
    finally:
        if chosen is None:
            del os.environ[DEVICE_VARIABLE]
        else:
            os.environ[DEVICE_VARIABLE] = chosen


def _costs(renderer: SceneRenderer, seconds: float) -> Iterator[tuple[str, Cost]]:
    """Yield the cost of each product in each size, without and with shadows."""
    for name, quality in SHADOWS.items():
        for width, height in SIZES:
            for product in PRODUCTS:
                cost = renderer.cost((width, height), product, quality, seconds)
                yield f"{product}, {width} x {height}, {name}", cost


def lines(renderer: SceneRenderer, seconds: float) -> Iterator[str]:
    """Yield the lines of a Markdown table while measuring."""
    yield f"First camera, {renderer.camera}; {renderer.device}."
    yield ""
    yield "| pixels | images | quality | ms | CPU ms | per second |"
    yield "| --- | --- | --- | --: | --: | --: |"
    for name, quality in QUALITIES.items():  # a change costs more than an image
        for width, height in SIZES:
            for product in PRODUCTS:
                cost = renderer.cost((width, height), product, quality, seconds)
                elapsed, processor = 1e3 * cost.elapsed, 1e3 * cost.processor
                yield (
                    f"| {width} x {height} | {product} | {name} | {elapsed:.1f} | {processor:.1f} "
                    f"| {1 / cost.elapsed:.0f} |"
                )


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return 1 without OpenGL."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmark.measurements.rendering",
        description="Measure the cost of camera images.",
    )
    parser.add_argument("scene", nargs="?", default="humanoid", help="its first camera is used")
    parser.add_argument(
        "--seconds", type=float, default=1.0, help="duration of each line of the table"
    )
    options = parser.parse_args(arguments)
    try:
        for renderer in scene_renderers(options.scene):
            for line in lines(renderer, options.seconds):
                print(line, flush=True)
    except RenderingError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
