"""Images of models for the viewer, which starts this process: from the cache, or rendered."""

import hashlib
import json
import zipfile
from collections.abc import Sequence
from contextlib import suppress
from io import BytesIO
from pathlib import Path

import cv2
import mujoco
import numpy as np

from mujoco_ros.inspection.images import model_image
from mujoco_ros.model.errors import ParseError, UserInputError
from mujoco_ros.model.file_access import allowed_files
from mujoco_ros.model.file_cache import FileCache, user_folder
from mujoco_ros.model.reading import Reading, recorded_reading, repeated_reading
from mujoco_ros.model.uri import resolve
from mujoco_ros.process.worker_process import serve
from mujoco_ros.rendering.gl import RenderingError
from mujoco_ros.viewer.file_request import FileRequest
from mujoco_ros.viewer.model_images import SIZE, NoImagesError
from mujoco_ros.viewer.scene.fitting import fitted_pose

_FINER = 3  # pixels that are rendered for each one of an image, in both directions
_VERSION = 2  # changes with the images of the same models
_LIMIT_BYTES = 32 * 1024 * 1024


def main(arguments: Sequence[str]) -> int:
    """Make images until the viewer ends; return the exit code."""
    return serve(arguments, lambda _setup: image_of)


def image_of(request: FileRequest) -> np.ndarray:
    """Return the image of a model, which changes with its files.  # (height, width, 3) uint8"""
    with allowed_files(request.files):
        path = resolve(request.uri, Path("/"))
        cache = FileCache(user_folder("model_images"), ".npz", _LIMIT_BYTES)
        name = hashlib.sha256(f"{_VERSION}\0{path}".encode()).hexdigest()[:32]
        image = _cached(cache.find(name))
        if image is None:
            with recorded_reading() as reading:
                image = _rendered(path)
            with suppress(OSError):  # without the cache, the next list only takes longer
                cache.write(name, _content(image, reading))
        return image


def _rendered(path: Path) -> np.ndarray:
    try:
        image = model_image(path, (_FINER * SIZE[0], _FINER * SIZE[1]), _frame)
    except RenderingError as error:
        raise NoImagesError(str(error)) from error
    except mujoco.FatalError as error:
        raise UserInputError(str(error)) from error
    return np.asarray(cv2.resize(image, SIZE, interpolation=cv2.INTER_AREA))


def _frame(model: mujoco.MjModel, data: mujoco.MjData, camera: mujoco.MjvCamera) -> None:
    """Move a free camera to show all bodies; azimuth and elevation do not change."""
    # Of a square, because a model is rarely higher than wide.
    pose = fitted_pose(
        model, data, 0, azimuth=camera.azimuth, elevation=camera.elevation, aspect=1.0
    )
    if pose:
        camera.lookat[:], camera.distance = pose["lookat"], pose["distance"]


def _content(image: np.ndarray, reading: Reading) -> bytes:
    """Return a file with an image and the stamps of the files that it shows."""
    buffer = BytesIO()
    np.savez_compressed(buffer, image=image, stamps=np.array(json.dumps(reading.stamps)))
    return buffer.getvalue()


def _cached(file: Path | None) -> np.ndarray | None:
    """Return the image of such a file, unless a file that it shows has changed."""
    if file is None:
        return None
    # A file that another program cut short is written again.
    with suppress(OSError, EOFError, ValueError, KeyError, zipfile.BadZipFile, ParseError):
        with np.load(file, allow_pickle=False) as found:
            image: np.ndarray = found["image"]
            stamps = json.loads(str(found["stamps"]))
        with repeated_reading(Reading({path: tuple(stamp) for path, stamp in stamps.items()})):
            if image.shape == (SIZE[1], SIZE[0], 3) and image.dtype == np.uint8:
                return image
    return None
