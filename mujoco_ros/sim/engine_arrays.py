"""What the engine computes for each element of a model: the arrays of its own ``mjData``."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache, partial
from typing import NamedTuple

import mujoco
import numpy as np

from mujoco_ros.model.body_tree import carriers, joints_of
from mujoco_ros.model.robot.actuators import tendon_of
from mujoco_ros.model.robot.scope import JOINT_WIDTHS, NAMED_ELEMENTS, body_of
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.state.state_vector import state_fields
from mujoco_ros.sim.stepping.compiled_topics import Updates

SCENE = "scene"
"""Kind of the one element that has what the engine computes for all elements together."""
_TENDON_FORCE, _ENERGY = "ten_actuatorfrc", "energy"
_ENERGIES = ("potential", "kinetic")
_STARTS = {
    "nq": ("joint", "jnt_qposadr"),
    "nv": ("joint", "jnt_dofadr"),
    "na": ("actuator", "actuator_actadr"),
    "nu": ("actuator", "actuator_ctrladr"),
    "nout": ("actuator", "actuator_outadr"),
}
"""Kind of element, and the array of `mjModel` with its first row, by the number of rows."""
_KINDS = {count: (kind, "") for kind, (_, count) in NAMED_ELEMENTS.items()} | _STARTS
_PACKED = "efm_"  # beginning of the names of arrays whose rows are in another order
_INTEGERS = ("int *", "mjtBool *", "mjtByte *")
_LISTS = ("adr", "num", "nnz", "_ind")  # ends of the names of integers that are places in memory
_MAP = "map_"
_AXES = {3: "xyz", 4: "wxyz"}  # names of the numbers of a row
_JOINT_AXES = {
    3: ("rx", "ry", "rz"),
    4: ("qw", "qx", "qy", "qz"),
    6: ("x", "y", "z", "rx", "ry", "rz"),
    7: ("x", "y", "z", "qw", "qx", "qy", "qz"),
}
"""Names of the rows of balls and free joints."""


class EngineArray(NamedTuple):
    """An array of ``mjData``, or computed from such."""

    name: str
    kind: str  # kind of element, as in `NAMED_ELEMENTS`, or ``scene``
    start: str  # array of ``mjModel`` with the first row of an element; empty for its own row
    columns: int  # numbers in a row
    meaning: str  # what the engine's header says

    def numbers(self, model: mujoco.MjModel, element: int) -> Iterator[tuple[str, int]]:
        """Yield name and address of each number of an element."""
        if self.kind == SCENE:
            yield from ((f"{kind}_{self.name}", at) for at, kind in enumerate(_ENERGIES))
            return
        first, count = element, 1
        if self.start:
            first = int(getattr(model, self.start)[element])
            if self.kind == "joint":
                column = int(self.start == "jnt_dofadr")
                count = int(JOINT_WIDTHS[model.jnt_type[element], column])
            else:
                count = int(getattr(model, self.start.replace("adr", "num"))[element])
        rows = _JOINT_AXES.get(count, range(count)) if self.kind == "joint" else range(count)
        columns = _AXES.get(self.columns, range(self.columns))
        for row, row_name in enumerate(rows):
            for column, column_name in enumerate(columns):
                name = self.name if count == 1 else f"{self.name}.{row_name}"
                name = name if self.columns == 1 else f"{name}.{column_name}"
                yield name, (first + row) * self.columns + column


@cache
def engine_arrays() -> dict[str, EngineArray]:
    """Return the arrays by name: all of numbers with rows for joints, bodies and so on."""
    # Not at the start of the simulator, of which it would be a tenth.
    from mujoco.introspect.structs import STRUCTS

    own = (
        EngineArray(_ENERGY, SCENE, "", 2, "potential, kinetic energy"),
        EngineArray(_TENDON_FORCE, "tendon", "", 1, "sum of the forces of a tendon's actuators"),
    )
    found = {array.name: array for array in own}
    for field in STRUCTS["mjData"].fields:
        rows, *columns = getattr(field, "array_extent", None) or ("",)
        is_number = str(field.type) == "mjtNum *" or (
            str(field.type) in _INTEGERS and not field.name.endswith(_LISTS)
        )
        if is_number and rows in _KINDS and not field.name.startswith((_PACKED, _MAP)):
            width = int(columns[0]) if columns else 1
            found[field.name] = EngineArray(field.name, *_KINDS[rows], width, field.doc)
    return found


_ORIGINS = {
    int(mujoco.mjtObj.mjOBJ_XBODY): "xpos",
    int(mujoco.mjtObj.mjOBJ_GEOM): "geom_xpos",
    int(mujoco.mjtObj.mjOBJ_SITE): "site_xpos",
}
"""Array of `mjData` with the origins of elements, by their kind."""
_Function = Callable[[mujoco.MjModel, mujoco.MjData], None]


def _energy(model: mujoco.MjModel, data: mujoco.MjData) -> None:
    mujoco.mj_energyPos(model, data)
    mujoco.mj_energyVel(model, data)


_ON_REQUEST: dict[str, _Function] = {
    _ENERGY: _energy,
    "subtree_linvel": mujoco.mj_subtreeVel,
    "subtree_angmom": mujoco.mj_subtreeVel,
    "cacc": mujoco.mj_rnePostConstraint,
    "cfrc_int": mujoco.mj_rnePostConstraint,
    "cfrc_ext": mujoco.mj_rnePostConstraint,
}
"""What computes arrays that a step computes only for some sensors or options."""


class EngineArrays:
    """Numbers of some engine arrays at the last sample."""

    def __init__(self, plant: Plant, names: Iterable[str]) -> None:
        """Prepare the arrays; most are of the stepped state itself."""
        self._plant, state = plant, plant.sample.state
        # What is not of the step that was taken: a step changes the state, and sums no forces
        self._kept = {
            field.name: field.view(state) for field in state_fields(plant.model, plant.data)
        }
        self._kept[_TENDON_FORCE] = np.zeros(plant.model.ntendon)
        # The arrays by name, and the arrays of integers
        self.values = {
            name: self._kept[name] if name in self._kept else getattr(plant.data, name)
            for name in names
        }
        self._integers = [name for name, each in self.values.items() if each.dtype.kind != "f"]
        self.values |= {name: self.values[name].astype(float) for name in self._integers}
        # Tendons, each with the output of an actuator
        self._tendons = list(_tendon_outputs(plant.model)) if _TENDON_FORCE in self.values else []
        functions = {_ON_REQUEST[name] for name in self.values if name in _ON_REQUEST}
        computed = {function: partial(self._compute, function) for function in functions}
        # What computes an array of each name that Python has to compute
        self.on_request = {
            name: computed[_ON_REQUEST[name]] for name in self.values if name in _ON_REQUEST
        } | dict.fromkeys(self._integers, self.update)

    def update(self) -> None:
        """Bring the arrays to the sample, where later stages of Runge-Kutta have overwritten them.

        And copy integers, and sum up the forces of tendons.
        """
        evaluated = self._plant.evaluated
        for name in self.values if evaluated is not self._plant.data else self._integers:
            if name not in self._kept:
                self.values[name][:] = getattr(evaluated, name)
        if self._tendons:
            forces = self.values[_TENDON_FORCE]
            forces[:] = 0.0
            for tendon, output in self._tendons:
                forces[tendon] += evaluated.actuator_force[output]

    def compile(self, updates: Updates) -> None:
        """Add what `update` does in steps without stages."""
        seen: set[int] = set()
        for tendon, output in self._tendons:
            force = self._plant.data.actuator_force[output : output + 1]
            total = self.values[_TENDON_FORCE][tendon : tendon + 1]
            if tendon in seen:
                updates.add(total, force, total)
            else:
                updates.copy(force, total)
            seen.add(tendon)

    def _compute(self, function: _Function) -> None:
        at_sample(self._plant, function)
        self.update()


class Accelerations:
    """Accelerations of bodies, geoms and sites in the axes of the world, as sensors measure them.

    The linear one is the specific force: +g upwards at rest.
    """

    def __init__(self, plant: Plant, elements: Sequence[tuple[int, int]]) -> None:
        """Prepare a row for each element: its `mujoco.mjtObj` and its index."""
        self._plant = plant
        # Angular [rad/s²] and linear acceleration [m/s²] (n, 6)
        self.values = np.zeros((len(elements), 6))
        self._rows = [(*element, row) for element, row in zip(elements, self.values, strict=True)]

    def update(self) -> None:
        """Compute `values` of the current sample."""
        at_sample(self._plant, mujoco.mj_rnePostConstraint)
        model, data = self._plant.model, self._plant.evaluated
        for kind, element, row in self._rows:
            mujoco.mj_objectAcceleration(model, data, kind, element, row, 0)


class Jacobians:
    """Motion of the origins of bodies, geoms and sites, in the axes of the world, by dof."""

    def __init__(self, plant: Plant, elements: Sequence[tuple[int, int]]) -> None:
        """Prepare the rows of each element: its `mujoco.mjtObj` and its index."""
        self._plant = plant
        # Linear [m] and angular motion [rad] (n, 6, nv), of a unit of each degree of freedom
        self.values = np.zeros((len(elements), 6, plant.model.nv))
        self._elements = [
            (body_of(plant.model, kind, element), _ORIGINS[kind], element)
            for kind, element in elements
        ]

    def update(self) -> None:
        """Compute `values` of the current sample."""
        model, data = self._plant.model, self._plant.evaluated
        for values, (body, origins, element) in zip(self.values, self._elements, strict=True):
            point = getattr(data, origins)[element]
            mujoco.mj_jac(model, data, values[:3], values[3:], point, body)


def jacobian_columns(model: mujoco.MjModel, body: int) -> Iterator[tuple[int, list[str], int]]:
    """Yield each joint that moves a body, the names of its degrees of freedom, and the first."""
    for carrier in carriers(model, body):
        for joint in joints_of(model, carrier):
            count = int(JOINT_WIDTHS[model.jnt_type[joint], 1])
            names = [f"{axis}." for axis in _JOINT_AXES.get(count, "")] or [""]
            yield joint, names, int(model.jnt_dofadr[joint])


def at_sample(plant: Plant, function: _Function) -> None:
    """Call a function of the engine at the positions and velocities of the sample."""
    data, sample = plant.evaluated, plant.sample
    if data is not plant.data:
        function(plant.model, data)
        return
    after = data.qpos.copy(), data.qvel.copy()
    data.qpos[:], data.qvel[:] = sample.qpos, sample.qvel
    function(plant.model, data)
    data.qpos[:], data.qvel[:] = after


def _tendon_outputs(model: mujoco.MjModel) -> Iterator[tuple[int, int]]:
    for actuator in range(model.nactuator):
        if (tendon := tendon_of(model, actuator)) is not None:
            yield tendon, int(model.actuator_outadr[actuator])
