"""The page that says where the present state is, and who of its readers is alive."""

from pathlib import Path

from mujoco_ros.model.errors import UserInputError
from mujoco_ros.sim.shared_memory.memory_block import MemoryBlock

_MAGIC = int.from_bytes(b"MJRHEAD1", "little")
_SIZE = 4096
_MAGIC_AT, _GENERATION, _DESCRIPTOR, _PAUSED, _ENDED, _FACTOR, _DEADLINES = range(7)


class SharedHeader:
    """The one page that stays where it is as long as there is a simulation.

    Each of its words has one writer: the simulator, or the reader whose slot it is.
    """

    def __init__(self, block: MemoryBlock) -> None:
        """Take a block that `create` or `open` made."""
        self._block = block
        self._integers, self._numbers = block.integers, block.numbers

    @classmethod
    def create(cls) -> "SharedHeader":
        """Make the page of a simulation."""
        head = cls(MemoryBlock.create(_SIZE))
        head._integers[_MAGIC_AT] = _MAGIC
        return head

    @classmethod
    def open(cls, name: str) -> "SharedHeader":
        """Open the page that another process made.

        Raises:
            ModelError: There is none of that name.
        """
        head = cls(MemoryBlock.open(name, writable=True))
        if len(head._integers) * 8 != _SIZE or head._integers[_MAGIC_AT] != _MAGIC:
            raise UserInputError(f"'{name}' is no shared state")
        return head

    @property
    def name(self) -> str:
        """Under which readers open it."""
        return self._block.name

    @property
    def generation(self) -> int:
        """How many models there were."""
        return int(self._integers[_GENERATION])

    @property
    def segment(self) -> str:
        """Name of the block that the present model and its state are in."""
        return str(Path(self.name).with_name(str(self._integers[_DESCRIPTOR])))

    def point_to(self, generation: int, block: MemoryBlock) -> None:
        """Have readers go over to another block."""
        assert block.descriptor is not None
        # Who sees the old number with the new block finds another number in that, and looks again.
        self._integers[_DESCRIPTOR] = block.descriptor
        self._integers[_GENERATION] = generation

    @property
    def paused(self) -> bool:
        """Whether the simulation stands."""
        return bool(self._integers[_PAUSED])

    @paused.setter
    def paused(self, paused: bool) -> None:
        self._integers[_PAUSED] = paused

    @property
    def factor(self) -> float:
        """Simulated seconds per wall second, as asked for; 0 is as fast as possible."""
        return float(self._numbers[_FACTOR])

    @factor.setter
    def factor(self, factor: float) -> None:
        self._numbers[_FACTOR] = factor

    @property
    def ended(self) -> bool:
        """Whether there will be nothing new, as the simulator ended or died."""
        return bool(self._integers[_ENDED]) or not self._block.exists

    def end(self) -> None:
        """Say that there will be nothing new."""
        self._integers[_ENDED] = True
        self._block.close()

    def deadline(self, slot: int) -> "memoryview[float]":
        """Return the word that has the deadline of a reader's heartbeat (monotonic time [s])."""
        return self._numbers[_DEADLINES + slot : _DEADLINES + slot + 1]
