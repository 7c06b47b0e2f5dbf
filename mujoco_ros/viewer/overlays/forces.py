"""Arrows of contact forces, force-torque sensors and external wrenches."""

import mujoco
import numpy as np

from mujoco_ros.sim.observer import contact_forces
from mujoco_ros.viewer import style
from mujoco_ros.viewer.overlays.overlay_scene import OverlayScene, Scale
from mujoco_ros.viewer.overlays.shapes import arrow, sphere


def contacts(scene: OverlayScene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return a sphere at every contact and the force on its second body."""
    found = contact_forces(scene.model, scene.data)
    geoms = [sphere(point, scale.radius, style.CONTACT) for point in found.points]
    for point, force in zip(found.points, found.forces, strict=True):
        geoms += arrow(point, scale.force * force, scale.radius, style.CONTACT)
    return geoms


def sensed(scene: OverlayScene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return force and torque of every force-torque sensor, with the sign of their topic."""
    geoms: list[mujoco.MjvGeom] = []
    for robot in scene.layout.robots:
        for sensor in robot.sensors["wrench"]:
            origin = scene.data.site_xpos[sensor.site]
            axes = scene.data.site_xmat[sensor.site].reshape(3, 3)
            for name, length, colour in (
                ("force", scale.force, style.SENSED_FORCE),
                ("torque", scale.torque, style.SENSED_TORQUE),
            ):
                if name in sensor.addresses:
                    start = sensor.addresses[name]
                    vector = scale.sensor_sign * (axes @ scene.sensordata[start : start + 3])
                    geoms += arrow(origin, length * vector, scale.radius, colour)
    return geoms


def applied(scene: OverlayScene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return the external wrenches at the centres of mass of their bodies."""
    geoms: list[mujoco.MjvGeom] = []
    for body in np.flatnonzero(scene.applied.any(axis=1)):
        origin, wrench = scene.data.xipos[body], scene.applied[body]
        geoms += arrow(origin, scale.force * wrench[:3], scale.radius, style.APPLIED_FORCE)
        geoms += arrow(origin, scale.torque * wrench[3:], scale.radius, style.APPLIED_TORQUE)
    return geoms
