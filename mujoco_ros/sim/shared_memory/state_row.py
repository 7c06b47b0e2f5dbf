"""What a row of the shared state has, in bytes: the time, the references, and the state."""

from collections.abc import Iterable

import mujoco
import numpy as np

from mujoco_ros.sim.sample import Sample

_MOVING = ("qpos", "qvel", "act")
"""What a step integrates: afterwards it is another one in `MjData` than in the sample."""
_SENSORS = "sensordata"
_OTHERS = (
    _SENSORS,
    "history",
    "plastic",
    "qacc_warmstart",
    "plugin_state",
    "ctrl",
    "qfrc_applied",
    "xfrc_applied",
    "eq_active",
    "mocap_pos",
    "mocap_quat",
    "userdata",
    "qfrc_actuator",
)
"""The rest of MuJoCo's integration state, what was measured, and what the actuators did."""
_WORD = 8
_LARGEST_GAP = 4096
"""Between two arrays of `MjData` [bytes], so that what is in between is copied along."""

Copies = list[tuple[memoryview, memoryview]]
"""Pieces of a row, and those of the state that they are copies of."""


def size(data: mujoco.MjData, references: np.ndarray) -> int:
    """Return how long a row is, in words of 8 bytes; arguments as those of `copies`."""
    return 1 + sum(_words(piece) for piece in _pieces(data, references, None))


def copies(
    row: memoryview, data: mujoco.MjData, references: np.ndarray, sample: Sample | None = None
) -> Copies:
    """Return what of a row is a copy of what, behind the time.

    They are made once, and few: a piece takes longer to turn to than to copy.

    Args:
        row: The bytes of the row.
        data: The state.
        references: What the joints are told.  # (3, n)
        sample: Has the state at the beginning of the step that led to `data`, to be taken instead.
    """
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
    """Return the pieces of memory that a row is copied from.  # (n,) uint8 each."""
    moving = [_flat(getattr(sample or data, name)) for name in _MOVING]
    # The engine keeps almost all of them together, in the same way in every process.
    others = sorted((_flat(getattr(data, name)) for name in _OTHERS), key=_address)
    return [_flat(references), *_joined(moving, gap=0), *_joined(others, gap=_LARGEST_GAP)]


def _joined(arrays: Iterable[np.ndarray], gap: int) -> list[np.ndarray]:
    """Return the memory of some arrays, as one piece where there is at most a `gap` between two."""
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
