"""Numbers of a model's named elements that can be set while it runs."""

from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from typing import Any, NamedTuple

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.actuators import is_affine
from mujoco_ros.model.robot.scope import JOINT_WIDTHS, NAMED_ELEMENTS
from mujoco_ros.model.scene.mjcf_files import ENGINE_ERRORS

_GEOM = mujoco.mjtGeom
SIZES = {
    int(_GEOM.mjGEOM_SPHERE): ("radius",),
    int(_GEOM.mjGEOM_CAPSULE): ("radius", "half length"),
    int(_GEOM.mjGEOM_CYLINDER): ("radius", "half length"),
    int(_GEOM.mjGEOM_ELLIPSOID): ("radius x", "radius y", "radius z"),
    int(_GEOM.mjGEOM_BOX): ("half length x", "half length y", "half length z"),
}
"""Components of the size of a geom; the size of other types cannot be set."""
_LARGEST = 1e9
_SMALLEST = 1e-9  # of masses and moments of inertia


class Row(NamedTuple):
    """A property of all elements of a kind."""

    array: str
    """Array of ``mjModel``."""
    meaning: str
    low: float = 0.0
    high: float = _LARGEST
    is_basic: bool = False
    """Whether the engine derives constants from it."""


_RGBA = "Colour: red, green, blue, and alpha, of which 0 is invisible"
_SOLREF = "Time constant [s] and damping ratio of the constraint, or -stiffness and -damping"
_SOLIMP = "Impedance of the constraint: d0, dwidth, width, midpoint, power"
PROPERTIES: dict[str, dict[str, Row]] = {
    "body": {
        "mass": Row("body_mass", "Mass [kg]; the inertia stays", _SMALLEST, is_basic=True),
        "inertia": Row(
            "body_inertia",
            "Principal moments of inertia [kg m²], in the axes of the inertial frame",
            _SMALLEST,
            is_basic=True,
        ),
        "ipos": Row(
            "body_ipos", "Centre of mass in the frame of the body [m]", -_LARGEST, is_basic=True
        ),
        "gravcomp": Row(
            "body_gravcomp", "Part of the weight that is compensated", -_LARGEST, is_basic=True
        ),
    },
    "geom": {
        "rgba": Row("geom_rgba", _RGBA, high=1.0),
        "size": Row(
            "geom_size",
            "Size [m]: radius of a sphere, radius and half length of a capsule or cylinder, half "
            "lengths of a box, radii of an ellipsoid; other geoms have none",
            1e-6,
            1e6,
            is_basic=True,
        ),
        "friction": Row("geom_friction", "Friction: sliding, torsional [m], rolling [m]"),
        "solref": Row("geom_solref", _SOLREF, -_LARGEST),
        "solimp": Row("geom_solimp", _SOLIMP),
        "margin": Row(
            "geom_margin", "Distance below which contacts have a force [m]", is_basic=True
        ),
        "gap": Row(
            "geom_gap",
            "Distance beyond the margin, up to which contacts without a force are found [m]",
            is_basic=True,
        ),
    },
    "site": {"rgba": Row("site_rgba", _RGBA, high=1.0)},
    "joint": {
        "damping": Row("dof_damping", "Damping [Nms/rad or Ns/m]"),
        "armature": Row("dof_armature", "Inertia of the rotor [kg m² or kg]", is_basic=True),
        "frictionloss": Row("dof_frictionloss", "Dry friction [Nm or N]"),
        "stiffness": Row("jnt_stiffness", "Stiffness of the spring [Nm/rad or N/m]"),
    },
    "tendon": {
        "rgba": Row("tendon_rgba", _RGBA, high=1.0),
        "damping": Row("tendon_damping", "Damping [Ns/m]", is_basic=True),
        "frictionloss": Row("tendon_frictionloss", "Dry friction [N]"),
        "stiffness": Row("tendon_stiffness", "Stiffness of the spring [N/m]", is_basic=True),
    },
    "constraint": {
        "solref": Row("eq_solref", f"{_SOLREF}, of an equality constraint", -_LARGEST),
        "solimp": Row("eq_solimp", f"{_SOLIMP}, of an equality constraint"),
    },
    "actuator": {
        "kp": Row("actuator_gainprm", "Stiffness of a position servo [Nm/rad or N/m]", _SMALLEST),
        "kv": Row("actuator_biasprm", "Damping of a servo [Nms/rad or Ns/m]", _SMALLEST),
    },
    "material": {"rgba": Row("mat_rgba", _RGBA, high=1.0)},
}
"""What can be set, by kind of element and name."""
_OBJECTS = NAMED_ELEMENTS | {"constraint": NAMED_ELEMENTS["equality"]}
ARRAYS = tuple(row.array for rows in PROPERTIES.values() for row in rows.values())
"""The arrays of the model that hold them."""
LOOKS = ("geom_rgba", "geom_size", "site_rgba", "tendon_rgba", "mat_rgba")
"""Those which one sees."""
_BASIC = tuple(row.array for rows in PROPERTIES.values() for row in rows.values() if row.is_basic)


@dataclass(frozen=True)
class Property:
    """A property of a named element of a model."""

    kind: str
    name: str
    attribute: str

    @property
    def row(self) -> Row:
        """What it is."""
        return PROPERTIES[self.kind][self.attribute]


