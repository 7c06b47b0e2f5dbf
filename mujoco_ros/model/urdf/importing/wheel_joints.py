"""Wheels of a URDF: joints without motors, servos of velocities, and contacts that roll."""

import logging
from collections.abc import Collection

import mujoco

from mujoco_ros.model.reading import computed_once
from mujoco_ros.model.robot.wheels import NO_WHEELS, Wheels, find_wheels, is_mecanum_name
from mujoco_ros.model.urdf.importing.joints import make_velocity_servo
from mujoco_ros.model.urdf.importing.urdf_file import Urdf

_LOGGER = logging.getLogger(__name__)


def prepare_wheels(
    spec: mujoco.MjSpec, urdf: Urdf, declared: Collection[str]
) -> tuple[Wheels, tuple[str, ...]]:
    """Find the wheels of an imported URDF, and give their joints the drives of wheels.

    Joints whose drive is `declared` keep it. Of the others, castors and springs lose their motors,
    and driven wheels follow velocities: they have no position to return to. What else touches the
    ground slides on it.

    Returns:
        The wheels, and the names of the servos.
    """
    if not any(joint.type == "continuous" for joint in urdf.joints.values()):
        return NO_WHEELS, ()

    def compute() -> Wheels:
        roots = spec.worldbody.bodies
        try:
            if len(roots) == 1:
                return find_wheels(spec.compile(), 1, declared=declared)
            return NO_WHEELS
        except (ValueError, mujoco.FatalError):
            return NO_WHEELS  # it is compiled again, with an error that explains

    found = computed_once("wheels", compute)
    for name in sorted(found.passive - set(declared)):
        if (actuator := spec.actuator(name)) is not None:
            spec.delete(actuator)
    rows = {round(wheel.position[0] / wheel.radius) for wheel in found.wheels if wheel.is_driven}
    skids = len(rows) > 1 and not any(wheel.steering for wheel in found.wheels)
    servos = []
    for wheel in found.wheels:
        for geom in spec.joint(wheel.joint).parent.geoms:
            if geom.contype or geom.conaffinity:
                _make_tyre(geom, skids=skids)
        actuator = spec.actuator(wheel.joint)
        joint = urdf.joints[wheel.joint]
        if actuator is not None and joint.drive == "motor" and wheel.joint not in declared:
            make_velocity_servo(actuator, joint)
            servos.append(wheel.joint)
    dragging = []
    for support in found.supports:
        geom = spec.body(support.link).geoms[support.shape]
        if not support.is_castor:
            dragging.append(f"{support.link} ({1e3 * support.depth:.0f} mm deep)")
        if not geom.priority:  # else the file has its friction
            geom.priority, geom.condim = 1, 1
    if dragging:
        _LOGGER.warning(
            "%s: links touch the ground between the wheels, and slide on it without friction: %s; "
            "wheels spin if such a link carries the weight",
            urdf.path,
            ", ".join(dragging),
        )
    return found, tuple(servos)


def _make_tyre(geom: mujoco.MjsGeom, *, skids: bool) -> None:
    """Let a wheel touch the ground as a tyre does; docs/reference/wheels.md gives the reasons.

    Its contacts have its own parameters. A cylinder becomes an ellipsoid, which touches at one
    point, under its middle. Wheels that skid in curves are soft, or the robot would hop.
    """
    geom.priority = max(geom.priority, 1)
    if geom.type == mujoco.mjtGeom.mjGEOM_CYLINDER:
        radius, half, _ = geom.size
        geom.type, geom.size = mujoco.mjtGeom.mjGEOM_ELLIPSOID, [radius, radius, half]
    if skids:
        geom.solimp[:3] = 0.5, 0.9, 0.001


def has_mecanum_meshes(urdf: Urdf, wheels: Wheels) -> bool:
    """Whether the meshes of all driven wheels are named as mecanum wheels."""
    links = [urdf.links[urdf.joints[w.joint].child] for w in wheels.wheels if w.is_driven]
    named = [any(is_mecanum_name(shape.mesh) for shape in link.visuals) for link in links]
    return bool(named) and all(named)
