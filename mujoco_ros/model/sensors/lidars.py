"""Lidars: what a scene says of them, what becomes of the model, and what is known of each."""

import math
from collections.abc import Container, Iterable
from dataclasses import dataclass

import mujoco

from mujoco_ros.model.errors import NameTakenError, UserInputError, unknown
from mujoco_ros.model.naming import check_name
from mujoco_ros.model.robot.frame_names import site_frame
from mujoco_ros.model.scene.pose_config import ORIGIN, PoseConfig, quaternion_wxyz
from mujoco_ros.model.sensors.cameras import check_rate

MOST_RAYS = 1_000_000
DEFAULT_RATE_HZ = 10.0
_GROUPS = range(mujoco.mjNGROUP)
_CIRCLE = 2 * math.pi
_CLOSED = 1e-6
"""So near to a whole turn [rad], first and last ray would be the same."""
_HIDDEN = 4
"""Group of sites that are not shown unless asked for, as in the shipped models."""


def _check_fan(name: str, samples: int, low: float, high: float, most: float) -> None:
    if not 1 <= samples <= MOST_RAYS:
        raise UserInputError(f"'{name}' must have from 1 to {MOST_RAYS} samples, got {samples}")
    if not -most <= low <= high <= most:
        raise UserInputError(
            f"'{name}' must have {-most:.6g} <= min <= max <= {most:.6g} rad, got min {low:g} and "
            f"max {high:g}"
        )
    if samples > 1 and low == high:
        raise UserInputError(f"'{name}': {samples} samples need a 'max' larger than 'min'")


@dataclass(frozen=True, kw_only=True, slots=True)
class HorizontalConfig:
    """Directions of rays about z [rad], counted from x towards y."""

    samples: int = 360
    min: float = -math.pi
    max: float = math.pi

    def __post_init__(self) -> None:
        """Refuse what is no fan of rays, or goes round more than once."""
        _check_fan("horizontal", self.samples, self.min, self.max, _CIRCLE)
        if self.max - self.min > _CIRCLE + _CLOSED:
            raise UserInputError(
                f"'horizontal' spans {self.max - self.min:g} rad, more than a whole turn (6.28319)"
            )

    @property
    def increment(self) -> float:
        """Return the angle between two rays; over a whole turn none stands for both its ends."""
        gaps = self.samples - (self.max - self.min < _CIRCLE - _CLOSED)
        return (self.max - self.min) / gaps if gaps else 0.0

    @property
    def last(self) -> float:
        """Return the direction of the last ray."""
        return self.min + (self.samples - 1) * self.increment


