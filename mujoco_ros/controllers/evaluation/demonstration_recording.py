"""Episodes that are recorded as demonstrations, with images."""

import gc
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import mujoco
import numpy as np

from mujoco_ros.cameras.camera_images import COLOUR, camera_images
from mujoco_ros.controllers.evaluation.episode import Episode, Identity, run_episode
from mujoco_ros.controllers.evaluation.parallel_episodes import DIED
from mujoco_ros.controllers.evaluation.trial import Conditions, Trial
from mujoco_ros.controllers.fsm.fsm_controller import FsmController
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.controllers.runtime.robot_model import find_robots
from mujoco_ros.model.errors import UserInputError, unknown
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.model.scene.assembly import Assembly, assemble
from mujoco_ros.model.sensors.cameras import Camera, compute_poses
from mujoco_ros.recording.demonstrations.demonstration_file import (
    ACTION,
    COMMANDED,
    COMMANDS,
    GOAL,
    IMAGES,
    QPOS,
    QVEL,
    SEED,
    STATE,
    DemonstrationFile,
)
from mujoco_ros.rendering.gl import AUTO, RenderingError
from mujoco_ros.rendering.renderer import Renderer
from mujoco_ros.sim.simulation import Simulation

RATE_TOLERANCE = 1e-6


@dataclass(frozen=True, kw_only=True, slots=True)
class DemonstrationSettings:
    """What is recorded."""

    fps: int  # frames a second; the controller's rate is a multiple of it
    cameras: tuple[str, ...] | None = None  # names of cameras; None for all of the scene
    failures: bool = False  # whether failed episodes are recorded as well
    task: str  # what is done, as text


def ticks_per_frame(rate: float, fps: int) -> int:
    """Return the number of ticks for each frame, at the rate of the controller [Hz]."""
    ticks = round(rate / fps)
    if ticks < 1 or abs(ticks * fps - rate) > RATE_TOLERANCE * rate:
        possible = [n for n in range(1, round(rate) + 1) if round(rate) % n == 0]
        raise UserInputError(
            f"--fps {fps}: the controller's rate of {rate:g} Hz is not a multiple of it; possible: "
            f"{', '.join(map(str, possible))}"
        )
    return ticks


def chosen_cameras(layout: ModelLayout, names: Iterable[str] | None) -> dict[str, Camera]:
    """Return cameras by their names in features, which begin with the namespace of their robot."""
    cameras = {
        ".".join(filter(None, (camera.namespace.strip("/").replace("/", "."), camera.name))): camera
        for camera in layout.every_camera
    }
    for name in names or ():
        if name not in cameras:
            raise unknown("camera", name, cameras)
    return cameras if names is None else {name: cameras[name] for name in names}


def check_settings(
    settings: DemonstrationSettings, controller: FsmController, layout: ModelLayout
) -> None:
    """Raise a UserInputError for frames that do not fit the rate, or an unknown camera."""
    ticks_per_frame(1.0 / controller.period, settings.fps)
    chosen_cameras(layout, settings.cameras)


