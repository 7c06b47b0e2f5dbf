"""Forces as arrows: at contacts, at force-torque sensors, and from outside."""

import mujoco
import numpy as np

from mujoco_ros.sim.contact_forces import contact_forces
from mujoco_ros.viewer.overlays.overlay_scene import Scale, Scene
from mujoco_ros.viewer.overlays.shapes import Colour, arrow, ball

CONTACT: Colour = (0.98, 0.66, 0.10, 0.9)
SENSED_FORCE: Colour = (0.16, 0.62, 0.95, 0.9)
SENSED_TORQUE: Colour = (0.56, 0.36, 0.90, 0.9)
APPLIED_FORCE: Colour = (0.92, 0.20, 0.22, 0.95)
APPLIED_TORQUE: Colour = (0.95, 0.35, 0.65, 0.95)


def contacts(scene: Scene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return every contact as a point, and the force that the second body of it feels."""
    found = contact_forces(scene.model, scene.data)
    geoms = [ball(point, scale.radius, CONTACT) for point in found.points]
    for point, force in zip(found.points, found.forces, strict=True):
        geoms += arrow(point, scale.force * force, scale.radius, CONTACT)
    return geoms


def sensed(scene: Scene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return force and torque at every force-torque sensor, with the sign they are published."""
    geoms: list[mujoco.MjvGeom] = []
    for robot in scene.layout.robots:
        for sensor in robot.force_torques:
            origin = scene.data.site_xpos[sensor.site]
            axes = scene.data.site_xmat[sensor.site].reshape(3, 3)
            force, torque = (
                scale.sensor_sign * (axes @ scene.sensordata[address : address + 3])
                for address in (sensor.force, sensor.torque)
            )
            geoms += arrow(origin, scale.force * force, scale.radius, SENSED_FORCE)
            geoms += arrow(origin, scale.torque * torque, scale.radius, SENSED_TORQUE)
    return geoms


def applied(scene: Scene, scale: Scale) -> list[mujoco.MjvGeom]:
    """Return the wrenches that act from outside, at the centres of mass of their bodies."""
    geoms: list[mujoco.MjvGeom] = []
    for body in np.flatnonzero(scene.applied.any(axis=1)):
        origin, wrench = scene.data.xipos[body], scene.applied[body]
        geoms += arrow(origin, scale.force * wrench[:3], scale.radius, APPLIED_FORCE)
        geoms += arrow(origin, scale.torque * wrench[3:], scale.radius, APPLIED_TORQUE)
    return geoms
