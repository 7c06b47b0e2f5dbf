"""CvBridge compared with NumPy and the definitions of the encodings."""

import struct

import cv2
import numpy as np
import pytest
from cv_bridge import CvBridge, CvBridgeError, getCvType
from sensor_msgs.msg import CompressedImage, Image
from std_msgs.msg import Header

BRIDGE = CvBridge()
RNG = np.random.default_rng(1)
HEIGHT, WIDTH = 5, 7

# encoding -> dtype, channels
PLAIN = {
    "mono8": ("uint8", 1),
    "mono16": ("uint16", 1),
    "rgb8": ("uint8", 3),
    "bgr8": ("uint8", 3),
    "rgba8": ("uint8", 4),
    "bgra8": ("uint8", 4),
    "rgb16": ("uint16", 3),
    "8UC1": ("uint8", 1),
    "8SC2": ("int8", 2),
    "16UC1": ("uint16", 1),
    "16SC1": ("int16", 1),
    "32SC1": ("int32", 1),
    "32FC1": ("float32", 1),
    "32FC3": ("float32", 3),
    "64FC4": ("float64", 4),
    "8UC7": ("uint8", 7),
}


def _image(dtype: str, channels: int) -> np.ndarray:
    shape = (HEIGHT, WIDTH) if channels == 1 else (HEIGHT, WIDTH, channels)
    return RNG.integers(0, 127, shape).astype(dtype) + np.array(0.5).astype(dtype)


@pytest.mark.parametrize("encoding", PLAIN)
def test_an_image_survives_the_round_trip(encoding: str) -> None:
    image = _image(*PLAIN[encoding])
    message = BRIDGE.cv2_to_imgmsg(image, encoding)
    assert (message.encoding, message.height, message.width) == (encoding, HEIGHT, WIDTH)
    assert message.step == image[0].nbytes
    back = BRIDGE.imgmsg_to_cv2(message)
    assert back.dtype == image.dtype
    np.testing.assert_array_equal(back, image)


def test_passthrough_names_the_type_of_the_array() -> None:
    assert BRIDGE.cv2_to_imgmsg(_image("uint8", 3)).encoding == "8UC3"
    assert BRIDGE.cv2_to_imgmsg(_image("float32", 1)).encoding == "32FC1"


def test_the_header_is_part_of_the_message() -> None:
    header = Header(frame_id="camera_optical_frame")
    assert BRIDGE.cv2_to_imgmsg(_image("uint8", 1), "mono8", header).header == header


def test_a_view_that_is_not_contiguous_is_sent_in_its_logical_order() -> None:
    image = _image("uint8", 3)[:, ::-1]
    np.testing.assert_array_equal(BRIDGE.imgmsg_to_cv2(BRIDGE.cv2_to_imgmsg(image, "rgb8")), image)


