"""Numbers of a model's named elements that can be set while it runs."""

from collections.abc import Collection, Iterator, Mapping
from copy import copy
from typing import Any, NamedTuple

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.actuators import is_affine
from mujoco_ros.model.robot.scope import JOINT_WIDTHS, NAMED_ELEMENTS, SCALAR_JOINTS
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
    limited: str = ""
    """For a range: array that tells whether it applies, which is unless its ends are equal."""


_RGBA = "Colour: red, green, blue, and alpha, of which 0 is invisible"
_SOLREF = "Time constant [s] and damping ratio of the constraint, or -stiffness and -damping"
_SOLIMP = "Impedance of the constraint: d0, dwidth, width, midpoint, power"
_RANGE = "two equal numbers for no limit"
_COLOUR = "light: red, green, blue"
_CAMERA = "in the frame of its body; TF keeps the pose of the scene"
_GAIN = "of an actuator that is neither motor nor servo, with the meaning of its type in MJCF"
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
        "springref": Row(
            "qpos_spring", "Position of the spring at rest [rad or m]", -_LARGEST, is_basic=True
        ),
        "range": Row(
            "jnt_range",
            f"Limits of the position [rad or m], which commands respect, too; {_RANGE}",
            -_LARGEST,
            limited="jnt_limited",
        ),
        "margin": Row("jnt_margin", "Distance from a limit below which it acts [rad or m]"),
        "solreflimit": Row("jnt_solref", f"{_SOLREF}, of the limits", -_LARGEST),
        "solimplimit": Row("jnt_solimp", f"{_SOLIMP}, of the limits"),
    },
    "tendon": {
        "rgba": Row("tendon_rgba", _RGBA, high=1.0),
        "damping": Row("tendon_damping", "Damping [Ns/m]", is_basic=True),
        "frictionloss": Row("tendon_frictionloss", "Dry friction [N]"),
        "stiffness": Row("tendon_stiffness", "Stiffness of the spring [N/m]", is_basic=True),
        "range": Row(
            "tendon_range",
            f"Limits of the length [m]; {_RANGE}",
            -_LARGEST,
            limited="tendon_limited",
        ),
    },
    "constraint": {
        "solref": Row("eq_solref", f"{_SOLREF}, of an equality constraint", -_LARGEST),
        "solimp": Row("eq_solimp", f"{_SOLIMP}, of an equality constraint"),
    },
    "actuator": {
        "kp": Row("actuator_gainprm", "Stiffness of a position servo [Nm/rad or N/m]", _SMALLEST),
        "kv": Row("actuator_biasprm", "Damping of a servo [Nms/rad or Ns/m]", _SMALLEST),
        "gainprm": Row("actuator_gainprm", f"Parameters of the gain {_GAIN}", -_LARGEST),
        "biasprm": Row("actuator_biasprm", f"Parameters of the bias {_GAIN}", -_LARGEST),
        "dynprm": Row("actuator_dynprm", f"Parameters of the activation {_GAIN}", -_LARGEST),
        "forcerange": Row(
            "actuator_forcerange",
            f"Limits of the force [N or Nm]; {_RANGE}",
            -_LARGEST,
            limited="actuator_forcelimited",
        ),
        "ctrlrange": Row(
            "actuator_ctrlrange",
            f"Limits of the control; {_RANGE}",
            -_LARGEST,
            limited="actuator_ctrllimited",
        ),
    },
    "camera": {
        "fovy": Row("cam_fovy", "Vertical angle of view [°], for cameras without lens", 0.1, 179.0),
        "pos": Row("cam_pos", f"Position [m] {_CAMERA}", -_LARGEST, is_basic=True),
        "quat": Row(
            "cam_quat",
            f"Orientation wxyz {_CAMERA}",
            -_LARGEST,
            is_basic=True,
        ),
    },
    "light": {
        "ambient": Row("light_ambient", f"Ambient {_COLOUR}"),
        "diffuse": Row("light_diffuse", f"Diffuse {_COLOUR}"),
        "specular": Row("light_specular", f"Specular {_COLOUR}"),
        "attenuation": Row("light_attenuation", "Attenuation: constant, linear, quadratic"),
        "cutoff": Row("light_cutoff", "Half of the angle of a spotlight [°]", high=180.0),
        "exponent": Row("light_exponent", "Exponent of the edge of a spotlight"),
        "pos": Row("light_pos", "Position in the frame of its body [m]", -_LARGEST, is_basic=True),
        "dir": Row(
            "light_dir", "Direction in the frame of its body; not zero", -_LARGEST, is_basic=True
        ),
    },
    "material": {"rgba": Row("mat_rgba", _RGBA, high=1.0)},
}
"""What can be set, by kind of element and name."""
_TURNING = (
    int(mujoco.mjtCamLight.mjCAMLIGHT_TARGETBODY),
    int(mujoco.mjtCamLight.mjCAMLIGHT_TARGETBODYCOM),
)
"""Modes of cameras whose orientation follows a target."""
_OBJECTS = NAMED_ELEMENTS | {"constraint": NAMED_ELEMENTS["equality"]}
_ROWS = [row for rows in PROPERTIES.values() for row in rows.values()]
ARRAYS = tuple(dict.fromkeys(name for row in _ROWS for name in (row.array, row.limited) if name))
"""The arrays of the model that hold them."""
LOOKS = (
    *("geom_rgba", "geom_size", "site_rgba", "tendon_rgba", "mat_rgba"),
    *(row.array for kind in ("camera", "light") for row in PROPERTIES[kind].values()),
)
"""Those which one sees."""
_BASIC = tuple(row.array for row in _ROWS if row.is_basic)


