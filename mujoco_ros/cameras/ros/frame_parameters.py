"""The parameters of cameras, lidars and contacts, which the simulator's node declares."""

from collections.abc import Iterator

from mujoco_ros.bridge.parameters.parameters import setting_specs
from mujoco_ros.model.realism_config import Delivery
from mujoco_ros.model.robot.layout import ModelLayout
from mujoco_ros.wire.frame_topics import CONTACTS
from mujoco_ros.wire.names import camera_topics
from mujoco_ros.wire.parameter_spec import ParameterSpec

QUALITY = ParameterSpec(
    name="looks",
    default="auto",
    description="Quality of images: rich; plain, without shadows, reflections and antialiasing, "
    "ten times as fast on a processor; auto, rich with a graphics card and plain without one",
    choices=("auto", "plain", "rich"),
)
FORMATS = ("jpeg", "png")
CONTACTS_HZ, FORCE_SCALE_M = 20.0, 0.002
FORCE_SCALE = ParameterSpec(
    name=f"{CONTACTS.name}.force_scale",
    default=FORCE_SCALE_M,
    description="Length of the arrow of a contact force for each newton [m/N]",
    low=0.0,
    high=1000.0,
)


def parameter_of(name: str) -> str:
    """Return the prefix of the parameters of a source, by the namespace of its topics."""
    return name.replace("/", ".")


def frame_parameters(layout: ModelLayout) -> Iterator[ParameterSpec]:
    """Yield the parameters of all frames of a model."""
    yield QUALITY
    for camera in layout.every_camera:
        prefix = parameter_of(camera_topics(camera.namespace, camera.name))
        yield from source_parameters(prefix, camera.rate, camera.delivery)
        yield compressed_format(prefix)
    for lidar in layout.every_lidar:
        prefix = parameter_of(lidar.source)
        yield from source_parameters(prefix, lidar.config.rate, lidar.config.delivery)
    yield _rate(CONTACTS.name, CONTACTS_HZ)
    yield FORCE_SCALE


def compressed_format(prefix: str) -> ParameterSpec:
    """Return the parameter of the compressed images of a camera."""
    return ParameterSpec(
        name=f"{prefix}.compressed_format",
        default=FORMATS[0],
        description="Encoding of image_raw/compressed",
        choices=FORMATS,
    )


def source_parameters(prefix: str, rate: float, delivery: Delivery) -> Iterator[ParameterSpec]:
    """Yield the parameters of a camera or lidar, which begin with a prefix."""
    yield _rate(prefix, rate)
    yield from setting_specs(f"{prefix}.delivery", delivery)


def _rate(prefix: str, rate: float) -> ParameterSpec:
    return ParameterSpec(
        name=f"{prefix}.rate",
        default=float(rate),
        description="Frames per simulated second; 0 is off",
        low=0.0,
        high=1000.0,
    )
