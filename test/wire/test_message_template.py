"""Bytes with filled numbers equal the serialized message."""

from array import array
from typing import Any

import numpy as np
import pytest
from cdr import encode, without_padding
from control_msgs.msg import JointTrajectoryControllerState
from geometry_msgs.msg import AccelStamped, TransformStamped, WrenchStamped
from nav_msgs.msg import Odometry
from rclpy.serialization import deserialize_message, serialize_message
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import Image, Imu, JointState, LaserScan, PointCloud2, PointField
from std_msgs.msg import Float64MultiArray, Header
from tf2_msgs.msg import TFMessage

from mujoco_ros.wire import message_template as template_module
from mujoco_ros.wire.message_template import (
    LayoutError,
    MessageTemplate,
    write,
    write_times,
)


def _vector(path: str) -> list[str]:
    return [f"{path}.{axis}" for axis in "xyz"]


def _quaternion(path: str) -> list[str]:
    return [f"{path}.{axis}" for axis in "xyzw"]


def _joint_state(count: int) -> JointState:
    zeros = [0.0] * count
    return JointState(
        header=Header(frame_id="base"),
        name=[f"joint{'_' * i}" for i in range(count)],
        position=zeros,
        velocity=zeros,
        effort=zeros,
    )


def _controller_state(count: int) -> JointTrajectoryControllerState:
    zeros = [0.0] * count
    message = JointTrajectoryControllerState(joint_names=[f"joint{i}" for i in range(count)])
    for part in (message.reference, message.feedback):
        part.positions = part.velocities = part.accelerations = part.effort = zeros
    return message


def _transforms(count: int) -> TFMessage:
    message = TFMessage()
    for i in range(count):
        transform = TransformStamped(child_frame_id="child" * (i % 5))
        transform.header.frame_id = "w" * i
        message.transforms.append(transform)
    return message


_HEADER = ["header.stamp"]
_CASES: list[tuple[str, Any, list[str], list[str]]] = [
    ("Clock", Clock, [], ["clock"]),
    (
        "JointState",
        lambda: _joint_state(35),
        [f"{field}.{i}" for field in ("position", "velocity", "effort") for i in range(35)],
        _HEADER,
    ),
    (
        "Imu",
        lambda: Imu(header=Header(frame_id="imu")),
        _quaternion("orientation")
        + _vector("angular_velocity")
        + _vector("linear_acceleration")
        + [f"orientation_covariance.{i}" for i in range(9)],
        _HEADER,
    ),
    (
        "WrenchStamped",
        lambda: WrenchStamped(header=Header(frame_id="left_ankle_ft")),
        _vector("wrench.force") + _vector("wrench.torque"),
        _HEADER,
    ),
    (
        "Odometry",
        lambda: Odometry(header=Header(frame_id="world"), child_frame_id="pelvis"),
        _vector("pose.pose.position")
        + _quaternion("pose.pose.orientation")
        + _vector("twist.twist.linear")
        + _vector("twist.twist.angular"),
        _HEADER,
    ),
    (
        "AccelStamped",
        lambda: AccelStamped(header=Header(frame_id="pelvis")),
        _vector("accel.linear") + _vector("accel.angular"),
        _HEADER,
    ),
    (
        "TFMessage",
        lambda: _transforms(60),
        [
            path
            for i in range(60)
            for path in _vector(f"transforms.{i}.transform.translation")
            + _quaternion(f"transforms.{i}.transform.rotation")
        ],
        [f"transforms.{i}.header.stamp" for i in range(60)],
    ),
]
_CASES.append(
    (
        "JointTrajectoryControllerState",
        lambda: _controller_state(33),
        [
            f"{part}.{field}.{i}"
            for part in ("reference", "feedback")
            for field in ("positions", "velocities", "accelerations", "effort")
            for i in range(33)
        ],
        [
            "header.stamp",
            *(f"{part}.time_from_start" for part in ("reference", "feedback", "error", "output")),
        ],
    )
)
_NAMES = [case[0] for case in _CASES]
_SPECIAL = (0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1.7976931348623157e308, 1.5e300, 1 / 3)
_STAMPS = ((0, 0), (0, 999_999_999), (1, 1), (2**31 - 1, 999_999_999), (0x6B5A0000, 0x2F3E0000))


def _fill(template: MessageTemplate, numbers: np.ndarray, stamps: np.ndarray) -> bytes:
    data = bytearray(template.data)
    for offset, number in zip(template.offsets, numbers, strict=True):
        data[offset : offset + 8] = number.tobytes()
    for offset, stamp in zip(template.times, stamps, strict=True):
        data[offset : offset + 8] = stamp.tobytes()
    return bytes(data)


def _assert_equal(data: bytes, message: Any) -> None:
    """Compare bytes with the serialized message of the middleware and with plain CDR."""
    plain = bytes(serialize_message(message))
    assert len(data) == len(plain)
    assert without_padding(data, message) == without_padding(plain, message) == encode(message)


def _stamps(records: list[tuple[int, int]]) -> np.ndarray:
    return np.array(records, dtype=[("sec", "<i4"), ("nanosec", "<u4")])