@dataclass(frozen=True, kw_only=True, slots=True)
class VerticalConfig:
    """Elevations of the rows of rays [rad], counted from the x-y plane towards z."""

    samples: int = 1
    min: float = 0.0
    max: float = 0.0

    def __post_init__(self) -> None:
        """Refuse what is no fan of rays, or reaches over a pole."""
        _check_fan("vertical", self.samples, self.min, self.max, math.pi / 2)

    @property
    def increment(self) -> float:
        """Return the angle between two rows."""
        return (self.max - self.min) / (self.samples - 1) if self.samples > 1 else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RangeConfig:
    """How near and how far something is still measured [m]."""

    min: float = 0.05
    max: float = 30.0

    def __post_init__(self) -> None:
        """Refuse an empty range."""
        if not 0 <= self.min < self.max:
            raise UserInputError(
                f"'range' must have 0 <= min < max, got min {self.min:g} and max {self.max:g}"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class LidarConfig:
    """A scanner at a site of the model, or at a pose on a body, which becomes a site.

    `groups` are the groups of geoms that it sees; those of its own body it does not. `noise` is the
    standard deviation of a range [m].
    """

    name: str
    site: str | None = None
    body: str | None = None
    pose: PoseConfig | None = None
    horizontal: HorizontalConfig = HorizontalConfig()
    vertical: VerticalConfig = VerticalConfig()
    range: RangeConfig = RangeConfig()
    rate: float = DEFAULT_RATE_HZ
    noise: float = 0.0
    groups: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        """Refuse names that ROS could not use, places given twice or not at all, too many rays."""
        check_name(self.name)
        where = f"lidar '{self.name}'"
        if (self.site is None) == (self.body is None):
            raise UserInputError(f"{where}: give either the 'site' or the 'body' that it is on")
        if self.pose is not None and self.body is None:
            raise UserInputError(f"{where}: a 'pose' goes with a 'body'; a site has its own")
        rays = self.horizontal.samples * self.vertical.samples
        if rays > MOST_RAYS:
            raise UserInputError(f"{where}: its {rays} rays are too many; {MOST_RAYS} are the most")
        if not 0 <= self.noise <= self.range.max:
            raise UserInputError(
                f"{where}: 'noise' must be from 0 to the largest range, got {self.noise:g}"
            )
        if not self.groups or any(group not in _GROUPS for group in self.groups):
            raise UserInputError(
                f"{where}: 'groups' must be some of {', '.join(str(group) for group in _GROUPS)}, "
                f"got {list(self.groups)}"
            )
        check_rate(where, self.rate)


@dataclass(frozen=True, kw_only=True)
class Lidar:
    """A lidar of a model.

    Attributes:
        name: What topics call it.
        namespace: That of its robot; empty for one of the scene.
        frame: Its frame in TF, that of its site: x forward, z up.
        site: Its site's number in the model.
        body: The body that the site is on.
        config: Its rays, range, rate and noise.
    """

    name: str
    namespace: str
    frame: str
    site: int
    body: int
    config: LidarConfig

    @property
    def rows(self) -> int:
        """Return how many rows of rays it has."""
        return self.config.vertical.samples

    @property
    def columns(self) -> int:
        """Return how many rays a row has."""
        return self.config.horizontal.samples

    @property
    def is_scan(self) -> bool:
        """Whether it scans a plane (LaserScan), rather than gives points (PointCloud2)."""
        return self.rows == 1


def edit_lidars(spec: mujoco.MjSpec, lidars: Iterable[LidarConfig], owner: str) -> None:
    """Add the sites of lidars that are given by body and pose to a model.

    Args:
        spec: The model of a robot, or the world.
        lidars: What the scene says of them.
        owner: Whose they are, put in front of messages.

    Raises:
        ModelError: A body or site does not exist, or a site that is to be added does already.
    """
    for config in lidars:
        where = f"{owner}: lidar '{config.name}'"
        if config.body is None:
            _check_site([site.name for site in spec.sites], config.site or "", where)
            continue
        body = spec.body(config.body)
        if body is None:
            raise unknown("body", config.body, [body.name for body in spec.bodies], where=where)
        if spec.site(config.name) is not None:
            raise NameTakenError(
                f"{where}: the model has a site of that name; give it as 'site' instead of a "
                "'body', or choose another name"
            )
        pose = config.pose or ORIGIN
        body.add_site(name=config.name, pos=pose.xyz, quat=quaternion_wxyz(pose), group=_HIDDEN)


def resolve_lidar(
    model: mujoco.MjModel,
    config: LidarConfig,
    *,
    where: str,
    prefix: str = "",
    namespace: str = "",
    frame_prefix: str = "",
    bodies: Container[str] = (),
) -> Lidar:
    """Return what is known of a lidar in a compiled model.

    Args:
        model: The model.
        config: What the scene says of it.
        where: Whose it is, put in front of messages.
        prefix: What the names of its robot carry in the model.
        namespace: That of its robot.
        frame_prefix: What the TF frames of its robot carry.
        bodies: Names of its robot's bodies, without the prefix.

    Raises:
        ModelError: Its site does not exist.
    """
    name = config.name if config.site is None else config.site
    names = [model.site(site).name for site in range(model.nsite)]
    own = [it.removeprefix(prefix) for it in names if it.startswith(prefix)]
    _check_site(own, name, where)
    site = names.index(prefix + name)
    return Lidar(
        name=config.name,
        namespace=namespace,
        frame=frame_prefix + site_frame(name, bodies),
        site=site,
        body=int(model.site_bodyid[site]),
        config=config,
    )


def _check_site(sites: list[str], name: str, where: str) -> None:
    if name not in sites:
        raise unknown("site", name, [site for site in sites if site], where=where)
