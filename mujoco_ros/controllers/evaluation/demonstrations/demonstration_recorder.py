"""Recorder of an episode as a demonstration, with images."""

from collections.abc import Callable, Mapping

import mujoco
import numpy as np

from mujoco_ros.cameras.camera_images import COLOUR, camera_images
from mujoco_ros.cameras.scene_poses import compute_poses
from mujoco_ros.controllers.evaluation.demonstrations.demonstration_settings import (
    DemonstrationSettings,
    chosen_cameras,
    ticks_per_frame,
)
from mujoco_ros.controllers.interface.observation import Observation
from mujoco_ros.controllers.runtime.host import ControllerHost
from mujoco_ros.controllers.runtime.robot_model import find_robots
from mujoco_ros.model.errors import UserInputError
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
from mujoco_ros.rendering.renderer import Renderer
from mujoco_ros.sim.simulation import Simulation


class DemonstrationRecorder:
    """Records what a hosted controller observes and commands at each tick, as frames.

    A frame has the observation of its first tick and the commands of all of its ticks; its action
    is the last command in force: of a joint without a new one, the one before, and before the first
    one the measured position.

    Attributes:
        error: Why the recording ended early; the episode ends with it. None without an error.
    """

    def __init__(
        self,
        simulation: Simulation,
        host: ControllerHost,
        settings: DemonstrationSettings,
        goal: Mapping[str, float],
        renderer: Callable[[mujoco.MjModel], Renderer],
        file: DemonstrationFile,
    ) -> None:
        """Record from the next tick on, through the filters of `host`.

        Args:
            simulation: The simulation.
            host: The host; its filters are set.
            settings: What is recorded.
            goal: What the controller is commanded to reach, by name.
            renderer: Returns a renderer of a model.
            file: Gets each frame when it is complete; a last one without all of its ticks is left
                out.
        """
        controller = host.supervised.controller
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
        self._held: np.ndarray | None = None  # positions  # (n,)
        self._positioned = np.zeros(len(self._joints), bool)
        self._goal = np.array([*goal.values()], np.float32)
        self._frame: dict[str, np.ndarray] = {}
        self._observation: Observation | None = None
        self._observe, self._command = host.observation_filter, host.command_filter
        positions = tuple(f"{it}.position" for it in self._joints)
        names = {
            STATE: (*positions, *(f"{it}.velocity" for it in self._joints)),
            ACTION: positions,
            GOAL: tuple(goal),
        }
        robots = simulation.layout.robots
        file.describe(
            names=names,
            task=settings.task,
            fps=settings.fps,
            robot=", ".join(robots[it].name for it in self._robots.values()),
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
        """Record the commands of a tick.  # (3, n)"""
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
        gains = [plant.gains.of(plant.assembly.robots[it]) for it in self._robots.values()]
        row = self._commands[self._count]
        row[:3] = values
        np.concatenate([it.kp for it in gains], out=row[3])
        np.concatenate([it.kd for it in gains], out=row[4])
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
