"""Limits of models: sizes that a few bytes of XML can request, and numbers that no robot has."""

from collections.abc import Sized

import mujoco
import numpy as np

from mujoco_ros.model.errors import NameInvalidError, UserInputError
from mujoco_ros.model.file_access import SizeLimit
from mujoco_ros.model.robot.scope import ROW_ELEMENTS

MAX_CELLS = SizeLimit(64_000_000, of_client=4_000_000)
"""Cells of the height fields of a model: 8000 x 8000, and 2000 x 2000. Each change of the scene
copies them under the interpreter's lock, at 3 ms a million."""
MAX_TEXELS = SizeLimit(64_000_000, of_client=16_777_216)
"""Texels of a texture: 8000 x 8000, and 4096 x 4096."""
MAX_CHARACTERS = SizeLimit(1 << 24, of_client=1 << 21)
"""Characters of the text of a model, which is parsed under the interpreter's lock."""
MAX_ELEMENTS = SizeLimit(200_000, of_client=2000)
"""Elements of an MJCF with all that it includes, attaches and replicates. The time in which MuJoCo
parses them, under the interpreter's lock, grows with their square: 13 ms for 1000 bodies."""
MAX_COPIES = SizeLimit(200_000, of_client=300)
"""Elements that are copies made by <replicate>, whose time grows faster: 18 ms for 300."""
MAX_FILE_DEPTH = 32
"""Depth of files that include files or attach models of files."""
MAX_ARCHIVE_FILES = 10_000
"""Files of an archive, and folders."""
MAX_ARCHIVE_BYTES = 1 << 29
"""Size of the files of an archive."""
MAX_ARCHIVES_BYTES = SizeLimit(1 << 31, of_client=1 << 30)
"""Size of the extracted archives of a scene, or of what a client sends."""
MAX_ARCHIVE_DIRECTORY_BYTES = 1 << 22
"""Size of the list of files of an archive, which is read before they are counted."""
MAX_LINKS = SizeLimit(5000, of_client=1000)
"""Links of a URDF."""
MAX_LINK_DEPTH = 1000
"""Links of a URDF in one chain; MuJoCo's compiler works recursively."""
MAX_NAME = 200
"""Characters of the name of an element, which becomes part of messages."""
MAX_ROBOTS = 100
"""Robots of a scene, each with its own topics and services."""
MAX_OBJECTS = 5000
"""Objects of a scene."""
MAX_MODEL_BYTES = SizeLimit(1 << 30, of_client=1 << 28)
"""Size of a compiled model with meshes, height fields and textures [byte]. Several are in memory
during a change, and releasing the previous one takes 6 ms for 100 MB."""
MAX_BODIES = SizeLimit(1_000_000, of_client=10_000)
"""Bodies of a scene."""
MAX_GEOMS = SizeLimit(1_000_000, of_client=20_000)
"""Geoms of a scene."""
MAX_DOFS = SizeLimit(1_000_000, of_client=10_000)
"""Degrees of freedom of a scene."""
MAX_ARENA_BYTES = 4 << 30
"""Memory of the engine for contacts and constraints [byte], which is used up only if they are
many."""
MAX_STATE = 1_000_000
"""Numbers of all sensors, or of user data, or of the samples of delays, which are copied in each
step."""
MAX_USER_VALUES = 1000
"""User values of one element."""
MAX_ITERATIONS = 10_000
"""Iterations of a solver in one step, which cannot be interrupted."""
_PATHS = frozenset((".", ".."))
_ITERATIONS = ("", "ls_", "noslip_", "ccd_", "sdf_")


def too_large(where: str, what: str, limit: int | SizeLimit) -> UserInputError:
    """Return the error for something that exceeds a limit; `where` begins its message."""
    return UserInputError(f"{where}: too large: {what}, limit {_value(limit)}")


def check_characters(text: str, where: str) -> None:
    """Reject a text of a model that is too long."""
    _check("characters", len(text), MAX_CHARACTERS, where)


def check_count(what: str, items: Sized, limit: int | SizeLimit, where: str) -> None:
    """Reject more items than a limit."""
    _check(what, len(items), limit, where)


