"""Shared memory that ends with its last process, and fences that order reads and writes."""

import mmap
import os
import platform
import threading
from collections.abc import Callable
from pathlib import Path

from mujoco_ros.model.errors import UserInputError

_STRONGLY_ORDERED = frozenset({"x86_64", "AMD64", "i686"})
"""Processors that never reorder two stores or two loads (Intel SDM, volume 3, 9.2)."""


def fence() -> Callable[[], None] | None:
    """Return a memory fence for the calling thread.

    Returns:
        None on processors that need no fence, as a call costs some microseconds.
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

    Attributes:
        name: Path for `open`, valid until the creator closes the block or ends.
        memory: The bytes.
        descriptor: File descriptor of the creator; None in other processes, and once closed.
    """

    def __init__(self, name: str, memory: mmap.mmap, descriptor: int | None = None) -> None:
        """Wrap the memory from `create` or `open`."""
        self.name, self.memory, self.descriptor = name, memory, descriptor

    @classmethod
    def create(cls, size: int) -> "MemoryBlock":
        """Allocate a block of `size` zero bytes.

        Raises:
            UserInputError: There is not enough memory.
        """
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
        """Open the block of another process.

        Raises:
            UserInputError: No block has that name.
        """
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
