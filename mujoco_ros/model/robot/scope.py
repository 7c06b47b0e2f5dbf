"""The elements of a model that index its arrays, and the elements of one robot."""

from collections.abc import Iterator

import mujoco
import numpy as np

SCALAR_JOINTS = (int(mujoco.mjtJoint.mjJNT_HINGE), int(mujoco.mjtJoint.mjJNT_SLIDE))
"""Types of joints with one position. Integers: a MuJoCo enum on the left of == equals no number."""
ON_JOINT = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
"""Transmissions to a joint."""
JOINT_WIDTHS = np.zeros((4, 2), dtype=np.intp)
"""Width in qpos and in qvel by joint type.  # (4, 2)"""
JOINT_WIDTHS[mujoco.mjtJoint.mjJNT_FREE] = 7, 6
JOINT_WIDTHS[mujoco.mjtJoint.mjJNT_BALL] = 4, 3
JOINT_WIDTHS[mujoco.mjtJoint.mjJNT_SLIDE] = 1, 1
JOINT_WIDTHS[mujoco.mjtJoint.mjJNT_HINGE] = 1, 1

NAMED_ELEMENTS = {
    "body": (mujoco.mjtObj.mjOBJ_BODY, "nbody"),
    "joint": (mujoco.mjtObj.mjOBJ_JOINT, "njnt"),
    "geom": (mujoco.mjtObj.mjOBJ_GEOM, "ngeom"),
    "site": (mujoco.mjtObj.mjOBJ_SITE, "nsite"),
    "camera": (mujoco.mjtObj.mjOBJ_CAMERA, "ncam"),
    "light": (mujoco.mjtObj.mjOBJ_LIGHT, "nlight"),
    "equality": (mujoco.mjtObj.mjOBJ_EQUALITY, "neq"),
    "tendon": (mujoco.mjtObj.mjOBJ_TENDON, "ntendon"),
    "actuator": (mujoco.mjtObj.mjOBJ_ACTUATOR, "nactuator"),
    "sensor": (mujoco.mjtObj.mjOBJ_SENSOR, "nsensor"),
    "material": (mujoco.mjtObj.mjOBJ_MATERIAL, "nmat"),
}
"""Type and count in MjModel of the elements with names, by kind."""
_FAMILIES = {
    "body_": "body",
    "jnt_": "joint",
    "dof_": "v",
    "geom_": "geom",
    "site_": "site",
    "cam_": "camera",
    "light_": "light",
    "mat_": "material",
    "pair_": "pair",
    "eq_": "equality",
    "tendon_": "tendon",
    "actuator_": "actuator",
    "sensor_": "sensor",
    "qpos": "q",
    "key_": "key",
}
"""Kind of index by beginning of an array's name."""
_EXCEPTIONS = {
    "actuator_ctrllimited": "ctrl",
    "actuator_ctrlrange": "ctrl",
    "actuator_gear": "output",
    "actuator_acc0": "output",
    "actuator_length0": "output",
    "actuator_lengthrange": "output",
}


def _kind(name: str) -> str | None:
    if name in _EXCEPTIONS:
        return _EXCEPTIONS[name]
    return next((kind for start, kind in _FAMILIES.items() if name.startswith(start)), None)


ROW_ELEMENTS = {name: kind for name in dir(mujoco.MjModel) if (kind := _kind(name)) is not None}
"""Arrays with a row for each element, and the kind of element, as in `Correspondence.pairs`."""


_ANYWHERE = (int(mujoco.mjtObj.mjOBJ_UNKNOWN), int(mujoco.mjtObj.mjOBJ_SENSOR))
"""Types of objects of sensors that measure no element."""
_BODIES = {
    int(mujoco.mjtObj.mjOBJ_JOINT): "jnt_bodyid",
    int(mujoco.mjtObj.mjOBJ_GEOM): "geom_bodyid",
    int(mujoco.mjtObj.mjOBJ_SITE): "site_bodyid",
    int(mujoco.mjtObj.mjOBJ_CAMERA): "cam_bodyid",
    int(mujoco.mjtObj.mjOBJ_LIGHT): "light_bodyid",
}


class Scope:
    """A robot's elements: on its bodies, or on the world and with its prefix."""

    def __init__(self, model: mujoco.MjModel, prefix: str, others: tuple[str, ...]) -> None:
        self.model, self.prefix, self._others = model, prefix, others
        names = {body: model.body(body).name for body in range(1, model.nbody)}
        self.bodies = tuple(body for body, name in names.items() if self.includes(name))
        # Their names, without the prefix
        self.body_names = frozenset(self.short(names[body]) for body in self.bodies)
        self._bodies = frozenset(self.bodies)
        self.sites = tuple(
            site
            for site in range(model.nsite)
            if self._owns(model.site_bodyid[site], model.site(site).name)
        )
        self.sensors = tuple(sensor for sensor in range(model.nsensor) if self._owns_sensor(sensor))

    def includes(self, name: str) -> bool:
        """Whether the robot has an element of a name."""
        return name.startswith(self.prefix) and not (
            not self.prefix and name.startswith(self._others)
        )

    def short(self, name: str) -> str:
        """Return a name without the prefix."""
        return name.removeprefix(self.prefix)

    def name(self, kind: int, element: int) -> str:
        """Return the name of an element of a `mujoco.mjtObj` without the prefix; may be empty."""
        return self.short(mujoco.mj_id2name(self.model, kind, element) or "")

    def owns(self, kind: int, element: int) -> bool:
        """Whether an element is on a body of the robot, or has its prefix if it is on none."""
        name = mujoco.mj_id2name(self.model, kind, element) or ""
        return self._owns(body_of(self.model, kind, element), name)

    def _owns_sensor(self, sensor: int) -> bool:
        """Whether the object of a MuJoCo sensor, or a sensor without an object, is the robot's."""
        kind, element = int(self.model.sensor_objtype[sensor]), int(self.model.sensor_objid[sensor])
        if kind in _ANYWHERE or element < 0:
            return self.includes(self.model.sensor(sensor).name)
        return self.owns(kind, element)

    def cameras(self) -> Iterator[tuple[int, str]]:
        """Yield ids and names of the cameras that ROS can describe, as `cameras_of` does."""
        for camera, name in cameras_of(self.model):
            if self._owns(self.model.cam_bodyid[camera], self.model.cam(camera).name):
                yield camera, self.short(name)

    def _owns(self, body: int, name: str) -> bool:
        return int(body) in self._bodies or (body == 0 and self.includes(name))


def body_of(model: mujoco.MjModel, kind: int, element: int) -> int:
    """Return the body of an element of a `mujoco.mjtObj`; 0 if it is on none, such as a tendon."""
    if kind in (mujoco.mjtObj.mjOBJ_BODY, mujoco.mjtObj.mjOBJ_XBODY):
        return element
    array = _BODIES.get(kind)
    return int(getattr(model, array)[element]) if array else 0


def cameras_of(model: mujoco.MjModel) -> Iterator[tuple[int, str]]:
    """Yield ids and names of the perspective cameras, the only ones that CameraInfo describes."""
    for camera in range(model.ncam):
        if model.cam_projection[camera] == mujoco.mjtProjection.mjPROJ_PERSPECTIVE:
            yield camera, model.cam(camera).name or f"camera{camera}"
