"""The header page of the shared state: current segment, run state, heartbeats of the readers."""

from pathlib import Path

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.shared_memory.memory_block import MemoryBlock

_MAGIC = int.from_bytes(b"MJRHEAD1", "little")
_SIZE = 4096
_MAGIC_AT, _GENERATION, _DESCRIPTOR, _PAUSED, _ENDED, _FACTOR, _RESETS, _DEADLINES = range(8)


class SharedHeader:
    """One page of shared memory that keeps its address for the lifetime of the simulator.

    Each word has one writer: the simulator, or the reader that owns the slot.
    """

    def __init__(self, block: MemoryBlock) -> None:
        """Wrap a block from `create` or `open`."""
        self._block = block
        self._integers, self._numbers = block.integers, block.numbers

    @classmethod
    def create(cls) -> "SharedHeader":
        """Allocate the header of a simulator.

        Raises:
            UserInputError: There is not enough memory.
        """
        header = cls(MemoryBlock.create(_SIZE))
        header._integers[_MAGIC_AT] = _MAGIC
        return header

    @classmethod
    def open(cls, name: str) -> "SharedHeader":
        """Open the header of another process.

        Raises:
            UserInputError: No header has that name.
        """
        header = cls(MemoryBlock.open(name, writable=True))
        if len(header._integers) * 8 != _SIZE or header._integers[_MAGIC_AT] != _MAGIC:
            raise UserInputError(f"'{name}' is no shared state")
        return header

    @property
    def name(self) -> str:
        """Name for `open`."""
        return self._block.name

    @property
    def generation(self) -> int:
        """Number of the current model, counted from 1."""
        return int(self._integers[_GENERATION])

    @property
    def segment(self) -> str:
        """Name of the block with the current model and its state."""
        return str(Path(self.name).with_name(str(self._integers[_DESCRIPTOR])))

    def point_to(self, generation: int, block: MemoryBlock) -> None:
        """Direct readers to the block of another model."""
        assert block.descriptor is not None
        # A reader between these two writes finds different generations in header and segment,
        # and reads both again.
        self._integers[_DESCRIPTOR] = block.descriptor
        self._integers[_GENERATION] = generation

    @property
    def paused(self) -> bool:
        """Whether the simulation is paused."""
        return bool(self._integers[_PAUSED])

    @paused.setter
    def paused(self, paused: bool) -> None:
        self._integers[_PAUSED] = paused

    @property
    def factor(self) -> float:
        """Requested simulated seconds per wall second; 0 is as fast as possible."""
        return float(self._numbers[_FACTOR])

    @factor.setter
    def factor(self, factor: float) -> None:
        self._numbers[_FACTOR] = factor

    @property
    def resets(self) -> int:
        """Number of resets since the simulation began."""
        return int(self._integers[_RESETS])

    @resets.setter
    def resets(self, resets: int) -> None:
        self._integers[_RESETS] = resets

    @property
    def ended(self) -> bool:
        """Whether the simulator ended or died."""
        return bool(self._integers[_ENDED]) or not self._block.exists

    def end(self) -> None:
        """Mark the simulation as ended."""
        self._integers[_ENDED] = True
        self._block.close()

    def deadline(self, slot: int) -> "memoryview[float]":
        """Return the word of the heartbeat deadline of a reader (monotonic time [s])."""
        return self._numbers[_DEADLINES + slot : _DEADLINES + slot + 1]
