"""The kinds of sensors that have topics; each kind is one declaration in `SENSOR_KINDS`.

Topics, rates, TF frames, plots, noise, the observations of controllers, RViz displays and the
reference pages follow from the declaration.
"""

from math import inf, nan, sqrt

import mujoco

from mujoco_ros.model.sensors.kind import Measurement, SensorKind

_TYPE = mujoco.mjtSensor
_RAY_ANGLE = 0.01
"""Angle of the cone [rad] that displays and costmaps draw for a ray; 0 would be invisible."""


def farthest_distance(model: mujoco.MjModel, sensor: int) -> float:
    """Return the cutoff of a MuJoCo sensor; inf without one."""
    return float(model.sensor_cutoff[sensor]) or inf


def _range_constants(model: mujoco.MjModel, sensor: int) -> dict[str, float]:
    infrared = 1  # Range.INFRARED: the beam is a single ray
    farthest = farthest_distance(model, sensor)
    return {"radiation_type": infrared, "field_of_view": _RAY_ANGLE, "max_range": farthest}


def _reports_distance(model: mujoco.MjModel, sensor: int) -> bool:
    """Whether the first number of a MuJoCo rangefinder is the distance."""
    return bool(model.sensor_intprm[sensor, 0] & 1 << int(mujoco.mjtRayDataField.mjRAYDATA_DIST))


def _motion(
    path: str, linear: mujoco.mjtSensor, angular: mujoco.mjtSensor, per: str
) -> tuple[Measurement, ...]:
    """Return the measurements of a twist or an acceleration; each may be absent."""
    return (
        Measurement(
            "linear", (linear,), f"{path}.linear", "xyz", "linear", f"m{per}", is_optional=True
        ),
        Measurement(
            "angular",
            (angular,),
            f"{path}.angular",
            "xyz",
            "angular",
            f"rad{per}",
            is_optional=True,
        ),
    )


