"""Shared memory of one model: its binary, its run-time edits, and the rows of its states."""

import json
from collections.abc import Mapping
from typing import Any

import mujoco
import numpy as np
import zstandard

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.sample import Sample
from mujoco_ros.sim.shared_memory.memory_block import MemoryBlock, Word
from mujoco_ros.sim.shared_memory.past_states import HistorySettings, PastStates
from mujoco_ros.sim.state.model_edits import gather
from mujoco_ros.sim.state_log.row_format import STATE
from mujoco_ros.sim.state_log.segment_header import read_model

_WORD = 8

Copies = list[tuple[memoryview, memoryview]]
"""Pieces of a row, each with the piece of the state that it is a copy of."""


def row_arrays(
    state: np.ndarray, data: mujoco.MjData, references: np.ndarray, sample: Sample | None = None
) -> dict[str, np.ndarray]:
    """Return the arrays of a row after its time by name, in the order of the row.

    The readings of sensors are from the sample, or else from the data.
    """
    sensordata = data.sensordata if sample is None else sample.sensordata
    return {
        STATE: state,
        "references": references,
        "qfrc_actuator": data.qfrc_actuator,
        "sensordata": sensordata,
    }


def row_words(arrays: Mapping[str, np.ndarray]) -> int:
    """Return the length of a row in words of 8 bytes."""
    return 1 + sum(array.nbytes for array in arrays.values()) // _WORD


def row_pieces(row: memoryview, arrays: Mapping[str, np.ndarray]) -> Copies:
    """Return the pieces of a row after the time, each with its array."""
    found, first = [], _WORD
    for array in arrays.values():
        if array.size:
            piece = memoryview(array.reshape(-1).view(np.uint8))  # type: ignore[arg-type]
            found.append((row[first : first + piece.nbytes], piece))
            first += piece.nbytes
    return found


SLOTS = 2
"""Number of rows. A reader of the latest has one step's time to copy it; more rows would cost the
writer cache misses."""

_MAGIC = int.from_bytes(b"MJRSEGM1", "little")
_MAGIC_AT, _GENERATION, _METADATA, _MODEL, _ROW, _EDITS, _PAST, _PAST_ROW = range(8)
_COUNT, _EDITED, _PAST_COUNT = 8, 9, 10  # in another cache line: only these change
_HEADER = 16  # words
_LINE = 8  # words
_LEVEL = 1  # of compression: 11 ms for the humanoid, 7.4 MB, of which 1.7 MB remain


class SharedSegment:
    """Layout of the memory: header, rows, edits, past states, metadata, and model.

    Row ``counter[0] % SLOTS`` is the latest; the next one may be incomplete.
    """

    # Sequence number of the edits, incremented before and after each write: odd during one
    edited = Word(_EDITED, int)

    def __init__(self, block: MemoryBlock) -> None:
        self.block = block  # the memory
        self.integers = header = block.integers[:_HEADER]
        self.generation = int(header[_GENERATION])  # number of the model, counted from 1
        # Number of states written since the simulation began (1,)
        self.counter = header[_COUNT : _COUNT + 1]
        width = _padded(header[_ROW])
        end = _HEADER + SLOTS * width
        firsts = range(8 * _HEADER, 8 * end, 8 * width)
        self.rows = [memoryview(block.memory)[at : at + 8 * header[_ROW]] for at in firsts]
        self.times: list[memoryview[float]] = [row[:8].cast("d") for row in self.rows]
        self.edits = np.frombuffer(block.memory, np.float64, header[_EDITS], 8 * end)
        end += _padded(header[_EDITS])
        shape = header[_PAST], header[_PAST_ROW]
        past = np.frombuffer(block.memory, np.float64, shape[0] * shape[1], 8 * end)
        self.past = PastStates(past.reshape(shape), header[_PAST_COUNT : _PAST_COUNT + 1])
        self._metadata_at = 8 * (end + past.size)

    @classmethod
    def create(
        cls,
        model: mujoco.MjModel,
        metadata: Mapping[str, Any],
        row: int,
        past_row: int,
        generation: int,
        history: HistorySettings,
    ) -> "SharedSegment":
        """Allocate the memory of a model, of a generation from 1 on; its rows and edits are zero.

        `metadata` is as in the header of a state log; `row` and `past_row` are lengths in words.
        """
        text = json.dumps(metadata).encode()
        binary, edits = _compressed(model), len(gather(model))
        past_row = _padded(past_row)
        past = history.capacity(past_row)
        words = _HEADER + SLOTS * _padded(row) + _padded(edits) + past * past_row
        block = MemoryBlock.create(8 * words + len(text) + len(binary))
        header = block.integers
        header[_GENERATION], header[_METADATA], header[_MODEL] = generation, len(text), len(binary)
        header[_ROW], header[_EDITS] = row, edits
        header[_PAST], header[_PAST_ROW] = past, past_row
        segment = cls(block)
        begin = segment._metadata_at
        block.memory[begin : begin + len(text) + len(binary)] = text + binary
        header[_MAGIC_AT] = _MAGIC
        return segment

    @classmethod
    def open(cls, name: str) -> "SharedSegment":
        """Open the memory of another process."""
        block = MemoryBlock.open(name)
        if len(block.memory) < 8 * _HEADER or block.integers[_MAGIC_AT] != _MAGIC:
            raise UserInputError(f"'{name}' is no state of a model")
        return cls(block)

    def metadata(self) -> dict[str, Any]:
        """Return the description of the plant, as in the header of a state log."""
        begin = self._metadata_at
        end = begin + self.integers[_METADATA]
        content: dict[str, Any] = json.loads(self.block.memory[begin:end])
        return content

    def model(self) -> mujoco.MjModel:
        """Return a copy of the model."""
        begin = self._metadata_at + self.integers[_METADATA]
        try:
            binary = self.block.memory[begin : begin + self.integers[_MODEL]]
            return read_model(zstandard.decompress(binary))
        except (ValueError, zstandard.ZstdError, mujoco.FatalError) as error:
            raise UserInputError(f"the shared model cannot be read: {error}") from error


def _compressed(model: mujoco.MjModel) -> bytes:
    """Return the binary of a model, compressed: the boxes around meshes alone are megabytes."""
    binary = np.empty(int(mujoco.mj_sizeModel(model)), np.uint8)
    mujoco.mj_saveModel(model, None, binary)
    return zstandard.compress(binary.data, _LEVEL)


def _padded(words: int) -> int:
    return words + -words % _LINE
