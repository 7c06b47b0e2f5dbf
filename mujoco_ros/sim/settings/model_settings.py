"""Settings of a running model: options and active constraints."""

import copy
from typing import NamedTuple

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.physics_options import PhysicsConfig, write_options
from mujoco_ros.sim.state.state_vector import wake


def try_options(model: mujoco.MjModel, physics: PhysicsConfig) -> None:
    """Step a copy once with the options: the engine rejects some combinations in a step only."""
    candidate = copy.copy(model)
    write_options(candidate.opt, physics)
    try:
        mujoco.mj_step(candidate, mujoco.MjData(candidate))
    except (mujoco.FatalError, mujoco.UnexpectedError) as error:
        raise UserInputError(
            f"the engine rejects these options: {' '.join(str(error).split())}"
        ) from error


_KINDS = {
    int(mujoco.mjtEq.mjEQ_CONNECT): "that connects two bodies at a point",
    int(mujoco.mjtEq.mjEQ_WELD): "that welds two bodies together",
    int(mujoco.mjtEq.mjEQ_JOINT): "between two joints",
    int(mujoco.mjtEq.mjEQ_TENDON): "between two tendons",
}


class Equality(NamedTuple):
    """A named equality constraint."""

    name: str  # its name in the model
    kind: str  # what it constrains, in words
    initially_active: bool  # whether a reset activates it


class EqualitySettings:
    """The one owner of which constraints are active; belongs to the thread that owns the plant."""

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._model, self._data = model, data
        self._indices = {name: i for i in range(model.neq) if (name := model.equality(i).name)}
        # The named constraints, in model order
        self.constraints = tuple(
            Equality(name, _KINDS.get(int(model.eq_type[i]), ""), bool(model.eq_active0[i]))
            for name, i in self._indices.items()
        )

    def configure(self, name: str, active: bool) -> None:
        """Set whether a constraint is active, now and after each reset."""
        self._model.eq_active0[self._indices[name]] = active
        self.set(name, active)

    def set(self, name: str, active: bool) -> None:
        """Set whether a constraint is active; ignored for one that does not exist."""
        if name in self._indices:
            self._data.eq_active[self._indices[name]] = active
            wake(self._model, self._data)  # a weld to the world does not wake its body

    def active(self) -> dict[str, bool]:
        """Return which constraints are active, by name."""
        return {name: bool(self._data.eq_active[i]) for name, i in self._indices.items()}