class Property(NamedTuple):
    """A property of a named element of a model."""

    kind: str
    name: str
    attribute: str

    @property
    def row(self) -> Row:
        """What it is."""
        return PROPERTIES[self.kind][self.attribute]


Value = tuple[float, ...]


def elements(model: mujoco.MjModel) -> Iterator[tuple[str, str, list[str]]]:
    """Yield kind and name of each named element of a model, and the names of its properties."""
    for kind, rows in PROPERTIES.items():
        objtype, count = _OBJECTS[kind]
        for index in range(getattr(model, count)):
            name = mujoco.mj_id2name(model, objtype, index)
            if not name or (kind == "body" and not index):
                continue
            lacks = _lacking(model, kind, index)
            if names := [word for word in rows if word not in lacks]:
                yield kind, name, names


def _lacking(model: mujoco.MjModel, kind: str, index: int) -> Collection[str]:
    """Return the properties of its kind that an element does not have."""
    if kind == "geom":
        return () if int(model.geom_type[index]) in SIZES else ("size",)
    if kind == "joint":  # springs and limits of free and ball joints have other numbers
        return () if model.jnt_type[index] in SCALAR_JOINTS else ("springref", "range")
    if kind == "camera":
        lacks = {"fovy"} if model.cam_sensorsize[index].all() else set()
        return lacks | ({"quat"} if model.cam_mode[index] in _TURNING else set())
    if kind != "actuator":
        return ()
    gains = _gains(model, index)
    lacks = {"kp", "kv"} - gains.keys() | ({"gainprm", "biasprm"} if gains else set())
    if model.actuator_dyntype[index] == mujoco.mjtDyn.mjDYN_NONE:
        lacks.add("dynprm")
    if model.actuator_ctrlnum[index] != 1:
        lacks.add("ctrlrange")
    return lacks


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


def get_property(model: mujoco.MjModel, which: Property) -> Value:
    """Return the numbers of a property; the numbers of the size of a geom are in `SIZES`.

    The ends of a range that does not apply are equal.
    """
    if which.attribute in _GAINS:
        return (_gains(model, element(model, which))[which.attribute],)
    numbers = _numbers(model, which)[0]
    if which.row.limited and not _flags(model, which)[0]:
        return (0.0,) * len(numbers)
    digits = 7 if numbers.dtype == np.float32 else 17
    return tuple(round(float(number), digits) for number in numbers)


