"""Bodies, geoms and joints of a model by the names of the scene."""

import mujoco
import numpy as np

from mujoco_ros.model.errors import unknown

_FREE = int(mujoco.mjtJoint.mjJNT_FREE)


def free_body(model: mujoco.MjModel, name: str) -> int:
    """Return the id of a free body, by its name, its object's name or its TF frame.

    Raises:
        UserInputError: There is none.
    """
    names = {}
    for joint in np.flatnonzero(model.jnt_type == _FREE):
        body = int(model.jnt_bodyid[joint])
        names[body] = _name(model, mujoco.mjtObj.mjOBJ_BODY, body)
    for key in (str, _owner, _without_owner):
        found = [body for body, own in names.items() if key(own) == name]
        if len(found) == 1:
            return found[0]
    raise unknown("free object", name, sorted(_owner(own) for own in names.values()))


def free_address(model: mujoco.MjModel, body: int) -> int:
    """Return the address of a free body's pose in qpos."""
    return int(model.jnt_qposadr[model.body_jntadr[body]])


def geoms_of(model: mujoco.MjModel, name: str) -> np.ndarray:
    """Return the geoms with a name: one geom, or those of a body, robot or object.

    Returns:
        True for those.  # (ngeom,) bool

    Raises:
        UserInputError: No element has that name.
    """
    geoms = [_name(model, mujoco.mjtObj.mjOBJ_GEOM, geom) for geom in range(model.ngeom)]
    bodies = [_name(model, mujoco.mjtObj.mjOBJ_BODY, body) for body in range(model.nbody)]
    owners = [bodies[b] for b in model.geom_bodyid]
    pairs = list(zip(geoms, owners, strict=True))
    for matches in (
        [geom == name for geom, _ in pairs],
        [body == name for _, body in pairs],
        [name in (_owner(geom), _owner(body)) for geom, body in pairs],
    ):
        if any(matches):
            return np.array(matches)
    known = {_owner(own) for own in (*geoms, *bodies) if own}
    raise unknown("geom, body or object", name, sorted(known))


def _name(model: mujoco.MjModel, kind: mujoco.mjtObj, number: int) -> str:
    """Return a name, empty if there is none; the accessors of MjModel take ten times as long."""
    return str(mujoco.mj_id2name(model, kind, number) or "")


def _owner(name: str) -> str:
    return name.partition("/")[0]


def _without_owner(name: str) -> str:
    return name.partition("/")[2]
