"""Lidars: their configuration, their edits of a model, and the lidars of a compiled model."""

import math
from collections.abc import Container, Iterable
from dataclasses import dataclass

import mujoco

from mujoco_ros.model.errors import NameTakenError, UserInputError, unknown
from mujoco_ros.model.naming import NAME, check_name, in_namespace, site_frame, topic_token
from mujoco_ros.model.pose import ORIGIN, PoseConfig, quaternion_wxyz
from mujoco_ros.model.ranged_settings import check_settings
from mujoco_ros.model.realism_config import AT_ONCE, Delivery
from mujoco_ros.model.sensors.cameras import check_rate, find_body

MAX_RAYS = 1_000_000
DEFAULT_RATE_HZ = 10.0
_GROUPS = range(mujoco.mjNGROUP)
_CIRCLE = 2 * math.pi
_CLOSED = 1e-6
"""An angle this close to a whole turn makes the first and the last ray coincide [rad]."""
_HIDDEN_GROUP = 4  # group of sites that viewers hide by default


def _check_fan(name: str, samples: int, low: float, high: float, largest: float) -> None:
    if not 1 <= samples <= MAX_RAYS:
        raise UserInputError(f"'{name}' must have from 1 to {MAX_RAYS} samples, got {samples}")
    if not -largest <= low <= high <= largest:
        raise UserInputError(
            f"'{name}' must have {-largest:.6g} <= min <= max <= {largest:.6g} rad, "
            f"got min {low:g} and max {high:g}"
        )
    if samples > 1 and low == high:
        raise UserInputError(f"'{name}': {samples} samples need a 'max' larger than 'min'")


@dataclass(frozen=True, kw_only=True, slots=True)
class HorizontalConfig:
    """Azimuths of the rays about z [rad], from x towards y."""

    samples: int = 360
    min: float = -math.pi
    max: float = math.pi

    def __post_init__(self) -> None:
        _check_fan("horizontal", self.samples, self.min, self.max, _CIRCLE)
        if self.max - self.min > _CIRCLE + _CLOSED:
            raise UserInputError(
                f"'horizontal' spans {self.max - self.min:g} rad, more than a whole turn (6.28319)"
            )

    @property
    def increment(self) -> float:
        """Return the angle between two rays; a whole turn has no ray at its end."""
        gaps = self.samples - (self.max - self.min < _CIRCLE - _CLOSED)
        return (self.max - self.min) / gaps if gaps else 0.0

    @property
    def last(self) -> float:
        """Return the azimuth of the last ray."""
        return self.min + (self.samples - 1) * self.increment


@dataclass(frozen=True, kw_only=True, slots=True)
class VerticalConfig:
    """Elevations of the rows of rays [rad], from the x-y plane towards z."""

    samples: int = 1
    min: float = 0.0
    max: float = 0.0

    def __post_init__(self) -> None:
        _check_fan("vertical", self.samples, self.min, self.max, math.pi / 2)

    @property
    def increment(self) -> float:
        """Return the angle between two rows."""
        return (self.max - self.min) / (self.samples - 1) if self.samples > 1 else 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class RangeConfig:
    """Smallest and largest distance that is measured [m]."""

    min: float = 0.05
    max: float = 30.0

    def __post_init__(self) -> None:
        if not 0 <= self.min < self.max:
            raise UserInputError(
                f"'range' must have 0 <= min < max, got min {self.min:g} and max {self.max:g}"
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class LidarConfig:
    """A lidar at a site of the model, or at a pose on a body, where a site is added.

    `groups` are the groups of geoms that it measures, except on its own body. `noise` is the
    standard deviation of a distance [m], `delivery` when its scans arrive. `topic` is in the
    namespace of its robot, by default ``lidar/<name>/scan`` or ``points``.
    """

    name: str
    topic: str = ""
    site: str | None = None
    body: str | None = None
    pose: PoseConfig | None = None
    horizontal: HorizontalConfig = HorizontalConfig()
    vertical: VerticalConfig = VerticalConfig()
    range: RangeConfig = RangeConfig()
    rate: float = DEFAULT_RATE_HZ
    noise: float = 0.0
    delivery: Delivery = AT_ONCE
    groups: tuple[int, ...] = (0, 1, 2)

    def __post_init__(self) -> None:
        check_name(self.name)
        where = f"lidar '{self.name}'"
        if (self.site is None) == (self.body is None):
            raise UserInputError(f"{where}: give either the 'site' or the 'body' that it is on")
        if self.pose is not None and self.body is None:
            raise UserInputError(f"{where}: a 'pose' goes with a 'body'; a site has its own")
        if self.topic and not is_topic(self.topic):
            raise UserInputError(
                f"{where}: 'topic' is '{self.topic}'; it must be letters, digits and underscores, "
                "with slashes between the parts, such as front/scan"
            )
        rays = self.horizontal.samples * self.vertical.samples
        if rays > MAX_RAYS:
            raise UserInputError(f"{where}: it has {rays} rays; at most {MAX_RAYS} are allowed")
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
        check_settings(self.delivery, f"{where}: delivery")


def is_topic(name: str) -> bool:
    """Whether a topic in a namespace can have a name."""
    return all(NAME.match(part) for part in name.split("/"))


@dataclass(frozen=True, kw_only=True)
class Lidar:
    """A lidar of a compiled model."""

    name: str
    namespace: str
    frame: str  # TF frame of its site: x forward, z up
    site: int
    body: int
    config: LidarConfig  # rays, range, rate, noise and delivery

    @property
    def rows(self) -> int:
        """Return the number of rows of rays."""
        return self.config.vertical.samples

    @property
    def columns(self) -> int:
        """Return the number of rays in a row."""
        return self.config.horizontal.samples

    @property
    def is_scan(self) -> bool:
        """Whether it scans a plane (LaserScan) rather than a volume (PointCloud2)."""
        return self.rows == 1

    @property
    def source(self) -> str:
        """Return the name by which its parameters are known, with its namespace."""
        return in_namespace(self.namespace, "lidar", topic_token(self.name))

    @property
    def topic(self) -> str:
        """Return the full name of its topic, without the first slash."""
        if self.config.topic:
            return in_namespace(self.namespace, self.config.topic)
        return in_namespace(self.source, "scan" if self.is_scan else "points")


def edit_lidars(spec: mujoco.MjSpec, lidars: Iterable[LidarConfig], owner: str) -> None:
    """Add the sites of lidars to the model of a robot or world, as `edit_cameras` does."""
    for config in lidars:
        where = f"{owner}: lidar '{config.name}'"
        if config.body is None:
            _check_site([site.name for site in spec.sites], config.site or "", where)
            continue
        body = find_body(spec, config.body, where)
        if spec.site(config.name) is not None:
            raise NameTakenError(
                f"{where}: the model has a site of that name; give it as 'site' instead of a "
                "'body', or choose another name"
            )
        pose = config.pose or ORIGIN
        quat = quaternion_wxyz(pose)
        body.add_site(name=config.name, pos=pose.xyz, quat=quat, group=_HIDDEN_GROUP)


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
    """Return a lidar of a compiled model, as `resolve_camera` a camera.

    `bodies` are the names of its robot's bodies, without the prefix of the robot's names.
    """
    name = config.name if config.site is None else config.site
    names = [model.site(site).name for site in range(model.nsite)]
    own = [site_name.removeprefix(prefix) for site_name in names if site_name.startswith(prefix)]
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
