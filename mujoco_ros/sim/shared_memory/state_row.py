"""Layout of a row of the shared state: the time, the references, and the state."""

from collections.abc import Iterable

import mujoco
import numpy as np

from mujoco_ros.sim.sample import MOVING, Sample

_SENSORS = "sensordata"
_OTHERS = (
    _SENSORS,
    "history",
    "plastic",
    "qacc_warmstart",
    "ctrl",
    "qfrc_applied",
    "xfrc_applied",
    "eq_active",
    "mocap_pos",
    "mocap_quat",
    "userdata",
    "qfrc_actuator",
)
"""The rest of MuJoCo's integration state, the measurements, and the actuator forces."""
_WORD = 8
_LARGEST_GAP = 4096
"""Largest gap between two arrays of `MjData` that are copied as one, with the gap [bytes]."""

Copies = list[tuple[memoryview, memoryview]]
"""Pieces of a row, each with the piece of the state that it is a copy of."""


def size(data: mujoco.MjData, references: np.ndarray) -> int:
    """Return the length of a row in words of 8 bytes; arguments as for `copies`."""
    return 1 + sum(_words(piece) for piece in _pieces(data, references, None))


def copies(
    row: memoryview,
    data: mujoco.MjData,
    references: np.ndarray,
    sample: Sample | None = None,
    *,
    sensordata: np.ndarray | None = None,
) -> Copies:
    """Return the pieces of a row after the time, each with its source.

    Call it once per row. The pieces are few: each costs more in overhead than in bytes.

    Args:
        row: The bytes of the row.
        data: The state.
        references: Position, velocity and effort references of the joints.  # (3, n)
        sample: The state at the beginning of the step that led to `data`, copied instead of it.
        sensordata: Sensor readings that are copied instead of those of `data` or `sample`.
    """
    measured = sensordata
    if measured is None:
        measured = data.sensordata if sample is None else sample.sensordata
    found, over, first = [], [], _WORD
    for piece in _pieces(data, references, sample):
        part = row[first : first + piece.nbytes]
        found.append((part, _bytes(piece)))
        offset = _address(data.sensordata) - _address(piece)
        if measured is not data.sensordata and 0 <= offset < piece.nbytes:  # it has noise
            over.append((part[offset : offset + measured.nbytes], _bytes(_flat(measured))))
        first += _WORD * _words(piece)
    return found + over


def _pieces(data: mujoco.MjData, references: np.ndarray, sample: Sample | None) -> list[np.ndarray]:
    """Return the sources of a row.  # (n,) uint8 each."""
    moving = [_flat(getattr(sample or data, name)) for name in MOVING]
    # MuJoCo allocates most of them next to each other, in the same order in every process.
    others = sorted((_flat(getattr(data, name)) for name in _OTHERS), key=_address)
    # The gaps between others may contain the state of plugins, so what moves comes last.
    return [_flat(references), *_joined(others, gap=_LARGEST_GAP), *_joined(moving, gap=0)]


def _joined(arrays: Iterable[np.ndarray], gap: int) -> list[np.ndarray]:
    """Return the memory of `arrays`, joined where two are at most `gap` bytes apart."""
    pieces: list[np.ndarray] = []
    for array in arrays:
        if not array.size:
            continue
        start = _address(pieces[-1] if pieces else array)
        length = _address(array) + array.nbytes - start
        if pieces and 0 <= length - array.nbytes - pieces[-1].nbytes <= gap:
            pieces[-1] = np.lib.stride_tricks.as_strided(pieces[-1], (length,), (1,))
        else:
            pieces.append(array)
    return pieces


def _flat(array: np.ndarray) -> np.ndarray:
    return array.reshape(-1).view(np.uint8)


def _bytes(array: np.ndarray) -> memoryview:
    return memoryview(array)  # type: ignore[arg-type]


def _words(array: np.ndarray) -> int:
    return -(-array.nbytes // _WORD)


def _address(array: np.ndarray) -> int:
    return int(array.ctypes.data)
