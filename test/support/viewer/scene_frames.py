"""Reads the messages of the scene as a page does, for tests."""

import json
import struct
from typing import Any

import numpy as np

from mujoco_ros.viewer.scene import packing

_SECTION = struct.Struct("<BxHI")


class PageGeoms:
    """What a page has after the messages that it has read."""

    def __init__(self) -> None:
        self.count = self.sequence = self.version = 0
        self.looks: dict[int, np.void] = {}
        self.sizes: dict[int, np.ndarray] = {}
        self.positions: dict[int, np.ndarray] = {}
        self.matrices: dict[int, np.ndarray] = {}
        self.labels: dict[int, str] = {}
        self.lights = np.zeros(0, packing.LIGHT)
        self.entries: list[Any] = []
        self.view = np.zeros(0)
        self.surfaces: dict[int, bytes] = {}

    def read(self, message: bytes) -> None:
        """Read a frame."""
        kind, self.count, self.sequence, self.version, *_ = packing.HEADER.unpack_from(message)
        assert kind == packing.FRAME
        self.read_sections(message[packing.HEADER.size :])

    def read_sections(self, content: bytes) -> None:
        at = 0
        while at < len(content):
            code, count, length = _SECTION.unpack_from(content, at)
            at += _SECTION.size
            self._read(code, count, content[at : at + length])
            at += length + -length % 4
        for known in (self.looks, self.sizes, self.positions, self.matrices, self.labels):
            for slot in [slot for slot in known if slot >= self.count]:
                del known[slot]

    def _read(self, code: int, count: int, payload: bytes) -> None:
        if code == packing.LABELS:
            self.labels |= dict(json.loads(payload))
        elif code == packing.ENTRIES:
            self.entries = json.loads(payload)
        elif code == packing.LIGHTS:
            self.lights = np.frombuffer(payload, packing.LIGHT)
        elif code == packing.VIEW:
            self.view = np.frombuffer(payload, "<f4")
        elif code == packing.SURFACE:
            self.surfaces[count] = payload
        else:
            slots = np.frombuffer(payload, "<u2", count).tolist()
            self._read_rows(code, slots, payload[2 * (count + count % 2) :])

    def _read_rows(self, code: int, slots: list[int], rows: bytes) -> None:
        if code == packing.LOOKS:
            self.looks |= dict(zip(slots, np.frombuffer(rows, packing.LOOK), strict=True))
        elif code == packing.SIZES:
            self.sizes |= dict(zip(slots, np.frombuffer(rows, "<f4").reshape(-1, 3), strict=True))
        elif code == packing.POSES:
            positions = np.frombuffer(rows, "<f4", 3 * len(slots)).reshape(-1, 3)
            quats = np.frombuffer(rows[12 * len(slots) :], "<i2").reshape(-1, 4) / 32767.0
            self.positions |= dict(zip(slots, positions, strict=True))
            self.matrices |= dict(zip(slots, map(_matrix, quats), strict=True))
        elif code == packing.MATRICES:
            numbers = np.frombuffer(rows, "<f4").reshape(-1, 12)
            self.positions |= dict(zip(slots, numbers[:, :3], strict=True))
            self.matrices |= dict(zip(slots, numbers[:, 3:].reshape(-1, 3, 3), strict=True))
        else:
            raise AssertionError(f"section {code}")


def _matrix(quat_xyzw: np.ndarray) -> np.ndarray:
    x, y, z, w = quat_xyzw / np.linalg.norm(quat_xyzw)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
