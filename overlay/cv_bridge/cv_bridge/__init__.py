"""CvBridge over NumPy and OpenCV, with the genuine signatures.

Colours convert between mono, RGB and BGR (with and without alpha), and from YUV 4:2:2 and Bayer
patterns; depths scale between 8 and 16 bits, as in the genuine module, and saturate otherwise.
"""

import re
import sys
from typing import Any

import cv2
import numpy as np
from sensor_msgs.msg import CompressedImage, Image
from std_msgs.msg import Header

__all__ = ["CvBridge", "CvBridgeError", "getCvType"]

Array = np.ndarray[Any, np.dtype[Any]]

# OpenCV's depth names, in the order of its depth codes
_DEPTHS = {
    "8U": "uint8",
    "8S": "int8",
    "16U": "uint16",
    "16S": "int16",
    "32S": "int32",
    "32F": "float32",
    "64F": "float64",
}
_DEPTH_OF_DTYPE = {dtype: depth for depth, dtype in _DEPTHS.items()}
_GENERIC = re.compile(r"(8U|8S|16U|16S|32S|32F|64F)(?:C([0-9]+))?")
_CHANNEL_SHIFT = 3  # CV_CN_SHIFT of OpenCV 4
_MOST_CHANNELS = 512  # CV_CN_MAX of OpenCV 4

# encoding (sensor_msgs/image_encodings.hpp) -> depth, channels, name in OpenCV's colour codes
_COLORS: dict[str, tuple[str, int, str]] = {
    **{f"mono{bits}": (f"{bits}U", 1, "GRAY") for bits in (8, 16)},
    **{
        f"{c}{bits}": (f"{bits}U", len(c), c.upper())
        for c in ("rgb", "bgr", "rgba", "bgra")
        for bits in (8, 16)
    },
    "yuv422": ("8U", 2, "YUV2{}_UYVY"),
    "yuv422_yuy2": ("8U", 2, "YUV2{}_YUY2"),
    # OpenCV names a pattern after its second row, ROS after its first.
    **{
        f"bayer_{ros}{bits}": (f"{bits}U", 1, f"Bayer{opencv}2{{}}")
        for ros, opencv in (("rggb", "BG"), ("bggr", "RG"), ("gbrg", "GR"), ("grbg", "GB"))
        for bits in (8, 16)
    },
}
_PLAIN = ("GRAY", "RGB", "BGR", "RGBA", "BGRA")


class CvBridgeError(TypeError):
    """An image or encoding that cannot be converted."""


def _depth_and_channels(encoding: str) -> tuple[str, int]:
    if encoding in _COLORS:
        depth, channels, _ = _COLORS[encoding]
        return depth, channels
    match = _GENERIC.fullmatch(encoding)
    channels = int(match[2] or 1) if match else 0
    if match is None or not 1 <= channels <= _MOST_CHANNELS:
        raise CvBridgeError(f"unknown image encoding '{encoding}'")
    return match[1], channels


def getCvType(encoding: str) -> int:  # noqa: N802
    """Return OpenCV's type code of an encoding.

    Raises:
        CvBridgeError: The encoding is unknown.
    """
    depth, channels = _depth_and_channels(encoding)
    return list(_DEPTHS).index(depth) + ((channels - 1) << _CHANNEL_SHIFT)


def _color_code(source: str, target: str) -> int | None:
    """Return the cvtColor code between two colour encodings, None if their colours are the same."""
    from_name, to_name = _COLORS[source][2], _COLORS[target][2]
    if from_name == to_name and "Bayer" not in from_name:
        return None
    if to_name in _PLAIN:
        name = f"{from_name}2{to_name}" if from_name in _PLAIN else from_name.format(to_name)
        # demosaicing gives no alpha in the genuine module
        if not ("Bayer" in from_name and to_name.endswith("A")):
            return int(getattr(cv2, f"COLOR_{name}"))
    raise CvBridgeError(f"there is no conversion from '{source}' to '{target}'")