@pytest.mark.parametrize(("create", "paths", "stamps"), [c[1:] for c in _CASES], ids=_NAMES)
def test_filled_bytes_equal_the_plainly_serialized_message_for_random_numbers(
    create: Any, paths: list[str], stamps: list[str]
) -> None:
    random = np.random.default_rng(7)
    template, message = MessageTemplate(create(), paths, stamps), create()
    for _ in range(25):
        # Bit patterns rather than numbers, so that there are subnormal, huge and negative values.
        numbers = random.integers(0, 2**64, len(paths), dtype=np.uint64).view(np.float64)
        numbers[np.isnan(numbers)] = random.choice(_SPECIAL)
        times = _stamps(
            [
                (int(random.integers(0, 2**31)), int(random.integers(0, 1_000_000_000)))
                for _ in stamps
            ]
        )
        write(message, paths, numbers)
        write_times(message, stamps, times)
        _assert_equal(_fill(template, numbers, times), message)


@pytest.mark.parametrize(("create", "paths", "stamps"), [c[1:] for c in _CASES], ids=_NAMES)
def test_filled_bytes_equal_the_plainly_serialized_message_at_the_limits(
    create: Any, paths: list[str], stamps: list[str]
) -> None:
    template, message = MessageTemplate(create(), paths, stamps), create()
    for number in _SPECIAL:
        for stamp in _STAMPS:
            numbers, times = np.full(len(paths), number), _stamps([stamp] * len(stamps))
            write(message, paths, numbers)
            write_times(message, stamps, times)
            _assert_equal(_fill(template, numbers, times), message)


def test_unfilled_bytes_are_the_message_with_every_number_zero_and_the_rest_kept() -> None:
    message = Imu(header=Header(frame_id="imu"))
    message.orientation.w = 1.0
    message.orientation_covariance[0] = -1.0
    template = MessageTemplate(message, _vector("angular_velocity"), _HEADER)
    plain = Imu(header=Header(frame_id="imu"))
    plain.orientation_covariance[0] = -1.0
    _assert_equal(template.data, plain)


def test_one_number_in_two_places_is_refused() -> None:
    with pytest.raises(LayoutError, match=r"AccelStamped: cannot locate 'accel\.linear\.x'"):
        MessageTemplate(AccelStamped(), ["accel.linear.x", "accel.linear.x"], _HEADER)


def _behind_a_text(paths: list[str]) -> None:
    message = Float64MultiArray(data=[0.0] * len(paths))
    MessageTemplate(message, paths, [])


def test_old_sentinels_behind_the_message_are_ignored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paths = [f"data.{i}" for i in range(4)]
    sent: list[bytes] = []

    def overlong(message: Any) -> bytes:
        """Serialize into memory in which the message before this one lies."""
        sent.append(bytes(serialize_message(message)))
        return sent[-1] + sent[-2][-16:] if len(sent) > 1 else sent[-1] + bytes(16)

    plain = MessageTemplate(Float64MultiArray(data=[0.0] * 4), paths, [])
    monkeypatch.setattr(template_module, "serialize_message", overlong)
    for _ in range(3):
        template = MessageTemplate(Float64MultiArray(data=[0.0] * 4), paths, [])
        assert template.offsets.tolist() == plain.offsets.tolist()


def test_a_middleware_with_another_number_encoding_is_detected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def complemented(message: Any) -> bytes:
        return bytes(255 - byte for byte in serialize_message(message))

    _behind_a_text(["data.0", "data.1"])
    monkeypatch.setattr(template_module, "serialize_message", complemented)
    with pytest.raises(LayoutError, match=r"Float64MultiArray: cannot locate 'data\.0'"):
        _behind_a_text(["data.0", "data.1"])


def test_a_middleware_whose_layout_depends_on_the_numbers_is_detected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def packed(message: Any) -> bytes:
        data = bytes(serialize_message(message))
        return data.rstrip(b"\0")

    monkeypatch.setattr(template_module, "serialize_message", packed)
    with pytest.raises(LayoutError, match="its serialized layout is not fixed"):
        _behind_a_text(["data.0", "data.1"])


_IMAGE = Image(height=3, width=5, encoding="rgb8", step=15, data=array("B", bytes(45)))
_CLOUD = PointCloud2(
    height=2,
    width=3,
    fields=[PointField(name="x", offset=0, datatype=PointField.FLOAT32, count=1)],
    point_step=4,
    row_step=12,
    data=array("B", bytes(24)),
    is_dense=True,
)
_SCAN = LaserScan(
    angle_min=-1.0,
    range_max=7.0,
    ranges=array("f", bytes(4 * 9)),
    intensities=array("f", bytes(4 * 9)),
)


@pytest.mark.parametrize(
    ("message", "arrays"),
    [(_IMAGE, ["data"]), (_CLOUD, ["data"]), (_SCAN, ["ranges", "intensities"])],
    ids=lambda value: type(value).__name__ if hasattr(value, "header") else "",
)
@pytest.mark.parametrize("frame", ["", "arm/camera_optical_frame"])
def test_written_arrays_and_stamp_arrive_and_the_rest_is_unchanged(
    message: Any, arrays: list[str], frame: str
) -> None:
    message.header.frame_id = frame
    template = MessageTemplate(message, arrays=arrays)
    random = np.random.default_rng(1)
    for name in arrays:
        numbers = template.arrays[name]
        assert not numbers.any()
        numbers[:] = random.integers(0, 256, len(numbers))
        setattr(message, name, array(numbers.dtype.char, numbers.tobytes()))
    message.header.stamp.sec, message.header.stamp.nanosec = 12, 345_000_000

    arrived = deserialize_message(template.stamped(12, 345_000_000), type(message))

    assert arrived == message


def test_an_array_without_numbers_is_refused() -> None:
    with pytest.raises(LayoutError, match="Image: cannot locate 'data'"):
        MessageTemplate(Image(), arrays=["data"])