SENSOR_KINDS = (
    SensorKind(
        key="imu",
        title="IMU",
        message="sensor_msgs/msg/Imu",
        measurements=(
            Measurement(
                "quat_wxyz",
                (_TYPE.mjSENS_FRAMEQUAT,),
                "orientation",
                "wxyz",
                is_optional=True,
                has_covariance=True,
                is_auxiliary=True,
            ),
            Measurement(
                "angular_velocity",
                (_TYPE.mjSENS_GYRO,),
                "angular_velocity",
                "xyz",
                label="angular velocity",
                unit="rad/s",
                is_optional=True,
                has_covariance=True,
            ),
            Measurement(
                "linear_acceleration",
                (_TYPE.mjSENS_ACCELEROMETER,),
                "linear_acceleration",
                "xyz",
                label="acceleration",
                unit="m/s²",
                is_optional=True,
                has_covariance=True,
            ),
        ),
        observation="imus",
        plots="IMUs",
    ),
    SensorKind(
        key="wrench",
        title="force-torque sensor",
        message="geometry_msgs/msg/WrenchStamped",
        measurements=(
            Measurement(
                "force",
                (_TYPE.mjSENS_FORCE,),
                "wrench.force",
                "xyz",
                "force",
                "N",
                is_optional=True,
                is_load=True,
            ),
            Measurement(
                "torque",
                (_TYPE.mjSENS_TORQUE,),
                "wrench.torque",
                "xyz",
                "torque",
                "Nm",
                is_optional=True,
                is_load=True,
            ),
        ),
        observation="wrenches",
        plots="wrenches",
        # A load of 300 N is an arrow of 0.6 m, the scale of the contact arrows.
        display={
            "Class": "rviz_default_plugins/Wrench",
            "Accept NaN Values": False,
            "Alpha": 1,
            "Arrow Width": 0.3,
            "Force Arrow Scale": 0.002,
            "Force Color": "204; 51; 51",
            "History Length": 1,
            "Torque Arrow Scale": 0.02,
            "Torque Color": "204; 204; 51",
        },
    ),
    SensorKind(
        key="contact",
        title="touch sensor",
        message="geometry_msgs/msg/WrenchStamped",
        measurements=(
            Measurement(
                "force", (_TYPE.mjSENS_TOUCH,), "wrench.force.z", label="normal force", unit="N"
            ),
        ),
        observation="touches",
        plots="touch sensors",
    ),
    SensorKind(
        key="magnetometer",
        title="magnetometer",
        message="sensor_msgs/msg/MagneticField",
        # MuJoCo rotates the option `magnetic` into the site, whatever unit the model gives it in.
        measurements=(
            Measurement(
                "magnetic_field",
                (_TYPE.mjSENS_MAGNETOMETER,),
                "magnetic_field",
                "xyz",
                label="magnetic field",
                unit="T",
            ),
        ),
        observation="magnetometers",
        plots="magnetometers",
    ),
    SensorKind(
        key="range",
        title="rangefinder",
        message="sensor_msgs/msg/Range",
        measurements=(
            Measurement(
                "range",
                (_TYPE.mjSENS_RANGEFINDER,),
                "range",
                label="range",
                unit="m",
                is_distance=True,
                is_single=True,
            ),
        ),
        observation="ranges",
        plots="rangefinders",
        display={
            "Class": "rviz_default_plugins/Range",
            "Alpha": 0.5,
            "Buffer Length": 1,
            "Color": "239; 41; 41",
        },
        # MuJoCo's ray is the z axis of the site; in sensor_msgs/Range it is the x axis.
        frame_suffix="_beam",
        frame_quat_wxyz=(sqrt(0.5), 0.0, -sqrt(0.5), 0.0),
        constants=_range_constants,
        supports=_reports_distance,
    ),
    SensorKind(
        key="velocimeter",
        title="velocimeter",
        message="geometry_msgs/msg/TwistStamped",
        measurements=(
            Measurement(
                "linear", (_TYPE.mjSENS_VELOCIMETER,), "twist.linear", "xyz", "velocity", "m/s"
            ),
        ),
        observation="velocimeters",
        plots="velocimeters",
        constants=lambda _model, _sensor: {f"twist.angular.{axis}": nan for axis in "xyz"},
    ),
    SensorKind(
        key="pose",
        title="pose sensor",
        message="geometry_msgs/msg/PoseStamped",
        measurements=(
            Measurement(
                "position",
                (_TYPE.mjSENS_FRAMEPOS,),
                "pose.position",
                "xyz",
                "position",
                "m",
                is_optional=True,
            ),
            Measurement(
                "quat_wxyz",
                (_TYPE.mjSENS_FRAMEQUAT,),
                "pose.orientation",
                "wxyz",
                "orientation",
                is_optional=True,
            ),
        ),
        observation="poses",
        plots="poses",
        is_of_frame=True,
        display={
            "Class": "rviz_default_plugins/Pose",
            "Shape": "Axes",
            "Axes Length": 0.1,
            "Axes Radius": 0.01,
        },
    ),
    SensorKind(
        key="twist",
        title="velocity sensor",
        message="geometry_msgs/msg/TwistStamped",
        measurements=_motion("twist", _TYPE.mjSENS_FRAMELINVEL, _TYPE.mjSENS_FRAMEANGVEL, "/s"),
        observation="twists",
        plots="velocities",
        is_of_frame=True,
    ),
    SensorKind(
        key="accel",
        title="acceleration sensor",
        message="geometry_msgs/msg/AccelStamped",
        # As of an accelerometer, the linear one is the specific force, +g upwards at rest.
        measurements=_motion("accel", _TYPE.mjSENS_FRAMELINACC, _TYPE.mjSENS_FRAMEANGACC, "/s²"),
        observation="accels",
        plots="accelerations",
        is_of_frame=True,
    ),
    SensorKind(
        key="axis",
        title="axis sensor",
        message="geometry_msgs/msg/Vector3Stamped",
        measurements=(
            Measurement(
                "vector",
                (_TYPE.mjSENS_FRAMEXAXIS, _TYPE.mjSENS_FRAMEYAXIS, _TYPE.mjSENS_FRAMEZAXIS),
                "vector",
                "xyz",
                "axis",
            ),
        ),
        observation="axes",
        plots="axes",
        is_of_frame=True,
    ),
    SensorKind(
        key="subtree_com",
        title="centre of mass",
        message="geometry_msgs/msg/PointStamped",
        measurements=(
            Measurement("point", (_TYPE.mjSENS_SUBTREECOM,), "point", "xyz", "position", "m"),
        ),
        observation="subtree_coms",
        plots="centres of mass",
        is_of_frame=True,
        display={
            "Class": "rviz_default_plugins/PointStamped",
            "Alpha": 1,
            "Color": "204; 41; 204",
            "History Length": 1,
            "Radius": 0.03,
        },
    ),
    SensorKind(
        key="subtree_linvel",
        title="velocity of a centre of mass",
        message="geometry_msgs/msg/Vector3Stamped",
        measurements=(
            Measurement(
                "vector", (_TYPE.mjSENS_SUBTREELINVEL,), "vector", "xyz", "velocity", "m/s"
            ),
        ),
        observation="subtree_linvels",
        plots="velocities of centres of mass",
        is_of_frame=True,
    ),
    SensorKind(
        key="subtree_angmom",
        title="angular momentum",
        message="geometry_msgs/msg/Vector3Stamped",
        measurements=(
            Measurement(
                "vector", (_TYPE.mjSENS_SUBTREEANGMOM,), "vector", "xyz", "momentum", "Nms"
            ),
        ),
        observation="subtree_angmoms",
        plots="angular momenta",
        is_of_frame=True,
    ),
)
"""All kinds, in the order of the topics."""
