"""Memory that several processes have in common, and that is gone with the last of them."""

import mmap
import os
from pathlib import Path

from mujoco_ros.model.errors import UserInputError

_WORD = 8


class MemoryBlock:
    """A piece of memory with a name, under which other processes of the same user find it.

    It is no file in a folder, so there is none to clean up, whatever becomes of the processes, and
    no limit of ``/dev/shm``, which containers set low.

    Attributes:
        name: Path under which it is opened, as long as whoever made it has not closed it.
        memory: The bytes.
    """

    def __init__(self, name: str, memory: mmap.mmap, descriptor: int | None = None) -> None:
        """Take what `create` or `open` made."""
        self.name, self.memory = name, memory
        self.descriptor = descriptor
        """Of the file; None for who opened it by name and needs it no more."""

    @classmethod
    def create(cls, size: int) -> "MemoryBlock":
        """Make a block of so many bytes, all of them zero.

        Raises:
            ModelError: There is not so much memory.
        """
        descriptor = os.memfd_create("mujoco_ros")
        try:
            # Without, the process would be killed when it writes to memory that is not there.
            os.posix_fallocate(descriptor, 0, size)
            # Nobody has to wait for a page later on.
            memory = mmap.mmap(descriptor, size, mmap.MAP_SHARED | mmap.MAP_POPULATE)
        except OSError as error:
            os.close(descriptor)
            raise UserInputError(
                f"no {size / 1e6:.1f} MB of memory to share: {error.strerror}"
            ) from error
        return cls(f"/proc/{os.getpid()}/fd/{descriptor}", memory, descriptor)

    @classmethod
    def open(cls, name: str, *, writable: bool = False) -> "MemoryBlock":
        """Open the block that another process made.

        Raises:
            ModelError: There is none of that name.
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
        """Return the memory as words of 8 bytes, each of which is read and written at once."""
        return memoryview(self.memory)[: self._whole].cast("q")

    @property
    def numbers(self) -> "memoryview[float]":
        """Return the same words as numbers."""
        return memoryview(self.memory)[: self._whole].cast("d")

    @property
    def _whole(self) -> int:
        return len(self.memory) // _WORD * _WORD

    def close(self) -> None:
        """Have nobody open it any more; who has it open keeps it."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    @property
    def exists(self) -> bool:
        """Whether whoever made it lives, and has not closed it."""
        return Path(self.name).exists()