def _with_depth(image: Array, depth: str) -> Array:
    """Return `image` with another depth; 8 and 16 bit scale into each other, the rest saturates."""
    dtype = np.dtype(_DEPTHS[depth])
    if image.dtype == dtype:
        return image
    bits = (image.dtype.itemsize * 8, dtype.itemsize * 8)
    scaled = image * {(8, 16): 65535 / 255, (16, 8): 255 / 65535}.get(bits, 1.0)
    if dtype.kind == "f":
        return np.asarray(scaled, dtype)
    limits = np.iinfo(dtype)
    return np.clip(np.rint(scaled), limits.min, limits.max).astype(dtype)


def _convert(image: Array, source: str, target: str) -> Array:
    """Return `image` in another encoding, always as an array of its own."""
    if target in ("", source):
        return image.copy()
    _, source_channels = _depth_and_channels(source)
    target_depth, target_channels = _depth_and_channels(target)
    if source in _COLORS and target in _COLORS:
        code = _color_code(source, target)
        if code is not None:
            try:
                image = cv2.cvtColor(image, code)
            except cv2.error as error:
                raise CvBridgeError(str(error)) from error
    elif target in _COLORS:
        raise CvBridgeError(f"'{source}' says nothing of colours, so it cannot become '{target}'")
    elif source_channels != target_channels:
        raise CvBridgeError(
            f"'{source}' has {source_channels} channels, '{target}' {target_channels}"
        )
    return _with_depth(image, target_depth).copy()


