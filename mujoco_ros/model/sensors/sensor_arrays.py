"""Sensors that are published as arrays: contact, tactile and user sensors, plugins, many rays."""

from collections.abc import Collection
from dataclasses import dataclass
from itertools import compress

import mujoco

from mujoco_ros.model.naming import topic_token
from mujoco_ros.model.robot.scope import Scope
from mujoco_ros.model.scene.engine_plugins import registered_plugins
from mujoco_ros.model.sensors.sensor_states import sensor_name

LARGEST_ARRAY = 4096
"""Largest size of an array that has a topic, for a start without delay."""
ARRAY = "sensor_array"
"""Namespace of the topics of arrays."""
_TYPE = mujoco.mjtSensor
_CONTACT_FIELDS = (
    ("found", ""),
    ("force", "xyz"),
    ("torque", "xyz"),
    ("dist", ""),
    ("pos", "xyz"),
    ("normal", "xyz"),
    ("tangent", "xyz"),
    ("linvel", "xyz"),
    ("angvel", "xyz"),
)
"""Fields of a contact in the order of `mujoco.mjtConDataField`, and the axes of each."""
_RAY_FIELDS = (
    ("dist", ""),
    ("dir", "xyz"),
    ("origin", "xyz"),
    ("point", "xyz"),
    ("normal", "xyz"),
    ("depth", ""),
)
"""Fields of a ray in the order of `mujoco.mjtRayDataField`, and the axes of each."""
_DISTANCES = ("dist", "depth")
_TOUCH_GRID = "mujoco.sensor.touch_grid"
_TOUCH_CHANNELS = ("force.z", "force.x", "force.y", "torque.z", "torque.x", "torque.y")
_TACTILE_CHANNELS = ("pressure", "slip.x", "slip.y")


@dataclass(frozen=True, kw_only=True, slots=True)
class SensorArray:
    """A MuJoCo sensor that is published as an array."""

    name: str
    # Label and size of each dimension, the last one contiguous. The label of one whose numbers
    # differ in meaning lists them, separated by commas.
    dimensions: tuple[tuple[str, int], ...]
    element: int
    address: int  # address of its first number in sensordata
    # Whether some of its numbers are distances, which are +inf if out of range
    is_range: bool = False


def find_arrays(scope: Scope, used: Collection[int]) -> tuple[SensorArray, ...]:
    """Return the sensors of a robot that are published as arrays.

    They are all but `used` ones, and rangefinders that report more than one distance. Arrays of
    more than `LARGEST_ARRAY` numbers have no topic.
    """
    model = scope.model
    arrays: list[SensorArray] = []
    taken: set[str] = set()
    for sensor in scope.sensors:
        is_range = mujoco.mjtSensor(model.sensor_type[sensor]) == _TYPE.mjSENS_RANGEFINDER
        size = int(model.sensor_dim[sensor])
        if not 0 < size <= LARGEST_ARRAY or (sensor in used and not (is_range and size > 1)):
            continue
        name = sensor_name(scope, sensor)
        name = f"{name}_{sensor}" if topic_token(name) in taken else name
        taken.add(topic_token(name))
        arrays.append(
            SensorArray(
                name=name,
                dimensions=_dimensions(model, sensor),
                element=sensor,
                address=int(model.sensor_adr[sensor]),
                is_range=is_range,
            )
        )
    return tuple(arrays)


def distance_addresses(model: mujoco.MjModel, sensor: int) -> list[int]:
    """Return the addresses in sensordata of the distances of a MuJoCo rangefinder."""
    fields = _fields(model, sensor, _RAY_FIELDS)
    start, size = int(model.sensor_adr[sensor]), int(model.sensor_dim[sensor])
    return [start + offset for offset in range(size) if fields[offset % len(fields)] in _DISTANCES]


def _dimensions(model: mujoco.MjModel, sensor: int) -> tuple[tuple[str, int], ...]:
    size, kind = int(model.sensor_dim[sensor]), mujoco.mjtSensor(model.sensor_type[sensor])
    if kind == _TYPE.mjSENS_CONTACT:
        fields = _fields(model, sensor, _CONTACT_FIELDS)
        return ("contact", size // len(fields)), (",".join(fields), len(fields))
    if kind == _TYPE.mjSENS_RANGEFINDER:
        fields = _fields(model, sensor, _RAY_FIELDS)
        labels = ",".join(fields), len(fields)
        if model.sensor_objtype[sensor] != mujoco.mjtObj.mjOBJ_CAMERA:
            return (labels,)
        width, height = model.cam_resolution[model.sensor_objid[sensor]].tolist()
        return ("height", height), ("width", width), labels
    if kind == _TYPE.mjSENS_TACTILE:
        channels = len(_TACTILE_CHANNELS)
        return (",".join(_TACTILE_CHANNELS), channels), ("taxel", size // channels)
    if kind == _TYPE.mjSENS_PLUGIN:
        return _touch_grid(model, sensor) or (("value", size),)
    return (("value", size),)


def _fields(
    model: mujoco.MjModel, sensor: int, fields: tuple[tuple[str, str], ...]
) -> tuple[str, ...]:
    """Return the names of the numbers of each contact or ray that a sensor reports."""
    bits = int(model.sensor_intprm[sensor, 0])
    reported = compress(fields, (bits >> bit & 1 for bit in range(len(fields))))
    return tuple(
        name
        for field, axes in reported
        for name in ([f"{field}.{axis}" for axis in axes] or [field])
    )


def _touch_grid(model: mujoco.MjModel, sensor: int) -> tuple[tuple[str, int], ...] | None:
    """Return the dimensions of MuJoCo's plugin touch_grid; None for another plugin."""
    slot = int(model.plugin[model.sensor_plugin[sensor]])
    if registered_plugins()[slot] != _TOUCH_GRID:
        return None
    # Its first attributes are the number of channels, and horizontal and vertical size.
    start = int(model.plugin_attradr[model.sensor_plugin[sensor]])
    count, shape = model.plugin_attr[start:].astype("u1").tobytes().split(b"\0")[:2]
    try:
        channels, width, height = (int(number) for number in (count or b"1", *shape.split()))
    except ValueError:
        return None
    size = int(model.sensor_dim[sensor])
    if channels * width * height != size or channels not in range(1, len(_TOUCH_CHANNELS) + 1):
        return None
    labels = ",".join(_TOUCH_CHANNELS[:channels])
    return (labels, channels), ("height", height), ("width", width)