def elements(model: mujoco.MjModel) -> Iterator[tuple[str, str, list[str]]]:
    """Yield kind and name of each named element of a model, and the names of its properties."""
    for kind, rows in PROPERTIES.items():
        objtype, count = _OBJECTS[kind]
        for index in range(getattr(model, count)):
            name = mujoco.mj_id2name(model, objtype, index)
            if not name or (kind == "body" and not index):
                continue
            names = list(rows)
            if kind == "geom" and int(model.geom_type[index]) not in SIZES:
                names.remove("size")
            if kind == "actuator":
                names = [word for word in names if word in _gains(model, index)]
            if names:
                yield kind, name, names


def properties(model: mujoco.MjModel) -> list[Property]:
    """Return the properties of all named elements of a model."""
    return [
        Property(kind, name, attribute)
        for kind, name, names in elements(model)
        for attribute in names
    ]


def element(model: mujoco.MjModel, which: Property) -> int:
    """Return the id of the element of a property; -1 if the model does not have it."""
    return int(mujoco.mj_name2id(model, _OBJECTS[which.kind][0], which.name))


def get_property(model: mujoco.MjModel, which: Property) -> tuple[float, ...]:
    """Return the numbers of a property; those of the size of a geom are in `SIZES`."""
    if which.kind == "actuator":
        return (_gains(model, element(model, which))[which.attribute],)
    numbers = _numbers(model, which)[0]
    digits = 7 if numbers.dtype == np.float32 else 17
    return tuple(round(float(number), digits) for number in numbers)


def check_properties(model: mujoco.MjModel, values: Mapping[Property, tuple[float, ...]]) -> None:
    """Reject values that no body can have, and those that the engine rejects; slow."""
    for which, value in values.items():
        if which.attribute == "inertia" and 2.0 * max(value) > sum(value) * (1.0 + 1e-9):
            raise UserInputError(
                f"the inertia of body '{which.name}' cannot be {list(value)}: "
                "one principal moment exceeds the sum of the others"
            )
        if which.attribute in ("mass", "inertia"):
            body = element(model, which)
            if body >= 0 and not model.body_mass[body]:
                raise UserInputError(
                    f"the {which.attribute} of body '{which.name}' cannot be set: it has no mass, "
                    "since its geoms have none"
                )
    if any(which.row.is_basic for which in values):
        try:
            set_properties(copy(model), values)
        except ENGINE_ERRORS as error:
            names = ", ".join(f"{w.kind}.{w.name}.{w.attribute}" for w in values)
            raise UserInputError(f"{names}: {' '.join(str(error).split())}") from error


def scratch_for(model: mujoco.MjModel, changed: Iterable[Property]) -> mujoco.MjData | None:
    """Return the data that `set_properties` needs for some properties; slow."""
    if not any(which.row.is_basic for which in changed):
        return None
    scratch = mujoco.MjData(model)
    mujoco.mj_forward(model, scratch)  # makes the system allocate the memory now
    return scratch


def set_properties(
    model: mujoco.MjModel,
    values: Mapping[Property, tuple[float, ...]],
    scratch: mujoco.MjData | None = None,
) -> None:
    """Set properties of elements that the model has, between two steps.

    Bounding volumes follow the sizes; masses and inertias do not. `scratch` is from `scratch_for`;
    without one for this model, it is created here.
    """
    is_basic = False
    for which, value in values.items():
        index = element(model, which)
        if index >= 0:
            if which.kind == "actuator":
                _set_gain(model, index, which.attribute, *value)
            else:
                _numbers(model, which)[:] = value
            is_basic |= which.row.is_basic
    if is_basic:
        if scratch is None or scratch.model is not model:
            scratch = mujoco.MjData(model)
        mujoco.mj_setConst(model, scratch)  # leaves `scratch` in the reference configuration


def basic_numbers(model: mujoco.MjModel) -> np.ndarray:
    """Return a copy of all numbers of a model from which the engine derives constants.  # (n,)"""
    return np.concatenate([getattr(model, name).ravel() for name in _BASIC])


def _gains(model: mujoco.MjModel, actuator: int) -> dict[str, float]:
    """Return kp and kv of a servo, whose bias is its gain; none of other actuators."""
    if not is_affine(model, actuator):
        return {}
    gain, bias = float(model.actuator_gainprm[actuator, 0]), model.actuator_biasprm[actuator]
    if gain and gain == -bias[1]:
        return {"kp": gain, "kv": -float(bias[2])}
    return {"kv": gain} if gain and not bias[1] and gain == -bias[2] else {}


def _set_gain(model: mujoco.MjModel, actuator: int, name: str, value: float) -> None:
    gain, bias = model.actuator_gainprm[actuator], model.actuator_biasprm[actuator]
    if name == "kp":
        bias[0] *= value / gain[0]  # the zero of its positions stays
    if name == "kp" or not bias[1]:
        gain[0] = value
    bias[1 if name == "kp" else 2] = -value


def _numbers(model: mujoco.MjModel, which: Property) -> Any:
    """Return the value of a property in the model, as a view with one or several equal rows."""
    index, array = element(model, which), getattr(model, which.row.array)
    rows = slice(index, index + 1)
    if which.row.array.startswith("dof_"):
        first = int(model.jnt_dofadr[index])
        rows = slice(first, first + JOINT_WIDTHS[model.jnt_type[index], 1])
    columns = array.size // max(len(array), 1)
    if which.attribute == "size":
        return array[rows, : len(SIZES[int(model.geom_type[index])])]
    return array.reshape(len(array), columns)[rows]