def check_properties(
    model: mujoco.MjModel,
    values: Mapping[Property, Value],
    labels: Mapping[Property, str] | None = None,
) -> None:
    """Reject values that no body can have, and those that the engine rejects; slow.

    `labels` are the names of the properties in messages.
    """

    def label(which: Property) -> str:
        return (labels or {}).get(which) or f"{which.kind}.{which.name}.{which.attribute}"

    for which, value in values.items():
        why = ""
        if which.attribute == "inertia" and 2.0 * max(value) > sum(value) * (1.0 + 1e-9):
            why = "one principal moment exceeds the sum of the others"
        elif which.row.limited and value[0] > value[1]:
            why = "its lower end is above its upper end; for no limit, give two equal numbers"
        elif which.attribute in ("dir", "quat") and not any(value):
            why = "a direction is not zero"
        elif which.attribute.startswith("solref") and (value[0] > 0.0) != (value[1] > 0.0):
            why = "the engine uses its default unless both numbers are positive, or neither is"
        elif which.attribute.startswith("solimp") and not (
            max(value[0], value[1], value[3]) <= 1.0 <= value[4]
        ):
            why = "d0, dwidth and midpoint are from 0 to 1, and the power is at least 1"
        elif which.attribute in ("mass", "inertia"):
            body = element(model, which)
            if body >= 0 and not model.body_mass[body]:
                why = "the body has no mass, since its geoms have none"
        if why:
            raise UserInputError(f"parameter '{label(which)}' cannot be {list(value)}: {why}")
    if any(which.row.is_basic for which in values):
        try:
            set_properties(copy(model), values)
        except ENGINE_ERRORS as error:
            names = ", ".join(label(which) for which in values if which.row.is_basic)
            raise UserInputError(f"{names}: {' '.join(str(error).split())}") from error


class PropertyEdit:
    """Prepared new numbers of elements; slow to create, fast to apply between two steps."""

    def __init__(self, model: mujoco.MjModel, values: Mapping[Property, Value]) -> None:
        """Prepare new numbers of what the model has."""
        self.model = model
        self.values = {w: value for w, value in values.items() if element(model, w) >= 0}
        self._writes: list[tuple[Any, Any]] = []
        self.has_ranges = any(which.row.limited for which in self.values)
        self._gains: list[tuple[int, str, float]] = []
        for which, value in self.values.items():
            if which.attribute in _GAINS:
                self._gains.append((element(model, which), which.attribute, value[0]))
                continue
            numbers = np.array(value)
            if which.attribute == "quat":
                mujoco.mju_normalize4(numbers)
            self._writes.append((_numbers(model, which), numbers))
            if which.row.limited:
                self._writes.append((_flags(model, which), value[0] < value[1]))
        self._scratch: mujoco.MjData | None = None
        if any(which.row.is_basic for which in self.values):
            self._scratch = mujoco.MjData(model)
            mujoco.mj_forward(model, self._scratch)  # makes the system allocate the memory now

    def apply(self) -> None:
        """Set the numbers. Bounding volumes follow the sizes; masses and inertias do not."""
        for numbers, value in self._writes:
            numbers[:] = value
        for gain in self._gains:
            _set_gain(self.model, *gain)
        if self._scratch is not None:
            mujoco.mj_setConst(self.model, self._scratch)  # leaves the reference configuration


def set_properties(model: mujoco.MjModel, values: Mapping[Property, Value]) -> None:
    """Set properties of elements that the model has; see `PropertyEdit`."""
    PropertyEdit(model, values).apply()


def basic_numbers(model: mujoco.MjModel) -> np.ndarray:
    """Return a copy of all numbers of a model from which the engine derives constants.  # (n,)"""
    return np.concatenate([getattr(model, name).ravel() for name in _BASIC])


_GAINS = ("kp", "kv")


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
    array = getattr(model, which.row.array)
    first, count = _rows(model, which)
    columns = array.size // max(len(array), 1)
    numbers = array.reshape(len(array), columns)[first : first + count]
    if which.attribute == "size":
        return numbers[:, : len(SIZES[int(model.geom_type[element(model, which)])])]
    return numbers


def _flags(model: mujoco.MjModel, which: Property) -> Any:
    """Return whether a range applies, as a view."""
    first, count = _rows(model, which)
    return getattr(model, which.row.limited)[first : first + count]


def _rows(model: mujoco.MjModel, which: Property) -> tuple[int, int]:
    """Return the first row of an element in the array of its property, and the number of rows."""
    index, array = element(model, which), which.row.array
    if array.startswith("dof_"):
        return int(model.jnt_dofadr[index]), int(JOINT_WIDTHS[model.jnt_type[index], 1])
    if array.startswith("qpos_"):
        return int(model.jnt_qposadr[index]), 1
    if array.startswith("actuator_ctrl"):
        return int(model.actuator_ctrladr[index]), 1
    return index, 1