class DemonstrationRecorder:
    """Records what a hosted controller observes and commands at each tick, as frames.

    A frame has the observation of its first tick and the commands of all of its ticks; its action
    is the last command in force: of a joint without a new one, the one before, and before the first
    one the measured position.
    """

    def __init__(
        self,
        simulation: Simulation,
        host: ControllerHost,  # the host; its filters are set
        settings: DemonstrationSettings,
        goal: Mapping[str, float],  # what the controller is commanded to reach, by name
        renderer: Callable[[mujoco.MjModel], Renderer],  # returns a renderer of a model
        file: DemonstrationFile,  # gets each complete frame
    ) -> None:
        """Record from the next tick on, through the filters of `host`."""
        controller = host.supervised.controller
        # Why the recording ended early; the episode ends with it. None without an error.
        self.error: Exception | None = None
        self._name = controller.table.name
        self._simulation, self._file = simulation, file
        self._robots = find_robots(simulation.plant, controller.table.robots)
        self._cameras = chosen_cameras(simulation.layout, settings.cameras)
        self._renderer = renderer(simulation.model) if self._cameras else None
        self._data = mujoco.MjData(simulation.model)
        self._joints = self._joint_names()
        ticks = ticks_per_frame(1.0 / controller.period, settings.fps)
        self._commands = np.empty((ticks, 5, len(self._joints)))
        self._count = 0  # of the ticks in the present frame
        self._held: np.ndarray | None = None  # positions (n,)
        self._positioned = np.zeros(len(self._joints), bool)
        self._goal = np.array([*goal.values()], np.float32)
        self._frame: dict[str, np.ndarray] = {}
        self._observation: Observation | None = None
        self._observe, self._command = host.observation_filter, host.command_filter
        positions = tuple(f"{joint}.position" for joint in self._joints)
        names = {
            STATE: (*positions, *(f"{joint}.velocity" for joint in self._joints)),
            ACTION: positions,
            GOAL: tuple(goal),
        }
        robots = simulation.layout.robots
        file.describe(
            names=names,
            task=settings.task,
            fps=settings.fps,
            robot=", ".join(robots[index].name for index in self._robots.values()),
        )
        host.observation_filter, host.command_filter = self._on_observation, self._on_command

    def _joint_names(self) -> tuple[str, ...]:
        robots = self._simulation.layout.robots
        return tuple(
            f"{name}.{joint}" if name else joint
            for name, index in self._robots.items()
            for joint in robots[index].joints.names
        )

    def _on_observation(self, observation: Observation) -> Observation:
        if self._observe is not None:
            observation = self._observe(observation)
        self._observation = observation
        return observation

    def _on_command(self, time: float, values: np.ndarray) -> np.ndarray:
        if self._command is not None:
            values = self._command(time, values)
        try:
            self._record(values)
        except Exception as error:
            self.error = error
            raise
        return values

    def _record(self, values: np.ndarray) -> None:
        assert self._observation is not None
        if self._held is None:
            self._held = self._observation.q.copy()
        given = ~np.isnan(values)
        self._positioned |= given[0]
        np.copyto(self._held, values[0], where=given[0])
        if (others := given.any(axis=0) & ~self._positioned).any():
            raise UserInputError(
                f"controller '{self._name}' commands {self._joints[int(others.argmax())]} without "
                "a position; the actions of a dataset are positions"
            )
        if self._count == 0:
            self._frame = self._observed()
        plant = self._simulation.plant
        gains = [
            plant.gains.gains_of(plant.assembly.robots[index]) for index in self._robots.values()
        ]
        row = self._commands[self._count]
        row[:3] = values
        np.concatenate([gain.kp for gain in gains], out=row[3])
        np.concatenate([gain.kd for gain in gains], out=row[4])
        self._count += 1
        if self._count == len(self._commands):
            self._count = 0
            self._frame[ACTION] = self._held.astype(np.float32)
            self._frame[COMMANDS] = np.nan_to_num(self._commands, nan=0.0)
            self._frame[COMMANDED] = (~np.isnan(self._commands[:, :3])).astype(np.int8)
            self._file.add(self._frame)

    def _observed(self) -> dict[str, np.ndarray]:
        """Return the columns of a frame that its first tick determines."""
        assert self._observation is not None
        simulation, sample = self._simulation, self._simulation.sample
        state = np.concatenate((self._observation.q, self._observation.dq))
        frame = {
            STATE: state.astype(np.float32),
            QPOS: sample.qpos.copy(),
            QVEL: sample.qvel.copy(),
            SEED: np.array([simulation.seed], np.int64),
        }
        if len(self._goal):
            frame[GOAL] = self._goal
        if self._renderer is None:
            return frame
        model, data, now = simulation.model, self._data, simulation.data
        data.qpos[:] = sample.qpos
        data.mocap_pos[:], data.mocap_quat[:] = now.mocap_pos, now.mocap_quat
        compute_poses(model, data)
        for name, camera in self._cameras.items():
            images = camera_images(
                self._renderer,
                data,
                camera,
                (COLOUR,),
                seed=simulation.seed,
                time=simulation.time,
            )
            frame[f"{IMAGES}{name}"] = images[COLOUR].copy()
        return frame


class DemonstrationRun:
    """Runs episodes, and has the file of each that is wanted before it returns.

    Worker processes get a copy, in which the scene is compiled with the first episode.
    """

    def __init__(
        self, trial: Trial, settings: DemonstrationSettings, output: Path, identity: Identity
    ) -> None:
        """Write the files into a folder in `output`, which follows from settings and identity."""
        key = sha256(json.dumps([repr(settings), dict(identity)]).encode()).hexdigest()[:16]
        # Folder of the files, which depends on all that they have in common
        self.folder = output / f"demonstrations-{key}"
        self._trial, self._settings = trial, settings
        self._assembly: Assembly | None = None
        self._renderer: Renderer | None = None

    def __call__(self, seed: int) -> Episode:
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
        return self.wants(episode) and not self.path(episode.seed).exists()

    def path(self, seed: int) -> Path:
        return self.folder / f"{seed}.zst"

    def _rendering(self, model: mujoco.MjModel) -> Renderer:
        if self._renderer is None:
            self._renderer = Renderer(model, AUTO)
        else:
            self._renderer.set_model(model)
        return self._renderer