@pytest.mark.parametrize(("encoding", "code"), [("16UC1", "H"), ("32FC1", "f"), ("32SC1", "i")])
@pytest.mark.parametrize("big", [False, True])
@pytest.mark.parametrize("padding", [0, 2, 3])
def test_both_byte_orders_and_padded_rows_are_read(
    encoding: str, code: str, big: bool, padding: int
) -> None:
    rows = [[1, 2, 300], [4, 5, 60000 if code == "H" else 70000]]
    order = ">" if big else "<"
    data = b"".join(struct.pack(f"{order}3{code}", *row) + b"\xff" * padding for row in rows)
    message = Image(height=2, width=3, encoding=encoding, is_bigendian=big, step=len(data) // 2)
    message.data.frombytes(data)
    image = BRIDGE.imgmsg_to_cv2(message)
    assert image.dtype.isnative
    np.testing.assert_array_equal(image, rows)


def test_padded_colour_rows_are_read() -> None:
    message = Image(height=2, width=1, encoding="rgb8", step=5)
    message.data.frombytes(bytes([1, 2, 3, 99, 99, 4, 5, 6, 99, 99]))
    np.testing.assert_array_equal(BRIDGE.imgmsg_to_cv2(message), [[[1, 2, 3]], [[4, 5, 6]]])


def test_a_big_endian_array_is_marked_and_read_back() -> None:
    image = _image("int32", 1).astype(">i4")
    message = BRIDGE.cv2_to_imgmsg(image)
    assert message.is_bigendian
    np.testing.assert_array_equal(BRIDGE.imgmsg_to_cv2(message), image)


def test_the_result_does_not_share_memory_with_the_message() -> None:
    message = BRIDGE.cv2_to_imgmsg(_image("uint8", 1), "mono8")
    before = message.data[0]
    BRIDGE.imgmsg_to_cv2(message)[:] = 255
    BRIDGE.imgmsg_to_cv2(message, "mono8")[:] = 255
    assert message.data[0] == before != 255


COLOR = (200, 100, 50)  # red, green, blue
GRAY = round(0.299 * 200 + 0.587 * 100 + 0.114 * 50)  # ITU-R BT.601


@pytest.mark.parametrize(
    ("source", "target", "pixel", "expected"),
    [
        ("rgb8", "bgr8", COLOR, COLOR[::-1]),
        ("bgr8", "rgb8", COLOR[::-1], COLOR),
        ("rgb8", "rgba8", COLOR, (*COLOR, 255)),
        ("rgba8", "bgr8", (*COLOR, 7), COLOR[::-1]),
        ("bgra8", "rgba8", (50, 100, 200, 7), (*COLOR, 7)),
        ("rgb8", "mono8", COLOR, (GRAY,)),
        ("bgr8", "mono8", COLOR[::-1], (GRAY,)),
        ("mono8", "bgr8", (9,), (9, 9, 9)),
        ("mono8", "mono16", (200,), (200 * 257,)),
        ("mono16", "mono8", (257 * 33,), (33,)),
        ("rgb8", "mono16", COLOR, (GRAY * 257,)),
        ("rgb8", "bgr16", COLOR, tuple(257 * c for c in COLOR[::-1])),
        ("mono8", "8UC1", (9,), (9,)),
        ("rgb8", "8UC3", COLOR, COLOR),
        ("16UC1", "32FC1", (1234,), (1234.0,)),
        ("32FC1", "16UC1", (70000.0,), (65535,)),
        ("32FC1", "8SC1", (-1.5,), (-2,)),
    ],
)
def test_a_pixel_converts(
    source: str, target: str, pixel: tuple[float, ...], expected: tuple[float, ...]
) -> None:
    dtype, channels = BRIDGE.encoding_to_dtype_with_channels(source)
    shape = (2, 2) if channels == 1 else (2, 2, channels)
    message = BRIDGE.cv2_to_imgmsg(np.full(shape, pixel, dtype), source)
    image = BRIDGE.imgmsg_to_cv2(message, target)
    name, channels = BRIDGE.encoding_to_dtype_with_channels(target)
    assert image.dtype == np.dtype(name)
    assert image.shape == ((2, 2) if channels == 1 else (2, 2, channels))
    np.testing.assert_array_equal(np.atleast_1d(image[1, 1]), expected)


@pytest.mark.parametrize(
    ("encoding", "red_at", "blue_at"),
    [
        ("bayer_rggb8", (0, 0), (1, 1)),
        ("bayer_bggr8", (1, 1), (0, 0)),
        ("bayer_gbrg8", (1, 0), (0, 1)),
        ("bayer_grbg8", (0, 1), (1, 0)),
    ],
)
def test_a_bayer_pattern_is_converted_to_its_colours(
    encoding: str, red_at: tuple[int, int], blue_at: tuple[int, int]
) -> None:
    mosaic = np.full((8, 8), COLOR[1], np.uint8)
    mosaic[red_at[0] :: 2, red_at[1] :: 2] = COLOR[0]
    mosaic[blue_at[0] :: 2, blue_at[1] :: 2] = COLOR[2]
    image = BRIDGE.imgmsg_to_cv2(BRIDGE.cv2_to_imgmsg(mosaic, encoding), "rgb8")
    np.testing.assert_array_equal(image[4, 4], COLOR)


@pytest.mark.parametrize(("encoding", "luma_at"), [("yuv422", 1), ("yuv422_yuy2", 0)])
def test_yuv_without_chroma_is_gray(encoding: str, luma_at: int) -> None:
    packed = np.full((2, 4, 2), 128, np.uint8)
    packed[..., luma_at] = 77
    image = BRIDGE.imgmsg_to_cv2(BRIDGE.cv2_to_imgmsg(packed, encoding), "mono8")
    np.testing.assert_array_equal(image, np.full((2, 4), 77))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("8UC3", "mono16"),
        ("rgb8", "8UC1"),
        ("8UC3", "8UC2"),
        ("mono8", "bayer_rggb8"),
        ("rgb8", "x"),
    ],
)
def test_a_meaningless_conversion_is_refused(source: str, target: str) -> None:
    message = BRIDGE.cv2_to_imgmsg(_image("uint8", 1 if source == "mono8" else 3), source)
    with pytest.raises(CvBridgeError, match=f"'{target}'"):
        BRIDGE.imgmsg_to_cv2(message, target)


