"""Binary messages of what changed in a scene since the last message to a page.

A message is a header and sections. All numbers are little-endian, and every part begins at a
multiple of 4 bytes. `static/stream.js` reads it.

Header: kind (uint8), 3 bytes, number of geoms (uint32), sequence number (uint32), version of the
model (uint32), time of the server [s] and simulated time [s] (float64 each).
Section: code (uint8), a byte, count (uint16), bytes that follow (uint32).
"""

import json
import struct
from collections.abc import Iterator

import mujoco
import numpy as np

FRAME, PICTURE, ALIVE = 1, 2, 3
"""Kinds of messages: with sections, with a JPEG file, and without either."""
HEADER = struct.Struct("<B3xIIIdd")
_SECTION = struct.Struct("<BxHI")

LOOKS, SIZES, POSES, MATRICES, LIGHTS, LABELS, SURFACE, VIEW, ENTRIES = range(1, 10)
"""Codes of sections."""

LOOK = np.dtype(
    [
        *(("type", "u1"), ("flags", "u1"), ("category", "u1"), ("objtype", "u1")),
        *((name, "<i4") for name in ("objid", "dataid", "matid", "texid", "segid")),
        ("rgba", "u1", 4),
        *((name, "<f2") for name in ("emission", "specular", "shininess", "reflectance")),
        ("texrepeat", "<f4", 2),
    ]
)
"""What a geom looks like, apart from its size; flags: 1 texuniform, 2 texcoord, 4 castshadow."""

LIGHT = np.dtype(
    [
        *(("pos", "<f4", 3), ("dir", "<f4", 3), ("attenuation", "<f4", 3)),
        *(("cutoff", "<f4"), ("exponent", "<f4")),
        *(("ambient", "<f4", 3), ("diffuse", "<f4", 3), ("specular", "<f4", 3)),
        *(("is_directional", "<f4"), ("is_headlight", "<f4"), ("castshadow", "<f4")),
    ]
)
_DIRECTIONAL = int(mujoco.mjtLightType.mjLIGHT_DIRECTIONAL)
_SPOT = int(mujoco.mjtLightType.mjLIGHT_SPOT)

_TRIANGLE = int(mujoco.mjtGeom.mjGEOM_TRIANGLE)
"""The one type whose axes are not orthonormal: its edges and its normal."""
_TOLERANCE = 2e-5
"""Smaller changes of positions [m] and of elements of a rotation matrix are not sent."""
_MOST_SLOTS = 0xFFFF

# Words of a geom in memory: see `GEOM`.
_SIZE, _POSE = slice(10, 13), slice(13, 25)
_LOOK_WORDS = np.r_[0:10, 25:35]
_LABEL_AT, _LABEL_END, _SHADOW_AT = 141, 241, 140


class GeomDelta:
    """What a page has, and what it lacks."""

    def __init__(self) -> None:
        self._sent = np.zeros((0, 0), np.uint32)

    def sections(self, rows: np.ndarray, words: np.ndarray) -> Iterator[bytes]:
        """Yield the sections of what changed; `rows` and `words` are of `SceneGeoms`."""
        count = min(len(rows), _MOST_SLOTS)
        rows, words = rows[:count], words[:count]
        sent = self._sent
        if sent.shape != words.shape:
            sent = np.zeros_like(words)
            kept = min(len(words), len(self._sent))
            sent[:kept] = self._sent.reshape(-1, words.shape[1])[:kept]
            new_from = kept
        else:
            new_from = count
        self._sent = sent
        is_changed = words != sent
        look = is_changed[:, _LOOK_WORDS].any(axis=1)
        now, before = words.view(np.uint8), sent.view(np.uint8)
        look |= now[:, _SHADOW_AT] != before[:, _SHADOW_AT]
        look[new_from:] = True
        size = is_changed[:, _SIZE].any(axis=1)
        size[new_from:] = True
        moved = np.flatnonzero(is_changed[:, _POSE].any(axis=1))
        difference = words[moved, _POSE].view(np.float32) - sent[moved, _POSE].view(np.float32)
        far = np.abs(difference).max(axis=1, initial=0.0) > _TOLERANCE
        pose = np.zeros(count, bool)
        pose[moved[far]] = True
        pose[new_from:] = True
        text = (now[:, _LABEL_AT] | before[:, _LABEL_AT]) != 0
        if text.any():
            labels = now[:, _LABEL_AT:_LABEL_END] != before[:, _LABEL_AT:_LABEL_END]
            text &= labels.any(axis=1)

        if look.any():
            yield slots_section(LOOKS, look, _looks(rows[look]))
        if size.any():
            yield slots_section(SIZES, size, np.ascontiguousarray(rows["size"][size]))
        if pose.any():
            rigid = pose & (rows["type"] != _TRIANGLE)
            if rigid.any():
                quats = np.rint(quaternions(rows["mat"][rigid]) * 32767.0).astype("<i2")
                positions = np.ascontiguousarray(rows["pos"][rigid])
                yield slots_section(POSES, rigid, positions, quats)
            skewed = pose & ~rigid
            if skewed.any():
                matrices = np.hstack([rows["pos"][skewed], rows["mat"][skewed]])
                yield slots_section(MATRICES, skewed, matrices)
        if text.any():
            labels_of = {
                int(slot): rows["label"][slot].decode(errors="replace")
                for slot in np.flatnonzero(text)
            }
            yield json_section(LABELS, list(labels_of.items()))

        # Poses within the tolerance stay as they were sent, so that small changes add up.
        unsent = words[~pose, _POSE].copy() if (~pose).any() else None
        kept_poses = sent[~pose, _POSE] if unsent is not None else None
        sent[:] = words
        if kept_poses is not None:
            sent[~pose, _POSE] = kept_poses


