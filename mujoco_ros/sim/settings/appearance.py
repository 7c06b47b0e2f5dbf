"""Colours and sizes of a model's elements, changed while it runs."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import mujoco

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
"""What the size of a geom consists of; other kinds have one that cannot be changed."""

_OBJECTS = {
    "geom": (mujoco.mjtObj.mjOBJ_GEOM, "ngeom", "geom_rgba"),
    "site": (mujoco.mjtObj.mjOBJ_SITE, "nsite", "site_rgba"),
    "tendon": (mujoco.mjtObj.mjOBJ_TENDON, "ntendon", "tendon_rgba"),
    "material": (mujoco.mjtObj.mjOBJ_MATERIAL, "nmat", "mat_rgba"),
}
KINDS: tuple[Kind, ...] = ("geom", "site", "tendon", "material")


@dataclass(frozen=True)
class Appearance:
    """A property of a named element of a model, which every model that has the element has."""

    kind: Kind
    name: str
    property: Property


def appearances(model: mujoco.MjModel) -> list[Appearance]:
    """Return all there is to change of the named elements of a model."""
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


def element(model: mujoco.MjModel, look: Appearance) -> int:
    """Return the id of the element that `look` is of; -1 if the model has none."""
    return int(mujoco.mj_name2id(model, _OBJECTS[look.kind][0], look.name))


def get_appearance(model: mujoco.MjModel, look: Appearance) -> tuple[float, ...]:
    """Return a colour (red, green, blue, alpha from 0 to 1), or a size [m]: see `SIZES`."""
    values = _numbers(model, look)
    return tuple(round(float(value), 7) for value in values)


def scratch_for(model: mujoco.MjModel, wanted: Iterable[Appearance]) -> mujoco.MjData | None:
    """Return what `set_appearance` needs for the looks that are `wanted`; making it takes long."""
    if not any(look.property == "size" for look in wanted):
        return None
    scratch = mujoco.MjData(model)
    mujoco.mj_forward(model, scratch)  # has the system give the memory now
    return scratch


def set_appearance(
    model: mujoco.MjModel,
    values: Mapping[Appearance, tuple[float, ...]],
    scratch: mujoco.MjData | None = None,
) -> None:
    """Change colours and sizes; those of elements that the model has not are left out.

    Run this in the physics thread, between two steps. Bounding volumes follow the sizes; masses and
    inertias do not.

    Args:
        model: The model.
        values: The numbers of each look.
        scratch: From `scratch_for`; without one for this very model, it is made here.
    """
    resized = False
    for look, value in values.items():
        if element(model, look) >= 0:
            numbers = _numbers(model, look)
            numbers[:] = value
            resized |= look.property == "size"
    if resized:
        if scratch is None or scratch.model is not model:
            scratch = mujoco.MjData(model)
        mujoco.mj_setConst(model, scratch)  # leaves it in the reference configuration


def _numbers(model: mujoco.MjModel, look: Appearance) -> Any:
    """Return the numbers of a look in the model, as a view."""
    index = element(model, look)
    if look.property == "rgba":
        return getattr(model, _OBJECTS[look.kind][2])[index]
    return model.geom_size[index, : len(SIZES[int(model.geom_type[index])])]