def check_spec(spec: mujoco.MjSpec, where: str) -> None:
    """Reject too many elements, what is too large, and names that logs and frames cannot show."""
    elements = 0
    for listed in (getattr(spec, name) for name in _LISTS):
        elements += len(listed)
        for element in listed:
            name = element.name
            if len(name) > MAX_NAME:
                kind = kind_of(element)
                what = f"the name '{name[:40]}…' of a {kind} has {len(name)} characters"
                raise too_large(where, what, MAX_NAME)
            if not name.isprintable() or not _PATHS.isdisjoint(name.split("/")):
                raise NameInvalidError(
                    f"{where}: the name {name!r} of a {kind_of(element)} is not valid: printable "
                    "characters, without '.' or '..' as a part between slashes"
                )
    _check("elements", elements, MAX_ELEMENTS, where)
    cells = 0
    for field in spec.hfields:
        cells += field.nrow * field.ncol
        _check(f"cells of hfield '{field.name}'", field.nrow * field.ncol, MAX_CELLS, where)
    _check("cells of height fields", cells, MAX_CELLS, where)
    for texture in spec.textures:
        flat = texture.type == mujoco.mjtTexture.mjTEXTURE_2D
        height = texture.height if flat else 6 * texture.width  # the faces of a cube
        _check(f"texels of texture '{texture.name}'", texture.width * height, MAX_TEXELS, where)
    for size in ("nkey", "nuserdata"):
        _check(size, getattr(spec, size), MAX_STATE, where)
    for size in (name for name in dir(spec) if name.startswith("nuser_")):
        _check(size, getattr(spec, size), MAX_USER_VALUES, where)
    _check("bytes of memory", spec.memory, MAX_ARENA_BYTES, where)


def check_model(model: mujoco.MjModel, where: str, before: mujoco.MjModel | None = None) -> None:
    """Reject a compiled model that needs too much memory, or too much time for a step.

    It may not grow beyond a limit from the model `before` a change of the scene.
    """
    for size, what, limit in (
        ("nbuffer", "bytes of the model", MAX_MODEL_BYTES),
        ("nbody", "bodies", MAX_BODIES),
        ("ngeom", "geoms", MAX_GEOMS),
        ("nv", "degrees of freedom", MAX_DOFS),
        ("nhfielddata", "cells of height fields", MAX_CELLS),
        ("narena", "bytes of memory", MAX_ARENA_BYTES),
        ("nsensordata", "numbers of sensors", MAX_STATE),
        ("nuserdata", "nuserdata", MAX_STATE),
        ("nhistory", "numbers of delayed sensors and actuators", MAX_STATE),
    ):
        value = getattr(model, size)
        if before is None or value > getattr(before, size):
            _check(what, value, limit, where)
    for kind in _ITERATIONS:
        name = f"{kind}iterations"
        _check(name, getattr(model.opt, name), MAX_ITERATIONS, where)
    if before is not None:
        return
    for index in range(model.nhfield):
        field = model.hfield(index)
        cells = int(field.nrow[0] * field.ncol[0])
        _check(f"cells of hfield '{field.name}'", cells, MAX_CELLS, where)
    for index in range(model.ntex):
        texture = model.tex(index)
        texels = int(texture.width[0]) * int(texture.height[0])
        _check(f"texels of texture '{texture.name}'", texels, MAX_TEXELS, where)


def _value(limit: int | SizeLimit) -> int:
    return limit if isinstance(limit, int) else limit.value


def _check(what: str, value: int, limit: int | SizeLimit, where: str) -> None:
    if value > _value(limit):
        raise too_large(where, f"{value} {what}", limit)


_LISTS = (
    *("bodies", "frames", "joints", "geoms", "sites", "cameras", "lights", "actuators", "sensors"),
    *("tendons", "equalities", "pairs", "excludes", "keys", "meshes", "hfields", "skins", "flexes"),
    *("textures", "materials", "numerics", "texts", "tuples"),
)
"""Lists of a spec whose elements have names."""


def kind_of(element: object) -> str:
    """Return the kind of an element of a spec, as in MJCF."""
    return type(element).__name__.removeprefix("Mjs").lower()


