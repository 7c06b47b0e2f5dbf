"""The elements of a model that belong to one robot."""

from collections.abc import Iterator

import mujoco


class Scope:
    """A robot's elements: those on its bodies, and those on the world with its prefix.

    Attributes:
        model: The model.
        prefix: Prefix of the robot's names in the model.
        bodies: The robot's bodies.
        body_names: Their names, without the prefix.
        sites: The robot's sites.
    """

    def __init__(self, model: mujoco.MjModel, prefix: str, others: tuple[str, ...]) -> None:
        """Find the elements with `prefix`; if that is empty, those without a prefix of `others`."""
        self.model, self.prefix, self._others = model, prefix, others
        names = {body: model.body(body).name for body in range(1, model.nbody)}
        self.bodies = tuple(body for body, name in names.items() if self.includes(name))
        self.body_names = frozenset(self.short(names[body]) for body in self.bodies)
        self._bodies = frozenset(self.bodies)
        self.sites = tuple(
            site
            for site in range(model.nsite)
            if self._owns(model.site_bodyid[site], model.site(site).name)
        )

    def includes(self, name: str) -> bool:
        """Whether the robot has an element of a name."""
        return name.startswith(self.prefix) and not (
            not self.prefix and name.startswith(self._others)
        )

    def short(self, name: str) -> str:
        """Return a name without the prefix."""
        return name.removeprefix(self.prefix)

    def sensors(self, kind: mujoco.mjtSensor) -> list[tuple[int, int]]:
        """Return the absolute MuJoCo sensors of a type at sites: sensor id and site id."""
        model, sites = self.model, frozenset(self.sites)
        return [
            (sensor, int(model.sensor_objid[sensor]))
            for sensor in range(model.nsensor)
            if model.sensor_type[sensor] == kind
            and model.sensor_objtype[sensor] == mujoco.mjtObj.mjOBJ_SITE
            and model.sensor_refid[sensor] < 0
            and int(model.sensor_objid[sensor]) in sites
        ]

    def cameras(self) -> Iterator[tuple[int, str]]:
        """Yield ids and names of the cameras that ROS can describe, as `cameras_of` does."""
        for camera, name in cameras_of(self.model):
            if self._owns(self.model.cam_bodyid[camera], self.model.cam(camera).name):
                yield camera, self.short(name)

    def _owns(self, body: int, name: str) -> bool:
        return int(body) in self._bodies or (body == 0 and self.includes(name))


def cameras_of(model: mujoco.MjModel) -> Iterator[tuple[int, str]]:
    """Yield ids and names of the perspective cameras, the only ones that CameraInfo describes."""
    for camera in range(model.ncam):
        if model.cam_projection[camera] == mujoco.mjtProjection.mjPROJ_PERSPECTIVE:
            yield camera, model.cam(camera).name or f"camera{camera}"
