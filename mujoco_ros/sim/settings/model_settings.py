"""Settings of a running model: options, active constraints, colours and sizes."""

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import mujoco

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.scene.physics_options import PhysicsConfig, write_options


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

    def active(self) -> dict[str, bool]:
        """Return which constraints are active, by name."""
        return {name: bool(self._data.eq_active[i]) for name, i in self._indices.items()}


Kind = Literal["geom", "site", "tendon", "material"]
Property = Literal["rgba", "size"]

_GEOM = mujoco.mjtGeom
SIZES = {
    int(_GEOM.mjGEOM_SPHERE): ("radius",),
    int(_GEOM.mjGEOM_CAPSULE): ("radius", "half length"),
    int(_GEOM.mjGEOM_CYLINDER): ("radius", "half length"),
    int(_GEOM.mjGEOM_ELLIPSOID): ("radius x", "radius y", "radius z"),
    int(_GEOM.mjGEOM_BOX): ("half length x", "half length y", "half length z"),
}
"""Components of the size of a geom; the size of other types cannot be changed."""

_OBJECTS = {
    "geom": (mujoco.mjtObj.mjOBJ_GEOM, "ngeom", "geom_rgba"),
    "site": (mujoco.mjtObj.mjOBJ_SITE, "nsite", "site_rgba"),
    "tendon": (mujoco.mjtObj.mjOBJ_TENDON, "ntendon", "tendon_rgba"),
    "material": (mujoco.mjtObj.mjOBJ_MATERIAL, "nmat", "mat_rgba"),
}
KINDS: tuple[Kind, ...] = ("geom", "site", "tendon", "material")


@dataclass(frozen=True)
class Appearance:
    """A property of a named element of a model."""

    kind: Kind
    name: str
    property: Property


def appearances(model: mujoco.MjModel) -> list[Appearance]:
    """Return the properties of all named elements of a model."""
    found = []
    for kind in KINDS:
        objtype, count, _ = _OBJECTS[kind]
        for element in range(getattr(model, count)):
            name = mujoco.mj_id2name(model, objtype, element)
            if not name:
                continue
            found.append(Appearance(kind, name, "rgba"))
            if kind == "geom" and int(model.geom_type[element]) in SIZES:
                found.append(Appearance(kind, name, "size"))
    return found


def element(model: mujoco.MjModel, appearance: Appearance) -> int:
    """Return the id of the element of an appearance; -1 if the model does not have it."""
    return int(mujoco.mj_name2id(model, _OBJECTS[appearance.kind][0], appearance.name))


def get_appearance(model: mujoco.MjModel, appearance: Appearance) -> tuple[float, ...]:
    """Return a colour (red, green, blue, alpha from 0 to 1), or a size [m]: see `SIZES`."""
    values = _numbers(model, appearance)
    return tuple(round(float(value), 7) for value in values)


def scratch_for(model: mujoco.MjModel, properties: Iterable[Appearance]) -> mujoco.MjData | None:
    """Return the data that `set_appearance` needs for some properties; slow."""
    if not any(appearance.property == "size" for appearance in properties):
        return None
    scratch = mujoco.MjData(model)
    mujoco.mj_forward(model, scratch)  # makes the system allocate the memory now
    return scratch


def set_appearance(
    model: mujoco.MjModel,
    values: Mapping[Appearance, tuple[float, ...]],
    scratch: mujoco.MjData | None = None,
) -> None:
    """Set colours and sizes of elements that the model has, between two steps.

    Bounding volumes follow the sizes; masses and inertias do not. `scratch` is from `scratch_for`;
    without one for this model, it is created here.
    """
    resized = False
    for appearance, value in values.items():
        if element(model, appearance) >= 0:
            numbers = _numbers(model, appearance)
            numbers[:] = value
            resized |= appearance.property == "size"
    if resized:
        if scratch is None or scratch.model is not model:
            scratch = mujoco.MjData(model)
        mujoco.mj_setConst(model, scratch)  # leaves `scratch` in the reference configuration


def _numbers(model: mujoco.MjModel, appearance: Appearance) -> Any:
    """Return the value of a property in the model, as a view."""
    index = element(model, appearance)
    if appearance.property == "rgba":
        return getattr(model, _OBJECTS[appearance.kind][2])[index]
    return model.geom_size[index, : len(SIZES[int(model.geom_type[index])])]
