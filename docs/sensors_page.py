"""The page of all sensors: MuJoCo's types of sensors and their topics, from the registry."""

from collections.abc import Iterator, Sequence

import mujoco

from mujoco_ros.model.scene.config import RATES
from mujoco_ros.model.sensors.kinds import SENSOR_KINDS, SensorKind
from mujoco_ros.model.sensors.sensor_states import QUANTITIES

_HEAD = """\
# Sensors

Every sensor of a model has a topic. A message is built and published only while there is a subscriber. `<ns>` is empty for a single robot. Each rate is a [parameter](parameters.md), `publish_rate.<kind>`, and a
[key of a robot](scenes.md#publish_rate). With the parameter `sensor_noise`, every sensor has Gaussian noise with the deviation in
its attribute `noise`. [Cameras](cameras.md) and [lidars](lidars.md) have separate pages.

## Sensors with messages of their own

"""

_NOTES = """
- MuJoCo sensors in one row form one message if they are on the same object, with the same reference. The message is named
  after the object, all others after the sensor. A second sensor of a type on an object has its own message.
- An imu, a wrench, a pose, a twist and an accel may lack a part. Numbers that are not measured are NaN; in an Imu, a covariance that
  starts with −1 marks them. A framequat beside a gyro or an accelerometer belongs to the IMU, and to a pose if there is a framepos.
- A pose, a twist and an axis are in the frame of their reference (`reftype`, `refname`), or in `world` without one. Bodies and
  sites have TF frames with their names. MuJoCo's type `body` is the inertial frame, `<body>_inertial` in TF; a geom has
  `<geom>_geom`, and a camera `<camera>_camera`, in MuJoCo's convention (−z forward).
- A framelinacc reports the specific force, as an accelerometer does: +g upwards at rest. `base_accel` is without gravity.
- A velocimeter reports in the frame of its site, and measures no rotation: its angular velocity is NaN.

## Named values

`<ns>/sensor_states` (control_msgs/DynamicJointState) has the values of all sensors below. `joint_names` are the names of the
sensors, as ros2_control names sensors, and each has the interfaces of its type. It also shows passive joints and tendons.

"""

_ARRAYS = """
Positions and velocities of prismatic joints are in m and m/s, efforts in N. The effort of an actuator is its scalar force, before
the gear. `inside` is 1 or 0. `distance`, `normal` and `fromto` find geoms up to their attribute `cutoff`.

## Arrays

`<ns>/sensor_array/<name>` (std_msgs/Float64MultiArray) has the numbers of a sensor of variable size. `layout.dim` has label and size
of each dimension, the last one contiguous. A label with commas names each entry of its dimension. The message has no stamp.
A sensor with more than 4096 numbers, such as a rangefinder at a camera of high resolution, has no topic, and the log names it;
a [camera](cameras.md) renders depth images of any size.

| MuJoCo sensor | Dimensions | Note |
| --- | --- | --- |
| `contact` | `contact`, `found,force.x,…` | one row for each of the `num` contacts, with the fields of `data`; `force` and `torque` are in the frame of the contact, x along its normal, and with `reduce="netforce"` in `world` |
| `rangefinder` at a camera | `height`, `width`, `dist,…` | one ray for each pixel, a depth image without rendering; `dist` and `depth` are +inf where nothing is in range |
| `rangefinder` at a site, with more than `dist` | `dist,normal.x,…` | `dist` is also a Range |
| `tactile` | `pressure,slip.x,slip.y`, `taxel` | the channels one after the other |
| `plugin` touch_grid | `force.z,force.x,…`, `height`, `width` | a stack of up to six touch images |
| other `plugin`, `user` | `value` | as the plugin or MuJoCo's callback defines them |

## Contacts

`<ns>/contact_states` (ros_gz_interfaces/Contacts) lists every contact of a robot, with other robots, objects, the world and itself.
It needs no sensor in the model. Each pair of collisions in contact has one entry:

| Field | Content |
| --- | --- |
| `collision1`, `collision2` | the geoms by name, the robot's first; one without a name is `<body>_geom<index>` |
| `positions` | the points in `world` [m] |
| `normals` | unit vectors in `world` towards `collision1` |
| `depths` | penetrations [m], negative in the margin |
| `wrenches` | for each point: names of both bodies (TF frames), and the force [N] and torque [Nm] on each of them at the point, in the axes of `world` |

```bash
ros2 topic echo /contact_states --once
```

`/contacts` shows the same contacts [in RViz](../how-to/use_rviz.md#contacts). Gazebo's bridge has the same messages; a
subscriber needs the package `ros_gz_interfaces`, but not Gazebo.
"""


def sensors_page() -> str:
    """Return the page of all sensors, without the notice that it is generated."""
    return (
        _HEAD
        + _table(("MuJoCo sensors", "Topic", "Type", "Rate [Hz]", "Frame"), _kinds())
        + _NOTES
        + _table(("MuJoCo sensor", "Interfaces", "Unit"), _states())
        + _ARRAYS
        + "\nRates by default: "
        + ", ".join(
            f"`{key}` {RATES[key]:g} Hz"
            for key in ("sensor_states", "sensor_array", "contact_states")
        )
        + ".\n"
    )


def _kinds() -> Iterator[tuple[str, ...]]:
    for kind in SENSOR_KINDS:
        package, _, message = kind.message.split("/")
        sensors = ", ".join(
            f"`{sensor_element(it)}`" for measured in kind.measurements for it in measured.sensors
        )
        yield (
            sensors,
            f"`<ns>/{kind.key}/<name>`",
            f"{package}/{message}",
            f"{kind.rate_hz:g}",
            _frame(kind),
        )


def _frame(kind: SensorKind) -> str:
    if kind.is_of_frame:
        has_reference = any("FRAME" in it.name for m in kind.measurements for it in m.sensors)
        return "reference, or `world`" if has_reference and kind.key != "accel" else "`world`"
    return f"`<site>{kind.frame_suffix}`"


def _states() -> Iterator[tuple[str, ...]]:
    for sensor, quantity in QUANTITIES.items():
        names = ", ".join(f"`{name}`" for name in quantity.interfaces)
        yield f"`{sensor_element(sensor)}`", names, quantity.unit


_ELEMENTS = {
    "jointactfrc": "jointactuatorfrc",
    "tendonactfrc": "tendonactuatorfrc",
    "geomdist": "distance",
    "geomnormal": "normal",
    "geomfromto": "fromto",
}
"""Elements of MJCF whose name differs from the name of the type."""


def sensor_element(sensor: mujoco.mjtSensor) -> str:
    """Return the element of MJCF of a type of sensor."""
    name = sensor.name.removeprefix("mjSENS_").lower()
    return _ELEMENTS.get(name, name)


def _table(head: Sequence[str], rows: Iterator[tuple[str, ...]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)
