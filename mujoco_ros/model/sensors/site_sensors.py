"""What is measured at sites: IMUs, force-torque sensors and touch sensors of a robot."""

from dataclasses import dataclass

import mujoco

from mujoco_ros.model.robot.scope import Scope


@dataclass(frozen=True, kw_only=True)
class SiteSensor:
    """Something measured at a site: its name and TF frame (without the prefix), and the site."""

    name: str
    frame: str
    site: int


@dataclass(frozen=True, kw_only=True)
class ImuSensor(SiteSensor):
    """Gyroscope, accelerometer and orientation on one site; None where there is no sensor."""

    gyro: int | None
    accelerometer: int | None
    orientation: int | None


@dataclass(frozen=True, kw_only=True)
class ForceTorqueSensor(SiteSensor):
    """Force and torque on one site, addresses in sensordata."""

    force: int
    torque: int


@dataclass(frozen=True, kw_only=True)
class TouchSensor(SiteSensor):
    """A touch sensor: normal force on its site, address in sensordata."""

    force: int


def find_imus(scope: Scope) -> tuple[tuple[ImuSensor, ...], set[int]]:
    """Return the robot's IMUs, and the sensors that they are made of."""
    kinds = mujoco.mjtSensor
    gyros = scope.sensors(kinds.mjSENS_GYRO)
    accelerometers = scope.sensors(kinds.mjSENS_ACCELEROMETER)
    orientations = scope.sensors(kinds.mjSENS_FRAMEQUAT)
    imus, used = [], set()
    for site in scope.sites():
        if site not in gyros and site not in accelerometers:
            continue
        on_site = [found.get(site) for found in (gyros, accelerometers, orientations)]
        used |= {s for s in on_site if s is not None}
        gyro, accelerometer, orientation = (
            None if s is None else int(scope.model.sensor_adr[s]) for s in on_site
        )
        imus.append(
            ImuSensor(
                **scope.site(site),
                gyro=gyro,
                accelerometer=accelerometer,
                orientation=orientation,
            )
        )
    return tuple(imus), used


def find_force_torques(scope: Scope) -> tuple[tuple[ForceTorqueSensor, ...], set[int]]:
    """Return the robot's force-torque sensors, and the sensors that they are made of."""
    forces = scope.sensors(mujoco.mjtSensor.mjSENS_FORCE)
    torques = scope.sensors(mujoco.mjtSensor.mjSENS_TORQUE)
    both = [site for site in scope.sites() if site in forces and site in torques]
    sensors = tuple(
        ForceTorqueSensor(
            **scope.site(site),
            force=int(scope.model.sensor_adr[forces[site]]),
            torque=int(scope.model.sensor_adr[torques[site]]),
        )
        for site in both
    )
    return sensors, {forces[s] for s in both} | {torques[s] for s in both}


def find_touches(scope: Scope) -> tuple[tuple[TouchSensor, ...], set[int]]:
    """Return the robot's touch sensors, by their numbers as well."""
    model, sites = scope.model, set(scope.sites())
    touches = [
        s
        for s in range(model.nsensor)
        if model.sensor_type[s] == mujoco.mjtSensor.mjSENS_TOUCH
        and int(model.sensor_objid[s]) in sites
    ]
    sensors = tuple(
        TouchSensor(
            **scope.site(int(model.sensor_objid[s]))
            | {"name": scope.short(model.sensor(s).name) or f"touch{s}"},
            force=int(model.sensor_adr[s]),
        )
        for s in touches
    )
    return sensors, set(touches)
