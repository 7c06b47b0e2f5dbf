"""Pictures of the scene, for pages that draw too slowly: by MuJoCo's renderer, in a thread."""

import asyncio
import logging
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

import mujoco
import numpy as np

from mujoco_ros.rendering import gl
from mujoco_ros.viewer.scene.drawn_scene import DrawnScene

_LOG = logging.getLogger(__name__)
_QUALITY = 75  # of the JPEG files
_MOST_PIXELS = 960 * 540  # larger pictures are drawn smaller, and enlarged by the page


@dataclass(frozen=True, kw_only=True, slots=True)
class PictureJob:
    """A picture to draw; its scene may not change until it is drawn."""

    model: mujoco.MjModel
    drawn: DrawnScene
    width: int  # [px]
    height: int  # [px]
    # Called in the event loop with a JPEG file, or with why there is none
    done: Callable[[bytes, str], object]


class PictureRenderer:
    """Draws pictures one after the other in a thread, which begins with the first one."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[PictureJob | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def submit(self, job: PictureJob) -> None:
        """Draw a picture."""
        if self._thread is None:
            loop = asyncio.get_running_loop()
            self._thread = threading.Thread(
                target=self._run, args=(loop,), name="pictures", daemon=True
            )
            self._thread.start()
        self._jobs.put(job)

    def close(self) -> None:
        """End the thread."""
        self._jobs.put(None)
        if self._thread is not None:
            self._thread.join()

    def _run(self, loop: asyncio.AbstractEventLoop) -> None:
        context: gl.GlContext | None = None
        resources: mujoco.MjrContext | None = None
        model: mujoco.MjModel | None = None
        while (job := self._jobs.get()) is not None:
            picture, problem = b"", ""
            try:
                if context is None:
                    context = gl.open_context()
                if job.model is not model or resources is None:
                    if resources is not None:
                        resources.free()
                    resources, model = gl.upload(job.model, gl.PLAIN), job.model
                picture = _draw(job, resources)
            except Exception as error:  # would end the thread, and the pictures
                problem = f"no pictures can be drawn: {error}"
                _LOG.warning("%s", problem)
            try:
                loop.call_soon_threadsafe(job.done, picture, problem)
            except RuntimeError:  # the loop has ended
                break
        if resources is not None:
            resources.free()
        if context is not None:
            context.close()


def _draw(job: PictureJob, resources: mujoco.MjrContext) -> bytes:
    scale = min(1.0, (_MOST_PIXELS / (job.width * job.height)) ** 0.5)
    width, height = (max(round(scale * side), 16) for side in (job.width, job.height))
    gl.grow_buffer(resources, width, height)
    rectangle = mujoco.MjrRect(0, 0, width, height)
    pixels = np.empty((height, width, 3), np.uint8)
    scene = job.drawn.scene
    scene.flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 0
    scene.flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = 0
    mujoco.mjr_render(rectangle, scene, resources)
    mujoco.mjr_readPixels(pixels, None, rectangle, resources)
    import cv2  # needs 20 MB, and few pages ask for pictures

    # OpenGL begins with the lowest row, and OpenCV's files have blue first.
    is_written, content = cv2.imencode(
        ".jpg", pixels[::-1, :, ::-1], [cv2.IMWRITE_JPEG_QUALITY, _QUALITY]
    )
    assert is_written
    return content.tobytes()
