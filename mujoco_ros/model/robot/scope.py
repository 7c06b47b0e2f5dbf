"""What of a model is whose."""

from collections.abc import Iterator
from dataclasses import dataclass

import mujoco


def is_of(name: str, prefix: str, others: tuple[str, ...]) -> bool:
    """Whether something is the robot's by its name; a bare model has what is nobody else's."""
    return name.startswith(prefix) and not (not prefix and name.startswith(others))


@dataclass(frozen=True)
class Scope:
    """The part of a model that is one robot's: everything on its bodies, or by its prefix.

    Attributes:
        model: The model.
        prefix: What the robot's names carry in it.
        others: Prefixes of the parts that are not this robot.
        bodies: The robot's bodies.
        body_names: Their names, without the prefix.
    """

    model: mujoco.MjModel
    prefix: str
    others: tuple[str, ...]
    bodies: frozenset[int]
    body_names: frozenset[str]

    def owns(self, body: int, name: str) -> bool:
        """Whether something on `body` is the robot's; what it has put on the world is, too."""
        return int(body) in self.bodies or (body == 0 and is_of(name, self.prefix, self.others))

    def short(self, name: str) -> str:
        """Return a name without the prefix."""
        return name.removeprefix(self.prefix)

    def sites(self) -> list[int]:
        """Return the robot's sites."""
        model = self.model
        return [
            s for s in range(model.nsite) if self.owns(model.site_bodyid[s], model.site(s).name)
        ]

    def sensors(self, kind: mujoco.mjtSensor) -> list[tuple[int, int]]:
        """Return the robot's absolute MuJoCo sensors of a type at sites: sensor id and site id."""
        model, sites = self.model, set(self.sites())
        return [
            (s, int(model.sensor_objid[s]))
            for s in range(model.nsensor)
            if model.sensor_type[s] == kind
            and model.sensor_objtype[s] == mujoco.mjtObj.mjOBJ_SITE
            and model.sensor_refid[s] < 0
            and int(model.sensor_objid[s]) in sites
        ]

    def cameras(self) -> Iterator[tuple[int, str]]:
        """Yield the robot's cameras and their names, as `cameras_of` does."""
        for camera, name in cameras_of(self.model):
            if self.owns(self.model.cam_bodyid[camera], self.model.cam(camera).name):
                yield camera, self.short(name)


def cameras_of(model: mujoco.MjModel) -> Iterator[tuple[int, str]]:
    """Yield the cameras with a perspective, all that ROS can describe, and their names."""
    for camera in range(model.ncam):
        if model.cam_projection[camera] == mujoco.mjtProjection.mjPROJ_PERSPECTIVE:
            yield camera, model.cam(camera).name or f"camera{camera}"
