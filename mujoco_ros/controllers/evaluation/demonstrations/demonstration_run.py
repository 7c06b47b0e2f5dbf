"""Episodes of a trial that are recorded as demonstrations."""

import gc
import json
import time
from hashlib import sha256
from pathlib import Path

import mujoco

from mujoco_ros.controllers.evaluation.demonstrations.demonstration_recorder import (
    DemonstrationRecorder,
)
from mujoco_ros.controllers.evaluation.demonstrations.demonstration_settings import (
    DemonstrationSettings,
)
from mujoco_ros.controllers.evaluation.episode import Episode, run_episode
from mujoco_ros.controllers.evaluation.identity import Identity
from mujoco_ros.controllers.evaluation.jobs import DIED
from mujoco_ros.controllers.evaluation.trial import Conditions, Trial
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.recording.demonstrations.demonstration_file import DemonstrationFile
from mujoco_ros.rendering.errors import RenderingError
from mujoco_ros.rendering.gl import AUTO
from mujoco_ros.rendering.renderer import Renderer
from mujoco_ros.sim.simulation import Simulation


class DemonstrationRun:
    """Runs episodes, and has the file of each that is wanted before it returns.

    Worker processes get a copy, in which the scene is compiled with the first episode.

    Attributes:
        folder: Folder of the files, which depends on all that they have in common.
    """

    def __init__(
        self, trial: Trial, settings: DemonstrationSettings, output: Path, identity: Identity
    ) -> None:
        """Write the files into a folder in `output`, which follows from settings and identity."""
        key = sha256(json.dumps([repr(settings), dict(identity)]).encode()).hexdigest()[:16]
        self.folder = output / f"demonstrations-{key}"
        self._trial, self._settings = trial, settings
        self._assembly: Assembly | None = None
        self._renderer: Renderer | None = None

    def __call__(self, seed: int) -> Episode:
        """Run the episode of a seed.

        Raises:
            UserInputError: The controller commands a joint without a position, or images cannot be
                rendered.
            OSError: The file cannot be written.
        """
        if self._assembly is None:
            self._assembly = assemble(self._trial.scene_config())
        recorders: list[DemonstrationRecorder] = []
        with DemonstrationFile(self.path(seed)) as file:

            def record(
                simulation: Simulation, host: ControllerHost, conditions: Conditions
            ) -> None:
                goal = self._trial.goal(conditions)
                recorders.append(
                    DemonstrationRecorder(
                        simulation, host, self._settings, goal, self._rendering, file
                    )
                )

            try:
                episode = run_episode(
                    self._trial, self._assembly, seed, time.process_time, on_start=record
                )
                (recorder,) = recorders
                if recorder.error is not None:
                    raise recorder.error
            except RenderingError as error:
                raise UserInputError(f"images of a dataset: {error}") from error
            if self.wants(episode):
                file.finish()
        recorders.clear()
        del recorder, record
        gc.collect()  # models are large, and Python's collector does not count their memory
        return episode

    def wants(self, episode: Episode) -> bool:
        """Return whether an episode has a file, which may be one without frames."""
        return episode.success or (self._settings.failures and episode.outcome != DIED)

    def lacks(self, episode: Episode) -> bool:
        """Return whether the file of a finished episode is missing."""
        return self.wants(episode) and not self.path(episode.seed).exists()

    def path(self, seed: int) -> Path:
        """Return the file of an episode."""
        return self.folder / f"{seed}.zst"

    def _rendering(self, model: mujoco.MjModel) -> Renderer:
        if self._renderer is None:
            self._renderer = Renderer(model, AUTO)
        else:
            self._renderer.set_model(model)
        return self._renderer
