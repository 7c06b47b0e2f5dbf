"""Replay of the commands of a demonstration, from the same start."""

from collections.abc import Mapping
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.control.gains import Gains
from mujoco_ros.control.settings import StreamSettings
from mujoco_ros.controllers.catalogue import load_table
from mujoco_ros.controllers.evaluation.episode import initial_simulation
from mujoco_ros.controllers.evaluation.trial import Trial
from mujoco_ros.controllers.runtime.robot_bindings import RobotBindings
from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.assembly import Assembly
from mujoco_ros.recording.demonstrations.demonstration_file import (
    COMMANDED,
    COMMANDS,
    QPOS,
    QVEL,
    SEED,
)
from mujoco_ros.rendering.gl import AUTO
from mujoco_ros.sim.simulation import Simulation


class ReplayResult(NamedTuple):
    """Result of a replay."""

    error: float  # largest absolute difference of positions and velocities [m, rad, m/s, rad/s]
    diverged_at: float | None = None  # when the simulation diverged [s], which ends the replay

    def is_within(self, largest: float) -> bool:
        """Return whether it came to its end with an error of at most `largest`; never with NaN."""
        return self.diverged_at is None and self.error <= largest


def replay_demonstration(
    trial: Trial, assembly: Assembly, columns: Mapping[str, np.ndarray]
) -> ReplayResult:
    """Repeat the commands of a demonstration, and compare the states with the recorded ones.

    The robots start in the state of the episode's seed, and get the recorded commands and gains at
    each tick, from the columns ``replay.*`` (t, ...); no controller runs.
    """
    seed = _seed(columns)
    conditions = trial.conditions(seed)
    simulation = initial_simulation(trial, assembly, seed, conditions)
    trial.disturb(simulation.model, conditions)
    mujoco.mj_setConst(simulation.model, mujoco.MjData(simulation.model))
    table = load_table(trial.controller)
    bindings = RobotBindings(simulation, table.robots, AUTO)
    _check(columns, simulation, sum(binding.count for binding in bindings.each.values()))
    stream = StreamSettings(period=1.0 / table.rate)
    steps = round(stream.period / float(simulation.model.opt.timestep))
    commands = np.where(columns[COMMANDED], columns[COMMANDS][:, :, :3], np.nan)
    gains = columns[COMMANDS][:, :, 3:]
    largest = 0.0
    try:
        for row, tick in np.ndindex(commands.shape[:2]):
            if not _step_to_tick(simulation, steps):
                return ReplayResult(largest, simulation.time)
            if tick == 0:
                sample = simulation.sample
                pairs = ((columns[QPOS][row], sample.qpos), (columns[QVEL][row], sample.qvel))
                errors = [np.abs(there - here).max(initial=0.0) for there, here in pairs]
                largest = float(np.max([largest, *errors]))  # NaN if one is
            _set_gains(bindings, gains[row, tick])
            bindings.command(commands[row, tick], stream)
            trial.act(simulation, lambda _name: None, conditions)
    finally:
        for binding in bindings.each.values():
            binding.cameras.close()
    return ReplayResult(largest)


def _step_to_tick(simulation: Simulation, steps: int) -> bool:
    """Step up to the next tick, at step 0 first; return whether the simulation is valid."""
    while simulation.step():
        if simulation.step_number % steps == 0:
            return True
    return False


def _seed(columns: Mapping[str, np.ndarray]) -> int:
    seeds = columns.get(SEED, np.empty(0))
    if not (seeds.size and seeds.dtype.kind in "iu" and seeds.min() == seeds.max() >= 0):
        raise UserInputError(f"'{SEED}' of an episode is not one seed")
    return int(seeds.flat[0])


def _check(columns: Mapping[str, np.ndarray], simulation: Simulation, joints: int) -> None:
    """Check the columns of a replay, so that nothing invalid reaches the simulation."""
    shape = np.shape(columns.get(COMMANDS, ()))
    frames, ticks = shape[:2] if len(shape) > 1 else (0, 0)
    expected = {
        COMMANDS: (frames, ticks, 5, joints),
        COMMANDED: (frames, ticks, 3, joints),
        QPOS: (frames, len(simulation.data.qpos)),
        QVEL: (frames, len(simulation.data.qvel)),
    }
    for name, wanted in expected.items():
        values = columns.get(name)
        if values is None or values.dtype.kind not in "fiu":
            raise UserInputError(f"the dataset has no numbers '{name}', which a replay needs")
        if values.shape != wanted or not values.size:
            raise UserInputError(f"'{name}' has the shape {values.shape}, not {wanted}")
        if not np.isfinite(values).all():
            frame = int(np.argwhere(~np.isfinite(values))[0][0])
            raise UserInputError(f"'{name}' is not finite in frame {frame}")


def _set_gains(bindings: RobotBindings, gains: np.ndarray) -> None:
    """Set the gains of all robots, if they are others.  # (2, n)"""
    first = 0
    for binding in bindings.each.values():
        kp, kd = gains[:, first : first + binding.count]
        first += binding.count
        present = binding.access.gains
        if not (np.array_equal(kp, present.kp) and np.array_equal(kd, present.kd)):
            try:
                binding.access.set_gains(Gains(kp=kp, kd=kd))
            except ValueError as error:
                raise UserInputError(f"'{COMMANDS}': {error}") from error
