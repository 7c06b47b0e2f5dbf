"""Trial of physics options."""

import copy

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.physics_options import PhysicsConfig, write_options


def try_options(model: mujoco.MjModel, physics: PhysicsConfig) -> None:
    """Step a copy of `model` once with the options that `physics` sets.

    The engine rejects some combinations during a step only, which would end the simulation.

    Raises:
        UserInputError: The engine rejects them.
    """
    candidate = copy.copy(model)
    write_options(candidate.opt, physics)
    try:
        mujoco.mj_step(candidate, mujoco.MjData(candidate))
    except (mujoco.FatalError, mujoco.UnexpectedError) as error:
        raise UserInputError(
            f"the engine rejects these options: {' '.join(str(error).split())}"
        ) from error
