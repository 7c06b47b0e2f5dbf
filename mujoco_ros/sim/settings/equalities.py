"""Named equality constraints of a model: which of them are active."""

from typing import NamedTuple

import mujoco

_KINDS = {
    int(mujoco.mjtEq.mjEQ_CONNECT): "that connects two bodies at a point",
    int(mujoco.mjtEq.mjEQ_WELD): "that welds two bodies together",
    int(mujoco.mjtEq.mjEQ_JOINT): "between two joints",
    int(mujoco.mjtEq.mjEQ_TENDON): "between two tendons",
}


class Equality(NamedTuple):
    """A named equality constraint.

    Attributes:
        name: Its name in the model.
        kind: What it constrains, in words.
        initially_active: Whether a reset activates it.
    """

    name: str
    kind: str
    initially_active: bool


class EqualitySettings:
    """The one owner of which constraints are active; belongs to the thread that owns the plant.

    Attributes:
        constraints: The named constraints, in model order.
    """

    def __init__(self, model: mujoco.MjModel, data: mujoco.MjData) -> None:
        self._model, self._data = model, data
        self._indices = {name: i for i in range(model.neq) if (name := model.equality(i).name)}
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

    def active(self) -> dict[str, bool]:
        """Return which constraints are active, by name."""
        return {name: bool(self._data.eq_active[i]) for name, i in self._indices.items()}
