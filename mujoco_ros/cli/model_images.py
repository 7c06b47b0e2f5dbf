"""Render images of models into the cache; the viewer starts this process."""

import argparse
import logging
import os
import resource
import sys
from collections.abc import Sequence
from pathlib import Path

import cv2
import mujoco

from mujoco_ros.cli.command_line import create_parser, fail
from mujoco_ros.inspection.images import model_image
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.viewer.framing import frame_bodies
from mujoco_ros.viewer.model_images import NO_RENDERING, SIZE, image_cache, image_name

_LOG = logging.getLogger(__name__)
_PROCESSOR_S = 60
"""Processor time after which the kernel ends the process; the viewer starts another one [s]."""
_FINER = 3
"""Pixels that are rendered for each one of an image, in both directions."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the images; return the exit code."""
    options = _parser().parse_args(arguments)
    resource.setrlimit(resource.RLIMIT_CPU, (_PROCESSOR_S, _PROCESSOR_S))
    with os.fdopen(options.progress, "w") as progress:
        for path in options.models:
            try:
                _write(path)
            except RenderingError as error:
                return fail(f"images of models cannot be rendered: {error}", NO_RENDERING)
            except (UserInputError, OSError, mujoco.FatalError) as error:
                _LOG.warning("the model '%s' has no image: %s", path, error)
            progress.write("done\n")
            progress.flush()
    return 0


def _write(path: Path) -> None:
    image = model_image(path, (_FINER * SIZE[0], _FINER * SIZE[1]), frame_bodies)
    small = cv2.resize(image, SIZE, interpolation=cv2.INTER_AREA)
    _, encoded = cv2.imencode(".png", cv2.cvtColor(small, cv2.COLOR_RGB2BGR))
    image_cache().write(image_name(path), bytes(encoded))


def _parser() -> argparse.ArgumentParser:
    parser = create_parser("model_images", "Render images of models into the cache.")
    parser.add_argument("--progress", type=int, required=True, help="descriptor for a line each")
    parser.add_argument("models", type=Path, nargs="+", help="files of robots or objects")
    return parser


if __name__ == "__main__":
    sys.exit(main())
