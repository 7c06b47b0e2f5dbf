"""The memory of one model: what it is, what was edited in it, and the latest states."""

import json
from collections.abc import Sequence
from typing import Any

import mujoco
import numpy as np

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.model.robot.description import RobotDescription
from mujoco_ros.sim.plant import Plant
from mujoco_ros.sim.shared_memory.memory_block import MemoryBlock
from mujoco_ros.sim.shared_memory.model_values import gather
from mujoco_ros.sim.shared_memory.state_row import size
from mujoco_ros.sim.state_log.segment_header import describe, read_model

SLOTS = 2
"""States that are kept: who reads the latest has a step's time to copy it. With more, the writer's
caches would be colder."""

_MAGIC = int.from_bytes(b"MJRSEGM1", "little")
_MAGIC_AT, _GENERATION, _TOLD, _MODEL, _ROW, _EDITS = range(6)
_COUNT, _EDITED = 8, 9  # in a cache line of their own, as these alone change
_HEAD = 16  # words
_LINE = 8  # words


class SharedSegment:
    """A head, rows of numbers, edits, what is told, and the model, one after the other.

    Row ``count % SLOTS`` is the latest, and the next one is being written.

    Attributes:
        block: The memory.
        generation: The how manieth model it is.
        rows: The bytes of the latest states.
        times: The simulated time of each; the one number of it [s].
        counter: How many states were written, since the simulation began; the one word of it.
        edits: The model's numbers that change at run time, as `gather` has them.
    """

    def __init__(self, block: MemoryBlock) -> None:
        """Take a block that `create` or `open` made."""
        self.block = block
        self._head = head = block.integers[:_HEAD]
        self.generation = int(head[_GENERATION])
        self.counter = head[_COUNT : _COUNT + 1]
        width = _padded(head[_ROW])
        end = _HEAD + SLOTS * width
        firsts = range(8 * _HEAD, 8 * end, 8 * width)
        self.rows = [memoryview(block.memory)[at : at + 8 * head[_ROW]] for at in firsts]
        self.times: list[memoryview[float]] = [row[:8].cast("d") for row in self.rows]
        self.edits = np.frombuffer(block.memory, np.float64, head[_EDITS], 8 * end)
        self._texts = 8 * (end + _padded(head[_EDITS]))

    @classmethod
    def create(
        cls, plant: Plant, described: Sequence[RobotDescription], generation: int
    ) -> "SharedSegment":
        """Make the memory for a plant; its rows are empty, and its edits as well.

        Raises:
            ModelError: There is not so much memory.
        """
        model = plant.model
        told = json.dumps(describe(plant, described)).encode()
        binary = int(mujoco.mj_sizeModel(model))
        row = size(plant.data, plant.references.values)
        edits = len(gather(model))
        words = _HEAD + SLOTS * _padded(row) + _padded(edits)
        block = MemoryBlock.create(8 * words + len(told) + binary)
        head = block.integers
        head[_GENERATION], head[_TOLD], head[_MODEL] = generation, len(told), binary
        head[_ROW], head[_EDITS] = row, edits
        segment = cls(block)
        begin = segment._texts
        block.memory[begin : begin + len(told)] = told
        buffer = np.frombuffer(block.memory, np.uint8, binary, begin + len(told))
        mujoco.mj_saveModel(model, None, buffer)
        head[_MAGIC_AT] = _MAGIC
        return segment

    @classmethod
    def open(cls, name: str) -> "SharedSegment":
        """Open the memory that another process made.

        Raises:
            ModelError: There is none of that name.
        """
        block = MemoryBlock.open(name)
        if len(block.memory) < 8 * _HEAD or block.integers[_MAGIC_AT] != _MAGIC:
            raise UserInputError(f"'{name}' is no state of a model")
        return cls(block)

    @property
    def edited(self) -> int:
        """How often edits were written, twice: odd while they are being written."""
        return int(self._head[_EDITED])

    @edited.setter
    def edited(self, edited: int) -> None:
        self._head[_EDITED] = edited

    def told(self) -> dict[str, Any]:
        """Return what is told of the model, as in the head of a state log."""
        begin = self._texts
        content: dict[str, Any] = json.loads(self.block.memory[begin : begin + self._head[_TOLD]])
        return content

    def model(self) -> mujoco.MjModel:
        """Return a model of one's own.

        Raises:
            ModelError: It cannot be read.
        """
        begin = self._texts + self._head[_TOLD]
        try:
            return read_model(self.block.memory[begin : begin + self._head[_MODEL]])
        except (ValueError, mujoco.FatalError) as error:
            raise UserInputError(f"the shared model cannot be read: {error}") from error


def _padded(words: int) -> int:
    return words + -words % _LINE