@pytest.mark.parametrize("encoding", ["rgba8", "mono8", "32FC3", "no_such", "8UC0", "8UC513"])
def test_an_encoding_that_does_not_fit_the_array_is_refused(encoding: str) -> None:
    with pytest.raises(CvBridgeError, match=encoding):
        BRIDGE.cv2_to_imgmsg(_image("uint8", 3), encoding)


@pytest.mark.parametrize("broken", [{"step": 20}, {"height": 6}, {"encoding": "nonsense"}])
def test_a_malformed_message_is_refused(broken: dict[str, object]) -> None:
    message = BRIDGE.cv2_to_imgmsg(_image("uint8", 3), "rgb8")
    for name, value in broken.items():
        setattr(message, name, value)
    with pytest.raises(CvBridgeError):
        BRIDGE.imgmsg_to_cv2(message)


def test_an_array_that_is_not_an_image_is_refused() -> None:
    with pytest.raises(TypeError, match="not a int"):
        BRIDGE.cv2_to_imgmsg(1, "mono8")
    with pytest.raises(TypeError, match="not a list"):
        BRIDGE.cv2_to_compressed_imgmsg([[1]])
    for unfit in (np.zeros(3, np.uint8), np.zeros((0, 3), np.uint8), np.zeros((2, 2), np.int64)):
        with pytest.raises(CvBridgeError):
            BRIDGE.cv2_to_imgmsg(unfit)


@pytest.mark.parametrize("extension", ["png", "tiff", "bmp"])
@pytest.mark.parametrize("channels", [1, 3])
def test_a_lossless_format_survives_compression(extension: str, channels: int) -> None:
    image = _image("uint8", channels)
    message = BRIDGE.cv2_to_compressed_imgmsg(image, extension)
    assert message.format == extension
    np.testing.assert_array_equal(BRIDGE.compressed_imgmsg_to_cv2(message), image)


def test_compression_defaults_to_jpeg() -> None:
    image = np.full((16, 16, 3), COLOR[::-1], np.uint8)
    message = BRIDGE.cv2_to_compressed_imgmsg(image)
    assert (message.format, bytes(message.data[:3])) == ("jpg", b"\xff\xd8\xff")
    np.testing.assert_allclose(BRIDGE.compressed_imgmsg_to_cv2(message), image, atol=3)


@pytest.mark.parametrize(
    ("image", "target", "pixel"),
    [
        (np.full((2, 2, 3), COLOR[::-1], np.uint8), "rgb8", COLOR),
        (np.full((2, 2, 4), (50, 100, 200, 9), np.uint8), "rgba8", (*COLOR, 9)),
        (np.full((2, 2), 40, np.uint8), "bgr8", (40, 40, 40)),
        (np.full((2, 2), 1234, np.uint16), "mono16", (1234,)),
        (np.full((2, 2), 1234, np.uint16), "16UC1", (1234,)),
        (np.full((2, 2), 257 * 8, np.uint16), "mono8", (8,)),
    ],
)
def test_a_compressed_image_converts(
    image: np.ndarray, target: str, pixel: tuple[int, ...]
) -> None:
    message = BRIDGE.cv2_to_compressed_imgmsg(image, "png")
    converted = BRIDGE.compressed_imgmsg_to_cv2(message, target)
    np.testing.assert_array_equal(np.atleast_1d(converted[0, 0]), pixel)


@pytest.mark.parametrize("data", [b"", b"no image at all"])
def test_data_that_are_not_an_image_are_refused(data: bytes) -> None:
    message = CompressedImage(format="png")
    message.data.frombytes(data)
    with pytest.raises(CvBridgeError, match="png"):
        BRIDGE.compressed_imgmsg_to_cv2(message)


def test_a_format_opencv_does_not_write_is_refused() -> None:
    with pytest.raises(CvBridgeError):
        BRIDGE.cv2_to_compressed_imgmsg(_image("uint8", 3), "no_such")


def test_type_codes_are_those_of_opencv() -> None:
    assert getCvType("bgr8") == cv2.CV_8UC3
    assert getCvType("16UC1") == getCvType("mono16") == cv2.CV_16UC1
    assert getCvType("32FC4") == cv2.CV_32FC4
    assert getCvType("64F") == cv2.CV_64FC1
    assert BRIDGE.cvtype_to_name[cv2.CV_16SC2] == "16SC2"
    assert BRIDGE.cvtype2_to_dtype_with_channels(cv2.CV_32SC3) == ("int32", 3)
