"""GetSpawnables: the models that can be spawned."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from simulation_interfaces.msg import Bounds, Spawnable

from mujoco_ros.bridge.simulation_interfaces.entities.entity_models import initial_box
from mujoco_ros.bridge.simulation_interfaces.entities.messages import bounds_message
from mujoco_ros.bridge.simulation_interfaces.interfaces import BackgroundWorker
from mujoco_ros.bridge.trial_builds import LIMITS, TrialBuilds
from mujoco_ros.model.archives import named
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.naming import header_comment
from mujoco_ros.model.scene.worlds import files_below, is_model, shipped_models, shipped_uri
from mujoco_ros.model.strict import read_text
from mujoco_ros.model.uri import check_file, resolve
from mujoco_ros.rclpy_ext.service import RequestRejectedError, Responder
from mujoco_ros.wire.names import write_resource

MEASUREMENT_LIMITS = replace(LIMITS, processor_s=10.0, wall_s=120.0)
"""Limits of one model; beyond them it is listed without bounds."""
_MEASUREMENT_S = 300.0
"""Time for the models of one request [s]; the others are listed without bounds."""
SUFFIXES = (".xml", ".mjcf", ".urdf")


class SpawnablesService:
    """Lists the models that can be spawned: the shipped models, and the models at given sources."""

    def __init__(self, background: BackgroundWorker, measurements: TrialBuilds) -> None:
        self._background, self._measurements = background, measurements
        self._bounds: dict[tuple[Path, float], Bounds] = {}

    def get_spawnables(self, request: Any, responder: Responder) -> None:
        """List models; a source that cannot be searched fails, but the others are listed."""

        def fill() -> None:
            found, problems = list(shipped_models()), []
            for source in request.sources:
                try:
                    found += _models(source)
                except UserInputError as error:
                    problems.append(str(error))
            deadline = time.monotonic() + _MEASUREMENT_S
            paths = dict.fromkeys(found)
            responder.response.spawnables = [self._spawnable(path, deadline) for path in paths]
            if problems:
                raise RequestRejectedError("; ".join(problems))

        self._background.run(responder, fill)

    def _spawnable(self, path: Path, deadline: float) -> Spawnable:
        spawnable = Spawnable()
        write_resource(spawnable, "entity_resource", shipped_uri(path) or named(path).as_uri())
        spawnable.description = header_comment(read_text(path)) or path.stem
        key = path, path.stat().st_mtime
        if key not in self._bounds and time.monotonic() < deadline:
            self._bounds[key] = self._measured(path)
        spawnable.spawn_bounds = self._bounds.get(key) or bounds_message(None)
        return spawnable

    def _measured(self, path: Path) -> Bounds:
        try:
            return bounds_message(self._measurements.evaluate(f"'{path}'", initial_box, path))
        except UserInputError:
            return bounds_message(None)  # an attempt to spawn it reports the reason


def _models(source: str) -> list[Path]:
    """Return the model in a file, or all models below a folder."""
    path = resolve(source, Path.cwd())
    if path.is_dir():
        return [file for file in files_below(path, SUFFIXES) if is_model(file)]
    check_file(path, "source of models")
    if not is_model(path):
        raise UserInputError(
            f"'{path}' is not a model: MJCF begins with <mujoco>, URDF with <robot>"
        )
    return [path]
