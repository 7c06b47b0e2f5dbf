"""Shared memory that ends with its last process, and the page that readers open first."""

import mmap
import os
import platform
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Generic, TypeVar

from mujoco_ros.model.errors import UserInputError

_STRONGLY_ORDERED = frozenset({"x86_64", "AMD64", "i686"})
"""Processors that never reorder two stores or two loads (Intel SDM, volume 3, 9.2)."""


def fence() -> Callable[[], None] | None:
    """Return a memory fence for the calling thread.

    It is None on processors that need no fence, as a call costs some microseconds.
    """
    if platform.machine() in _STRONGLY_ORDERED:
        return None
    # Releasing a lock orders what was written before, acquiring it what is read after. No other
    # thread uses this lock, so it never blocks.
    lock = threading.Lock()
    lock.acquire()

    def order() -> None:
        lock.release()
        lock.acquire()

    return order


def no_fence() -> None:
    """Do nothing, on processors that need no fence."""


_WORD = 8


class MemoryBlock:
    """A named block of memory that other processes of the same user can open.

    It is an anonymous file (memfd_create(2)): no file remains after a crash, and the size limit of
    ``/dev/shm``, which containers set low, does not apply.
    """

    def __init__(self, name: str, memory: mmap.mmap, descriptor: int | None = None) -> None:
        # The name is the path for `open`, valid until the creator closes the block or ends; the
        # descriptor is of the creator, and None in other processes and once closed.
        self.name, self.memory, self.descriptor = name, memory, descriptor

    @classmethod
    def create(cls, size: int) -> "MemoryBlock":
        """Allocate a block of `size` zero bytes."""
        descriptor = os.memfd_create("mujoco_ros")
        try:
            # Without this, a write to memory that cannot be allocated kills the process (SIGBUS).
            os.posix_fallocate(descriptor, 0, size)
            # MAP_POPULATE: no page faults in the physics thread.
            memory = mmap.mmap(descriptor, size, mmap.MAP_SHARED | mmap.MAP_POPULATE)
        except OSError as error:
            os.close(descriptor)
            raise UserInputError(
                f"no {size / 1e6:.1f} MB of memory to share: {error.strerror}"
            ) from error
        return cls(f"/proc/{os.getpid()}/fd/{descriptor}", memory, descriptor)

    @classmethod
    def open(cls, name: str, *, writable: bool = False) -> "MemoryBlock":
        """Open the block of another process."""
        try:
            descriptor = os.open(name, os.O_RDWR if writable else os.O_RDONLY)
            try:
                access = mmap.ACCESS_WRITE if writable else mmap.ACCESS_READ
                memory = mmap.mmap(descriptor, 0, access=access)
            finally:
                os.close(descriptor)
        except (OSError, ValueError) as error:
            raise UserInputError(f"there is no shared state '{name}': {error}") from error
        return cls(name, memory)

    @property
    def integers(self) -> "memoryview[int]":
        """The memory as words of 8 bytes; reads and writes of a word are atomic."""
        return memoryview(self.memory)[: self._whole].cast("q")

    @property
    def numbers(self) -> "memoryview[float]":
        """The same words as floating-point numbers."""
        return memoryview(self.memory)[: self._whole].cast("d")

    @property
    def _whole(self) -> int:
        return len(self.memory) // _WORD * _WORD

    def close(self) -> None:
        """Prevent further `open` calls; existing mappings remain valid."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    @property
    def exists(self) -> bool:
        """Whether the creator runs and has not closed the block."""
        return Path(self.name).exists()


_MAGIC = int.from_bytes(b"MJRHEAD1", "little")
_SIZE = 4096
_MAGIC_AT, _GENERATION, _DESCRIPTOR, _PAUSED, _ENDED, _FACTOR, _RESETS, _DEADLINES = range(8)


_T = TypeVar("_T", bound=float)


class Word(Generic[_T]):
    """A word of a header, as its attribute."""

    def __init__(self, index: int, kind: type[_T]) -> None:
        self._index, self._is_float = index, kind is float
        self._convert: Callable[[Any], _T] = kind

    def __get__(self, header: Any, _owner: object) -> _T:
        words = header.numbers if self._is_float else header.integers
        return self._convert(words[self._index])

    def __set__(self, header: Any, value: _T) -> None:
        words = header.numbers if self._is_float else header.integers
        words[self._index] = value


class SharedHeader:
    """One page of shared memory that keeps its address for the lifetime of the simulator.

    Each word has one writer: the simulator, or the reader that owns the slot.
    """

    generation = Word(_GENERATION, int)  # number of the current model, counted from 1
    paused = Word(_PAUSED, bool)  # whether the simulation is paused
    # Requested simulated seconds per wall second; 0 is as fast as possible
    factor = Word(_FACTOR, float)
    resets = Word(_RESETS, int)  # number of resets since the simulation began

    def __init__(self, block: MemoryBlock) -> None:
        self._block = block
        self.integers, self.numbers = block.integers, block.numbers

    @classmethod
    def create(cls) -> "SharedHeader":
        """Allocate the header of a simulator."""
        header = cls(MemoryBlock.create(_SIZE))
        header.integers[_MAGIC_AT] = _MAGIC
        return header

    @classmethod
    def open(cls, name: str) -> "SharedHeader":
        """Open the header of another process."""
        header = cls(MemoryBlock.open(name, writable=True))
        if len(header.integers) * 8 != _SIZE or header.integers[_MAGIC_AT] != _MAGIC:
            raise UserInputError(f"'{name}' is no shared state")
        return header

    @property
    def name(self) -> str:
        """Name for `open`."""
        return self._block.name

    @property
    def segment(self) -> str:
        """Name of the block with the current model and its state."""
        return str(Path(self.name).with_name(str(self.integers[_DESCRIPTOR])))

    def point_to(self, generation: int, block: MemoryBlock) -> None:
        """Direct readers to the block of another model."""
        assert block.descriptor is not None
        # A reader between these two writes finds different generations in header and segment,
        # and reads both again.
        self.integers[_DESCRIPTOR] = block.descriptor
        self.generation = generation

    @property
    def ended(self) -> bool:
        """Whether the simulator ended or died."""
        return bool(self.integers[_ENDED]) or not self._block.exists

    def end(self) -> None:
        """Mark the simulation as ended."""
        self.integers[_ENDED] = True
        self._block.close()

    def deadline(self, slot: int) -> "memoryview[float]":
        """Return the word of the heartbeat deadline of a reader (monotonic time [s])."""
        return self.numbers[_DEADLINES + slot : _DEADLINES + slot + 1]