class CvBridge:
    """Converts between ROS images and arrays of shape (height, width[, channels])."""

    def __init__(self) -> None:
        self.numpy_type_to_cvtype = _DEPTH_OF_DTYPE | _DEPTHS
        self.cvdepth_to_numpy_depth = dict(enumerate(_DEPTHS.values()))
        self.cvtype_to_name = {
            getCvType(f"{depth}C{channels}"): f"{depth}C{channels}"
            for depth in _DEPTHS
            for channels in (1, 2, 3, 4)
        }

    def dtype_with_channels_to_cvtype2(self, dtype: np.dtype[Any], n_channels: int) -> str:
        """Return the generic encoding of an array type, e.g. 8UC3."""
        depth = _DEPTH_OF_DTYPE.get(dtype.name)
        if depth is None:
            raise CvBridgeError(
                f"OpenCV has no type for {dtype.name}; it has {', '.join(_DEPTH_OF_DTYPE)}"
            )
        return f"{depth}C{n_channels}"

    def cvtype2_to_dtype_with_channels(self, cvtype: int) -> tuple[str, int]:
        """Return the array type and the number of channels of an OpenCV type code."""
        depth = cvtype & ((1 << _CHANNEL_SHIFT) - 1)
        return self.cvdepth_to_numpy_depth[depth], (cvtype >> _CHANNEL_SHIFT) + 1

    def encoding_to_cvtype2(self, encoding: str) -> int:
        """Return OpenCV's type code of an encoding."""
        return getCvType(encoding)

    def encoding_to_dtype_with_channels(self, encoding: str) -> tuple[str, int]:
        """Return the array type and the number of channels of an encoding."""
        return self.cvtype2_to_dtype_with_channels(self.encoding_to_cvtype2(encoding))

    def imgmsg_to_cv2(self, img_msg: Image, desired_encoding: str = "passthrough") -> Array:
        """Return an image message as an array in native byte order.

        Args:
            img_msg: Rows may be padded and the bytes in either order.
            desired_encoding: `passthrough` keeps the message's own.

        Raises:
            CvBridgeError: The message is malformed or the conversion impossible.
        """
        name, channels = self.encoding_to_dtype_with_channels(img_msg.encoding)
        dtype = np.dtype(name).newbyteorder(">" if img_msg.is_bigendian else "<")
        pixel = dtype.itemsize * channels
        if (
            img_msg.step < img_msg.width * pixel
            or len(img_msg.data) < img_msg.height * img_msg.step
        ):
            raise CvBridgeError(
                f"malformed image: {img_msg.width}x{img_msg.height} {img_msg.encoding} "
                f"with step {img_msg.step} and {len(img_msg.data)} bytes"
            )
        shape: tuple[int, ...] = (img_msg.height, img_msg.width)
        strides: tuple[int, ...] = (img_msg.step, pixel)
        if channels > 1:
            shape, strides = (*shape, channels), (*strides, dtype.itemsize)
        image = np.ndarray(shape, dtype, buffer=img_msg.data, strides=strides)
        image = np.array(image, dtype=dtype.newbyteorder("="), order="C")
        return (
            image
            if desired_encoding == "passthrough"
            else _convert(image, img_msg.encoding, desired_encoding)
        )

    def cv2_to_imgmsg(
        self, cvim: Array, encoding: str = "passthrough", header: Header | None = None
    ) -> Image:
        """Return an array as an image message.

        Args:
            cvim: Image of shape (height, width) or (height, width, channels).
            encoding: Must have the array's type; `passthrough` names just that, e.g. 8UC3.
            header: Copied by reference into the message.

        Raises:
            CvBridgeError: The array's type does not fit the encoding.
            TypeError: `cvim` is no array.
        """
        if not isinstance(cvim, (np.ndarray, np.generic)):
            raise TypeError(f"an image is a NumPy array, not a {type(cvim).__name__}")
        if cvim.ndim not in (2, 3) or cvim.size == 0:
            raise CvBridgeError(
                f"an image has shape (height, width[, channels]) and pixels, not {cvim.shape}"
            )
        channels = cvim.shape[2] if cvim.ndim == 3 else 1
        cv_type = self.dtype_with_channels_to_cvtype2(cvim.dtype, channels)
        if encoding == "passthrough":
            encoding = cv_type
        elif self.encoding_to_cvtype2(encoding) != getCvType(cv_type):
            raise CvBridgeError(
                f"an array of type {cv_type} cannot be sent with the encoding '{encoding}'"
            )
        message = Image(height=cvim.shape[0], width=cvim.shape[1], encoding=encoding)
        if header is not None:
            message.header = header
        order = cvim.dtype.byteorder
        message.is_bigendian = order == ">" or (order == "=" and sys.byteorder == "big")
        message.step = cvim.shape[1] * channels * cvim.dtype.itemsize
        message.data.frombytes(cvim.tobytes())
        return message

    def compressed_imgmsg_to_cv2(
        self, cmprs_img_msg: CompressedImage, desired_encoding: str = "passthrough"
    ) -> Array:
        """Return a compressed image as an array.

        Args:
            cmprs_img_msg: In any format OpenCV reads.
            desired_encoding: `passthrough` is mono, BGR or BGRA, whichever the data are.

        Raises:
            CvBridgeError: The data are no image OpenCV can read, or the conversion is impossible.
        """
        data = np.frombuffer(bytes(cmprs_img_msg.data), np.uint8)
        image = cv2.imdecode(data, cv2.IMREAD_UNCHANGED) if data.size else None
        if image is None:
            raise CvBridgeError(f"the data are no image in the format '{cmprs_img_msg.format}'")
        if desired_encoding == "passthrough":
            return np.asarray(image)
        color = (
            {2: "mono", 3: "bgr"}[image.ndim] if image.ndim == 2 or image.shape[2] == 3 else "bgra"
        )
        bits = image.dtype.itemsize * 8
        source = f"{color}{bits}"
        if source not in _COLORS:
            source = self.dtype_with_channels_to_cvtype2(
                image.dtype, 1 if image.ndim == 2 else image.shape[2]
            )
        return _convert(np.asarray(image), source, desired_encoding)

    def cv2_to_compressed_imgmsg(self, cvim: Array, dst_format: str = "jpg") -> CompressedImage:
        """Return an array (BGR, BGRA or mono) as a compressed image.

        Args:
            cvim: Image of shape (height, width) or (height, width, channels).
            dst_format: File extension of a format OpenCV writes: jpg, png, bmp, tiff, ...

        Raises:
            CvBridgeError: OpenCV cannot write that image in that format.
            TypeError: `cvim` is no array.
        """
        if not isinstance(cvim, (np.ndarray, np.generic)):
            raise TypeError(f"an image is a NumPy array, not a {type(cvim).__name__}")
        try:
            written, data = cv2.imencode(f".{dst_format}", cvim)
        except cv2.error as error:
            raise CvBridgeError(str(error)) from error
        if not written:
            raise CvBridgeError(f"OpenCV cannot write this image as '{dst_format}'")
        message = CompressedImage(format=dst_format)
        message.data.frombytes(data.tobytes())
        return message