_LARGEST = 1e15
"""Largest mass, inertia, size and so on (SI units). Joints are disabled by a damping of 1e11."""
_UNBOUNDED = ("range", "user", "invweight0", "acc0", "M0")
"""Ends of the names of arrays whose numbers may be larger: no limit, the user's, derived ones."""
_KIND_NAMES = {"v": "joint", "q": "joint", "ctrl": "actuator", "output": "actuator"}
_FIRST_ROWS = {
    "v": "jnt_dofadr",
    "q": "jnt_qposadr",
    "mesh_vert": "mesh_vertadr",
    "hfield_data": "hfield_adr",
    "flex_vert": "flex_vertadr",
}
"""Arrays with the first row of each element."""
_ASSETS = ("mesh_vert", "mesh_scale", "hfield_size", "hfield_data", "flex_vert", "flex_radius")
_ENDS = (
    *(f"actuator_{name}range" for name in ("ctrl", "force", "act")),
    *("jnt_range", "jnt_actfrcrange", "tendon_range", "tendon_actfrcrange"),
)
"""Ranges, which have no effect in MuJoCo if their first end is the larger one."""
_ORDER = sorted(
    (*ROW_ELEMENTS, *_ASSETS), key=lambda name: (name.startswith("body_"), name != "body_mass")
)
"""The numbers of bodies follow from their geoms, and inertias from masses."""
END_OF_TIME_S = 2.0**31
"""First time that a ROS stamp cannot represent."""
_LATEST_S = 2e9  # latest time that is set: the clock then runs for years until the end of time


def check_numbers(model: mujoco.MjModel) -> None:
    """Reject numbers that messages cannot contain, or with which a step would fail.

    Limits may be infinite.
    """
    for array in _ORDER:
        numbers = getattr(model, array)
        if numbers.dtype.kind == "f" and numbers.size:
            _check_array(model, array, numbers)
    for array in _ENDS:
        _check_ends(model, array, getattr(model, array))
    for name in dir(model.opt):
        value = np.asarray(getattr(model.opt, name)) if not name.startswith("_") else np.zeros(1)
        if value.dtype.kind == "f" and not np.all(np.abs(value) <= _LARGEST):
            shown = " ".join(f"{number:g}" for number in np.atleast_1d(value))
            raise UserInputError(
                f"option '{name}' of the model is {shown}; numbers of at most "
                f"{_LARGEST:g} are allowed"
            )
    if not model.opt.timestep > 0.0:
        raise UserInputError(
            f"option 'timestep' of the model is {model.opt.timestep:g}; it must be positive"
        )
    for key, time in enumerate(model.key_time.tolist()):
        check_time(f"key '{model.key(key).name}' of the model", time)


def check_time(what: str, time: float, latest: float = _LATEST_S) -> None:
    """Check a time to which the simulated clock is set [s]; `what` is named in the error."""
    if not 0.0 <= time <= latest:
        raise UserInputError(
            f"{what} has the time {time:.10g} s; a time is from 0 to {latest:.10g} s, as ROS time "
            "ends at 2^31 s"
        )


def _check_array(model: mujoco.MjModel, array: str, numbers: np.ndarray) -> None:
    bad = np.isnan(numbers) if array.endswith("range") else ~np.isfinite(numbers)
    if bad.any():
        element = _element(model, array, int(np.argwhere(bad)[0, 0]))
        raise UserInputError(f"{element} of the model has a number that is not finite")
    if array.endswith(_UNBOUNDED) or array == "key_time":
        return
    if max(numbers.max(), -numbers.min()) > _LARGEST:
        row = int(np.argwhere(np.abs(numbers) > _LARGEST)[0, 0])
        raise UserInputError(
            f"{array.partition('_')[2] or array} of {_element(model, array, row)} is "
            f"{np.abs(numbers[row]).max():g}; at most {_LARGEST:g} is allowed"
        )


def _check_ends(model: mujoco.MjModel, array: str, ends: np.ndarray) -> None:
    for row in np.flatnonzero(ends[:, 0] > ends[:, 1]).tolist():
        raise UserInputError(
            f"{array.partition('_')[2]} of {_element(model, array, row)} is from "
            f"{ends[row, 0]:g} to {ends[row, 1]:g}; the first end must be the smaller one"
        )


def _element(model: mujoco.MjModel, array: str, row: int) -> str:
    """Return the kind and name of the element that has a row of an array."""
    kind = ROW_ELEMENTS.get(array, array.partition("_")[0])
    first = _FIRST_ROWS.get(array) or _FIRST_ROWS.get(kind)
    if first is not None:
        row = int(np.searchsorted(getattr(model, first), row, side="right")) - 1
    kind = _KIND_NAMES.get(kind, kind)
    find = getattr(model, kind, None)
    count = getattr(model, f"n{array.partition('_')[0]}", None)
    if find is None or (first is None and count is not None and row >= count):
        return f"{array}[{row}]"
    return f"{kind} '{find(row).name}'"