def slots_section(code: int, chosen: np.ndarray, *columns: np.ndarray) -> bytes:
    """Return a section of the chosen slots (n,), and arrays with a row for each."""
    slots = np.flatnonzero(chosen).astype("<u2")
    parts = [slots.tobytes(), b"\0\0" * (len(slots) % 2)]
    parts += [column.tobytes() for column in columns]
    return section(code, len(slots), b"".join(parts))


def json_section(code: int, content: object) -> bytes:
    """Return a section with JSON."""
    return section(code, 0, json.dumps(content, separators=(",", ":")).encode())


def section(code: int, count: int, payload: bytes) -> bytes:
    """Return a section, padded to a multiple of 4 bytes; the length is without the padding."""
    return _SECTION.pack(code, count, len(payload)) + payload + b"\0" * (-len(payload) % 4)


def light_section(scene: mujoco.MjvScene) -> bytes:
    """Return the section of the lights of a scene: directional lights, and spotlights."""
    lights = [
        light for light in scene.lights[: scene.nlight] if light.type in (_DIRECTIONAL, _SPOT)
    ]
    rows = np.zeros(len(lights), LIGHT)
    for row, light in zip(rows, lights, strict=True):
        for name in ("pos", "dir", "attenuation", "ambient", "diffuse", "specular"):
            row[name] = getattr(light, name)
        row["cutoff"], row["exponent"] = light.cutoff, light.exponent
        row["is_directional"] = light.type == _DIRECTIONAL
        row["is_headlight"], row["castshadow"] = light.headlight, light.castshadow
        if light.headlight:
            row["pos"] = row["dir"] = 0.0  # the page's camera has it
    return section(LIGHTS, len(lights), rows.tobytes())


def quaternions(matrices: np.ndarray) -> np.ndarray:
    """Return unit quaternions, real part last, of rotation matrices by rows.  # (n, 9) → (n, 4)"""
    m = matrices.reshape(-1, 9)
    xx, yy, zz = m[:, 0], m[:, 4], m[:, 8]
    squares = np.stack([1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz, 1 + xx + yy + zz], 1)
    largest = squares.argmax(axis=1)
    x, y, z = m[:, 7] - m[:, 5], m[:, 2] - m[:, 6], m[:, 3] - m[:, 1]
    xy, xz, yz = m[:, 1] + m[:, 3], m[:, 2] + m[:, 6], m[:, 5] + m[:, 7]
    # Row k of the symmetric matrix 4 q qᵀ is q, times 4 of its component k.
    products = np.stack(
        [
            *(squares[:, 0], xy, xz, x),
            *(xy, squares[:, 1], yz, y),
            *(xz, yz, squares[:, 2], z),
            *(x, y, z, squares[:, 3]),
        ],
        axis=1,
    ).reshape(-1, 4, 4)
    found = products[np.arange(len(m)), largest]
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True))


def _looks(rows: np.ndarray) -> np.ndarray:
    looks = np.empty(len(rows), LOOK)
    for name in ("type", "category", "objtype", "objid", "dataid", "matid", "texid", "segid"):
        looks[name] = rows[name]
    looks["flags"] = rows["texuniform"] | rows["texcoord"] << 1 | rows["castshadow"] << 2
    looks["rgba"] = np.rint(np.clip(rows["rgba"], 0.0, 1.0) * 255.0)
    for name in ("emission", "specular", "shininess", "reflectance", "texrepeat"):
        looks[name] = rows[name]
    return looks
